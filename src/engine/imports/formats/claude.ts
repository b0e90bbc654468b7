import { asList, asObject, asText, type ChatDraft, type DraftNode, Omissions, readTime } from '../draft.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A conversation of Claude: `chat_messages` in order. Where messages name the one before, they are a tree. */
export function readClaude(chat: JsonObject): ChatDraft {
  const omissions = new Omissions();
  const nodes: DraftNode[] = [];
  let previousKey: string | null = null;
  for (const [index, value] of asList(chat.chat_messages).entries()) {
    const message = asObject(value);
    if (message === undefined) {
      omissions.add('UNKNOWN_PARTS');
      continue;
    }
    const key: string = typeof message.uuid === 'string' ? message.uuid : `#${index}`;
    // The first message of a tree names a message that is not there.
    const parentKey: string | null = typeof message.parent_message_uuid === 'string' ? message.parent_message_uuid : previousKey;
    const read = readMessage(message, chat, omissions);
    nodes.push({ key, parentKey, ...(read === undefined ? {} : { message: read }) });
    previousKey = key;
  }
  return {
    format: 'CLAUDE',
    id: chat.uuid,
    name: chat.name,
    createdAtMs: readTime(chat.created_at),
    updatedAtMs: readTime(chat.updated_at),
    nodes,
    activeKey: typeof chat.current_leaf_message_uuid === 'string' ? chat.current_leaf_message_uuid : undefined,
    omissions,
  };
}

function readMessage(message: JsonObject, chat: JsonObject, omissions: Omissions): DraftNode['message'] {
  const { sender } = message;
  const role = sender === 'human' ? 'user' : sender === 'assistant' ? 'assistant' : undefined;
  if (role === undefined) {
    omissions.add('UNKNOWN_PARTS');
    return undefined;
  }
  const texts = readBlocks(message, omissions);
  for (const value of asList(message.attachments)) {
    const { file_name: name, extracted_content: content } = asObject(value) ?? {};
    // What was pasted into the box, or the text of a document: the question is about it.
    if (asText(content).trim() === '') omissions.add('FILES');
    else texts.push(`${asText(name)}\n\n${asText(content)}`.trim());
  }
  omissions.add('FILES', asList(message.files).length);
  const text = texts.join('\n\n');
  if (text.trim() === '') return undefined;
  return { role, text, atMs: readTime(message.created_at), modelName: message.model ?? chat.model };
}

/** `text` says the same as the blocks, with notes in place of those that are no text: it is read only where there are no blocks. */
function readBlocks(message: JsonObject, omissions: Omissions): string[] {
  const blocks = asList(message.content);
  if (blocks.length === 0) return asText(message.text) === '' ? [] : [asText(message.text)];
  const texts: string[] = [];
  for (const value of blocks) {
    const block = asObject(value) ?? {};
    const type = asText(block.type);
    if (type === 'text') texts.push(asText(block.text));
    else if (type === 'thinking' || type === 'redacted_thinking') omissions.add('THOUGHTS');
    else if (type === 'tool_use' || type === 'tool_result') omissions.add('TOOL_CALLS');
    else if (type === 'image') omissions.add('IMAGES');
    else if (type === 'document') omissions.add('FILES');
    else if (type !== 'token_budget') omissions.add('UNKNOWN_PARTS');
  }
  return texts.filter((text) => text !== '');
}
