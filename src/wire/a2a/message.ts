import { DomainError } from '../../entities/ground/errors.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { isObject, membersOf, readElements } from '../../lib/json/json.ts';
import { cutText } from '../../lib/text/text.ts';
import type { SendParams, WirePart } from './params.ts';

/** A message of the A2A protocol, read into the input of a response. */
export interface ReadMessage {
  /** Items of the responses format. */
  readonly items: readonly object[];
  readonly tools: readonly object[] | undefined;
  readonly secrets: unknown;
  readonly warnings: readonly Warning[];
  /** Where a member of the input of the response stands in the params. */
  toPlace(param: string): string;
}

/** Audio and video have no place in the service; anything else is read as text, or as a document. */
const unservedTypes = /^(?:audio|video)\//;
/** A failure that the protocol has a code of its own for. */
export class ContentTypeError extends DomainError {}

/**
 * @throws ContentTypeError naming the part whose media type is not served.
 * @throws DomainError naming a part that answers a call and is no answer.
 */
export function readMessage({ message, metadata }: SendParams): ReadMessage {
  const items: object[] = [];
  const itemPlaces: string[] = [];
  const content: object[] = [];
  const partPlaces: string[] = [];
  for (const [index, part] of message.parts.entries()) {
    const at = `message.parts[${index}]`;
    const answer = readAnswer(part, at);
    if (answer === undefined) {
      content.push(toContent(part, at));
      partPlaces.push(at);
    } else {
      items.push(answer);
      itemPlaces.push(`${at}.data`);
    }
  }
  const messageAt = content.length === 0 ? -1 : items.length;
  if (content.length > 0) items.push({ type: 'message', role: 'user', content });
  return {
    items,
    tools: readTools(metadata?.tools),
    secrets: metadata?.secrets,
    warnings: noteUnserved(message, metadata),
    toPlace(param) {
      const match = /^input\[(\d+)\](?:\.content\[(\d+)\])?/.exec(param);
      if (match !== null) {
        const places = Number(match[1]) === messageAt ? partPlaces[Number(match[2])] : itemPlaces[Number(match[1])];
        return places ?? 'message.parts';
      }
      if (param === 'input') return 'message.parts';
      if (param === 'conversation') return 'message.contextId';
      return param.startsWith('tools') ? `metadata.${param}` : param.replace(/^user_?secrets/i, 'metadata.secrets');
    },
  };
}

/** A data part that answers a call: `{callId, output}`, or `{callId, approved, reason?}`. */
function readAnswer({ data }: WirePart, at: string): object | undefined {
  if (!isObject(data) || !('callId' in data)) return undefined;
  const { callId, output, approved, reason } = data;
  if (typeof callId !== 'string' || callId === '') throw wrong(`${at}.data.callId`, 'must name a call');
  if (approved !== undefined) {
    if (typeof approved !== 'boolean') throw wrong(`${at}.data.approved`, 'must be true or false');
    if (reason !== undefined && reason !== null && typeof reason !== 'string')
      throw wrong(`${at}.data.reason`, 'must be a string');
    return {
      type: 'mcp_approval_response',
      approval_request_id: callId,
      approve: approved,
      ...(reason == null ? {} : { reason }),
    };
  }
  if (output === undefined) throw wrong(`${at}.data`, 'must have output, or approved, beside callId');
  return { type: 'function_call_output', call_id: callId, output: typeof output === 'string' ? output : JSON.stringify(output) };
}

function wrong(param: string, rule: string): DomainError {
  return new DomainError('INVALID_VALUE', `${param} ${rule}`, { param });
}

function toContent(part: WirePart, at: string): object {
  const { text, raw, url, filename } = part;
  const mediaType = (part.mediaType ?? '').split(';')[0] ?? '';
  if (unservedTypes.test(mediaType)) {
    const param = `${at}.mediaType`;
    throw new ContentTypeError('UNSUPPORTED_VALUE', `${param} must not be ${mediaType}: audio and video are not served`, {
      param,
    });
  }
  if (typeof text === 'string') return { type: 'input_text', text };
  const isImage = mediaType.startsWith('image/');
  if (typeof url === 'string') {
    if (isImage) return { type: 'input_image', image_url: url };
    return { type: 'input_file', file_url: url, ...toName(filename) };
  }
  if (typeof raw !== 'string') return { type: 'input_text', text: JSON.stringify(part.data) };
  const bytes = raw.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  const dataUrl = `data:${mediaType === '' ? 'application/octet-stream' : mediaType};base64,${bytes}`;
  if (isImage) return { type: 'input_image', image_url: dataUrl };
  return { type: 'input_file', file_data: dataUrl, ...toName(filename) };
}

function toName(filename: string | null | undefined): object {
  return filename === undefined || filename === null || filename === '' ? {} : { filename };
}

/** Functions that the client runs: `{name, description, parameters}`. What is wrong in them is found with the request. */
function readTools(tools: unknown): readonly object[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  if (!Array.isArray(tools)) throw wrong('metadata.tools', 'must be an array of functions');
  return readElements(tools).map((tool) => ({ ...membersOf(tool), type: 'function' }));
}

function noteUnserved(message: SendParams['message'], metadata: SendParams['metadata']): readonly Warning[] {
  const others = Object.keys(metadata ?? {}).filter((name) => name !== 'tools' && name !== 'secrets');
  const params = [
    ...((message.extensions ?? []).length === 0 ? [] : ['message.extensions']),
    ...((message.referenceTaskIds ?? []).length === 0 ? [] : ['message.referenceTaskIds']),
    ...(Object.keys(message.metadata ?? {}).length === 0 ? [] : ['message.metadata']),
    ...others.map((name) => `metadata.${cutText(name, 100)}`),
  ];
  return params.map((param) => ({ code: 'option_not_supported' as const, message: `${param} has no effect`, param }));
}
