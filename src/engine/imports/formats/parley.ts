import { asList, asObject, asText, type ChatDraft, type DraftNode, Omissions, readTime } from '../draft.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** What a chat that was exported as a tree says it is. */
export const treeFormat = 'parley.chat';

/** A chat that this service exported as a tree: docs/chats.md#take-a-chat-elsewhere. */
export function readParley(chat: JsonObject): ChatDraft {
  const omissions = new Omissions();
  let activeKey: string | undefined;
  let previousKey: string | null = null;
  const nodes = asList(chat.messages).map((value, index): DraftNode => {
    const message = asObject(value) ?? {};
    const key = typeof message.id === 'string' ? message.id : `#${index}`;
    // A transcript in the form of the REST API has no branches.
    const parentKey: string | null = message.parentId === undefined ? previousKey : asText(message.parentId) || null;
    previousKey = key;
    const read = readMessage(message, omissions);
    if (message.isActive === true) activeKey = key;
    return { key, parentKey, ...(read === undefined ? {} : { message: read }) };
  });
  return {
    format: 'PARLEY',
    id: chat.id,
    name: chat.name,
    createdAtMs: readTime(chat.createdAt),
    updatedAtMs: readTime(chat.updatedAt),
    nodes,
    activeKey,
    omissions,
  };
}

function readMessage(message: JsonObject, omissions: Omissions): DraftNode['message'] {
  const { role } = message;
  omissions.add('FILES', asList(message.files).length);
  omissions.add('SOURCES', asList(message.citations).length);
  if (role !== 'user' && role !== 'assistant') {
    omissions.add('TOOL_CALLS');
    return undefined;
  }
  const text = asText(message.content);
  if (text === '') return undefined;
  return {
    role,
    text,
    atMs: readTime(message.createdAt),
    modelName: message.modelName,
    isComplete: message.isComplete !== false,
  };
}
