import {
  type NewMessage,
  newMessageDefaults,
  type PromptPart,
  type ToolCall,
} from '../../../entities/conversations/chats/chat.ts';
import {
  type CallResult,
  mirroredText,
  type RunItem,
  type RunSnapshot,
  type ServerCallItem,
} from '../../../entities/conversations/runs/event.ts';
import type { CallOrigin, Thought } from '../../../entities/conversations/runs/thought.ts';
import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import { idPrefixes, timeOfId } from '../../../entities/ground/ids.ts';
import type { AssistantMessage, ModelMessage, ModelToolCall } from '../../models/port.ts';
import { keptToolImages } from './tool-images.ts';

/** The part of a run's output that becomes messages, with the messages that others added meanwhile. */
export interface TranscriptSpan {
  /** Items before this index are in the chat: the run was paused after them. */
  readonly from: number;
  readonly inputs: readonly { readonly at: number; readonly messages: readonly NewMessage[] }[];
}
const wholeRun: TranscriptSpan = { from: 0, inputs: [] };

/** Behind the id of the call that asked for approval, in the call that was made. */
export const approvedSuffix = '_approved';

const unmade = 'Cancelled: this call was not carried out.';

/**
 * The messages that a run adds to its chat. Text stays also when the run was cut. Calls stay only when they wait for the caller's answer, because
 * no provider takes a history with unanswered calls. Calls of the service's tools stay with their outputs, hidden from people.
 *
 * Ids follow from the run's items, and times from the ids: a reader of the events knows both before the rows are written.
 */
export function toTranscriptMessages(run: RunSnapshot, { from, inputs }: TranscriptSpan = wholeRun): readonly NewMessage[] {
  const messages: NewMessage[] = [];
  const turnStart = Math.max(from, ...inputs.map(({ at }) => at));
  let unsaid: RunItem[] = [];
  /** Adds a hidden message for calls that no text follows. */
  const flush = () => {
    const [first] = unsaid;
    const context = toContext(unsaid);
    const images = listImageParts(unsaid);
    unsaid = [];
    // Thoughts alone stay while a run goes on: its next answer belongs to them.
    const isWanted = run.status === 'in_progress' || context.some(({ role }) => role === 'tool');
    if (first === undefined || context.length === 0 || !isWanted) return;
    const base = { ...assistantMessage(run, messageIdFor(first.id)), context };
    messages.push(images.length === 0 ? { ...base, isHidden: true } : { ...base, parts: images });
  };
  for (const [index, item] of run.output.entries()) {
    if (index < from) continue;
    for (const input of inputs) {
      if (input.at !== index) continue;
      flush();
      messages.push(...input.messages);
    }
    if (item.type === 'message' && item.text !== '') {
      const context = toContext(unsaid);
      const parts = visibleParts(item.text, unsaid);
      unsaid = [];
      messages.push({ ...textMessage(run, item), parts, context: context.length === 0 ? null : context });
    } else if (item.type !== 'message' && !(item.type === 'function_call' && index >= turnStart) && isGivenBack(item, run)) {
      unsaid.push(withoutPassages(item));
    }
  }
  const toolCalls = awaitedItems(run, turnStart).map((item) => withOrigin(awaitedCall(item), item.origin));
  if (toolCalls.length > 0) addCalls(run, turnStart, messages, toolCalls, toContext(unsaid));
  else flush();
  for (const input of inputs) if (input.at >= run.output.length) messages.push(...input.messages);
  return messages;
}

/** A search as later runs read it: what it found in MIRRORED sources may have been closed to the person since. */
function withoutPassages(item: RunItem): RunItem {
  if (item.type !== 'server_tool_call' || item.result?.isMirrored !== true) return item;
  return { ...item, result: { ...item.result, output: mirroredText } };
}

/** The content parts of an answer that follows images of tools: its text, then the images. Null without images. */
export function visibleParts(text: string, before: readonly RunItem[]): readonly PromptPart[] | null {
  const images = listImageParts(before);
  return images.length === 0 ? null : [{ type: 'text', text }, ...images];
}

/** The files that calls of tools made. */
export function listOutputFiles(items: readonly RunItem[]): readonly OutputFile[] {
  return items.flatMap((item) => {
    if (item.type === 'server_tool_call_output') return item.files ?? [];
    return item.type === 'server_tool_call' ? (item.result?.files ?? []) : [];
  });
}

/** The images among them. */
export function listImages(items: readonly RunItem[]): readonly OutputFile[] {
  return listOutputFiles(items).filter(isImage);
}

/** The others, which formats with a place for images show apart. */
export function listDocuments(items: readonly RunItem[]): readonly OutputFile[] {
  return listOutputFiles(items).filter((file) => !isImage(file));
}

function isImage({ mimeType }: OutputFile): boolean {
  return mimeType.startsWith('image/');
}

function listImageParts(items: readonly RunItem[]): readonly PromptPart[] {
  return listImages(items).map(({ fileId, url }) => (fileId === null ? { type: 'url', url } : { type: 'id', id: fileId }));
}

/**
 * The items of a run as messages for its model: thoughts, texts, and each call with its output and its images. The calls of one answer stand in one
 * message, with what the answer thought and said before them; images stand behind all its outputs.
 */
export function toContext(items: readonly RunItem[]): readonly ModelMessage[] {
  const messages: ModelMessage[] = [];
  let thoughts: Thought[] = [];
  /** Where the message with the newest calls is, and the images that its calls gave. */
  let asking = -1;
  let images: readonly ModelMessage[] = [];
  const show = () => {
    messages.push(...images);
    images = [];
  };
  const takeThoughts = () => {
    const own = thoughts;
    thoughts = [];
    return own.length === 0 ? {} : { thoughts: own };
  };
  for (const item of items) {
    if (item.type === 'reasoning' && item.origin !== undefined) thoughts.push({ text: item.text, ...item.origin });
    else if (item.type === 'message' && item.text !== '') {
      show();
      messages.push({ role: 'assistant', content: item.text, ...takeThoughts() });
    }
    if (item.type !== 'server_tool_call' && !(item.type === 'function_call' && item.status === 'completed')) continue;
    const call = toToolCall(item);
    const askingMessage = messages[asking];
    const last = messages.at(-1);
    const answer = item.origin?.answer;
    if (answer !== undefined && askingMessage?.role === 'assistant' && askingMessage.toolCalls?.[0]?.origin?.answer === answer) {
      messages[asking] = { ...askingMessage, toolCalls: [...askingMessage.toolCalls, call] };
    } else if (answer !== undefined && thoughts.length === 0 && last?.role === 'assistant' && last.toolCalls === undefined) {
      asking = messages.length - 1;
      messages[asking] = { ...last, toolCalls: [call] };
    } else {
      show();
      asking = messages.push({ role: 'assistant', content: null, toolCalls: [call], ...takeThoughts() }) - 1;
    }
    const result = item.type === 'server_tool_call' ? findResult(item, items) : undefined;
    messages.push({ role: 'tool', toolCallId: call.id, content: outputText(result) });
    images = [...images, ...keptToolImages(call.id, result?.files)];
  }
  show();
  return thoughts.length === 0 ? messages : [...messages, { role: 'assistant', content: null, ...takeThoughts() }];
}

/** What an answer thought and said. */
export function saidIn(items: readonly RunItem[]): readonly AssistantMessage[] {
  return toContext(items.filter(({ type }) => type === 'reasoning' || type === 'message')).filter(isAssistant);
}

function isAssistant(message: ModelMessage): message is AssistantMessage {
  return message.role === 'assistant';
}

function toToolCall(item: ServerCallItem | FunctionCall): ModelToolCall {
  const { callId, name, arguments: args, origin } = item;
  // The call that asked for approval has the same id, and stands in the conversation already.
  const id = item.type === 'server_tool_call' && item.isApproved === true ? callId + approvedSuffix : callId;
  return withOrigin({ id, name, arguments: args === '' ? '{}' : args }, origin);
}

/** The calls that the caller is asked to answer; none unless the run completed. */
export function awaitedCalls(run: RunSnapshot): readonly ToolCall[] {
  return awaitedItems(run, 0).map(awaitedCall);
}

type FunctionCall = Extract<RunItem, { readonly type: 'function_call' }>;

function awaitedItems(run: RunSnapshot, from: number): readonly FunctionCall[] {
  return run.status === 'completed' ? run.output.slice(from).filter((item) => item.type === 'function_call') : [];
}

function withOrigin<Call extends ModelToolCall>(call: Call, origin: CallOrigin | undefined): Call {
  return origin === undefined ? call : { ...call, origin };
}

/** A thought that its provider did not mark is given back with calls only. */
function isGivenBack(item: RunItem, { status, output }: RunSnapshot): boolean {
  if (item.type !== 'reasoning' || item.origin?.opaque !== undefined || status !== 'completed') return true;
  return output.some(({ type }) => type === 'server_tool_call' || type === 'function_call');
}

/** A call that the caller is asked to answer. */
export function awaitedCall({ callId: id, name, arguments: args, approval }: FunctionCall): ToolCall {
  return { id, name, arguments: args, ...(approval === true ? { approval } : {}) };
}

/** The id of the message that holds the awaited calls: the last text, or a message of its own when the model said nothing. */
export function toolMessageId({ output }: Pick<RunSnapshot, 'output'>): string {
  const text = output.findLast((item) => item.type === 'message' && item.text !== '');
  if (text !== undefined) return text.id;
  const call = output.find((item) => item.type === 'function_call');
  if (call === undefined) throw new Error('a run without calls has no message that holds them');
  return messageIdFor(call.id);
}

function addCalls(
  run: RunSnapshot,
  from: number,
  messages: NewMessage[],
  toolCalls: readonly ToolCall[],
  context: readonly ModelMessage[],
): void {
  const id = toolMessageId({ output: run.output.slice(from) });
  const last = messages.findIndex((message) => message.id === id);
  const base = messages[last] ?? assistantMessage(run, id);
  const before = [...(base.context ?? []), ...context];
  messages.splice(last < 0 ? messages.length : last, 1, { ...base, toolCalls, context: before.length === 0 ? null : before });
}

function messageIdFor(itemId: string): string {
  return idPrefixes.message + itemId.slice(itemId.indexOf('_'));
}

function outputText(result: CallResult | undefined): string {
  if (result === undefined) return unmade;
  return result.error === null ? result.output : `Error: ${result.error.message}`;
}

function textMessage(run: RunSnapshot, item: RunItem & { readonly type: 'message' }): NewMessage {
  return {
    ...assistantMessage(run, item.id),
    content: item.text,
    citations: item.citations.length === 0 ? null : item.citations,
    status: item.status === 'completed' ? 'completed' : 'incomplete',
  };
}

function assistantMessage(run: RunSnapshot, id: string): NewMessage {
  return { ...newMessageDefaults, id, createdAt: timeOfId(id), role: 'assistant', runId: run.runId };
}

/** The result of a call among the items of a run; undefined while there is none. */
function findResult(call: ServerCallItem, items: readonly RunItem[]): CallResult | undefined {
  if (call.form !== undefined) return call.result;
  return items.find((item) => item.type === 'server_tool_call_output' && item.callId === call.callId) as CallResult | undefined;
}
