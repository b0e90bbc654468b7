// Raw SQL: thread order. Runs that no process works on wait for their thread, or are paused; every change of them locks their chat.
import type { NewMessage } from '../../entities/chats/chat.ts';
import type { RunError, RunEvent, RunEventBody, RunSnapshot } from '../../entities/runs/event.ts';
import type { ResponseItem } from '../../entities/runs/response.ts';
import { addMessages } from '../chats/messages.ts';
import { holdChat } from '../chats/turns.ts';
import type { Transaction } from '../database/database.ts';
import { milliseconds } from '../leases.ts';
import { addItems } from './responses.ts';

export interface Resumption {
  readonly messages: readonly NewMessage[];
  readonly items: readonly ResponseItem[];
  readonly isBackground: boolean;
  /** The most requests that may wait on the thread: with so many waiting, the run stays paused. */
  readonly waitingMax: number;
  readonly leaseMs: number;
  /** The process that has the secrets of the resuming request, as in ThreadTurn. */
  readonly holder: string | null;
  /** The key that resumes the run; from now on the run belongs to this key. */
  readonly keyId: string;
}

/** The new state of a run that no process works on. A RunError makes it fail. */
export type Settling = 'cancelled' | 'paused' | RunError;

/** See ThreadStore.settle. */
export async function settleRun(tx: Transaction, runId: string, how: Settling): Promise<boolean> {
  await lockChatOf(tx, runId);
  const rows = await tx.query<{ id: string }>(
    `select id from runs where id = $1 and ((status = 'in_progress' and "isWaiting") or ($2 and "incompleteReason" = 'paused'))
     for update`,
    [runId, how === 'cancelled'],
  );
  if (rows[0] === undefined) return false;
  await endQuietly(tx, runId, how);
  return true;
}

/** Writes the end of a run that no process works on. */
export async function endQuietly(tx: Transaction, runId: string, how: Settling): Promise<void> {
  const { run, sequence } = await lastState(tx, runId);
  const body = endOf(run, how);
  const { run: ended } = body;
  await addEvents(tx, runId, [{ sequence: sequence + 1, ...body }]);
  await tx.execute(
    `update runs set status = $2, "incompleteReason" = $3, "isWaiting" = false, "endedAt" = now(), "updatedAt" = now(),
       "lastSequence" = $4, "errorCode" = $5, "errorMessage" = $6,
       "leaseOwner" = null, "leaseUntil" = null, "pauseRequestedAt" = null where id = $1`,
    [runId, ended.status, ended.incompleteReason, sequence + 1, ended.error?.code, ended.error?.message],
  );
}

function endOf(run: RunSnapshot, how: Settling): RunEventBody & { readonly run: RunSnapshot } {
  if (how === 'paused') return { type: 'response.incomplete', run: { ...run, status: 'incomplete', incompleteReason: 'paused' } };
  const over = { ...run, incompleteReason: null };
  if (how === 'cancelled') return { type: 'response.incomplete', run: { ...over, status: 'cancelled' } };
  return { type: 'response.failed', run: { ...over, status: 'failed', error: how } };
}

/** See ThreadStore.resume. */
export async function resumeRun(
  tx: Transaction,
  runId: string,
  given: Resumption,
): Promise<{ kind: 'started' | 'waiting' | 'full' } | undefined> {
  const chat = await lockChatOf(tx, runId);
  const rows = await tx.query<{ pendingMessages: readonly NewMessage[] | null; request: object }>(
    `select "pendingMessages", request from runs where id = $1 and status = 'incomplete' and "incompleteReason" = 'paused' for update`,
    [runId],
  );
  if (chat === undefined || rows[0] === undefined) return undefined;
  const isFree = chat.activeRunId === null;
  if (!isFree && (await countWaiting(tx, chat.id)) >= given.waitingMax) return { kind: 'full' };
  const { run, sequence } = await lastState(tx, runId);
  const state: RunEventBody = {
    type: 'response.in_progress',
    run: { ...run, status: 'in_progress', incompleteReason: null },
  };
  await addEvents(tx, runId, [{ sequence: sequence + 1, ...state }]);
  await addItems(tx, runId, given.items);
  const messages = [...(rows[0].pendingMessages ?? []), ...given.messages];
  await tx.execute(
    `update runs set status = 'in_progress', "incompleteReason" = null, "endedAt" = null, "pauseRequestedAt" = null,
       "cancelRequestedAt" = null, "isSteerClosed" = false, steers = '[]', "isBackground" = $2, attempt = 0, "lastSequence" = -1, "isWaiting" = $3,
       "pendingMessages" = $4::json, "updatedAt" = now(), "queuePosition" = ${nextPosition(true)}, likeness = null, "keyId" = $7,
       "leaseOwner" = $6, "leaseUntil" = case when $3 and $6::text is null then null else now() + ${milliseconds('$5')} end
     where id = $1`,
    [runId, given.isBackground, !isFree, isFree ? null : JSON.stringify(messages), given.leaseMs, given.holder, given.keyId],
  );
  await setRequest(tx, runId, { ...rows[0].request, needsSecrets: given.holder !== null });
  if (!isFree) return { kind: 'waiting' };
  await addMessages(tx, chat.id, messages);
  await holdChat(tx, chat.id, runId);
  return { kind: 'started' };
}

async function countWaiting(tx: Transaction, chatId: string): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `select coalesce(sum("queuedRequests"), 0)::int as count from runs where "chatId" = $1 and "isWaiting" and status = 'in_progress'`,
    [chatId],
  );
  return rows[0]?.count ?? 0;
}

/** SQL for a position before or after all runs that wait for the same chat. */
export function nextPosition(isFirst: boolean): string {
  const edge = isFirst ? 'min(w."queuePosition") - 1' : 'max(w."queuePosition") + 1';
  return `(select coalesce(${edge}, 0) from runs w where w."chatId" = runs."chatId" and w."isWaiting" and w.status = 'in_progress')`;
}

/** Replaces the whole request: the order of its members matters. */
export async function setRequest(tx: Transaction, runId: string, request: object): Promise<void> {
  await tx.execute('update runs set request = $2::json where id = $1', [runId, JSON.stringify(request)]);
}

async function lockChatOf(
  tx: Transaction,
  runId: string,
): Promise<{ readonly id: string; readonly activeRunId: string | null } | undefined> {
  const rows = await tx.query<{ id: string; activeRunId: string | null }>(
    `select id, "activeRunId" from chats where id = (select "chatId" from runs where id = $1) and "deletedAt" is null for update`,
    [runId],
  );
  return rows[0];
}

/** The run as the last event with a snapshot has it. Every log of a run that no process works on ends with such an event. */
async function lastState(tx: Transaction, runId: string): Promise<{ run: RunSnapshot; sequence: number }> {
  const rows = await tx.query<{ events: readonly RunEvent[] }>(
    'select events from run_event_batches where "runId" = $1 order by "firstSequence" desc limit 1',
    [runId],
  );
  const last = rows[0]?.events.at(-1);
  if (last === undefined || !('run' in last)) throw new Error(`the log of ${runId} does not end with a state`);
  const { head: _head, ...run } = last.run;
  return { run, sequence: last.sequence };
}

export async function addEvents(tx: Transaction, runId: string, events: readonly RunEvent[]): Promise<void> {
  await tx.execute(
    `insert into run_event_batches ("runId", "firstSequence", "lastSequence", events) values ($1, $2, $3, $4::json)`,
    [runId, events[0]?.sequence, events.at(-1)?.sequence, JSON.stringify(events)],
  );
}
