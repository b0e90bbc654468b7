import type { PoolClient } from 'pg';
import type { NewMessage, ThreadMode } from '../entities/chat.ts';
import type { ResponseItem } from '../entities/response.ts';
import type { NewRun } from '../entities/run.ts';
import type { RunEvent, RunEventBody, RunSnapshot } from '../entities/run-event.ts';
import { addMessages } from './chat-messages.ts';
import { addChat, type NewChat } from './chats.ts';
import type { Database } from './database.ts';
import { addItems } from './responses.ts';
import { addRun, milliseconds } from './runs.ts';
import type { Signals } from './signals.ts';

/** A request on a thread, ready to be written. */
export interface ThreadTurn {
  readonly run: NewRun;
  /** The first events of its log: a reader has something to read at once, also while the run waits. */
  readonly events: readonly RunEvent[];
  readonly messages: readonly NewMessage[];
  readonly items: readonly ResponseItem[];
  /** A thread that begins with this run, with what its chat begins with; else the run's chat is there already. */
  readonly newChat?: { readonly chat: NewChat; readonly messages: readonly NewMessage[] };
  /** The response that the caller goes on from. */
  readonly previousId: string | null;
  /** The caller only said which response it goes on from: on another thread when something was said since. */
  readonly mustBeNewest: boolean;
  readonly isBackground: boolean;
  readonly mode: ThreadMode;
  readonly chatMode: string;
  /** Waiting requests that are equal in this are gathered in one run. */
  readonly likeness: string;
  /** Requests that may wait on one thread. */
  readonly waitingMax: number;
  readonly leaseMs: number;
}

/**
 * `waiting` with `stop`: that run must be stopped first, `force` without waiting for it. `attached`: the request became part of another
 * run. `moved`: the response the caller named is not the newest of its thread any more.
 */
export type ThreadResult =
  | { readonly kind: 'started' }
  | { readonly kind: 'waiting'; readonly stop?: { readonly runId: string; readonly how: 'cancel' | 'force' } }
  | { readonly kind: 'attached'; readonly runId: string; readonly how: 'collect' | 'steer' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'moved' }
  | { readonly kind: 'full' };

export interface Resumption {
  readonly messages: readonly NewMessage[];
  readonly items: readonly ResponseItem[];
  readonly isBackground: boolean;
  readonly leaseMs: number;
}

export interface ThreadStore {
  /** Writes a request at its place in a thread, in one transaction. */
  begin(turn: ThreadTurn): Promise<ThreadResult>;
  /**
   * Sets a paused run to work again; it waits first when another one holds its thread.
   *
   * @returns undefined when it is not paused.
   */
  resume(runId: string, resumption: Resumption): Promise<{ readonly kind: 'started' | 'waiting' } | undefined>;
  /** Ends or pauses a run that nobody works on: one that waits, or one that is paused. @returns false when there is no such one. */
  settle(runId: string, how: 'cancelled' | 'paused'): Promise<boolean>;
}

interface ActiveRow {
  readonly id: string;
  readonly chatMode: string | null;
  readonly takesSteers: boolean;
}

export function createThreadStore(db: Database, signals: Signals): ThreadStore {
  return {
    async begin(turn) {
      const result = await db.transaction((client) => beginTurn(client, turn));
      if (result.kind === 'started' || result.kind === 'waiting') signals.publish('chat-changed', turn.run.chatId);
      return result;
    },
    resume: (runId, resumption) => db.transaction((client) => resumeRun(client, runId, resumption)),
    async settle(runId, how) {
      const wasSettled = await db.transaction(async (client) => {
        await lockChatOf(client, runId);
        const { rows } = await client.query<{ id: string }>(
          `select id from runs where id = $1 and ((status = 'in_progress' and "isWaiting") or ($2 and "incompleteReason" = 'paused'))
           for update`,
          [runId, how === 'cancelled'],
        );
        if (rows[0] === undefined) return false;
        await endQuietly(client, runId, how);
        return true;
      });
      if (wasSettled) signals.publish('run-changed', runId);
      return wasSettled;
    },
  };
}

async function beginTurn(client: PoolClient, turn: ThreadTurn): Promise<ThreadResult> {
  const { run, newChat } = turn;
  const { chatId } = run;
  let activeRunId: string | null = null;
  if (newChat === undefined) {
    const { rows } = await client.query<{ activeRunId: string | null; lastRunId: string | null }>(
      `select "activeRunId", "lastRunId" from chats where id = $1 and "userId" = $2 and "orgId" = $3 and "deletedAt" is null for update`,
      [chatId, run.userId, run.orgId],
    );
    if (rows[0] === undefined) return { kind: 'missing' };
    if (turn.mustBeNewest && rows[0].lastRunId !== turn.previousId && !(await waitsHere(client, turn))) return { kind: 'moved' };
    activeRunId = rows[0].activeRunId;
  } else {
    await addChat(client, newChat.chat);
    await addMessages(client, chatId, newChat.messages);
  }
  const active = activeRunId === null ? undefined : await activeRun(client, activeRunId);
  if (active !== undefined) return joinBusy(client, turn, active);
  await addMessages(client, chatId, turn.messages);
  await addTurn(client, turn);
  await client.query('update chats set "activeRunId" = $2, "lastRunId" = $2, "updatedAt" = now() where id = $1', [
    chatId,
    run.id,
  ]);
  return { kind: 'started' };
}

async function waitsHere(client: PoolClient, { previousId, run }: ThreadTurn): Promise<boolean> {
  const { rowCount } = await client.query(
    `select 1 from runs where id = $1 and "chatId" = $2 and "isWaiting" and status = 'in_progress'`,
    [previousId, run.chatId],
  );
  return rowCount === 1;
}

async function activeRun(client: PoolClient, id: string): Promise<ActiveRow | undefined> {
  const { rows } = await client.query<ActiveRow>(
    `select id, request->>'chatMode' as "chatMode",
       id like 'resp\\_%' and "pauseRequestedAt" is null and "cancelRequestedAt" is null and not "isSteerClosed" as "takesSteers"
     from runs where id = $1 and status = 'in_progress' for update`,
    [id],
  );
  return rows[0];
}

/** What the thread mode says while another run is at work. */
async function joinBusy(client: PoolClient, turn: ThreadTurn, active: ActiveRow): Promise<ThreadResult> {
  const { run, mode } = turn;
  if (mode === 'steer' && active.takesSteers && active.chatMode === turn.chatMode) {
    const messages = turn.messages.map((message) => ({ ...message, runId: active.id }));
    await client.query('update runs set steers = steers || jsonb_build_array($2::jsonb) where id = $1', [
      active.id,
      JSON.stringify(messages),
    ]);
    await addItems(client, active.id, turn.items);
    return { kind: 'attached', runId: active.id, how: 'steer' };
  }
  if (mode === 'interrupt' || mode === 'force') {
    if (mode === 'force') await cancelWaiting(client, run.chatId);
    await addWaiting(client, turn, true);
    return { kind: 'waiting', stop: { runId: active.id, how: mode === 'force' ? 'force' : 'cancel' } };
  }
  const { rows } = await client.query<{ id: string; likeness: string | null; queuedRequests: number }>(
    `select id, likeness, "queuedRequests" from runs where "chatId" = $1 and "isWaiting" and status = 'in_progress'
     order by "queuePosition", id for update`,
    [run.chatId],
  );
  if (rows.reduce((sum, { queuedRequests }) => sum + queuedRequests, 0) >= turn.waitingMax) return { kind: 'full' };
  const last = rows.at(-1);
  if (last?.likeness !== turn.likeness) {
    await addWaiting(client, turn, false);
    return { kind: 'waiting' };
  }
  const messages = turn.messages.map((message) => ({ ...message, runId: last.id }));
  await client.query(
    `update runs set "queuedRequests" = "queuedRequests" + 1,
       "pendingMessages" = (coalesce("pendingMessages", '[]')::jsonb || $2::jsonb)::json where id = $1`,
    [last.id, JSON.stringify(messages)],
  );
  await addItems(client, last.id, turn.items);
  return { kind: 'attached', runId: last.id, how: 'collect' };
}

async function addTurn(client: PoolClient, { run, events, items, previousId, isBackground, leaseMs }: ThreadTurn): Promise<void> {
  await addRun(client, run, leaseMs);
  await client.query('update runs set "previousId" = $2, "isBackground" = $3 where id = $1', [run.id, previousId, isBackground]);
  await addItems(client, run.id, items);
  await addEvents(client, run.id, events);
}

async function addWaiting(client: PoolClient, turn: ThreadTurn, isFirst: boolean): Promise<void> {
  await addTurn(client, turn);
  await client.query(
    `update runs set "isWaiting" = true, "leaseUntil" = null, likeness = $2, "pendingMessages" = $3::json,
       "queuePosition" = ${nextPosition(isFirst)}
     where id = $1`,
    [turn.run.id, turn.likeness, JSON.stringify(turn.messages)],
  );
}

function nextPosition(isFirst: boolean): string {
  const edge = isFirst ? 'min(w."queuePosition") - 1' : 'max(w."queuePosition") + 1';
  return `(select coalesce(${edge}, 0) from runs w where w."chatId" = runs."chatId" and w."isWaiting" and w.status = 'in_progress')`;
}

async function cancelWaiting(client: PoolClient, chatId: string): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select id from runs where "chatId" = $1 and "isWaiting" and status = 'in_progress' for update`,
    [chatId],
  );
  for (const { id } of rows) await endQuietly(client, id, 'cancelled');
}

/** Writes the end of a run that has nobody to write it. */
async function endQuietly(client: PoolClient, runId: string, how: 'cancelled' | 'paused'): Promise<void> {
  const { run, sequence } = await lastState(client, runId);
  const ended: RunSnapshot =
    how === 'paused'
      ? { ...run, status: 'incomplete', incompleteReason: 'paused' }
      : { ...run, status: 'cancelled', incompleteReason: null };
  await addEvents(client, runId, [{ sequence: sequence + 1, type: 'response.incomplete', run: ended }]);
  await client.query(
    `update runs set status = $2, "incompleteReason" = $3, "isWaiting" = false, "endedAt" = now(), "updatedAt" = now(),
       "lastSequence" = $4, "leaseOwner" = null, "leaseUntil" = null, "pauseRequestedAt" = null where id = $1`,
    [runId, ended.status, ended.incompleteReason, sequence + 1],
  );
}

async function resumeRun(
  client: PoolClient,
  runId: string,
  given: Resumption,
): Promise<{ kind: 'started' | 'waiting' } | undefined> {
  const chat = await lockChatOf(client, runId);
  const { rows } = await client.query<{ pendingMessages: readonly NewMessage[] | null }>(
    `select "pendingMessages" from runs where id = $1 and status = 'incomplete' and "incompleteReason" = 'paused' for update`,
    [runId],
  );
  if (chat === undefined || rows[0] === undefined) return undefined;
  const { run, sequence } = await lastState(client, runId);
  const state: RunEventBody = {
    type: 'response.in_progress',
    run: { ...run, status: 'in_progress', incompleteReason: null },
  };
  await addEvents(client, runId, [{ sequence: sequence + 1, ...state }]);
  await addItems(client, runId, given.items);
  const messages = [...(rows[0].pendingMessages ?? []), ...given.messages];
  const isFree = chat.activeRunId === null;
  await client.query(
    `update runs set status = 'in_progress', "incompleteReason" = null, "endedAt" = null, "pauseRequestedAt" = null,
       "cancelRequestedAt" = null, "isSteerClosed" = false, steers = '[]', "isBackground" = $2, attempt = 1, "lastSequence" = -1, "isWaiting" = $3,
       "pendingMessages" = $4::json, "updatedAt" = now(), "queuePosition" = ${nextPosition(true)}, likeness = null,
       "leaseOwner" = null, "leaseUntil" = case when $3 then null else now() + ${milliseconds('$5')} end
     where id = $1`,
    [runId, given.isBackground, !isFree, isFree ? null : JSON.stringify(messages), given.leaseMs],
  );
  if (!isFree) return { kind: 'waiting' };
  await addMessages(client, chat.id, messages);
  await client.query('update chats set "activeRunId" = $2, "lastRunId" = $2, "updatedAt" = now() where id = $1', [
    chat.id,
    runId,
  ]);
  return { kind: 'started' };
}

async function lockChatOf(
  client: PoolClient,
  runId: string,
): Promise<{ readonly id: string; readonly activeRunId: string | null } | undefined> {
  const { rows } = await client.query<{ id: string; activeRunId: string | null }>(
    `select id, "activeRunId" from chats where id = (select "chatId" from runs where id = $1) and "deletedAt" is null for update`,
    [runId],
  );
  return rows[0];
}

/** The run as the last event that carries it has it: such an event ends every log that nobody writes. */
async function lastState(client: PoolClient, runId: string): Promise<{ run: RunSnapshot; sequence: number }> {
  const { rows } = await client.query<{ events: readonly RunEvent[] }>(
    'select events from run_event_batches where "runId" = $1 order by "firstSequence" desc limit 1',
    [runId],
  );
  const last = rows[0]?.events.at(-1);
  if (last === undefined || !('run' in last)) throw new Error(`the log of ${runId} does not end with a state`);
  const { head: _head, ...run } = last.run;
  return { run, sequence: last.sequence };
}

async function addEvents(client: PoolClient, runId: string, events: readonly RunEvent[]): Promise<void> {
  await client.query(
    `insert into run_event_batches ("runId", "firstSequence", "lastSequence", events) values ($1, $2, $3, $4::json)`,
    [runId, events[0]?.sequence, events.at(-1)?.sequence, JSON.stringify(events)],
  );
}
