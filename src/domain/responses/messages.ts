import type { ModelMessage, ModelPart } from '../../engine/models/port.ts';
import type { NewMessage, PromptPart, ToolCall, ToolOutputStatus } from '../../entities/chat.ts';
import type { ResponseItem, WireObject } from '../../entities/response.ts';
import { storableText } from '../../lib/text.ts';
import { isObject } from './values.ts';

interface MessageBasics {
  readonly runId: string | null;
  readonly createdAt: Date;
  newMessageId(): string;
}

/**
 * Puts input items into the messages of a chat: what people see of them, and what the model is given. Calls and their outputs are brought
 * into the order that every provider takes: one message with all calls that belong together, their outputs right behind it.
 *
 * @param fileText  the text of the file of a part.
 */
export function messagesOfItems(
  items: readonly ResponseItem[],
  basics: MessageBasics,
  fileText: (part: WireObject) => string,
): readonly NewMessage[] {
  const messages: NewMessage[] = [];
  const outputs = new Map(items.flatMap(({ item }) => (item.type === 'server_tool_call_output' ? [[item.call_id, item]] : [])));
  for (const { item } of inOrder(items)) {
    const last = messages.at(-1);
    switch (item.type) {
      case 'message':
        messages.push(messageOf(item, basics, fileText));
        break;
      case 'function_call': {
        const call = callOf(item);
        const canJoin = last?.role === 'assistant' && last.context === null && !last.isHidden;
        if (canJoin) messages[messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] };
        else messages.push({ ...blank(basics), role: 'assistant', toolCalls: [call] });
        break;
      }
      case 'function_call_output': {
        const toolCallId = storableText(String(item.call_id));
        const content = outputText(item.output);
        messages.push({ ...blank(basics), role: 'tool', content, toolCallId, toolStatus: toolStatusOf(item.status) });
        break;
      }
      case 'server_tool_call': {
        const call = callOf(item);
        const output = outputs.get(item.call_id);
        const content = output === undefined ? 'Cancelled: no output was given for this call.' : outputText(output.output);
        const context: ModelMessage[] = [
          { role: 'assistant', content: null, toolCalls: [call] },
          { role: 'tool', toolCallId: call.id, content },
        ];
        messages.push({ ...blank(basics), role: 'assistant', context, isHidden: true });
        break;
      }
      case 'compaction':
        messages.push({
          ...blank(basics),
          role: 'system',
          content: storableText(String(item.encrypted_content)),
          isHidden: true,
        });
        break;
    }
  }
  return messages;
}

/** Outputs of calls that came before this request go first: they stand right behind their calls. */
function inOrder(items: readonly ResponseItem[]): readonly ResponseItem[] {
  const ownCalls = new Set(items.flatMap(({ item }) => (item.type === 'function_call' ? [item.call_id] : [])));
  const isEarlier = ({ item }: ResponseItem) => item.type === 'function_call_output' && !ownCalls.has(item.call_id);
  return [...items.filter(isEarlier), ...items.filter((item) => !isEarlier(item))];
}

/** What the last message of a user among the items says: what knowledge is searched for. */
export function questionOfMessages(messages: readonly NewMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  if (last === undefined) return '';
  if (last.content !== '') return last.content.trim();
  const [given] = (last.context ?? []) as readonly ModelMessage[];
  return given?.role === 'user' ? textOf(given.content).trim() : '';
}

function messageOf(item: WireObject, basics: MessageBasics, fileText: (part: WireObject) => string): NewMessage {
  const parts = Array.isArray(item.content) ? item.content.filter(isObject) : [];
  if (item.role === 'assistant') {
    const content = parts.map(({ text, refusal }) => String(text ?? refusal ?? '')).join('');
    return { ...blank(basics), role: 'assistant', content: storableText(content) };
  }
  const given = parts.map((part) => modelPart(part, fileText));
  if (item.role !== 'user') return { ...blank(basics), role: 'system', content: textOf(given), isHidden: true };
  const shown = parts.filter(({ invisible }) => invisible !== true);
  const isPlain = shown.length === parts.length && parts.every(({ type }) => type === 'input_text');
  return {
    ...blank(basics),
    role: 'user',
    content: textOf(shown.map((part) => modelPart(part, fileText)).filter((_part, index) => shown[index]?.type === 'input_text')),
    parts: isPlain ? null : shown.map((part) => promptPart(part)),
    context: isPlain ? null : [{ role: 'user', content: given.every(({ type }) => type === 'text') ? textOf(given) : given }],
    isHidden: shown.length === 0,
  };
}

function modelPart(part: WireObject, fileText: (part: WireObject) => string): ModelPart {
  if (part.type === 'input_image') {
    const detail = part.detail === 'low' || part.detail === 'high' ? part.detail : undefined;
    return { type: 'image', url: String(part.image_url), ...(detail === undefined ? {} : { detail }) };
  }
  if (part.type === 'input_file') return { type: 'text', text: `[${String(part.filename)}]\n${storableText(fileText(part))}` };
  return { type: 'text', text: storableText(String(part.text ?? '')) };
}

/** As people see it. The text of a file is for the model. */
function promptPart(part: WireObject): PromptPart {
  if (part.type === 'input_image') return { type: 'url', url: String(part.image_url) };
  return {
    type: 'text',
    text: storableText(String(part.type === 'input_file' ? `[${String(part.filename)}]` : (part.text ?? ''))),
  };
}

function textOf(content: string | readonly ModelPart[]): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function callOf({ call_id: id, name, arguments: args }: WireObject): ToolCall {
  return { id: storableText(String(id)), name: storableText(String(name)), arguments: storableText(String(args)) };
}

function toolStatusOf(status: unknown): ToolOutputStatus {
  if (status === 'error') return 'error';
  return status === 'cancelled' || status === 'incomplete' ? 'cancelled' : 'success';
}

function outputText(output: unknown): string {
  if (typeof output === 'string') return storableText(output);
  if (!Array.isArray(output)) return '';
  const texts = output.filter(isObject).map((part) => {
    if (typeof part.text === 'string') return part.text;
    return typeof part.image_url === 'string' ? `[image ${part.image_url.slice(0, 2_000)}]` : JSON.stringify(part);
  });
  return storableText(texts.join('\n'));
}

function blank({ runId, createdAt, newMessageId }: MessageBasics): NewMessage {
  return {
    id: newMessageId(),
    createdAt,
    role: 'user',
    content: '',
    parts: null,
    toolCalls: null,
    toolCallId: null,
    toolStatus: null,
    citations: null,
    runId,
    status: 'completed',
    context: null,
    isHidden: false,
  };
}
