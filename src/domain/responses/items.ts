import type { WireObject } from '../../entities/response.ts';
import type { Faults } from '../faults.ts';
import { isObject } from './values.ts';

/** An input item that was found right, in one spelling, still without an id unless it came with one. */
export interface GivenItem {
  readonly item: WireObject;
  /** Its place in the request, for messages about it. */
  readonly at: string;
}

interface ReadOptions {
  readonly itemsMax: number;
  /** Whether there must be something: not when the request goes on from another. */
  readonly isRequired: boolean;
}

const idLengthMax = 200;
const partsMax = 1_000;
const metadataKeysMax = 16;
const outputStatuses = ['success', 'error', 'cancelled', 'in_progress', 'completed', 'incomplete'];
/** Items of tools that other services run: they are kept and listed, but no model is told of them. */
const passedOver = new Set([
  'reasoning',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'computer_call',
  'computer_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
]);
const imagePattern = /^(?:https?:\/\/\S+|data:image\/[\w.+-]+(?:;[\w=.-]+)*;base64,[A-Za-z0-9+/=\s]+)$/i;
const details = ['auto', 'low', 'high', 'original'];

/** Reads `input`: a string, or items with or without their type. */
export function readItems(input: unknown, { itemsMax, isRequired }: ReadOptions, faults: Faults): readonly GivenItem[] {
  if (input === undefined || input === null) {
    if (isRequired) faults.add('input', 'input is required', 'MISSING_REQUIRED_PARAMETER');
    return [];
  }
  if (typeof input === 'string') {
    const content = [{ type: 'input_text', text: input }];
    return [{ item: { type: 'message', role: 'user', status: 'completed', content }, at: 'input' }];
  }
  if (!Array.isArray(input)) {
    faults.add('input', 'input must be a string or an array of items', 'INVALID_TYPE');
    return [];
  }
  if (input.length === 0 && isRequired) faults.add('input', 'input must hold at least one item', 'EMPTY_ARRAY');
  faults.requireCount('input', input, itemsMax);
  return input.slice(0, itemsMax).flatMap((item: unknown, index) => {
    const at = `input[${index}]`;
    const read = readItem(item, at, faults);
    return read === undefined ? [] : [{ item: read, at }];
  });
}

function readItem(item: unknown, at: string, faults: Faults): WireObject | undefined {
  if (!isObject(item)) {
    faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
    return undefined;
  }
  const { id } = item;
  if (id !== undefined && id !== null && (typeof id !== 'string' || id === '' || id.length > idLengthMax)) {
    faults.add(
      `${at}.id`,
      `${at}.id must be a string of 1 to ${idLengthMax} characters`,
      typeof id === 'string' ? undefined : 'INVALID_TYPE',
    );
    return undefined;
  }
  const read = readKind(item, typeOf(item), at, faults);
  return read === undefined ? undefined : { ...(typeof id === 'string' ? { id } : {}), ...read };
}

/** Messages come without a type, references with nothing but an id. */
function typeOf({ type, role, id }: WireObject): unknown {
  if (type !== undefined && type !== null) return type;
  if (role !== undefined) return 'message';
  return typeof id === 'string' ? 'item_reference' : undefined;
}

function readKind(item: WireObject, type: unknown, at: string, faults: Faults): WireObject | undefined {
  switch (type) {
    case 'message':
      return readMessage(item, at, faults);
    case 'function_call':
    case 'server_tool_call':
      return readCall(item, type, at, faults);
    case 'function_call_output':
    case 'server_tool_call_output':
      return readOutput(item, type, at, faults);
    case 'item_reference':
      if (typeof item.id === 'string') return { type };
      faults.add(`${at}.id`, `${at}.id is required`, 'MISSING_REQUIRED_PARAMETER');
      return undefined;
    case 'compaction':
    case 'compaction_summary':
      return readCompaction(item, at, faults);
    default:
      if (typeof type === 'string' && passedOver.has(type)) return { ...item, type };
      if (type === undefined) faults.add(`${at}.type`, `${at}.type is required`, 'MISSING_REQUIRED_PARAMETER');
      else
        faults.add(`${at}.type`, `${at}.type is no type of an input item`, typeof type === 'string' ? undefined : 'INVALID_TYPE');
      return undefined;
  }
}

function readCompaction(item: WireObject, at: string, faults: Faults): WireObject | undefined {
  const summary = requireText(item.encrypted_content, `${at}.encrypted_content`, faults);
  return summary === undefined ? undefined : { type: 'compaction', encrypted_content: summary };
}

function readMessage(item: WireObject, at: string, faults: Faults): WireObject | undefined {
  const { role, content } = item;
  if (role !== 'user' && role !== 'system' && role !== 'developer' && role !== 'assistant') {
    const code = role === undefined ? 'MISSING_REQUIRED_PARAMETER' : typeof role === 'string' ? undefined : 'INVALID_TYPE';
    faults.add(`${at}.role`, `${at}.role must be one of user, assistant, system, developer`, code);
    return undefined;
  }
  const isAssistant = role === 'assistant';
  const base = { type: 'message', role, status: item.status === 'incomplete' ? 'incomplete' : 'completed' };
  if (typeof content === 'string') return { ...base, content: [stringPart(content, isAssistant)] };
  if (!Array.isArray(content)) {
    const isMissing = content === undefined || content === null;
    const code = isMissing ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_TYPE';
    faults.add(`${at}.content`, `${at}.content must be a string or an array of content parts`, code);
    return undefined;
  }
  faults.requireCount(`${at}.content`, content, partsMax);
  const parts = content.slice(0, partsMax).flatMap((part: unknown, index) => {
    const read = readPart(part, `${at}.content[${index}]`, isAssistant, faults);
    return read === undefined ? [] : [read];
  });
  return { ...base, content: parts };
}

function stringPart(text: string, isAssistant: boolean): WireObject {
  return isAssistant ? { type: 'output_text', text, annotations: [], logprobs: [] } : { type: 'input_text', text };
}

function readPart(part: unknown, at: string, isAssistant: boolean, faults: Faults): WireObject | undefined {
  if (!isObject(part)) {
    faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
    return undefined;
  }
  const { type } = part;
  if (type === 'input_text' || type === 'text' || type === 'output_text') {
    const text = requireText(part.text, `${at}.text`, faults);
    if (text === undefined) return undefined;
    if (isAssistant) return { ...stringPart(text, true), ...listsOf(part) };
    return { type: 'input_text', text, ...flagsOf(part, at, faults), ...metadataOf(part, at, faults) };
  }
  if (type === 'refusal' && isAssistant) {
    const refusal = requireText(part.refusal, `${at}.refusal`, faults);
    return refusal === undefined ? undefined : { type, refusal };
  }
  if (type === 'input_image' && !isAssistant) return readImage(part, at, faults);
  if (type === 'input_file' && !isAssistant) return readFile(part, at, faults);
  const known = isAssistant ? 'output_text, refusal' : 'input_text, input_image, input_file';
  faults.add(`${at}.type`, `${at}.type must be one of ${known}`, type === undefined ? 'MISSING_REQUIRED_PARAMETER' : undefined);
  return undefined;
}

function listsOf(part: WireObject): WireObject {
  return {
    annotations: Array.isArray(part.annotations) ? part.annotations : [],
    logprobs: Array.isArray(part.logprobs) ? part.logprobs : [],
  };
}

function readImage(part: WireObject, at: string, faults: Faults): WireObject | undefined {
  const { image_url: url, detail } = part;
  if (typeof url !== 'string' || !imagePattern.test(url)) {
    faults.add(`${at}.image_url`, `${at}.image_url must be an http(s) URL or a data URL of an image`);
    return undefined;
  }
  if (detail !== undefined && detail !== null && !details.includes(String(detail))) {
    faults.add(`${at}.detail`, `${at}.detail must be one of ${details.join(', ')}`);
  }
  return { type: 'input_image', image_url: url, detail: detail ?? 'auto', ...flagsOf(part, at, faults) };
}

function readFile(part: WireObject, at: string, faults: Faults): WireObject | undefined {
  const { file_data: data, filename, file_id: id } = part;
  if (typeof id === 'string') {
    faults.add(`${at}.file_id`, `${at}.file_id names no file that you may use here; send it as file_data`);
    return undefined;
  }
  if (typeof data !== 'string') {
    faults.add(`${at}.file_data`, `${at}.file_data must hold the file as a data URL`, 'MISSING_REQUIRED_PARAMETER');
    return undefined;
  }
  if (!/^data:[\w.+/-]*(?:;[\w=."-]+)*;base64,[A-Za-z0-9+/=\s]*$/i.test(data)) {
    faults.add(`${at}.file_data`, `${at}.file_data must be a data URL in base64`);
    return undefined;
  }
  if (filename !== undefined && filename !== null && (typeof filename !== 'string' || filename.length > 255)) {
    faults.add(`${at}.filename`, `${at}.filename must be a string of at most 255 characters`);
  }
  const name = typeof filename === 'string' ? filename : 'file';
  return { type: 'input_file', filename: name, file_data: data, ...flagsOf(part, at, faults) };
}

/** `invisible`: for the model, not for transcripts. */
function flagsOf({ invisible }: WireObject, at: string, faults: Faults): WireObject {
  if (invisible === undefined || invisible === null) return {};
  if (typeof invisible === 'boolean') return { invisible };
  faults.add(`${at}.invisible`, `${at}.invisible must be true or false`, 'INVALID_TYPE');
  return {};
}

/** Kept and listed, never shown to a model. */
function metadataOf({ metadata }: WireObject, at: string, faults: Faults): WireObject {
  if (metadata === undefined || metadata === null) return {};
  if (!isObject(metadata)) faults.add(`${at}.metadata`, `${at}.metadata must be an object`, 'INVALID_TYPE');
  else if (Object.keys(metadata).length > metadataKeysMax) {
    faults.add(`${at}.metadata`, `${at}.metadata must have at most ${metadataKeysMax} members`);
  }
  return { metadata };
}

function readCall(item: WireObject, type: string, at: string, faults: Faults): WireObject | undefined {
  const callId = requireText(item.call_id, `${at}.call_id`, faults);
  const name = requireText(item.name, `${at}.name`, faults);
  const args = requireText(item.arguments, `${at}.arguments`, faults);
  if (callId === undefined || name === undefined || args === undefined) return undefined;
  return { type, status: item.status ?? 'completed', call_id: callId, name, arguments: args.trim() === '' ? '{}' : args };
}

function readOutput(item: WireObject, type: string, at: string, faults: Faults): WireObject | undefined {
  const callId = requireText(item.call_id, `${at}.call_id`, faults);
  const { output, status, error } = item;
  const isServer = type === 'server_tool_call_output';
  if (typeof output !== 'string' && !Array.isArray(output)) {
    const isMissing = output === undefined || output === null;
    const code = isMissing ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_TYPE';
    faults.add(`${at}.output`, `${at}.output must be a string or an array of content parts`, code);
    return undefined;
  }
  const known = isServer ? ['completed', 'failed'] : outputStatuses;
  if (status !== undefined && status !== null && !known.includes(String(status))) {
    faults.add(`${at}.status`, `${at}.status must be one of ${known.join(', ')}`);
  }
  if (callId === undefined) return undefined;
  if (Array.isArray(output)) {
    for (const [index, part] of output.entries()) {
      const place = `${at}.output[${index}]`;
      if (!isObject(part)) faults.add(place, `${place} must be an object`, 'INVALID_TYPE');
    }
  }
  return { type, status: status ?? 'completed', call_id: callId, output, ...(isServer ? { error: error ?? null } : {}) };
}

function requireText(value: unknown, at: string, faults: Faults): string | undefined {
  if (typeof value === 'string') return value;
  const isMissing = value === undefined || value === null;
  faults.add(at, `${at} must be a string`, isMissing ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_TYPE');
  return undefined;
}
