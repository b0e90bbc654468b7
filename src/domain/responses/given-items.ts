import type { ChatMessage, NewMessage } from '../../entities/chat.ts';
import type { IdKind } from '../../entities/ids.ts';
import type { ResponseItem, WireObject } from '../../entities/response.ts';
import type { ResponseOwner } from '../../storage/responses.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../faults.ts';
import type { GivenItem } from './items.ts';
import { messagesOfItems } from './messages.ts';
import { isObject } from './values.ts';
import { itemOf } from './wire.ts';

const idKinds: Readonly<Record<string, IdKind>> = {
  message: 'message',
  function_call: 'functionCall',
  server_tool_call: 'serverToolCall',
  server_tool_call_output: 'serverToolOutput',
  reasoning: 'reasoning',
  compaction: 'compaction',
};

/**
 * Puts the items that a request refers to in the place of the references, and gives ids to those that came without.
 *
 * @throws DomainError INVALID_VALUE naming each reference to an item that is not the owner's or not there.
 */
export async function resolveItems(
  deps: Deps,
  owner: ResponseOwner,
  given: readonly GivenItem[],
): Promise<readonly ResponseItem[]> {
  const wanted = given.flatMap(({ item }) => (item.type === 'item_reference' ? [String(item.id)] : []));
  const found = await deps.storage.responses.findItems(wanted, owner);
  const faults = new Faults();
  const items = given.flatMap(({ item, at }): ResponseItem[] => {
    if (item.type !== 'item_reference') return [withId(deps, item)];
    const known = found.get(String(item.id));
    if (known === undefined) {
      faults.add(`${at}.id`, `${at}.id names no item of yours`);
      return [];
    }
    return [{ itemId: known.itemId, item: known.direction === 'input' ? known.item : itemOf(known.item) }];
  });
  faults.throwIfAny();
  return items;
}

/** @throws DomainError INVALID_VALUE for outputs of calls that nobody made. */
export function requireCalls(
  given: readonly GivenItem[],
  items: readonly ResponseItem[],
  history: readonly (ChatMessage | NewMessage)[],
): void {
  const made = new Set(items.flatMap(({ item }) => (item.type === 'function_call' ? [String(item.call_id)] : [])));
  for (const message of history) {
    for (const call of message.toolCalls ?? []) made.add(call.id);
    for (const part of message.context ?? []) {
      if (isObject(part) && Array.isArray(part.toolCalls)) for (const call of part.toolCalls) made.add(String(call.id));
    }
  }
  const faults = new Faults();
  for (const { item, at } of given) {
    if (item.type !== 'function_call_output' || made.has(String(item.call_id))) continue;
    faults.add(`${at}.call_id`, `${at}.call_id names no call of this conversation`);
  }
  faults.throwIfAny();
}

/** Whether the request answers calls that are not among its own items. */
export function answersEarlierCalls(items: readonly ResponseItem[]): boolean {
  const made = new Set(items.flatMap(({ item }) => (item.type === 'function_call' ? [item.call_id] : [])));
  return items.some(({ item }) => item.type === 'function_call_output' && !made.has(item.call_id));
}

/**
 * The messages that the items are in a chat. Files are read here: their text goes to the model.
 *
 * @throws DomainError INVALID_VALUE naming a file that gives no text.
 */
export async function toMessages(
  deps: Deps,
  items: readonly ResponseItem[],
  runId: string | null,
  signal: AbortSignal,
): Promise<readonly NewMessage[]> {
  const texts = new Map<WireObject, string>();
  for (const [index, { item }] of items.entries()) {
    const parts = item.type === 'message' && Array.isArray(item.content) ? item.content.filter(isObject) : [];
    for (const [place, part] of parts.entries()) {
      if (part.type !== 'input_file') continue;
      const param = `input[${index}].content[${place}].file_data`;
      texts.set(part, await deps.knowledge.readFile(fileOf(part), param, signal));
    }
  }
  const newMessageId = () => deps.newId('message');
  return messagesOfItems(items, { runId, createdAt: deps.now(), newMessageId }, (part) => texts.get(part) ?? '');
}

function fileOf(part: WireObject): { bytes: Uint8Array; filename: string; mimeType: string } {
  const data = String(part.file_data);
  const comma = data.indexOf(',');
  const mimeType = /^data:([^;,]*)/i.exec(data)?.[1] ?? '';
  return { bytes: Buffer.from(data.slice(comma + 1), 'base64'), filename: String(part.filename), mimeType };
}

function withId(deps: Deps, item: WireObject): ResponseItem {
  const { id, ...rest } = item;
  const itemId = typeof id === 'string' ? id : deps.newId(idKinds[String(item.type)] ?? 'input');
  return { itemId, item: { id: itemId, ...rest } };
}
