import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import type { TreeMessage } from '../../../storage/conversations/imports/tree.ts';
import { asVisible } from '../runs/thread.ts';

/** A chat with all its branches as JSON, in the form of docs/chats.md. A message that follows a hidden one follows the message before that. */
export function toTree({ id, name, createdAt, updatedAt, agent }: Chat, messages: readonly TreeMessage[]): string {
  const shownParents = new Map<string | null, string | null>([[null, null]]);
  const records = messages.flatMap((message) => {
    const parentId = shownParents.get(message.parentId) ?? null;
    const [visible] = asVisible(message);
    shownParents.set(message.id, visible === undefined ? parentId : message.id);
    return visible === undefined ? [] : [toRecord(visible, parentId)];
  });
  const chat = { id, name, createdAt, updatedAt, agent: { id: agent.id, name: agent.name } };
  return `${JSON.stringify({ format: 'parley.chat', version: 1, ...chat, messages: records }, null, 2)}\n`;
}

function toRecord(message: TreeMessage, parentId: string | null): object {
  const { id, createdAt, role, isActive, content, modelName, status, toolCalls, toolCallId, toolStatus, citations, parts } =
    message;
  const files = (parts ?? []).flatMap((part) => (part.type === 'id' ? [part.id] : []));
  return {
    ...{ id, parentId, isActive, role, createdAt, content },
    ...(modelName === null || role !== 'assistant' ? {} : { modelName }),
    ...(status === 'completed' ? {} : { isComplete: false }),
    ...(toolCalls === null ? {} : { toolCalls: toolCalls.map(({ origin: _origin, place: _place, ...call }) => call) }),
    ...(toolCallId === null ? {} : { toolCallId, toolStatus }),
    ...(citations === null || citations.length === 0
      ? {}
      : { citations: citations.map(({ index, name, url }) => ({ index, name, url })) }),
    ...(files.length === 0 ? {} : { files }),
  };
}
