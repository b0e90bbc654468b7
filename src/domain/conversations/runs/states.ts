import { RunFold } from '../../../engine/runs/events/fold.ts';
import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent, RunItem, RunSnapshot } from '../../../entities/conversations/runs/event.ts';
import type { Run, RunKind, RunState } from '../../../entities/conversations/runs/run.ts';
import { isId, timeOfId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { canWriteChat, visibleChats } from '../../ground/access/access.ts';
import { asVisible } from './thread.ts';

/**
 * The states of some runs until now, in their order, each with the warnings of its beginning and its end. Of a run whose events were deleted, the
 * output is what its messages tell: texts with their citations, and calls that it asked for.
 *
 * @param runs  whose contents the caller may read: see `readableRuns`.
 * @throws DomainError REPLY_TOO_LARGE.
 *
 * Cost: one statement; two more when events were deleted.
 */
export async function listRunStates({ storage }: Deps, runs: readonly Run[]): Promise<readonly RunState[]> {
  const storedIds = runs.flatMap(({ id, isStored }) => (isStored ? [id] : []));
  const events =
    storedIds.length === 0 ? new Map<string, readonly RunEvent[]>() : await storage.conversations.runEvents.readStates(storedIds);
  const swept = storedIds.filter((id) => !events.has(id));
  const messages = swept.length === 0 ? [] : await storage.conversations.chats.messagesOfRuns(swept);
  const messagesOf = Map.groupBy(messages, ({ runId }) => runId);
  return runs.map((run) => {
    const log = events.get(run.id);
    return log === undefined ? stateOfMessages(run, messagesOf.get(run.id) ?? []) : stateOfEvents(run.id, log);
  });
}

/** A run whose contents the caller may not read: without its output. */
export function stateWithoutContents(run: Run): RunState {
  return stateOfMessages(run, []);
}

/**
 * Those of the runs whose contents the caller may read, in any order. Administrators see which runs are active, not what people write in them.
 *
 * Cost: nothing for the caller's own runs; else two statements.
 */
export async function readableRuns({ storage }: Deps, caller: Caller, runs: readonly Run[]): Promise<readonly Run[]> {
  const isOwn = (run: Run) => canWriteChat(caller, run);
  const others = runs.filter((run) => !isOwn(run)).map(({ id }) => id);
  const readable = others.length === 0 ? [] : await storage.conversations.runs.findInChats(others, visibleChats(caller));
  return [...runs.filter(isOwn), ...readable];
}

/** A run as its events tell it, for the APIs. */
export function toRunState(snapshot: RunSnapshot): RunState {
  return { ...snapshot, id: snapshot.runId };
}

/** What asked for a run. A run without a row is a response by its id, else a completion. */
export function findRunKind({ id }: { readonly id: string }, run: Pick<Run, 'kind'> | null): RunKind {
  return run?.kind ?? (isId('response', id) ? 'response' : 'completion');
}

/** When a run was asked for, as its id tells. */
export function runCreatedAt({ id }: { readonly id: string }): Date {
  return timeOfId(id);
}

function stateOfEvents(id: string, events: readonly RunEvent[]): RunState {
  const fold = new RunFold();
  fold.add(events);
  const state = fold.snapshot();
  const [first] = events;
  const firstRun = first?.type === 'response.created' ? first.run : undefined;
  const initialWarnings = firstRun === undefined || firstRun === state ? [] : (firstRun.warnings ?? []);
  const warnings = [...initialWarnings, ...(state.warnings ?? [])];
  return { ...state, id, ...(firstRun?.head === undefined ? {} : { head: firstRun.head }), warnings };
}

function stateOfMessages(run: Run, messages: readonly ChatMessage[]): RunState {
  const { id, status, incompleteReason, error, usage, selection } = run;
  const output = messages.flatMap(asVisible).flatMap((message) => (message.role === 'assistant' ? toRunItems(message) : []));
  return { id, runId: id, status, incompleteReason, error, usage, selection, output };
}

function toRunItems({ id, content, citations, status, toolCalls }: ChatMessage): readonly RunItem[] {
  const text: RunItem = {
    ...{ type: 'message', id, text: content, citations: citations ?? [] },
    status: status === 'completed' ? 'completed' : 'incomplete',
  };
  const calls = (toolCalls ?? []).map(({ id: callId, name, arguments: args, approval }): RunItem => {
    const call = { type: 'function_call', id: callId, status: 'completed', callId, name, arguments: args } as const;
    return approval === true ? { ...call, approval } : call;
  });
  return content === '' ? calls : [text, ...calls];
}
