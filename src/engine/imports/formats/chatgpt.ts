import { asList, asObject, asText, type ChatDraft, type DraftNode, Omissions, readTime } from '../draft.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** ChatGPT writes places of citations between these marks, which no font shows. */
const [markStart, markEnd] = ['\ue200', '\ue201'];

/** A conversation of `conversations.json`: `mapping` has the nodes of a tree by id, and `current_node` is the end of the branch that was read last. */
export function readChatGpt(chat: JsonObject): ChatDraft {
  const omissions = new Omissions();
  const nodes: DraftNode[] = [];
  for (const [key, value] of Object.entries(asObject(chat.mapping) ?? {})) {
    const node = asObject(value) ?? {};
    const parentKey = typeof node.parent === 'string' ? node.parent : null;
    const message = asObject(node.message);
    const read = message === undefined ? undefined : readMessage(message, chat.default_model_slug, omissions);
    nodes.push({ key, parentKey, ...(read === undefined ? {} : { message: read }) });
  }
  return {
    format: 'CHATGPT',
    id: chat.conversation_id ?? chat.id,
    name: chat.title,
    createdAtMs: readTime(chat.create_time),
    updatedAtMs: readTime(chat.update_time),
    nodes,
    activeKey: typeof chat.current_node === 'string' ? chat.current_node : undefined,
    omissions,
  };
}

function readMessage(message: JsonObject, defaultModel: unknown, omissions: Omissions): DraftNode['message'] {
  const role = asObject(message.author)?.role;
  const content = asObject(message.content) ?? {};
  const metadata = asObject(message.metadata) ?? {};
  const atMs = readTime(message.create_time);
  const type = asText(content.content_type);
  if (role === 'system' || type.endsWith('_editable_context') || metadata.is_user_system_message === true) {
    if (hasWords(content)) omissions.add('INSTRUCTIONS');
    return undefined;
  }
  if (role === 'tool' || (typeof message.recipient === 'string' && message.recipient !== 'all')) {
    omissions.add('TOOL_CALLS');
    countImages(content, omissions);
    return undefined;
  }
  if (role !== 'user' && role !== 'assistant') return undefined;
  if (metadata.is_visually_hidden_from_conversation === true) return undefined;
  if (type === 'thoughts' || type === 'reasoning_recap') {
    omissions.add('THOUGHTS');
    return undefined;
  }
  countAttachments(metadata, omissions);
  const text = withReferences(readContent(content, type, omissions), metadata);
  if (text.trim() === '') return undefined;
  return { role, text, atMs, modelName: metadata.model_slug ?? defaultModel, isComplete: message.status !== 'in_progress' };
}

function readContent(content: JsonObject, type: string, omissions: Omissions): string {
  if (type === 'code') return fenced(asText(content.text), asText(content.language));
  if (!Array.isArray(content.parts)) {
    const text = asText(content.text);
    if (text === '') omissions.add('UNKNOWN_PARTS');
    return text;
  }
  const texts: string[] = [];
  for (const part of content.parts) {
    if (typeof part === 'string') {
      if (part !== '') texts.push(part);
      continue;
    }
    const object = asObject(part) ?? {};
    const partType = asText(object.content_type);
    if (partType === 'audio_transcription') texts.push(asText(object.text));
    else if (partType === 'image_asset_pointer') omissions.add('IMAGES');
    else if (partType.includes('audio') || partType.includes('video')) omissions.add('FILES');
    else omissions.add('UNKNOWN_PARTS');
  }
  return texts.join('\n');
}

function countImages(content: JsonObject, omissions: Omissions): void {
  omissions.add('IMAGES', asList(content.parts).filter((part) => asObject(part)?.content_type === 'image_asset_pointer').length);
}

/** Images are parts of the message too. */
function countAttachments({ attachments }: JsonObject, omissions: Omissions): void {
  const files = asList(attachments).filter((file) => !asText(asObject(file)?.mime_type).startsWith('image/'));
  omissions.add('FILES', files.length);
}

/** Replaces the marks of citations by the links that the file has for them, and takes out the others. */
function withReferences(text: string, { content_references: references }: JsonObject): string {
  if (!text.includes(markStart)) return text;
  const alternatives = new Map(
    asList(references).flatMap((value) => {
      const { matched_text: mark, alt } = asObject(value) ?? {};
      return typeof mark === 'string' && mark !== '' && typeof alt === 'string' ? [[mark, alt] as const] : [];
    }),
  );
  const pieces: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(markStart, from);
    const end = start === -1 ? -1 : text.indexOf(markEnd, start);
    if (end === -1) break;
    pieces.push(text.slice(from, start), alternatives.get(text.slice(start, end + 1)) ?? '');
    from = end + 1;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

function hasWords(content: JsonObject): boolean {
  const values = [
    content.text,
    content.user_profile,
    content.user_instructions,
    content.model_set_context,
    ...asList(content.parts),
  ];
  return values.some((value) => asText(value).trim() !== '');
}

function fenced(text: string, language: string): string {
  if (text.trim() === '') return '';
  return `\`\`\`${/^[\w+#-]{1,30}$/.test(language) && language !== 'unknown' ? language : ''}\n${text}\n\`\`\``;
}
