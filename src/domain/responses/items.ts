import { foreignItemTypes, type WireObject } from '../../entities/runs/response.ts';
import type { Faults } from '../faults.ts';
import { partsMax, readOutputPart, readPart, requireText, stringPart } from './parts.ts';
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
const phases: readonly unknown[] = ['commentary', 'final_answer'];
const itemStatuses = ['in_progress', 'completed', 'incomplete'];
const outputStatuses = ['success', 'error', 'cancelled', ...itemStatuses];
const passedOver: ReadonlySet<string> = new Set(['reasoning', 'web_search_call', ...foreignItemTypes]);

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
  const status = statusOf(item, itemStatuses, at, faults) === 'incomplete' ? 'incomplete' : 'completed';
  const base = { type: 'message', role, status, ...(isAssistant ? phaseOf(item, at, faults) : {}) };
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

/** What an assistant said on the way, or its answer: kept and listed, as clients send it back. */
function phaseOf({ phase }: WireObject, at: string, faults: Faults): WireObject {
  if (phase === undefined || phase === null) return {};
  if (phases.includes(phase)) return { phase };
  faults.add(`${at}.phase`, `${at}.phase must be one of ${phases.join(', ')}`);
  return {};
}

function readCall(item: WireObject, type: string, at: string, faults: Faults): WireObject | undefined {
  const callId = requireText(item.call_id, `${at}.call_id`, faults);
  const name = requireText(item.name, `${at}.name`, faults);
  const args = requireText(item.arguments, `${at}.arguments`, faults);
  const status = statusOf(item, type === 'function_call' ? itemStatuses : [...itemStatuses, 'failed'], at, faults);
  if (callId === undefined || name === undefined || args === undefined) return undefined;
  return { type, status, call_id: callId, name, arguments: args.trim() === '' ? '{}' : args };
}

function readOutput(item: WireObject, type: string, at: string, faults: Faults): WireObject | undefined {
  const callId = requireText(item.call_id, `${at}.call_id`, faults);
  const { output, error } = item;
  const isServer = type === 'server_tool_call_output';
  if (typeof output !== 'string' && !Array.isArray(output)) {
    const isMissing = output === undefined || output === null;
    const code = isMissing ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_TYPE';
    faults.add(`${at}.output`, `${at}.output must be a string or an array of content parts`, code);
    return undefined;
  }
  const status = statusOf(item, isServer ? ['completed', 'failed'] : outputStatuses, at, faults);
  if (callId === undefined) return undefined;
  const read = typeof output === 'string' ? output : readOutputParts(output, at, isServer, faults);
  return { type, status, call_id: callId, output: read, ...(isServer ? { error: error ?? null } : {}) };
}

/** An item that comes without a status is whole. */
function statusOf({ status }: WireObject, known: readonly string[], at: string, faults: Faults): string {
  if (status === undefined || status === null) return 'completed';
  if (typeof status === 'string' && known.includes(status)) return status;
  const code = typeof status === 'string' ? undefined : 'INVALID_TYPE';
  faults.add(`${at}.status`, `${at}.status must be one of ${known.join(', ')}`, code);
  return 'completed';
}

function readOutputParts(output: readonly unknown[], at: string, isServer: boolean, faults: Faults): readonly WireObject[] {
  faults.requireCount(`${at}.output`, output, partsMax);
  return output.slice(0, partsMax).flatMap((part, index) => {
    const read = readOutputPart(part, `${at}.output[${index}]`, isServer, faults);
    return read === undefined ? [] : [read];
  });
}
