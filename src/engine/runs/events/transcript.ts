import { type NewMessage, newMessageDefaults, type PromptPart, type ToolCall } from '../../../entities/chats/chat.ts';
import { idPrefixes, timeOfId } from '../../../entities/ids.ts';
import type { CallResult, RunItem, RunSnapshot, ServerCallItem } from '../../../entities/runs/event.ts';
import type { OutputFile } from '../../../entities/runs/tool.ts';
import type { ModelMessage } from '../../models/port.ts';
import { keptToolImages } from './tool-images.ts';

/** The part of a run's output that becomes messages, with the messages that others added meanwhile. */
export interface TranscriptSpan {
  /** Items before this index are in the chat: the run was paused after them. */
  readonly from: number;
  readonly inputs: readonly { readonly at: number; readonly messages: readonly NewMessage[] }[];
}
const wholeRun: TranscriptSpan = { from: 0, inputs: [] };

const unmade = 'Cancelled: this call was not carried out.';

/**
 * The messages that a run adds to its chat. Text stays also when the run was cut. Calls stay only when they wait for the caller's answer, because
 * no provider takes a history with unanswered calls. Calls of the service's tools stay with their outputs, hidden from people.
 *
 * Ids follow from the run's items, and times from the ids: a reader of the events knows both before the rows are written.
 */
export function messagesOf(run: RunSnapshot, { from, inputs }: TranscriptSpan = wholeRun): readonly NewMessage[] {
  const messages: NewMessage[] = [];
  const turnStart = Math.max(from, ...inputs.map(({ at }) => at));
  let unsaid: RunItem[] = [];
  /** Adds a hidden message for calls that no text follows. */
  const flush = () => {
    const [first] = unsaid;
    const context = contextOf(unsaid);
    const images = imagePartsOf(unsaid);
    unsaid = [];
    if (first === undefined || context.length === 0) return;
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
      const context = contextOf(unsaid);
      const parts = visibleParts(item.text, unsaid);
      unsaid = [];
      messages.push({ ...textMessage(run, item), parts, context: context.length === 0 ? null : context });
    } else if (item.type !== 'message' && !(item.type === 'function_call' && index >= turnStart)) unsaid.push(item);
  }
  const toolCalls = awaitedCalls(run, turnStart);
  if (toolCalls.length > 0) addCalls(run, turnStart, messages, toolCalls, contextOf(unsaid));
  else flush();
  for (const input of inputs) if (input.at >= run.output.length) messages.push(...input.messages);
  return messages;
}

/** The content parts of an answer that follows images of tools: its text, then the images. Null without images. */
export function visibleParts(text: string, before: readonly RunItem[]): readonly PromptPart[] | null {
  const images = imagePartsOf(before);
  return images.length === 0 ? null : [{ type: 'text', text }, ...images];
}

/** The files that calls of tools made. */
export function outputFilesOf(items: readonly RunItem[]): readonly OutputFile[] {
  return items.flatMap((item) => {
    if (item.type === 'server_tool_call_output') return item.files ?? [];
    return item.type === 'server_tool_call' ? (item.result?.files ?? []) : [];
  });
}

/** The images among them. */
export function imagesOf(items: readonly RunItem[]): readonly OutputFile[] {
  return outputFilesOf(items).filter(isImage);
}

/** The others, which formats with a place for images show apart. */
export function documentsOf(items: readonly RunItem[]): readonly OutputFile[] {
  return outputFilesOf(items).filter((file) => !isImage(file));
}

function isImage({ mimeType }: OutputFile): boolean {
  return mimeType.startsWith('image/');
}

function imagePartsOf(items: readonly RunItem[]): readonly PromptPart[] {
  return imagesOf(items).map(({ fileId, url }) => (fileId === null ? { type: 'url', url } : { type: 'id', id: fileId }));
}

/** The items of a run as messages for its model: texts, and each call with its output and its images. */
export function contextOf(items: readonly RunItem[]): readonly ModelMessage[] {
  return items.flatMap((item): ModelMessage[] => {
    if (item.type === 'message') return item.text === '' ? [] : [{ role: 'assistant', content: item.text }];
    if (item.type !== 'server_tool_call' && !(item.type === 'function_call' && item.status === 'completed')) return [];
    const { callId, name, arguments: args } = item;
    // The call that asked for approval has the same id, and stands in the conversation already.
    const id = item.type === 'server_tool_call' && item.isApproved === true ? `${callId}_approved` : callId;
    const result = item.type === 'server_tool_call' ? resultOf(item, items) : undefined;
    return [
      { role: 'assistant', content: null, toolCalls: [{ id, name, arguments: args === '' ? '{}' : args }] },
      { role: 'tool', toolCallId: id, content: outputText(result) },
      ...keptToolImages(id, result?.files),
    ];
  });
}

/** The calls that the caller is asked to answer; none unless the run completed. */
export function awaitedCalls(run: RunSnapshot, from = 0): readonly ToolCall[] {
  if (run.status !== 'completed') return [];
  return run.output.slice(from).flatMap((item) => (item.type === 'function_call' ? [awaitedCall(item)] : []));
}

/** A call that the caller is asked to answer. */
export function awaitedCall({
  callId: id,
  name,
  arguments: args,
  approval,
}: Extract<RunItem, { readonly type: 'function_call' }>): ToolCall {
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
function resultOf(call: ServerCallItem, items: readonly RunItem[]): CallResult | undefined {
  if (call.form !== undefined) return call.result;
  return items.find((item) => item.type === 'server_tool_call_output' && item.callId === call.callId) as CallResult | undefined;
}
