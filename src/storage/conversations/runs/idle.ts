// Raw SQL: thread order and leases. Runs that no process works on wait for their thread, or are paused; every change of them locks their chat.
import type { NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunError, RunEvent, RunEventBody, RunSnapshot } from '../../../entities/conversations/runs/event.ts';
import type { ResponseItem } from '../../../entities/conversations/runs/response.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import { milliseconds } from '../../ground/leases.ts';
import { type LockedChat, lockChat, lockRows } from '../../ground/sql/locks.ts';
import { addMessages } from '../chats/messages.ts';
import { holdChat } from '../chats/turns.ts';
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
  await lockRunChat(tx, runId);
  const [run] = await lockRows<IdleRow>(tx, 'runs', [runId], 'status, "isWaiting", "incompleteReason"');
  const isWaiting = run?.status === 'in_progress' && run.isWaiting;
  if (!isWaiting && !(how === 'cancelled' && run?.incompleteReason === 'paused')) return false;
  await endQuietly(tx, runId, how);
  return true;
}

interface IdleRow {
  readonly status: string;
  readonly isWaiting: boolean;
  readonly incompleteReason: string | null;
}

/** Writes the end of a run that no process works on. */
export async function endQuietly(tx: Transaction, runId: string, how: Settling): Promise<void> {
  const { run, sequence } = await lastState(tx, runId);
  const body = toEndEvent(run, how);
  const { status, incompleteReason, error } = body.run;
  const lastSequence = sequence + 1;
  await addEvent(tx, runId, { sequence: lastSequence, ...body });
  const end = {
    status,
    incompleteReason,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
    endedAt: new Date(),
  };
  const idle = { isWaiting: false, leaseOwner: null, leaseUntil: null, pauseRequestedAt: null };
  await tx.prisma.run.updateMany({ where: { id: runId }, data: { ...end, ...idle, lastSequence } });
}

function toEndEvent(run: RunSnapshot, how: Settling): RunEventBody & { readonly run: RunSnapshot } {
  if (how === 'paused') return { type: 'response.incomplete', run: { ...run, status: 'incomplete', incompleteReason: 'paused' } };
  const over = { ...run, incompleteReason: null };
  if (how === 'cancelled') return { type: 'response.incomplete', run: { ...over, status: 'cancelled' } };
  return { type: 'response.failed', run: { ...over, status: 'failed', error: how } };
}

/** See ThreadStore.resume. */
export async function resumeRun(
  tx: Transaction,
  runId: string,
  resumption: Resumption,
): Promise<{ kind: 'started' | 'waiting' | 'full' } | undefined> {
  const chat = await lockRunChat(tx, runId);
  const [pausedRun] = await lockRows<PausedRow>(tx, 'runs', [runId], 'status, "incompleteReason", "pendingMessages", request');
  if (
    chat === undefined ||
    chat.deletedAt !== null ||
    pausedRun?.status !== 'incomplete' ||
    pausedRun.incompleteReason !== 'paused'
  ) {
    return undefined;
  }
  const isFree = chat.activeRunId === null;
  const queue = isFree ? undefined : await loadQueue(tx, chat.id);
  if (queue !== undefined && queue.requests >= resumption.waitingMax) return { kind: 'full' };
  const { run, sequence } = await lastState(tx, runId);
  await addEvent(tx, runId, {
    sequence: sequence + 1,
    type: 'response.in_progress',
    run: { ...run, status: 'in_progress', incompleteReason: null },
  });
  await addItems(tx, runId, resumption.items);
  const messages = [...(pausedRun.pendingMessages ?? []), ...resumption.messages];
  const request = { ...pausedRun.request, needsSecrets: resumption.holder !== null };
  await tx.execute(
    `update runs set status = 'in_progress', "incompleteReason" = null, "endedAt" = null, "pauseRequestedAt" = null,
       "cancelRequestedAt" = null, "isSteerClosed" = false, steers = '[]', "isBackground" = $2, attempt = 0, "lastSequence" = -1, "isWaiting" = $3,
       "pendingMessages" = $4::json, "updatedAt" = now(), "queuePosition" = $8, likeness = null, "keyId" = $7, request = $9::json,
       "leaseOwner" = $6, "leaseUntil" = case when $3 and $6::text is null then null else now() + ${milliseconds('$5')} end
     where id = $1`,
    [
      ...[
        runId,
        resumption.isBackground,
        !isFree,
        isFree ? null : JSON.stringify(messages),
        resumption.leaseMs,
        resumption.holder,
        resumption.keyId,
      ],
      ...[queue === undefined ? 0 : queue.firstPosition - 1, JSON.stringify(request)],
    ],
  );
  if (!isFree) return { kind: 'waiting' };
  await addMessages(tx, chat.id, messages);
  await holdChat(tx, chat.id, runId);
  return { kind: 'started' };
}

interface PausedRow {
  readonly status: string;
  readonly incompleteReason: string | null;
  readonly pendingMessages: readonly NewMessage[] | null;
  readonly request: object;
}

/** Adds the messages of a request to a run: to those that it begins with while it waits, else as one more steer. */
export async function attachMessages(tx: Transaction, runId: string, messages: readonly NewMessage[]): Promise<void> {
  await tx.execute(
    `update runs set "queuedRequests" = "queuedRequests" + "isWaiting"::int,
       "pendingMessages" = case when "isWaiting" then (coalesce("pendingMessages", '[]')::jsonb || $2::jsonb)::json else "pendingMessages" end,
       steers = case when "isWaiting" then steers else steers || jsonb_build_array($2::jsonb) end
     where id = $1`,
    [runId, JSON.stringify(messages)],
  );
}

/** The run got a request with secrets: without them, it cannot be begun anew. */
export async function needSecrets({ prisma }: Transaction, runId: string): Promise<void> {
  const { request } = await prisma.run.findUniqueOrThrow({ where: { id: runId }, select: { request: true } });
  const data = { request: { ...(request as Prisma.JsonObject), needsSecrets: true } };
  await prisma.run.updateMany({ where: { id: runId }, data });
}

/** Where: the runs that wait for a chat. */
export function waitingIn(chatId: string) {
  return { chatId, isWaiting: true, status: 'in_progress' };
}

/** How many requests wait for a chat, and where the first of their runs stands. */
async function loadQueue(
  { prisma }: Transaction,
  chatId: string,
): Promise<{ readonly requests: number; readonly firstPosition: number }> {
  const where = waitingIn(chatId);
  const { _sum, _min } = await prisma.run.aggregate({ where, _sum: { queuedRequests: true }, _min: { queuePosition: true } });
  return { requests: _sum.queuedRequests ?? 0, firstPosition: _min.queuePosition ?? 1 };
}

async function lockRunChat(tx: Transaction, runId: string): Promise<LockedChat | undefined> {
  const runRow = await tx.prisma.run.findUnique({ where: { id: runId }, select: { chatId: true } });
  return runRow?.chatId == null ? undefined : lockChat(tx, runRow.chatId);
}

/** The run as the last event with a snapshot has it. Every log of a run that no process works on ends with such an event. */
async function lastState({ prisma }: Transaction, runId: string): Promise<{ run: RunSnapshot; sequence: number }> {
  const batch = await prisma.runEventBatch.findFirst({
    where: { runId },
    orderBy: { firstSequence: 'desc' },
    select: { events: true },
  });
  const last = (batch?.events as readonly RunEvent[] | undefined)?.at(-1);
  if (last === undefined || !('run' in last)) throw new Error(`the log of ${runId} does not end with a state`);
  const { head: _head, ...run } = last.run;
  return { run, sequence: last.sequence };
}

async function addEvent({ prisma }: Transaction, runId: string, event: RunEvent): Promise<void> {
  const { sequence } = event;
  // As JSON has it: Prisma writes times and absent members in its own way.
  const events = [JSON.parse(JSON.stringify(event))];
  await prisma.runEventBatch.createMany({ data: [{ runId, firstSequence: sequence, lastSequence: sequence, events }] });
}
