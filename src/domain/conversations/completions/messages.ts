import { isInline } from '../../../engine/models/inline-images.ts';
import type { CacheLife, CacheMark, ModelMessage, ModelPart, ModelToolCall, SpeakerName } from '../../../engine/models/port.ts';
import type { Thought } from '../../../entities/conversations/runs/thought.ts';
import { isObject, membersOf, readElements } from '../../../lib/json/json.ts';
import { contentPart } from '../../../wire/completions/request.ts';
import { cacheMember, type MarkedPart } from '../../../wire/ground/cache-mark.ts';
import { readWire } from '../../../wire/ground/read.ts';
import { readThought } from '../../../wire/ground/thoughts.ts';
import { type AttachmentBytes, bytesOfDataUrl } from '../../ground/attachments/attachments.ts';
import type { Faults } from '../../ground/faults.ts';

/** Absent and null mean the same. */
export type Maybe<T> = T | null | undefined;

export interface CompletionMessageInput {
  readonly role: string;
  /** A string, an array of content parts, or null. */
  readonly content?: unknown;
  readonly name?: Maybe<string>;
  readonly toolCalls?: Maybe<readonly CompletionToolCallInput[]>;
  readonly toolCallId?: Maybe<string>;
  readonly refusal?: Maybe<string>;
  readonly reasoningContent?: Maybe<string>;
  /** Entries of a list, as they were received. */
  readonly reasoningDetails?: unknown;
  /** What other formats say of a message: its mark for prompt caches, and that an output tells of a failure. */
  readonly cache?: CacheLife | undefined;
  readonly isError?: boolean | undefined;
}

export interface CompletionToolCallInput {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

const details = ['auto', 'low', 'high'] as const;

/** A file or an address among the content parts of a message. A model gets what is read from it. */
export interface RequestPart {
  /** As the request has it: `messages[0].content[1].image_url`. */
  readonly param: string;
  /** Holds its place among the parts of the message. */
  readonly part: ModelPart;
  readonly from: { readonly fileId: string } | { readonly url: string } | AttachmentBytes;
  readonly name?: string;
  readonly isImage?: true;
  readonly detail?: 'auto' | 'low' | 'high';
}

/** Reads a conversation of the common format, noting every fault: spellings of parts, roles, and calls without outputs. */
export function readMessages(
  messages: readonly CompletionMessageInput[],
  faults: Faults,
): { readonly messages: readonly ModelMessage[]; readonly given: readonly RequestPart[] } {
  const requestParts: RequestPart[] = [];
  const read = messages.flatMap((message, index) => readMessage(message, `messages[${index}]`, requestParts, faults));
  checkCalls(messages, faults);
  return { messages: read, given: requestParts };
}

/** The text of the last user message: knowledge is searched with it. */
export function findQuestion(messages: readonly ModelMessage[]): string {
  const last = messages.findLast((message) => message.role === 'user');
  if (last === undefined) return '';
  return typeof last.content === 'string' ? last.content : joinText(last.content);
}

function readMessage(
  message: CompletionMessageInput,
  at: string,
  requestParts: RequestPart[],
  faults: Faults,
): readonly ModelMessage[] {
  switch (message.role) {
    case 'system':
    case 'developer':
      return [{ role: 'system', content: readText(message.content, at, faults), ...readCache(message), ...readName(message) }];
    case 'user': {
      const before = requestParts.length;
      const parts = readContent(message.content, at, requestParts, faults);
      const isText = requestParts.length === before && parts.every((part) => part.type === 'text' && part.cache === undefined);
      return [{ role: 'user', content: isText ? joinText(parts) : parts, ...readName(message) }];
    }
    case 'assistant': {
      const toolCalls = readCalls(message);
      const isSilent = message.content === null || message.content === undefined;
      const content = isSilent ? (message.refusal ?? null) : readText(message.content, at, faults);
      const thoughts = readThoughts(message);
      return [
        {
          ...{ role: 'assistant', content },
          ...(toolCalls.length === 0 ? {} : { toolCalls }),
          ...(thoughts.length === 0 ? {} : { thoughts }),
          ...readCache(message),
          ...readName(message),
        },
      ];
    }
    case 'tool':
      return [
        {
          ...{ role: 'tool', toolCallId: message.toolCallId ?? '', content: readText(message.content, at, faults) },
          ...(message.isError === true ? { isError: true } : {}),
          ...readCache(message),
        },
      ];
    default:
      faults.add(`${at}.role`, `${at}.role must be one of system, developer, user, assistant, tool`);
      return [];
  }
}

function readCache({ cache }: Pick<CompletionMessageInput, 'cache'>): CacheMark {
  return cache === undefined ? {} : { cache };
}

function readName({ name }: Pick<CompletionMessageInput, 'name'>): SpeakerName {
  return typeof name === 'string' && name.trim() !== '' ? { name } : {};
}

/** The details say all that the text does. What another service wrote is left out. */
function readThoughts({ reasoningContent, reasoningDetails }: CompletionMessageInput): readonly Thought[] {
  const thoughts = readElements(reasoningDetails).flatMap((detail) => readThought(membersOf(detail).data) ?? []);
  if (thoughts.length > 0) return thoughts;
  return typeof reasoningContent === 'string' && reasoningContent !== '' ? [{ text: reasoningContent }] : [];
}

function readCalls(message: CompletionMessageInput): readonly ModelToolCall[] {
  return (message.toolCalls ?? []).map((call) => ({
    id: call.id,
    name: call.function.name,
    arguments: call.function.arguments.trim() === '' ? '{}' : call.function.arguments,
  }));
}

function readText(content: unknown, at: string, faults: Faults): string {
  const requestParts: RequestPart[] = [];
  const parts = readContent(content, at, requestParts, faults);
  if (requestParts.length > 0 || parts.some((part) => part.type === 'image'))
    faults.add(`${at}.content`, `${at}.content may hold images, files and addresses only for the role user`);
  return joinText(parts);
}

function joinText(parts: readonly ModelPart[]): string {
  return parts.length === 1 && parts[0]?.type === 'text'
    ? parts[0].text
    : parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function readContent(content: unknown, at: string, requestParts: RequestPart[], faults: Faults): readonly ModelPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (Array.isArray(content))
    return content.flatMap((part: unknown, index) => readPart(part, `${at}.content[${index}]`, requestParts, faults));
  const isMissing = content === undefined || content === null;
  faults.add(
    `${at}.content`,
    `${at}.content must be a string or an array of content parts`,
    isMissing ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_TYPE',
  );
  return [];
}

function readPart(part: unknown, at: string, requestParts: RequestPart[], faults: Faults): readonly ModelPart[] {
  const read = readWire(contentPart, withFormerNames(part), at, faults);
  if (read === undefined) return [];
  const mark = readCache({ cache: (part as MarkedPart)[cacheMember] });
  const later = (source: Omit<RequestPart, 'part'>, base: ModelPart = { type: 'text', text: '' }) => {
    const placeholder = { ...base, ...mark };
    requestParts.push({ ...source, part: placeholder });
    return [placeholder];
  };
  switch (read.type) {
    case 'refusal':
      return [{ type: 'text', text: read.refusal }];
    case 'image_url':
    case 'input_image': {
      const { url, detail = read.detail } = typeof read.image_url === 'string' ? { url: read.image_url } : read.image_url;
      const detailLevel = details.find((name) => name === detail);
      const detailOption = detailLevel === undefined ? {} : { detail: detailLevel };
      const image = { type: 'image', url, ...detailOption, ...mark } as const;
      return isInline(url) ? [image] : later({ param: `${at}.image_url`, from: { url }, isImage: true, ...detailOption }, image);
    }
    case 'id':
      return later({ param: `${at}.id`, from: { fileId: read.id } });
    case 'url':
      if (isInline(read.url)) return [{ type: 'image', url: read.url, ...mark }];
      return later({ param: `${at}.url`, from: { url: read.url } });
    case 'file':
      return later(fileSource(read.file, `${at}.file`));
    case 'input_file':
      return later(fileSource(read, at));
    default:
      return [{ type: 'text', text: read.text, ...mark }];
  }
}

interface FileMembers {
  readonly file_id?: Maybe<string>;
  readonly file_url?: Maybe<string>;
  readonly file_data?: Maybe<string>;
  readonly filename?: Maybe<string>;
}

function fileSource({ file_id, file_url, file_data, filename }: FileMembers, at: string): Omit<RequestPart, 'part'> {
  const name = typeof filename === 'string' ? { name: filename } : {};
  if (typeof file_id === 'string') return { param: `${at}.file_id`, from: { fileId: file_id }, ...name };
  if (typeof file_url === 'string') return { param: `${at}.file_url`, from: { url: file_url }, ...name };
  return { param: `${at}.file_data`, from: bytesOfDataUrl(String(file_data), filename ?? 'file') };
}

function withFormerNames(part: unknown): unknown {
  return isObject(part) && 'imageUrl' in part ? { ...part, image_url: part.image_url ?? part.imageUrl } : part;
}

/** Every output must belong to an earlier call, and every call must have its output before the next message. */
function checkCalls(messages: readonly CompletionMessageInput[], faults: Faults): void {
  let open = new Set<string>();
  let openAt = '';
  const requireAnswers = () => {
    if (open.size === 0) return;
    const names = [...open].map((id) => `"${id.slice(0, 80)}"`).join(', ');
    faults.add(openAt, `${openAt} must be followed by one tool message for each call; missing: ${names}`);
    open = new Set();
  };
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role === 'tool') {
      const id = message.toolCallId;
      if (id === undefined || id === null || id === '') {
        faults.add(`${at}.toolCallId`, `${at} has the role tool and must name its tool_call_id`, 'MISSING_REQUIRED_PARAMETER');
      } else if (!open.delete(id)) {
        faults.add(`${at}.toolCallId`, `${at}.tool_call_id matches no unanswered call of the assistant message before it`);
      }
      continue;
    }
    requireAnswers();
    if (message.role !== 'assistant') continue;
    for (const [place, call] of (message.toolCalls ?? []).entries()) {
      if (open.has(call.id))
        faults.add(`${at}.toolCalls[${place}].id`, `${at}.tool_calls names the id "${call.id.slice(0, 80)}" twice`);
      open.add(call.id);
    }
    openAt = `${at}.toolCalls`;
  }
  requireAnswers();
}
