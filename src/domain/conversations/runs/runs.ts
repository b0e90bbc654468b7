import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEventStream } from '../../../entities/conversations/runs/event.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { canWriteChat, isAdministrator, visibleChats, visibleRuns } from '../../ground/access/access.ts';
import { closeEvents } from '../../knowledge/permissions/closed-events.ts';
import { asVisible } from './thread.ts';

/**
 * A stored run of any kind.
 *
 * @param chatId  the chat that the run must be in, when the caller names one.
 * @throws DomainError NOT_FOUND, also for a run of a chat that the caller may not read.
 */
export async function getRun(deps: Deps, caller: Caller, id: string, chatId?: string | null): Promise<Run> {
  const isRunId = isId('run', id) || isId('response', id);
  const [run] = isRunId ? await deps.storage.conversations.runs.findInChats([id], visibleChats(caller)) : [];
  if (run === undefined || (typeof chatId === 'string' && run.chatId !== chatId)) throw missingRun();
  readRuns(deps, caller, [run]);
  return run;
}

export function missingRun(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such run', { param: 'runId' });
}

/** Notes for the audit log that the caller is shown runs: the entry names their chats. */
export function readRuns({ audit }: Deps, caller: Caller, runs: readonly Run[]): void {
  for (const { chatId, orgId, userId } of runs) if (chatId !== null) audit.read(caller, 'chat', [{ id: chatId, orgId, userId }]);
}

/**
 * The messages of some runs until now, one array for each run, in order, beginning with the message that began the run.
 *
 * @param runs  whose contents the caller may read: see `readableRuns`.
 * @throws DomainError REPLY_TOO_LARGE.
 *
 * Cost: two statements.
 */
export async function listRunMessages({ storage }: Deps, runs: readonly Run[]): Promise<readonly (readonly ChatMessage[])[]> {
  const messages = await storage.conversations.chats.messagesOfRuns(runs.map(({ id }) => id));
  const byRun = Map.groupBy(messages, ({ runId }) => runId);
  return runs.map(({ id }) => (byRun.get(id) ?? []).flatMap(asVisible));
}

const sweepEveryMs = 3_600_000;

/** Registers the deletion of approvals that have expired. */
export function registerApprovalSweep({ jobs, storage }: Deps): void {
  jobs.lead('runs.sweep-approvals', sweepEveryMs, async (signal) => {
    while (!signal.aborted && (await storage.conversations.approvals.sweep()) > 0);
  });
}

/**
 * The events of a run after a sequence number (-1: all), then new events. A reader that leaves stops nothing.
 *
 * @throws DomainError NOT_FOUND before the stream opens, also for a run whose events were deleted.
 */
export async function followRun(
  deps: Deps,
  caller: Caller,
  { id, chatId }: { readonly id: string; readonly chatId?: string | null | undefined },
  afterSequence: number,
  signal: AbortSignal,
): Promise<RunEventStream> {
  const run = await getRun(deps, caller, id, chatId);
  await requireEvents(deps, run, afterSequence);
  return closeEvents(deps, caller, deps.runs.follow(run.id, afterSequence, signal));
}

/** @throws DomainError NOT_FOUND for a run that is over, and whose events after a sequence number were deleted. */
export async function requireEvents({ storage }: Deps, run: Run, afterSequence: number): Promise<void> {
  const isOver = run.status !== 'in_progress' && run.lastSequence > afterSequence;
  if (!isOver || (await storage.conversations.runEvents.has(run.id))) return;
  throw new DomainError('NOT_FOUND', 'The events of this run are no longer kept; what was said stands in its chat');
}

/**
 * Stops a stored run in whichever process it works: one of the caller's own, and for administrators any of their organization, also of a chat that they
 * may not read. A finished run is returned unchanged.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for a run of somebody else whose chat the caller may read.
 */
export async function cancelRun(deps: Deps, caller: Caller, id: string, chatId?: string | null): Promise<Run> {
  const run = await getStoppableRun(deps, caller, id, chatId);
  const isPaused = run.incompleteReason === 'paused';
  if (run.status !== 'in_progress' && !isPaused) return run;
  await deps.runs.cancel(run.id, (write) => deps.audit.change(caller, write));
  return getStoppableRun(deps, caller, id, chatId);
}

async function getStoppableRun(deps: Deps, caller: Caller, id: string, chatId?: string | null): Promise<Run> {
  if (isAdministrator(caller, caller.orgId)) {
    const isRunId = isId('run', id) || isId('response', id);
    const [run] = isRunId ? await deps.storage.conversations.runHistory.findMany([id], visibleRuns(caller)) : [];
    if (run === undefined || !run.isStored || (typeof chatId === 'string' && run.chatId !== chatId)) throw missingRun();
    readRuns(deps, caller, [run]);
    return run;
  }
  const run = await getRun(deps, caller, id, chatId);
  if (!canWriteChat(caller, run)) {
    throw new DomainError('FORBIDDEN', 'Only the user of a chat and administrators may stop its runs');
  }
  return run;
}

const runsMax = 500;

/** The organization's active runs, newest first. Administrators see all, others their own. Cost: one statement. */
export async function listActiveRuns(deps: Deps, caller: Caller): Promise<readonly Run[]> {
  const userId = isAdministrator(caller, caller.orgId) ? undefined : caller.userId;
  const runs = await deps.storage.conversations.runs.listActive(caller.orgId, userId, runsMax);
  readRuns(deps, caller, runs);
  return runs;
}
