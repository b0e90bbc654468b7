import { foreignItemTypes, type WireObject } from '../../../entities/conversations/runs/response.ts';
import { isObject } from '../../../lib/json/json.ts';
import { readWire } from '../../../wire/ground/read.ts';
import {
  assistantMessageParam,
  compactionParam,
  functionCallOutputParam,
  functionCallParam,
  inputMessageParam,
  itemReferenceParam,
  mcpApprovalRequestParam,
  mcpApprovalResponseParam,
  serverToolCallOutputParam,
  serverToolCallParam,
  storedItemParam,
} from '../../../wire/responses/items.ts';
import type { ContentParam } from '../../../wire/responses/parts.ts';
import { toolItemParams } from '../../../wire/responses/tool-items.ts';
import type { Faults } from '../../ground/faults.ts';

/** A valid input item in the format's current spelling. It has an id only if the request gave one. */
export interface RequestItem {
  readonly item: WireObject;
  /** Its path in the request, for error messages. */
  readonly at: string;
}

interface ReadOptions {
  readonly itemsMax: number;
  /** Whether at least one item is required. A request that continues another response needs none. */
  readonly isRequired: boolean;
  /** The member that holds the items; default `input`. */
  readonly member?: string;
}

/**
 * Items that are kept as they were received. Reasoning goes to the provider that thought it, and no model is told of the others. A listing of tools serves the request, whose model gets the tools
 * as functions.
 */
export const passedOver: ReadonlySet<string> = new Set(['reasoning', 'mcp_list_tools', ...foreignItemTypes]);

/** Reads `input`: a string, or items with or without their type. */
export function readItems(
  input: unknown,
  { itemsMax, isRequired, member = 'input' }: ReadOptions,
  faults: Faults,
): readonly RequestItem[] {
  if (input === undefined || input === null) {
    if (isRequired) faults.add(member, `${member} is required`, 'MISSING_REQUIRED_PARAMETER');
    return [];
  }
  if (typeof input === 'string' && member === 'input') {
    const content = [{ type: 'input_text', text: input }];
    return [{ item: { type: 'message', role: 'user', status: 'completed', content }, at: 'input' }];
  }
  if (!Array.isArray(input)) {
    faults.add(member, `${member} must be ${member === 'input' ? 'a string or ' : ''}an array of items`, 'INVALID_TYPE');
    return [];
  }
  if (input.length === 0 && isRequired) faults.add(member, `${member} must hold at least one item`, 'EMPTY_ARRAY');
  faults.requireCount(member, input, itemsMax);
  return input.slice(0, itemsMax).flatMap((item: unknown, index) => {
    const at = `${member}[${index}]`;
    const read = readItem(item, at, faults);
    return read === undefined ? [] : [{ item: read, at }];
  });
}

function readItem(item: unknown, at: string, faults: Faults): WireObject | undefined {
  if (!isObject(item)) {
    faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
    return undefined;
  }
  const type = readType(item);
  if (isToolItem(type)) return readWire(toolItemParams[type], { ...item, type }, at, faults);
  if (typeof type === 'string' && passedOver.has(type)) return readWire(storedItemParam, { ...item, type }, at, faults);
  const read = readKind(item, type, at, faults);
  if (read === undefined) return undefined;
  return { ...withoutNulls(read), ...(type === 'server_tool_call_output' ? { error: read.error ?? null } : {}) };
}

function isToolItem(type: unknown): type is keyof typeof toolItemParams {
  return typeof type === 'string' && Object.hasOwn(toolItemParams, type);
}

/** Messages may lack a type, and references may have only an id. */
function readType({ type, role, id }: WireObject): unknown {
  if (type !== undefined && type !== null) return type;
  if (role !== undefined) return 'message';
  return typeof id === 'string' ? 'item_reference' : undefined;
}

/** An item without a status is completed. */
function readKind(item: WireObject, type: unknown, at: string, faults: Faults): WireObject | undefined {
  switch (type) {
    case 'message':
      return readMessage(item, at, faults);
    case 'function_call':
    case 'server_tool_call': {
      const read = readWire(type === 'function_call' ? functionCallParam : serverToolCallParam, item, at, faults);
      return (
        read && { ...read, status: read.status ?? 'completed', arguments: read.arguments.trim() === '' ? '{}' : read.arguments }
      );
    }
    case 'mcp_approval_request': {
      const read = readWire(mcpApprovalRequestParam, item, at, faults);
      return read && { ...read, status: undefined };
    }
    case 'mcp_approval_response': {
      const read = readWire(mcpApprovalResponseParam, item, at, faults);
      return read && { ...read, status: undefined };
    }
    case 'function_call_output': {
      const read = readWire(functionCallOutputParam, { ...item, output: spelled(item.output, 'input_text') }, at, faults);
      return read && { ...read, status: read.status ?? 'completed', output: keptParts(read.output) };
    }
    case 'server_tool_call_output': {
      const read = readWire(serverToolCallOutputParam, { ...item, output: spelled(item.output, undefined) }, at, faults);
      return read && { ...read, status: read.status ?? 'completed', output: keptParts(read.output) };
    }
    case 'item_reference':
      return readWire(itemReferenceParam, { ...item, type }, at, faults);
    case 'compaction':
    case 'compaction_summary': {
      const read = readWire(compactionParam, { ...item, type: 'compaction' }, at, faults);
      return read && { ...read, status: undefined };
    }
    case undefined:
      faults.add(`${at}.type`, `${at}.type is required`, 'MISSING_REQUIRED_PARAMETER');
      return undefined;
    default:
      faults.add(`${at}.type`, `${at}.type is no type of an input item`, typeof type === 'string' ? undefined : 'INVALID_TYPE');
      return undefined;
  }
}

function readMessage(item: WireObject, at: string, faults: Faults): WireObject | undefined {
  const isAssistant = item.role === 'assistant';
  const textType = isAssistant ? 'output_text' : 'input_text';
  const { content } = item;
  const messageFields = {
    ...item,
    type: 'message',
    content: typeof content === 'string' ? [{ type: textType, text: content }] : spelled(content, textType),
  };
  const read = readWire(isAssistant ? assistantMessageParam : inputMessageParam, messageFields, at, faults);
  if (read === undefined) return undefined;
  const status = read.status === 'incomplete' ? 'incomplete' : 'completed';
  return { ...read, status, content: keptParts(read.content) };
}

function spelled(content: unknown, textType: 'input_text' | 'output_text' | undefined): unknown {
  return Array.isArray(content) ? content.map((part: unknown) => inOneSpelling(part, textType)) : content;
}

function keptParts(content: string | readonly ContentParam[]): string | readonly WireObject[] {
  return typeof content === 'string' ? content : content.map(storedPart);
}

/**
 * A part in the current spelling of the format, which has two type names for text. The output of a tool of the service may use both: `textType` is
 * undefined.
 */
function inOneSpelling(part: unknown, textType: 'input_text' | 'output_text' | undefined): unknown {
  if (!isObject(part)) return part;
  const isText = part.type === 'text' || part.type === 'input_text' || part.type === 'output_text';
  if (!isText) return part;
  return { ...part, type: textType ?? (part.type === 'output_text' ? 'output_text' : 'input_text') };
}

/** A valid part, as it is stored and listed. given-items.ts looks up files and addresses. */
function storedPart(part: ContentParam): WireObject {
  const partFields = withoutNulls(part);
  switch (part.type) {
    case 'output_text':
      return { ...partFields, annotations: readList(part.annotations), logprobs: readList(part.logprobs) };
    case 'input_image':
      return { detail: 'auto', ...partFields };
    case 'input_file':
      return typeof part.file_data === 'string' ? { filename: 'file', ...partFields } : partFields;
    default:
      return partFields;
  }
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function withoutNulls(members: WireObject): WireObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}
