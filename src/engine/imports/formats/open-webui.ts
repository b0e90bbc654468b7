import { asList, asObject, asText, type ChatDraft, type DraftNode, Omissions, readTime } from '../draft.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const [detailsStart, detailsEnd] = ['<details type="', '</details>'];

/** A chat of Open WebUI: `chat.history.messages` has the messages of a tree by id, and `currentId` is the end of the branch that was read last. */
export function readOpenWebUi(entry: JsonObject): ChatDraft {
  const omissions = new Omissions();
  const chat = asObject(entry.chat) ?? entry;
  const history = asObject(chat.history) ?? {};
  const nodes = Object.entries(asObject(history.messages) ?? {}).map(([key, value]): DraftNode => {
    const message = asObject(value) ?? {};
    const read = readMessage(message, omissions);
    const parentKey = typeof message.parentId === 'string' ? message.parentId : null;
    return { key, parentKey, ...(read === undefined ? {} : { message: read }) };
  });
  return {
    format: 'OPEN_WEBUI',
    id: entry.id ?? chat.id,
    name: asText(entry.title) === '' ? chat.title : entry.title,
    createdAtMs: readTime(entry.created_at) ?? readTime(chat.timestamp),
    updatedAtMs: readTime(entry.updated_at) ?? readTime(chat.timestamp),
    nodes,
    activeKey: typeof history.currentId === 'string' ? history.currentId : undefined,
    omissions,
  };
}

function readMessage(message: JsonObject, omissions: Omissions): DraftNode['message'] {
  const { role } = message;
  if (role !== 'user' && role !== 'assistant') {
    omissions.add(role === 'system' ? 'INSTRUCTIONS' : 'UNKNOWN_PARTS');
    return undefined;
  }
  for (const file of asList(message.files)) omissions.add(asText(asObject(file)?.type) === 'image' ? 'IMAGES' : 'FILES');
  omissions.add('SOURCES', asList(message.sources ?? message.citations).length);
  const text = readContent(message.content, omissions).trim();
  if (text === '') {
    if (message.error !== undefined && message.error !== null) omissions.add('FAILED_ANSWERS');
    return undefined;
  }
  return {
    role,
    text,
    atMs: readTime(message.timestamp),
    modelName: message.model ?? message.modelName,
    isComplete: message.done !== false,
  };
}

function readContent(content: unknown, omissions: Omissions): string {
  if (typeof content === 'string') return withoutDetails(content, omissions);
  const texts: string[] = [];
  for (const value of asList(content)) {
    const part = asObject(value) ?? {};
    if (part.type === 'text') texts.push(asText(part.text));
    else omissions.add(part.type === 'image_url' ? 'IMAGES' : 'UNKNOWN_PARTS');
  }
  return texts.join('\n');
}

/** Thoughts and calls of tools stand in the text as HTML, and would be shown as part of the answer. Cost: linear. */
function withoutDetails(text: string, omissions: Omissions): string {
  const pieces: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(detailsStart, from);
    const end = start === -1 ? -1 : text.indexOf(detailsEnd, start);
    if (end === -1) break;
    pieces.push(text.slice(from, start));
    omissions.add(text.startsWith('reasoning', start + detailsStart.length) ? 'THOUGHTS' : 'TOOL_CALLS');
    from = end + detailsEnd.length;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}
