import { isInline } from '../../engine/models/inline-images.ts';
import type { ModelMessage, ModelPart, ModelToolCall } from '../../engine/models/port.ts';
import { isObject } from '../../lib/json.ts';
import { contentPart } from '../../wire/completions.ts';
import { readWire } from '../../wire/read.ts';
import type { Faults } from '../faults.ts';

/** Absent and null mean the same. */
export type Maybe<T> = T | null | undefined;

export interface CompletionMessageInput {
  readonly role: string;
  /** A string, an array of content parts, or null. */
  readonly content?: unknown;
  readonly toolCalls?: Maybe<readonly CompletionToolCallInput[]>;
  readonly toolCallId?: Maybe<string>;
}

export interface CompletionToolCallInput {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

const details = ['auto', 'low', 'high'] as const;

/** Reads a conversation of the chat completions format, noting every fault: spellings of parts, roles, and calls without outputs. */
export function readMessages(messages: readonly CompletionMessageInput[], faults: Faults): readonly ModelMessage[] {
  const read = messages.flatMap((message, index) => readMessage(message, `messages[${index}]`, faults));
  checkCalls(messages, faults);
  return read;
}

/** An image given by its address: it must be fetched before the model is called. */
export interface ImageAddress {
  /** The member of the request: `messages[0].content[1].image_url`. */
  readonly param: string;
  readonly part: Extract<ModelPart, { type: 'image' }>;
}

/** For messages without a fault: their positions are those of the request. */
export function imageAddressesOf(messages: readonly ModelMessage[]): readonly ImageAddress[] {
  const found: ImageAddress[] = [];
  for (const [index, { content }] of messages.entries()) {
    if (content === null || typeof content === 'string') continue;
    for (const [place, part] of content.entries())
      if (part.type === 'image' && !isInline(part.url))
        found.push({ param: `messages[${index}].content[${place}].image_url`, part });
  }
  return found;
}

/** The text of the last user message: knowledge is searched with it. */
export function questionOf(messages: readonly ModelMessage[]): string {
  const last = messages.findLast((message) => message.role === 'user');
  if (last === undefined) return '';
  return typeof last.content === 'string' ? last.content : textOf(last.content);
}

function readMessage(message: CompletionMessageInput, at: string, faults: Faults): readonly ModelMessage[] {
  switch (message.role) {
    case 'system':
    case 'developer':
      return [{ role: 'system', content: readText(message.content, at, faults) }];
    case 'user': {
      const parts = readContent(message.content, at, faults);
      return [{ role: 'user', content: parts.every((part) => part.type === 'text') ? textOf(parts) : parts }];
    }
    case 'assistant': {
      const toolCalls = readCalls(message);
      const isSilent = message.content === null || message.content === undefined;
      const content = isSilent ? null : readText(message.content, at, faults);
      return [{ role: 'assistant', content, ...(toolCalls.length === 0 ? {} : { toolCalls }) }];
    }
    case 'tool':
      return [{ role: 'tool', toolCallId: message.toolCallId ?? '', content: readText(message.content, at, faults) }];
    default:
      faults.add(`${at}.role`, `${at}.role must be one of system, developer, user, assistant, tool`);
      return [];
  }
}

function readCalls(message: CompletionMessageInput): readonly ModelToolCall[] {
  return (message.toolCalls ?? []).map((call) => ({
    id: call.id,
    name: call.function.name,
    arguments: call.function.arguments.trim() === '' ? '{}' : call.function.arguments,
  }));
}

function readText(content: unknown, at: string, faults: Faults): string {
  const parts = readContent(content, at, faults);
  if (parts.some((part) => part.type === 'image'))
    faults.add(`${at}.content`, `${at}.content may hold images only for the role user`);
  return textOf(parts);
}

function textOf(parts: readonly ModelPart[]): string {
  return parts.length === 1 && parts[0]?.type === 'text'
    ? parts[0].text
    : parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function readContent(content: unknown, at: string, faults: Faults): readonly ModelPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (Array.isArray(content)) return content.flatMap((part: unknown, index) => readPart(part, `${at}.content[${index}]`, faults));
  const isMissing = content === undefined || content === null;
  faults.add(
    `${at}.content`,
    `${at}.content must be a string or an array of content parts`,
    isMissing ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_TYPE',
  );
  return [];
}

function readPart(part: unknown, at: string, faults: Faults): readonly ModelPart[] {
  const read = readWire(contentPart, withFormerNames(part), at, faults);
  if (read === undefined) return [];
  switch (read.type) {
    case 'refusal':
      return [{ type: 'text', text: read.refusal }];
    case 'image_url':
    case 'input_image': {
      const { url, detail = read.detail } = typeof read.image_url === 'string' ? { url: read.image_url } : read.image_url;
      const known = details.find((name) => name === detail);
      return [{ type: 'image', url, ...(known === undefined ? {} : { detail: known }) }];
    }
    default:
      return [{ type: 'text', text: read.text }];
  }
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
