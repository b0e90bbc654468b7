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
import { isObject, membersOf, readElements, readString } from '../../../lib/json/json.ts';
import { storableJson, storableText } from '../../../lib/text/text.ts';
import { readThought } from '../../../wire/ground/thoughts.ts';
import type { ContextPart } from '../../ground/attachments/attachments.ts';
import { outputsAfterApproval, toCallRecord } from './tool-items.ts';

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
export function messagesOfItems(
  items: readonly ResponseItem[],
  basics: MessageBasics,
  contextParts: GivenParts,
): readonly NewMessage[] {
  const writer = new MessageWriter(items, basics, contextParts);
  for (const item of inOrder(items)) writer.add(item);
  return writer.messages;
}

/** Writes the messages of items that come one after the other. */
class MessageWriter {
  readonly messages: NewMessage[] = [];
  readonly #basics: MessageBasics;
  readonly #given: GivenParts;
  /** Of calls in the service, by the id of the call. */
  readonly #outputs: ReadonlyMap<unknown, unknown>;
  /** What calls gave that waited for approval. It stands with the call that asked. */
  readonly #approvedOutputs: ReadonlyMap<string, unknown>;
  readonly #askingIds: ReadonlySet<string>;
  /** Since the last answer. */
  #thoughts: Thought[] = [];

  constructor(items: readonly ResponseItem[], basics: MessageBasics, given: GivenParts) {
    this.#basics = basics;
    this.#given = given;
    const outputs = items.filter(({ item }) => item.type === 'server_tool_call_output');
    this.#outputs = new Map(outputs.map(({ item }) => [item.call_id, item.output]));
    this.#approvedOutputs = outputsAfterApproval(items);
    this.#askingIds = new Set(items.flatMap(({ item }) => findCallId(item) ?? []));
  }

  add({ item, itemId }: ResponseItem): void {
    switch (item.type) {
      case 'message':
        this.#push({ ...toMessage(item, this.#given), ...(item.role === 'assistant' ? this.#thoughtContext() : {}) });
        break;
      case 'reasoning':
        this.#thoughts.push(...readThoughts(item));
        break;
      case 'function_call':
      case 'mcp_approval_request':
        this.#addCall(toToolCall(item));
        break;
      case 'mcp_approval_response':
        this.#addApproval(item);
        break;
      case 'function_call_output':
        this.#addOutput(item);
        break;
      case 'server_tool_call':
        this.#addServiceCall(item);
        break;
      case 'compaction':
        this.#push({ role: 'system', content: storable(item.encrypted_content), isHidden: true });
        break;
      default:
        this.#addHostedCall(item, itemId);
    }
  }

  #push(message: Partial<NewMessage>): void {
    const { runId, createdAt, newMessageId } = this.#basics;
    this.messages.push({ ...newMessageDefaults, id: newMessageId(), createdAt, role: 'user', runId, ...message });
  }

  /** The thoughts before an answer, as its context. */
  #thoughtContext(): { readonly context?: readonly ModelMessage[] } {
    const thoughts = this.#thoughts;
    this.#thoughts = [];
    return thoughts.length === 0 ? {} : { context: [{ role: 'assistant', content: null, thoughts }] };
  }

  #addCall(call: ToolCall): void {
    const last = this.messages.at(-1);
    const canJoin = last?.role === 'assistant' && !last.isHidden && this.#thoughts.length === 0;
    if (canJoin) this.messages[this.messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] };
    else this.#push({ role: 'assistant', toolCalls: [call], ...this.#thoughtContext() });
  }

  #addApproval({ approve, approval_request_id: id, reason }: WireObject): void {
    const toolCallId = String(id);
    const isApproved = approve === true;
    const content = isApproved ? this.#approvedOutputs.get(toolCallId) : reason;
    this.#push({ role: 'tool', content: storable(content), toolCallId, toolStatus: isApproved ? 'success' : 'cancelled' });
  }

  #addOutput(item: WireObject): void {
    const toolCallId = storable(item.call_id);
    const output = this.#approvedOutputs.get(toolCallId) ?? item.output;
    const { text, shown } = readOutput(output, toolCallId, this.#given);
    const content = readOutput(keepVisible(output), toolCallId, this.#given).text;
    // The model gets more than people see.
    const whole: ModelMessage[] = content === text ? [] : [{ role: 'tool', toolCallId, content: text }];
    const context = whole.length === 0 ? shown : [...whole, ...(shown ?? [])];
    this.#push({ role: 'tool', content, toolCallId, toolStatus: readToolStatus(item.status), context });
  }

  #addServiceCall(item: WireObject): void {
    const call = toToolCall(item);
    if (this.#approvedOutputs.has(call.id)) return;
    this.#addHidden(call, this.#outputs.get(item.call_id) ?? 'Cancelled: no output was given for this call.');
  }

  #addHostedCall(item: WireObject, itemId: string): void {
    if (this.#askingIds.has(String(item.approval_request_id ?? ''))) return;
    const call = toCallRecord(item, this.#basics.seesImages);
    if (call === undefined) return;
    this.#addHidden({ id: storable(itemId), name: call.name, arguments: storable(call.arguments) }, call.output, { item });
  }

  /** A call and its output, for the model only. */
  #addHidden(call: ToolCall, output: unknown, retained: Pick<NewMessage, 'item'> = {}): void {
    const { text, shown } = readOutput(output, call.id, this.#given);
    const context: unknown[] = [
      ...(this.#thoughtContext().context ?? []),
      { role: 'assistant', content: null, toolCalls: [call] },
      { role: 'tool', toolCallId: call.id, content: text },
      ...(shown ?? []),
    ];
    this.#push({ role: 'assistant', context, isHidden: true, ...retained });
  }
}

/** Any value as a text that can be stored; none for null. */
function storable(value: unknown): string {
  return storableText(String(value ?? ''));
}

/** What is given back to the provider of a thought; a summary alone goes to whoever answers. */
function readThoughts({ encrypted_content: content, summary }: WireObject): readonly Thought[] {
  const storedThought = readThought(content);
  const text = readElements(summary).flatMap((part) => readString(membersOf(part).text) ?? []);
  if (storedThought !== undefined) return [storableJson(storedThought) as Thought];
  return typeof content === 'string' || text.length === 0 ? [] : [{ text: storable(text.join('\n')) }];
}

/** The id by which an item that asks for an output is answered; undefined for other items. */
export function findCallId(item: WireObject): string | undefined {
  if (item.type === 'mcp_approval_request') return String(item.id);
  return item.type === 'function_call' ? String(item.call_id) : undefined;
}

/** The id of the call that an item answers; undefined for other items. */
export function findAnsweredId(item: WireObject): string | undefined {
  if (item.type === 'mcp_approval_response') return String(item.approval_request_id);
  return item.type === 'function_call_output' ? String(item.call_id) : undefined;
}

/** Outputs of earlier calls come first, so that they directly follow their calls. */
function inOrder(items: readonly ResponseItem[]): readonly ResponseItem[] {
  const ownCalls = new Set(items.flatMap(({ item }) => findCallId(item) ?? []));
  const isEarlier = ({ item }: ResponseItem) => {
    const id = findAnsweredId(item);
    return id !== undefined && !ownCalls.has(id);
  };
  return [...items.filter(isEarlier), ...items.filter((item) => !isEarlier(item))];
}

/** The text of the last user message among the items, including hidden parts: the question for knowledge. Never shown to people. */
export function questionOfMessages(messages: readonly NewMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  if (last === undefined) return '';
  if (last.content !== '') return last.content.trim();
  const [contextMessage] = (last.context ?? []) as readonly ModelMessage[];
  return contextMessage?.role === 'user' ? joinText(contextMessage.content).trim() : '';
}

/** Whether people may see a part: the only place that reads an item's flag `invisible`. */
function isVisible({ invisible }: WireObject): boolean {
  return invisible !== true;
}

/** An output without the parts for the model only. */
function keepVisible(output: unknown): unknown {
  return Array.isArray(output) ? output.filter((part) => !isObject(part) || isVisible(part)) : output;
}

function toMessage(item: WireObject, read: GivenParts): Partial<NewMessage> {
  const parts = Array.isArray(item.content) ? item.content.filter(isObject) : [];
  if (item.role === 'assistant') {
    const content = parts.map(({ text, refusal }) => String(text ?? refusal ?? '')).join('');
    return { role: 'assistant', content: storable(content) };
  }
  const contextParts = parts.map((part) => modelPart(part, read));
  if (item.role !== 'user') return { role: 'system', content: joinText(contextParts), isHidden: true };
  const visibleParts = parts.filter(isVisible);
  const isPlain = visibleParts.length === parts.length && parts.every(({ type }) => type === 'input_text');
  return {
    role: 'user',
    content: joinText(visibleParts.filter(({ type }) => type === 'input_text').map((part) => modelPart(part, read))),
    parts: isPlain ? null : visibleParts.map((part) => promptPart(part)),
    context: isPlain
      ? null
      : [
          {
            role: 'user',
            content: contextParts.every(({ type }) => type === 'text') ? joinText(contextParts) : contextParts,
          } as ModelMessage,
        ],
    isHidden: visibleParts.length === 0,
  };
}

function modelPart(part: WireObject, contextParts: GivenParts): ContextPart {
  const read = contextParts(part);
  if (read !== undefined) return read;
  if (part.type === 'input_image' || part.type === 'output_image') {
    const detail = part.detail === 'low' || part.detail === 'high' ? part.detail : undefined;
    return { type: 'image', url: String(part.image_url), ...(detail === undefined ? {} : { detail }) };
  }
  const partText =
    part.type === 'output_file' ? `[file ${String(part.filename ?? part.file_id ?? '')}]` : String(part.text ?? '');
  return { type: 'text', text: storable(partText) };
}

/** The part as people see it. The text of a file is for the model only. */
function promptPart(part: WireObject): PromptPart {
  const { type, image_url: image, file_url: address } = part;
  if (typeof image === 'string') return { type: 'url', url: image };
  if (typeof address === 'string') return { type: 'url', url: address };
  const text = type === 'input_text' ? String(part.text ?? '') : `[${String(part.filename ?? part.file_id ?? 'file')}]`;
  return { type: 'text', text: storable(text) };
}

function joinText(content: string | readonly ContextPart[]): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function toToolCall(item: WireObject): ToolCall {
  const isRequest = item.type === 'mcp_approval_request';
  const isForeign = isRequest && item.server_label !== ownServerLabel;
  const name = isForeign ? mcpFunctionName(String(item.server_label), String(item.name)) : String(item.name);
  return {
    id: storable(isRequest ? item.id : item.call_id),
    name: storable(name),
    arguments: storable(item.arguments),
    ...(isRequest || item.approval === true ? { approval: true } : {}),
  };
}

function readToolStatus(status: unknown): ToolOutputStatus {
  if (status === 'error') return 'error';
  return status === 'cancelled' || status === 'incomplete' ? 'cancelled' : 'success';
}

/** The result of a tool. Providers take only text as a call's output: images go into a user message after the outputs of the same turn. */
function readOutput(
  output: unknown,
  callId: string,
  contextParts: GivenParts,
): { readonly text: string; readonly shown: readonly ModelMessage[] | null } {
  if (typeof output === 'string') return { text: storable(output), shown: null };
  const parts = Array.isArray(output) ? output.filter(isObject).map((part) => modelPart(part, contextParts)) : [];
  const images = parts.filter(({ type }) => type !== 'text');
  const text = joinText(parts);
  if (images.length === 0) return { text, shown: null };
  const lead: ContextPart = { type: 'text', text: imagesLead(callId, images.length) };
  const note = `(${imageCount(images.length)}: see the message behind the outputs.)`;
  return {
    text: text === '' ? note : `${text}\n${note}`,
    shown: [{ role: 'user', content: [lead, ...images] } as ModelMessage],
  };
}
