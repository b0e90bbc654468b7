// Raw SQL: thread order. The lock of the chat serializes the runs of a thread.
import type { NewMessage, ThreadMode } from '../../entities/chats/chat.ts';
import type { RunEvent } from '../../entities/runs/event.ts';
import type { ResponseItem } from '../../entities/runs/response.ts';
import type { NewRun } from '../../entities/runs/run.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { lockChat } from '../database/sql/locks.ts';
import { answerApprovals, lockApprovals } from '../runs/approvals.ts';
import {
  addEvents,
  endQuietly,
  nextPosition,
  type Resumption,
  resumeRun,
  type Settling,
  setRequest,
  settleRun,
} from '../runs/idle.ts';
import { addRun } from '../runs/leases.ts';
import { addItems } from '../runs/responses.ts';
import { addChat, type NewChat } from './chats.ts';
import { type FilesOfOther, takeOverFiles } from './copies.ts';
import { addMessages } from './messages.ts';
import { holdChat } from './turns.ts';

/** A request on a thread, ready to be written. */
export interface ThreadTurn {
  readonly run: NewRun;
  /** The first events of the run's log, so that a reader has something to read at once, also while the run waits. */
  readonly events: readonly RunEvent[];
  readonly messages: readonly NewMessage[];
  readonly items: readonly ResponseItem[];
  /** Given when the thread begins with this run: the new chat with its first messages. Absent: the chat exists. */
  readonly newChat?: { readonly chat: NewChat; readonly messages: readonly NewMessage[]; readonly files?: FilesOfOther };
  /** Ids of the approvals that the request answers. */
  readonly approvalIds: readonly string[];
  /** The response that the caller continues. */
  readonly previousId: string | null;
  /** The caller named only the response to continue: the result is `moved` when its thread has a newer one. */
  readonly mustBeNewest: boolean;
  readonly isBackground: boolean;
  readonly mode: ThreadMode;
  readonly chatMode: string;
  /** Waiting requests with the same key are answered by one run. */
  readonly batchKey: string;
  /** The most requests that may wait on one thread, and the most that one run may take together; more than that wait. */
  readonly waitingMax: number;
  readonly leaseMs: number;
  /** The one process that has the secrets of the request; null when there are none. Only this process may begin the run while it lives. */
  readonly holder: string | null;
}

/**
 * `waiting` with `stop`: that run must be stopped first, `force` does not wait for it. `attached`: the request became part of another run. `moved`:
 * the named response is no longer the newest of its thread.
 */
export type ThreadResult =
  | { readonly kind: 'started' }
  | { readonly kind: 'waiting'; readonly stop?: { readonly runId: string; readonly how: 'cancel' | 'force' } }
  | { readonly kind: 'attached'; readonly runId: string; readonly how: 'collect' | 'steer' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'moved' }
  | { readonly kind: 'full' };

export interface ThreadStore {
  /** Writes a request into its thread, in one transaction. */
  begin(turn: ThreadTurn): Promise<ThreadResult>;
  /**
   * Continues a paused run. The run waits first when another run holds its thread.
   *
   * @returns undefined when it is not paused; `full`: nothing was done.
   */
  resume(runId: string, resumption: Resumption): Promise<{ readonly kind: 'started' | 'waiting' | 'full' } | undefined>;
  /** Ends or pauses a run that no process works on: a waiting or paused one. @returns false when there is no such run. */
  settle(runId: string, how: Settling): Promise<boolean>;
}

interface ActiveRow {
  readonly id: string;
  readonly chatMode: string | null;
  readonly takesSteers: boolean;
  /** How many times messages were added to the active run. */
  readonly steerCount: number;
  readonly leaseOwner: string | null;
  readonly request: object;
}

export function createThreadStore(db: Database, signals: Signals): ThreadStore {
  return {
    async begin(turn) {
      const result = await db.transaction(async (tx) => {
        await lockApprovals(tx, turn.approvalIds);
        const begun = await beginTurn(tx, turn);
        if (isPlaced(begun)) await answerApprovals(tx, turn.approvalIds);
        return begun;
      });
      if (result.kind === 'started' || result.kind === 'waiting') signals.publish('chat-changed', turn.run.chatId);
      return result;
    },
    resume: (runId, resumption) => db.transaction((tx) => resumeRun(tx, runId, resumption)),
    async settle(runId, how) {
      const wasSettled = await db.transaction((tx) => settleRun(tx, runId, how));
      if (wasSettled) signals.publish('run-changed', runId);
      return wasSettled;
    },
  };
}

function isPlaced({ kind }: ThreadResult): boolean {
  return kind === 'started' || kind === 'waiting' || kind === 'attached';
}

async function beginTurn(tx: Transaction, turn: ThreadTurn): Promise<ThreadResult> {
  const { run, newChat } = turn;
  const { chatId } = run;
  let activeRunId: string | null = null;
  if (newChat === undefined) {
    const rows = await tx.query<{ activeRunId: string | null; lastRunId: string | null; isOpen: boolean }>(
      `select "activeRunId", "lastRunId", "agentId" is null and "modelId" is null as "isOpen" from chats where id = $1 and "userId" = $2 and "orgId" = $3 and "deletedAt" is null for update`,
      [chatId, run.userId, run.orgId],
    );
    if (rows[0] === undefined) return { kind: 'missing' };
    if (turn.mustBeNewest && rows[0].lastRunId !== turn.previousId && !(await waitsHere(tx, turn))) return { kind: 'moved' };
    activeRunId = rows[0].activeRunId;
    if (rows[0].isOpen) await answerWith(tx, run);
  } else {
    await addChat(tx, newChat.chat);
    // A run of the other chat locks the chat before it counts the messages of the agent: the same order here.
    if (newChat.files !== undefined) await lockChat(tx, newChat.files.chatId);
    await addMessages(tx, chatId, newChat.messages);
    if (newChat.files !== undefined) await takeOverFiles(tx, chatId, newChat.files);
  }
  const active = activeRunId === null ? undefined : await activeRun(tx, activeRunId, run.id);
  if (active !== undefined) return joinBusy(tx, turn, active);
  await addMessages(tx, chatId, turn.messages);
  await addTurn(tx, turn);
  await holdChat(tx, chatId, run.id);
  return { kind: 'started' };
}

/** A conversation that began without an agent and a model has those of its first response. */
async function answerWith(tx: Transaction, { chatId, agentId, modelId }: NewRun): Promise<void> {
  await tx.execute('update chats set "agentId" = $2, "modelId" = $3 where id = $1', [
    chatId,
    agentId,
    agentId === null ? modelId : null,
  ]);
}

async function waitsHere(tx: Transaction, { previousId, run }: ThreadTurn): Promise<boolean> {
  const rowCount = await tx.execute(
    `select 1 from runs where id = $1 and "chatId" = $2 and "isWaiting" and status = 'in_progress'`,
    [previousId, run.chatId],
  );
  return rowCount === 1;
}

/** @param joiningId  the run of the new turn: it can only become part of a run of the same kind, which its readers know how to follow. */
async function activeRun(tx: Transaction, id: string, joiningId: string): Promise<ActiveRow | undefined> {
  const rows = await tx.query<ActiveRow>(
    `select id, request, "leaseOwner", request->>'chatMode' as "chatMode",
       split_part(id, '_', 1) = split_part($2, '_', 1) and "pauseRequestedAt" is null and "cancelRequestedAt" is null and not "isSteerClosed" as "takesSteers",
       jsonb_array_length(steers) as "steerCount"
     from runs where id = $1 and status = 'in_progress' for update`,
    [id, joiningId],
  );
  return rows[0];
}

/** What the thread mode prescribes while another run is active. */
async function joinBusy(tx: Transaction, turn: ThreadTurn, active: ActiveRow): Promise<ThreadResult> {
  const { run, mode, holder } = turn;
  // Only the process that works on the run can give it the request's secrets.
  const isReachable = holder === null || holder === active.leaseOwner;
  const takesThis = active.takesSteers && active.chatMode === turn.chatMode && active.steerCount < turn.waitingMax;
  if (mode === 'steer' && takesThis && isReachable) {
    const messages = turn.messages.map((message) => ({ ...message, runId: active.id }));
    if (holder !== null) await setRequest(tx, active.id, { ...active.request, needsSecrets: true });
    await tx.execute('update runs set steers = steers || jsonb_build_array($2::jsonb) where id = $1', [
      active.id,
      JSON.stringify(messages),
    ]);
    await addItems(tx, active.id, turn.items);
    return { kind: 'attached', runId: active.id, how: 'steer' };
  }
  if (mode === 'force') {
    await cancelWaiting(tx, run.chatId);
    await addWaiting(tx, turn, true);
    return { kind: 'waiting', stop: { runId: active.id, how: 'force' } };
  }
  const rows = await tx.query<{ id: string; batchKey: string | null; queuedRequests: number }>(
    `select id, likeness as "batchKey", "queuedRequests" from runs where "chatId" = $1 and "isWaiting" and status = 'in_progress'
     order by "queuePosition", id for update`,
    [run.chatId],
  );
  if (rows.reduce((sum, { queuedRequests }) => sum + queuedRequests, 0) >= turn.waitingMax) return { kind: 'full' };
  if (mode === 'interrupt') {
    await addWaiting(tx, turn, true);
    return { kind: 'waiting', stop: { runId: active.id, how: 'cancel' } };
  }
  const last = rows.at(-1);
  if (last?.batchKey !== turn.batchKey) {
    await addWaiting(tx, turn, false);
    return { kind: 'waiting' };
  }
  const messages = turn.messages.map((message) => ({ ...message, runId: last.id }));
  await tx.execute(
    `update runs set "queuedRequests" = "queuedRequests" + 1,
       "pendingMessages" = (coalesce("pendingMessages", '[]')::jsonb || $2::jsonb)::json where id = $1`,
    [last.id, JSON.stringify(messages)],
  );
  await addItems(tx, last.id, turn.items);
  return { kind: 'attached', runId: last.id, how: 'collect' };
}

async function addTurn(tx: Transaction, turn: ThreadTurn): Promise<void> {
  const { run, events, items, leaseMs } = turn;
  await addRun(tx, run, leaseMs, turn);
  await addItems(tx, run.id, items);
  await addEvents(tx, run.id, events);
}

async function addWaiting(tx: Transaction, turn: ThreadTurn, isFirst: boolean): Promise<void> {
  await addTurn(tx, turn);
  await tx.execute(
    `update runs set "isWaiting" = true, "leaseUntil" = case when "leaseOwner" is not null then "leaseUntil" end, likeness = $2,
       "pendingMessages" = $3::json, "queuePosition" = ${nextPosition(isFirst)}
     where id = $1`,
    [turn.run.id, turn.batchKey, JSON.stringify(turn.messages)],
  );
}

async function cancelWaiting(tx: Transaction, chatId: string): Promise<void> {
  const rows = await tx.query<{ id: string }>(
    `select id from runs where "chatId" = $1 and "isWaiting" and status = 'in_progress' for update`,
    [chatId],
  );
  for (const { id } of rows) await endQuietly(tx, id, 'cancelled');
}
