import type { ModelMessage } from '../../../engine/models/port.ts';
import { imageCount, imagesLead } from '../../../engine/runs/events/tool-images.ts';
import { mcpFunctionName } from '../../../engine/tools/names.ts';
import {
  type NewMessage,
  newMessageDefaults,
  type PromptPart,
  type ToolCall,
  type ToolOutputStatus,
} from '../../../entities/conversations/chats/chat.ts';
import type { ResponseItem, WireObject } from '../../../entities/conversations/runs/response.ts';
import type { Thought } from '../../../entities/conversations/runs/thought.ts';
import { ownServerLabel } from '../../../entities/conversations/runs/tool.ts';
import { isObject, itemsOf, membersOf, stringOf } from '../../../lib/json/json.ts';
import { storableJson, storableText } from '../../../lib/text/text.ts';
import { readThought } from '../../../wire/ground/thoughts.ts';
import type { ContextPart } from '../../ground/attachments/attachments.ts';
import { callRecordOf, madeAfterApproval, madeOutputOf } from './tool-items.ts';

interface MessageBasics {
  readonly runId: string | null;
  readonly createdAt: Date;
  /** Whether the model takes images. */
  readonly seesImages: boolean;
  newMessageId(): string;
}

/** The content that was read for a part; undefined for a part that needs none. */
type GivenParts = (part: WireObject) => ContextPart | undefined;

/**
 * Converts input items into messages of a chat: the text for people and the context for the model. Calls and outputs are ordered as
 * every provider requires: one message with all calls that belong together, directly followed by their outputs.
 *
 * @param given  the content that was read for a part: the text of a file, or an image.
 */
export function messagesOfItems(items: readonly ResponseItem[], basics: MessageBasics, given: GivenParts): readonly NewMessage[] {
  const messages: NewMessage[] = [];
  const outputs = new Map(items.flatMap(({ item }) => (item.type === 'server_tool_call_output' ? [[item.call_id, item]] : [])));
  const made = madeAfterApproval(items);
  const asked = new Set(items.flatMap(({ item }) => callIdOf(item) ?? []));
  let thoughts: Thought[] = [];
  /** The thoughts before an answer, as its context. */
  const thought = (): Partial<Pick<NewMessage, 'context'>> => {
    const before: ModelMessage[] = thoughts.length === 0 ? [] : [{ role: 'assistant', content: null, thoughts }];
    thoughts = [];
    return before.length === 0 ? {} : { context: before };
  };
  /** A call and its output, for the model only. */
  const told = (call: ToolCall, output: unknown, kept: Pick<NewMessage, 'item'> = {}) => {
    const { text, shown } = readOutput(output, call.id, given);
    const context: unknown[] = [
      ...(thought().context ?? []),
      { role: 'assistant', content: null, toolCalls: [call] },
      { role: 'tool', toolCallId: call.id, content: text },
      ...(shown ?? []),
    ];
    messages.push({ ...blank(basics), role: 'assistant', context, isHidden: true, ...kept });
  };
  for (const { item, itemId } of inOrder(items)) {
    const last = messages.at(-1);
    switch (item.type) {
      case 'message':
        if (item.role === 'assistant') messages.push({ ...messageOf(item, basics, given), ...thought() });
        else messages.push(messageOf(item, basics, given));
        break;
      case 'reasoning':
        thoughts.push(...thoughtsOf(item));
        break;
      case 'function_call':
      case 'mcp_approval_request': {
        const call = callOf(item);
        const canJoin = last?.role === 'assistant' && !last.isHidden && thoughts.length === 0;
        if (canJoin) messages[messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] };
        else messages.push({ ...blank(basics), role: 'assistant', toolCalls: [call], ...thought() });
        break;
      }
      case 'mcp_approval_response': {
        const toolCallId = String(item.approval_request_id);
        const outcome = item.approve === true ? made.get(toolCallId) : undefined;
        const refused = item.approve === true ? '' : storableText(String(item.reason ?? ''));
        const content = outcome === undefined ? refused : storableText(String(madeOutputOf(outcome)));
        messages.push({
          ...blank(basics),
          role: 'tool',
          content,
          toolCallId,
          toolStatus: item.approve === true ? 'success' : 'cancelled',
        });
        break;
      }
      case 'function_call_output': {
        const toolCallId = storableText(String(item.call_id));
        const outcome = made.get(toolCallId);
        const output = outcome === undefined ? item.output : madeOutputOf(outcome);
        const { text, shown } = readOutput(output, toolCallId, given);
        const toolStatus = toolStatusOf(item.status);
        const content = readOutput(visibleOf(output), toolCallId, given).text;
        // The model gets more than people see.
        const whole: ModelMessage[] = content === text ? [] : [{ role: 'tool', toolCallId, content: text }];
        const context = whole.length === 0 ? shown : [...whole, ...(shown ?? [])];
        messages.push({ ...blank(basics), role: 'tool', content, toolCallId, toolStatus, context });
        break;
      }
      case 'server_tool_call': {
        const call = callOf(item);
        // What a call gave that waited for approval stands with the call that asked.
        if (made.has(call.id)) break;
        const output = outputs.get(item.call_id);
        told(call, output?.output ?? 'Cancelled: no output was given for this call.');
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
      default: {
        if (asked.has(String(item.approval_request_id ?? ''))) break;
        const call = callRecordOf(item, basics.seesImages);
        if (call === undefined) break;
        const { name, arguments: args, output } = call;
        told({ id: storableText(itemId), name, arguments: storableText(args) }, output, { item });
        break;
      }
    }
  }
  return messages;
}

/** What is given back to the provider of a thought; a summary alone goes to whoever answers. */
function thoughtsOf({ encrypted_content: content, summary }: WireObject): readonly Thought[] {
  const known = readThought(content);
  const text = itemsOf(summary).flatMap((part) => stringOf(membersOf(part).text) ?? []);
  if (known !== undefined) return [storableJson(known) as Thought];
  return typeof content === 'string' || text.length === 0 ? [] : [{ text: storableText(text.join('\n')) }];
}

/** The id by which an item that asks for an output is answered; undefined for other items. */
export function callIdOf(item: WireObject): string | undefined {
  if (item.type === 'mcp_approval_request') return String(item.id);
  return item.type === 'function_call' ? String(item.call_id) : undefined;
}

/** The id of the call that an item answers; undefined for other items. */
export function answeredIdOf(item: WireObject): string | undefined {
  if (item.type === 'mcp_approval_response') return String(item.approval_request_id);
  return item.type === 'function_call_output' ? String(item.call_id) : undefined;
}

/** Outputs of earlier calls come first, so that they directly follow their calls. */
function inOrder(items: readonly ResponseItem[]): readonly ResponseItem[] {
  const ownCalls = new Set(items.flatMap(({ item }) => callIdOf(item) ?? []));
  const isEarlier = ({ item }: ResponseItem) => {
    const id = answeredIdOf(item);
    return id !== undefined && !ownCalls.has(id);
  };
  return [...items.filter(isEarlier), ...items.filter((item) => !isEarlier(item))];
}

/** The text of the last user message among the items, including hidden parts: the question for knowledge. Never shown to people. */
export function questionOfMessages(messages: readonly NewMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  if (last === undefined) return '';
  if (last.content !== '') return last.content.trim();
  const [given] = (last.context ?? []) as readonly ModelMessage[];
  return given?.role === 'user' ? textOf(given.content).trim() : '';
}

/** Whether people may see a part: the only place that reads an item's flag `invisible`. */
function isVisible({ invisible }: WireObject): boolean {
  return invisible !== true;
}

/** An output without the parts for the model only. */
function visibleOf(output: unknown): unknown {
  return Array.isArray(output) ? output.filter((part) => !isObject(part) || isVisible(part)) : output;
}

function messageOf(item: WireObject, basics: MessageBasics, read: GivenParts): NewMessage {
  const parts = Array.isArray(item.content) ? item.content.filter(isObject) : [];
  if (item.role === 'assistant') {
    const content = parts.map(({ text, refusal }) => String(text ?? refusal ?? '')).join('');
    return { ...blank(basics), role: 'assistant', content: storableText(content) };
  }
  const given = parts.map((part) => modelPart(part, read));
  if (item.role !== 'user') return { ...blank(basics), role: 'system', content: textOf(given), isHidden: true };
  const shown = parts.filter(isVisible);
  const isPlain = shown.length === parts.length && parts.every(({ type }) => type === 'input_text');
  return {
    ...blank(basics),
    role: 'user',
    content: textOf(shown.filter(({ type }) => type === 'input_text').map((part) => modelPart(part, read))),
    parts: isPlain ? null : shown.map((part) => promptPart(part)),
    context: isPlain
      ? null
      : [{ role: 'user', content: given.every(({ type }) => type === 'text') ? textOf(given) : given } as ModelMessage],
    isHidden: shown.length === 0,
  };
}

function modelPart(part: WireObject, given: GivenParts): ContextPart {
  const read = given(part);
  if (read !== undefined) return read;
  if (part.type === 'input_image' || part.type === 'output_image') {
    const detail = part.detail === 'low' || part.detail === 'high' ? part.detail : undefined;
    return { type: 'image', url: String(part.image_url), ...(detail === undefined ? {} : { detail }) };
  }
  const said = part.type === 'output_file' ? `[file ${String(part.filename ?? part.file_id ?? '')}]` : String(part.text ?? '');
  return { type: 'text', text: storableText(said) };
}

/** The part as people see it. The text of a file is for the model only. */
function promptPart(part: WireObject): PromptPart {
  const { type, image_url: image, file_url: address } = part;
  if (typeof image === 'string') return { type: 'url', url: image };
  if (typeof address === 'string') return { type: 'url', url: address };
  const text = type === 'input_text' ? String(part.text ?? '') : `[${String(part.filename ?? part.file_id ?? 'file')}]`;
  return { type: 'text', text: storableText(text) };
}

function textOf(content: string | readonly ContextPart[]): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function callOf(item: WireObject): ToolCall {
  const isRequest = item.type === 'mcp_approval_request';
  const isForeign = isRequest && item.server_label !== ownServerLabel;
  const name = isForeign ? mcpFunctionName(String(item.server_label), String(item.name)) : String(item.name);
  return {
    id: storableText(String(isRequest ? item.id : item.call_id)),
    name: storableText(name),
    arguments: storableText(String(item.arguments)),
    ...(isRequest || item.approval === true ? { approval: true } : {}),
  };
}

function toolStatusOf(status: unknown): ToolOutputStatus {
  if (status === 'error') return 'error';
  return status === 'cancelled' || status === 'incomplete' ? 'cancelled' : 'success';
}

/** The result of a tool. Providers take only text as a call's output: images go into a user message after the outputs of the same turn. */
function readOutput(
  output: unknown,
  callId: string,
  given: GivenParts,
): { readonly text: string; readonly shown: readonly ModelMessage[] | null } {
  if (typeof output === 'string') return { text: storableText(output), shown: null };
  const parts = Array.isArray(output) ? output.filter(isObject).map((part) => modelPart(part, given)) : [];
  const images = parts.filter(({ type }) => type !== 'text');
  const text = textOf(parts);
  if (images.length === 0) return { text, shown: null };
  const lead: ContextPart = { type: 'text', text: imagesLead(callId, images.length) };
  const note = `(${imageCount(images.length)}: see the message behind the outputs.)`;
  return {
    text: text === '' ? note : `${text}\n${note}`,
    shown: [{ role: 'user', content: [lead, ...images] } as ModelMessage],
  };
}

function blank({ runId, createdAt, newMessageId }: MessageBasics): NewMessage {
  return { ...newMessageDefaults, id: newMessageId(), createdAt, role: 'user', runId };
}
