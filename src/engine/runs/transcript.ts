import type { NewMessage, ToolCall } from '../../entities/chat.ts';
import { idPrefixes, timeOfId } from '../../entities/ids.ts';
import type { RunItem, RunSnapshot } from '../../entities/run-event.ts';

/**
 * What a run leaves in its chat's transcript. Text stays also when the run was cut; calls stay only when they wait for the caller's
 * answer, because no provider takes a history with calls that nobody answered.
 *
 * The ids follow from the run's items, and times from the ids: whoever reads the events knows both before the rows are written.
 */
export function messagesOf(run: RunSnapshot): readonly NewMessage[] {
  const messages: NewMessage[] = [];
  for (const item of run.output) {
    if (item.type === 'message' && item.text !== '') messages.push(textMessage(run, item));
  }
  const toolCalls = awaitedCalls(run);
  if (toolCalls.length === 0) return messages;
  const id = toolMessageId(run);
  const last = messages.findIndex((message) => message.id === id);
  const base = messages[last] ?? assistantMessage(run, id);
  messages.splice(last < 0 ? messages.length : last, 1, { ...base, toolCalls });
  return messages;
}

/** Calls that the caller is asked to answer; none unless the run came to its end. */
export function awaitedCalls(run: RunSnapshot): readonly ToolCall[] {
  if (run.status !== 'completed') return [];
  return run.output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.callId, name: item.name, arguments: item.arguments }] : [],
  );
}

/** The message that holds the awaited calls: the last text, or one of its own when the model said nothing. */
export function toolMessageId({ output }: Pick<RunSnapshot, 'output'>): string {
  const text = output.findLast((item) => item.type === 'message' && item.text !== '');
  if (text !== undefined) return text.id;
  const call = output.find((item) => item.type === 'function_call');
  if (call === undefined) throw new Error('a run without calls has no message that holds them');
  return idPrefixes.message + call.id.slice(idPrefixes.functionCall.length);
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
  return {
    id,
    createdAt: timeOfId(id),
    role: 'assistant',
    content: '',
    parts: null,
    toolCalls: null,
    toolCallId: null,
    toolStatus: null,
    citations: null,
    runId: run.runId,
    status: 'completed',
  };
}
