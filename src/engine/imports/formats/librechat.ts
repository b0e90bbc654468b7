import { asList, asObject, asText, type ChatDraft, type DraftNode, Omissions, readTime } from '../draft.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A conversation of LibreChat: a list of messages that name the one before, or, exported as recursive, messages with those that follow them in `children`.
 */
export function readLibreChat(chat: JsonObject): ChatDraft {
  const omissions = new Omissions();
  const options = asObject(chat.options) ?? {};
  const listed = Array.isArray(chat.messagesTree) ? chat.messagesTree : asList(chat.messages);
  const messages = flatten(listed);
  let previousKey: string | null = null;
  const nodes = messages.map(({ message, parentKey, key }): DraftNode => {
    const read = readMessage(message, options.model ?? chat.model, omissions);
    const named = typeof message.parentMessageId === 'string' ? message.parentMessageId : previousKey;
    previousKey = key;
    return { key, parentKey: parentKey ?? named, ...(read === undefined ? {} : { message: read }) };
  });
  const times = nodes.flatMap(({ message }) => (typeof message?.atMs === 'number' ? [message.atMs] : []));
  return {
    format: 'LIBRECHAT',
    id: chat.conversationId,
    name: chat.title ?? options.title,
    createdAtMs: readTime(chat.createdAt) ?? times.reduce<number | null>((least, time) => Math.min(least ?? time, time), null),
    updatedAtMs: readTime(chat.updatedAt) ?? times.reduce<number | null>((most, time) => Math.max(most ?? time, time), null),
    nodes,
    omissions,
  };
}

interface FlatMessage {
  readonly message: JsonObject;
  readonly key: string;
  readonly parentKey: string | null;
}

/** Each message before those in its `children`. */
function flatten(listed: readonly unknown[]): readonly FlatMessage[] {
  const flat: FlatMessage[] = [];
  const open = listed.map((value) => ({ value, parentKey: null as string | null })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const message = asObject(next.value);
    if (message === undefined) continue;
    const key = typeof message.messageId === 'string' ? message.messageId : `#${flat.length}`;
    flat.push({ message, key, parentKey: next.parentKey });
    for (const value of asList(message.children).toReversed()) open.push({ value, parentKey: key });
  }
  return flat;
}

function readMessage(message: JsonObject, defaultModel: unknown, omissions: Omissions): DraftNode['message'] {
  const isOfUser =
    typeof message.isCreatedByUser === 'boolean' ? message.isCreatedByUser : asText(message.sender).toLowerCase() === 'user';
  if (message.error === true && !isOfUser) {
    omissions.add('FAILED_ANSWERS');
    return undefined;
  }
  for (const value of [...asList(message.files), ...asList(message.attachments)]) {
    omissions.add(asText(asObject(value)?.type).startsWith('image/') ? 'IMAGES' : 'FILES');
  }
  const text = readText(message, omissions);
  if (text.trim() === '') return undefined;
  const modelName = message.model ?? defaultModel ?? message.sender;
  return {
    role: isOfUser ? 'user' : 'assistant',
    text,
    atMs: readTime(message.createdAt),
    modelName,
    isComplete: message.unfinished !== true,
  };
}

/** Answers of agents have their parts in `content`, and an empty `text`. */
function readText(message: JsonObject, omissions: Omissions): string {
  const parts = asList(message.content);
  const texts: string[] = [];
  for (const value of parts) {
    const part = asObject(value) ?? {};
    const type = asText(part.type);
    if (type === 'text') texts.push(asText(part.text) || asText(asObject(part.text)?.value));
    else if (type === 'think' || type === 'thinking' || type === 'summary') omissions.add('THOUGHTS');
    else if (type === 'tool_call') omissions.add('TOOL_CALLS');
    else if (type === 'image_file' || type === 'image_url') omissions.add('IMAGES');
    else if (type === 'error') omissions.add('FAILED_ANSWERS');
    else if (type !== 'agent_update') omissions.add('UNKNOWN_PARTS');
  }
  const text = texts.filter((piece) => piece !== '').join('\n\n');
  return text === '' ? asText(message.text) : text;
}
