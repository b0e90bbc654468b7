import type { NewMessage, ThreadMode } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { ResponseItem } from '../../../entities/conversations/runs/response.ts';
import type { NewRun } from '../../../entities/conversations/runs/run.ts';
import type { Transaction } from '../../ground/database.ts';
import { type LockedChat, lockChat, lockRows } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { answerApprovals, lockApprovals } from '../runs/approvals.ts';
import {
  attachMessages,
  endQuietly,
  needSecrets,
  type Resumption,
  resumeRun,
  type Settling,
  settleRun,
  waitingIn,
} from '../runs/idle.ts';
import { addRun } from '../runs/leases.ts';
import { addItems } from '../runs/responses.ts';
import { addChat, type NewChat } from './chats.ts';
import { type FilesOfOther, takeOverFiles } from './copies.ts';
import { addMessages } from './messages.ts';

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

/** What a new request reads of the run that holds its thread. */
interface ActiveRow {
  readonly id: string;
  readonly status: string;
  readonly chatMode: string | null;
  readonly leaseOwner: string | null;
  readonly pauseRequestedAt: Date | null;
  readonly cancelRequestedAt: Date | null;
  readonly isSteerClosed: boolean;
  /** How many times messages were added to the active run. */
  readonly steerCount: number;
}

const activeMembers = `id, status, "leaseOwner", "pauseRequestedAt", "cancelRequestedAt", "isSteerClosed",
  request->>'chatMode' as "chatMode", jsonb_array_length(steers) as "steerCount"`;

export class ThreadStore extends PublishingStore {
  /** Writes a request into its thread, in one transaction. */
  async begin(turn: ThreadTurn): Promise<ThreadResult> {
    const result = await this.db.transaction(async (tx) => {
      await lockApprovals(tx, turn.approvalIds);
      const turnResult = await beginTurn(tx, turn);
      if (isPlaced(turnResult)) await answerApprovals(tx, turn.approvalIds);
      return turnResult;
    });
    if (isPlaced(result)) this.signals.publish('chat-changed', turn.run.chatId);
    if (result.kind === 'started' || result.kind === 'waiting') this.signals.publish('run-changed', turn.run.id);
    return result;
  }

  /**
   * Continues a paused run. The run waits first when another run holds its thread.
   *
   * @returns undefined when it is not paused; `full`: nothing was done.
   */
  async resume(runId: string, resumption: Resumption): Promise<{ readonly kind: 'started' | 'waiting' | 'full' } | undefined> {
    const result = await this.db.transaction((tx) => resumeRun(tx, runId, resumption));
    if (result !== undefined) this.signals.publish('run-changed', runId);
    return result;
  }

  /** Ends or pauses a run that no process works on: a waiting or paused one. @returns false when there is no such run. */
  async settle(runId: string, how: Settling): Promise<boolean> {
    const wasSettled = await this.db.transaction((tx) => settleRun(tx, runId, how));
    if (wasSettled) this.signals.publish('run-changed', runId);
    return wasSettled;
  }
}

function isPlaced({ kind }: ThreadResult): boolean {
  return kind === 'started' || kind === 'waiting' || kind === 'attached';
}

/** The lock of the chat serializes the runs of a thread. */
async function beginTurn(tx: Transaction, turn: ThreadTurn): Promise<ThreadResult> {
  const { run, newChat } = turn;
  const { chatId } = run;
  let activeRunId: string | null = null;
  if (newChat === undefined) {
    const chat = await lockChat(tx, chatId);
    if (chat === undefined || !isOwnChat(chat, run)) return { kind: 'missing' };
    if (turn.mustBeNewest && chat.lastRunId !== turn.previousId && !(await waitsHere(tx, turn))) return { kind: 'moved' };
    activeRunId = chat.activeRunId;
    if (chat.agentId === null && chat.modelId === null) await answerWith(tx, run);
  } else {
    await addChat(tx, newChat.chat);
    // The other chat is locked before the messages of the agent are counted, as by a run of that chat.
    const { files, messages } = newChat;
    await addMessages(tx, chatId, files === undefined ? messages : await takeOverFiles(tx, chatId, files, messages));
  }
  const [active] = activeRunId === null ? [] : await lockRows<ActiveRow>(tx, 'runs', [activeRunId], activeMembers);
  if (active?.status === 'in_progress') return joinBusy(tx, turn, active);
  await addMessages(tx, chatId, turn.messages);
  await addTurn(tx, turn);
  return { kind: 'started' };
}

function isOwnChat({ userId, orgId, deletedAt }: LockedChat, run: NewRun): boolean {
  return deletedAt === null && userId === run.userId && orgId === run.orgId;
}

/** A conversation that began without an agent and a model has those of its first response. */
async function answerWith({ prisma }: Transaction, { chatId, agentId, modelId }: NewRun): Promise<void> {
  const data = { agentId, modelId: agentId === null ? modelId : null };
  await prisma.chat.updateMany({ where: { id: chatId }, data });
}

async function waitsHere({ prisma }: Transaction, { previousId, run }: ThreadTurn): Promise<boolean> {
  if (previousId === null) return false;
  return (await prisma.run.findUnique({ where: { id: previousId, ...waitingIn(run.chatId) }, select: { id: true } })) !== null;
}

/** Whether a request can become part of the active run: of one of its own kind, which its readers know how to follow. */
function takesSteer(active: ActiveRow, { run, chatMode, waitingMax }: ThreadTurn): boolean {
  if (readKind(active.id) !== readKind(run.id) || active.chatMode !== chatMode) return false;
  if (active.pauseRequestedAt !== null || active.cancelRequestedAt !== null || active.isSteerClosed) return false;
  return active.steerCount < waitingMax;
}

function readKind(runId: string): string | undefined {
  return runId.split('_', 1)[0];
}

/** What the thread mode prescribes while another run is active. */
async function joinBusy(tx: Transaction, turn: ThreadTurn, active: ActiveRow): Promise<ThreadResult> {
  const { run, mode, holder } = turn;
  // Only the process that works on the run can give it the request's secrets.
  const isReachable = holder === null || holder === active.leaseOwner;
  if (mode === 'steer' && isReachable && takesSteer(active, turn)) {
    if (holder !== null) await needSecrets(tx, active.id);
    await attach(tx, turn, active.id);
    return { kind: 'attached', runId: active.id, how: 'steer' };
  }
  const rows = await tx.prisma.run.findMany({
    where: waitingIn(run.chatId),
    orderBy: [{ queuePosition: 'asc' }, { id: 'asc' }],
    select: { id: true, batchKey: true, queuedRequests: true, queuePosition: true },
  });
  if (mode === 'force') {
    for (const { id } of rows) await endQuietly(tx, id, 'cancelled');
    await addTurn(tx, turn, 0);
    return { kind: 'waiting', stop: { runId: active.id, how: 'force' } };
  }
  if (rows.reduce((sum, { queuedRequests }) => sum + queuedRequests, 0) >= turn.waitingMax) return { kind: 'full' };
  const [first] = rows;
  const last = rows.at(-1);
  if (mode === 'interrupt') {
    await addTurn(tx, turn, first === undefined ? 0 : first.queuePosition - 1);
    return { kind: 'waiting', stop: { runId: active.id, how: 'cancel' } };
  }
  if (last?.batchKey !== turn.batchKey) {
    await addTurn(tx, turn, last === undefined ? 0 : last.queuePosition + 1);
    return { kind: 'waiting' };
  }
  await attach(tx, turn, last.id);
  return { kind: 'attached', runId: last.id, how: 'collect' };
}

/** Makes a request a part of a run. */
async function attach(tx: Transaction, { messages, items }: ThreadTurn, runId: string): Promise<void> {
  const ofRun = messages.map((message) => ({ ...message, runId }));
  await attachMessages(tx, runId, ofRun);
  await addItems(tx, runId, items);
}

/** @param position  among the runs that wait for the chat; absent: the run begins at once. */
async function addTurn(tx: Transaction, turn: ThreadTurn, position?: number): Promise<void> {
  const { run, items, batchKey, messages } = turn;
  await addRun(tx, { ...turn, ...(position === undefined ? {} : { waiting: { batchKey, position, messages } }) });
  await addItems(tx, run.id, items);
}
