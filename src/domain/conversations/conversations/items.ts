import type { ChatMessage, PromptPart } from '../../../entities/conversations/chats/chat.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { textPart } from '../../../wire/responses/output-items.ts';

/** An item of a conversation, and what it is in the chat. */
export interface ConversationItem {
  readonly id: string;
  readonly messageId: string;
  /** The call that the item is; undefined for the text or the whole of a message. */
  readonly callId?: string;
  /** Among the items of its message. */
  readonly place: number;
  readonly wire: WireObject;
}

/**
 * The items that a message of a chat is shown as: its text, then the calls that it asks for. An item has the id of its message; a call has
 * that of its message with its place behind it.
 */
export function toConversationItems(message: ChatMessage): readonly ConversationItem[] {
  const { id, role, content, toolCalls, toolCallId, toolStatus, citations, status } = message;
  const createItem = (wire: WireObject): ConversationItem => ({ id, messageId: id, place: 0, wire: { id, ...wire } });
  if (message.item !== undefined && message.item !== null) return [{ ...createItem({}), wire: { ...message.item, id } }];
  switch (role) {
    case 'tool':
      return [
        createItem({ type: 'function_call_output', status: toolStatus ?? 'success', call_id: toolCallId, output: content }),
      ];
    case 'assistant': {
      const text = { type: 'message', status, role, content: [textPart(content, citations ?? [])] };
      const calls = (toolCalls ?? []).map((call, index): ConversationItem => {
        const wire = { type: 'function_call', status: 'completed', call_id: call.id, name: call.name, arguments: call.arguments };
        const itemId = callItemId(id, call.place ?? index);
        return { id: itemId, messageId: id, callId: call.id, place: placeOfItem(itemId), wire: { id: itemId, ...wire } };
      });
      return content === '' && calls.length > 0 ? calls : [createItem(text), ...calls];
    }
    default: {
      const parts = message.parts ?? [{ type: 'text', text: content }];
      return [createItem({ type: 'message', status: 'completed', role, content: parts.map(toWirePart) })];
    }
  }
}

function toWirePart(part: PromptPart): WireObject {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'id':
      return { type: 'input_file', file_id: part.id };
    case 'url':
      return { type: 'input_image', image_url: part.url, detail: 'auto' };
  }
}

/** Among the items of its message: the text comes before the calls. */
export function placeOfItem(itemId: string): number {
  const [, index] = callItemPattern.exec(itemId)?.slice(1) ?? [];
  return index === undefined ? 0 : Number(index) + 1;
}

const callItemPattern = /^fc(_[^_]+)_(\d+)$/;

function callItemId(messageId: string, index: number): string {
  return `fc${messageId.slice(messageId.indexOf('_'))}_${index}`;
}

/** The message of an item. */
export function toMessageId(itemId: string): string {
  const call = callItemPattern.exec(itemId);
  return call === null ? itemId : `msg${call[1]}`;
}
