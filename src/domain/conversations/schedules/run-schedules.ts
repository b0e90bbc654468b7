import type { Schedule, ScheduleRun, ScheduleRunStatus } from '../../../entities/conversations/schedule.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { cutText, oneLine } from '../../../lib/text/text.ts';
import type { EndedRun, PendingRun } from '../../../storage/conversations/schedules.ts';
import { readUserInputs } from '../../agents/parts/user-input.ts';
import type { Deps } from '../../deps.ts';
import { ownChats } from '../../ground/access/access.ts';
import { removeChat } from '../../ground/blobs.ts';
import { Faults } from '../../ground/faults.ts';
import { prepareMessage, type ThreadOfMessage } from '../chats/messages.ts';
import { asVisible, findHolder, firstEvents, showsNewChats, startPlaced } from '../runs/thread.ts';
import { type Admitted, admitSchedule, takesAnswers } from './rights.ts';
import { paused } from './schedules.ts';
import { nextTime } from './times.ts';

const perRound = 50;
/** Runs of one tenant that one process begins at one time. They go on outside of the job. */
const beginning = { concurrency: 4 };
/** A run that could not be begun for so long, because the service was overloaded, is given up. */
const beginMaxMs = 3_600_000;
/** A schedule that fails so often in a row pauses itself. */
const failuresMax = 10;
const sweepEveryMs = 3_600_000;
const keptMs = 90 * 86_400_000;
const errorMaxChars = 1_000;
const event = 'schedule.ended';
/** Longer answers are read in the chat. */
const answerMaxChars = 20_000;

/**
 * Runs schedules. A time is taken with the lock of its schedule, in one transaction with the job that begins the run; the run begins in one
 * transaction with the note that it has. So one of several processes takes a time, and a killed process neither loses a run nor begins it twice.
 */
export function registerSchedules(deps: Deps): void {
  const { jobs, storage, now, settings } = deps;
  jobs.work('schedules.run', beginning, ({ scheduleRunId }) => beginPending(deps, scheduleRunId));
  jobs.work('schedules.delete-chat', beginning, ({ chatId }) => removeChat(deps, chatId));
  jobs.every('schedules.look', settings.DUE_LOOK_EVERY_MS, async (signal) => {
    while (!signal.aborted && (await takeDue(deps)) === perRound);
    for (const endedRun of await storage.conversations.schedules.findEnded(perRound)) await noteEnd(deps, endedRun);
  });
  jobs.lead('schedules.sweep', sweepEveryMs, () => storage.conversations.schedules.sweepRuns(new Date(now().getTime() - keptMs)));
}

/** Takes schedules whose time has come. Times that were missed become one run. @returns how many were taken. */
function takeDue({ storage, jobs, now, newId, logger }: Deps): Promise<number> {
  return storage.db.transaction(async (tx) => {
    const at = now();
    const due = await storage.conversations.schedules.lockDue(at, perRound);
    for (const schedule of due) {
      const { id: scheduleId, orgId, userId, tenantId, nextRunAt, isRunning } = schedule;
      const run = {
        id: newId('scheduleRun'),
        createdAt: at,
        orgId,
        userId,
        scheduleId,
        dueAt: nextRunAt ?? at,
        trigger: 'TIME',
      } as const;
      if (isRunning) {
        const errorMessage = 'The run before still went on';
        await storage.conversations.schedules.addRun({ ...run, status: 'SKIPPED', errorMessage, endedAt: at });
      } else {
        await storage.conversations.schedules.addRun({ ...run, status: 'PENDING', errorMessage: null, endedAt: null });
        await jobs.enqueue('schedules.run', { scheduleRunId: run.id }, { owner: { tenantId, orgId }, tx });
      }
      await storage.conversations.schedules.update(scheduleId, comingTime(schedule));
    }
    return due.length;

    function comingTime(schedule: Schedule) {
      try {
        return { nextRunAt: nextTime(jobs, schedule, at) };
      } catch (error) {
        logger.error({ err: error, scheduleId: schedule.id }, 'the times of a schedule cannot be read any more');
        return paused('Its cron expression or its time zone cannot be read any more: set both anew');
      }
    }
  });
}

/** Begins the run of a time. @throws Error what passes: the job is tried again. */
async function beginPending(deps: Deps, scheduleRunId: string): Promise<void> {
  const pending = await deps.storage.conversations.schedules.findPending(scheduleRunId);
  if (pending === undefined) return;
  const { schedule, scheduleRun } = pending;
  if (scheduleRun.trigger === 'TIME' && !schedule.isEnabled) {
    const end = {
      status: 'CANCELLED',
      errorMessage: 'The schedule was paused before its run began',
      endedAt: deps.now(),
    } as const;
    await deps.storage.conversations.schedules.endRun(scheduleRunId, 'PENDING', end);
    return;
  }
  const admission = await admitSchedule(deps, schedule);
  if ('reason' in admission) {
    await giveUp(deps, pending, admission.reason, paused(admission.reason));
    deps.logger.info({ scheduleId: schedule.id, reason: admission.reason }, 'a schedule is paused');
    return;
  }
  try {
    await begin(deps, pending, admission);
  } catch (error) {
    const isFinal = error instanceof DomainError && !passing.has(error.code);
    const isLate = deps.now().getTime() - scheduleRun.createdAt.getTime() > beginMaxMs;
    if (!isFinal && !isLate) throw error;
    await giveUp(deps, pending, error instanceof DomainError ? error.message : 'The service failed to begin the run');
    if (!isFinal) deps.logger.error({ err: error, scheduleRunId }, 'a scheduled run could not be begun');
  }
}

/** Errors that pass by themselves. */
const passing: ReadonlySet<string> = new Set(['OVERLOADED', 'THREAD_QUEUE_FULL', 'RATE_LIMIT_EXCEEDED']);

/** Another process has begun the run, or the schedule is gone: the transaction ends without a trace. */
class Taken extends Error {}

async function begin(deps: Deps, { schedule, scheduleRun }: PendingRun, { caller, agent }: Admitted): Promise<void> {
  const { storage, settings } = deps;
  const faults = new Faults();
  const userInputs = readUserInputs(agent.userInputs, schedule.userInputs, faults);
  faults.throwIfAny();
  const before = await chatThatGoesOn(deps, schedule);
  const thread = before ?? { id: deps.newId('chat'), agentId: agent.id, modelId: null, userInputs, projectId: null };
  const {
    run,
    said: userMessage,
    secrets,
    warnings,
    chatMode,
  } = await prepareMessage(deps, caller, thread, { prompt: schedule.prompt }, false);
  const chat = {
    ...{ id: thread.id, createdAt: run.createdAt, orgId: caller.orgId, userId: caller.userId, agentId: agent.id, userInputs },
    ...{ name: toChatName(schedule, scheduleRun), isVisibleToEditors: showsNewChats(agent, caller.orgId) },
  };
  const placement = await storage.db
    .transaction(async () => {
      // Whoever writes runs of a schedule locks it first.
      const isThere = await storage.conversations.schedules.lock(schedule.id);
      const runStart = { runId: run.id, chatId: thread.id, startedAt: run.createdAt };
      if (!isThere || !(await storage.conversations.schedules.beginRun(scheduleRun.id, runStart))) throw new Taken();
      const result = await storage.conversations.threads.begin({
        ...{ run, events: firstEvents(run.id, warnings), messages: [userMessage], items: [], previousId: null, approvalIds: [] },
        ...(before === undefined ? { newChat: { chat, messages: [] } } : {}),
        // Of its own, so that no other message shares the answer.
        ...{ mustBeNewest: false, isBackground: true, mode: 'collect', chatMode, batchKey: run.id },
        ...{ waitingMax: settings.THREAD_WAITING_MAX, leaseMs: settings.RUN_LEASE_MS, holder: findHolder(deps, secrets) },
      });
      if (result.kind === 'full') throw new DomainError('THREAD_QUEUE_FULL', 'Too many messages wait in its chat');
      if (result.kind !== 'started' && result.kind !== 'waiting') throw new Taken();
      if (schedule.chatMode === 'SAME' && before === undefined)
        await storage.conversations.schedules.update(schedule.id, { chatId: thread.id });
      return result;
    })
    .catch((error: unknown) => {
      if (error instanceof Taken) return undefined;
      throw error;
    });
  if (placement !== undefined) await startPlaced(deps, run.id, secrets, placement);
}

/** Undefined when it has not begun, or its owner deleted it: then a new one begins. */
async function chatThatGoesOn(
  { storage }: Deps,
  { orgId, userId, chatMode, chatId, agentId }: Schedule,
): Promise<ThreadOfMessage | undefined> {
  if (chatMode !== 'SAME' || chatId === null) return undefined;
  const chat = await storage.conversations.chats.find(chatId, ownChats({ orgId, userId }));
  return chat?.agentId === agentId ? chat : undefined;
}

/** As `Morning news · 2026-11-26 09:00`, in the time zone of the schedule. */
function toChatName({ name, chatMode, timeZone }: Schedule, { dueAt }: ScheduleRun): string {
  if (chatMode === 'SAME') return name;
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  return `${name} · ${new Intl.DateTimeFormat('sv-SE', { timeZone, ...parts }).format(dueAt)}`;
}

/** Ends a time whose run never began. */
async function giveUp(
  deps: Deps,
  { schedule, scheduleRun }: PendingRun,
  message: string,
  pause?: ReturnType<typeof paused>,
): Promise<void> {
  const { storage, now } = deps;
  await storage.db.transaction(async () => {
    await storage.conversations.schedules.lock(schedule.id);
    const end = { status: 'FAILED', errorMessage: plain(message), endedAt: now() } as const;
    if (!(await storage.conversations.schedules.endRun(scheduleRun.id, 'PENDING', end))) return;
    await tellWebhook(deps, schedule, { ...scheduleRun, ...end }, undefined);
    await storage.conversations.schedules.update(schedule.id, pause ?? afterFailure(schedule));
  });
}

/** Notes the end of a run. Of several processes, one does. */
async function noteEnd(deps: Deps, { scheduleRun, schedule, tenantId, run }: EndedRun): Promise<void> {
  const { storage, now, jobs } = deps;
  const status: ScheduleRunStatus = run === null ? 'FAILED' : (statuses[run.status] ?? 'FAILED');
  const answer = schedule.webhookId === null ? undefined : await loadAnswer(deps, scheduleRun);
  await storage.db.transaction(async (tx) => {
    await storage.conversations.schedules.lock(schedule.id);
    const end = { status, errorMessage: status === 'COMPLETED' ? null : plain(describeProblem(run)), endedAt: now() };
    if (!(await storage.conversations.schedules.endRun(scheduleRun.id, 'RUNNING', end))) return;
    await tellWebhook(deps, schedule, { ...scheduleRun, ...end }, answer);
    if (status === 'FAILED') await storage.conversations.schedules.update(schedule.id, afterFailure(schedule));
    else if (status !== 'CANCELLED' && schedule.failures > 0)
      await storage.conversations.schedules.update(schedule.id, { failures: 0 });
    const { orgId, userId, chatId } = scheduleRun;
    if (schedule.chatMode !== 'NONE' || chatId === null || (await storage.legalHolds.find({ orgId, userId })) !== undefined)
      return;
    await jobs.enqueue('schedules.delete-chat', { chatId }, { owner: { tenantId, orgId }, tx });
  });
}

/** What the agent said last, as its owner reads it. */
async function loadAnswer({ storage }: Deps, { runId }: ScheduleRun): Promise<string | undefined> {
  const messages = runId === null ? [] : await storage.conversations.chats.messagesOfRuns([runId]);
  return messages.flatMap(asVisible).findLast(({ role, content }) => role === 'assistant' && content !== '')?.content;
}

/** Writes the delivery of an answer, in the transaction of its end. Which webhook gets it is what the schedule says now. */
async function tellWebhook(deps: Deps, schedule: Schedule, run: ScheduleRun, answer: string | undefined): Promise<void> {
  const { storage, newId, now } = deps;
  const { webhookId } = schedule;
  if (webhookId === null || !(await takesAnswers(deps, schedule.orgId, webhookId))) return;
  const { orgId, userId, runId, dueAt, errorMessage } = run;
  const createdAt = now();
  const isCut = answer !== undefined && answer.length > answerMaxChars;
  const data = {
    ...{ scheduleId: schedule.id, scheduleRunId: run.id, name: schedule.name, status: run.status.toLowerCase(), dueAt },
    ...{ agentId: schedule.agentId, userId, runId, chatId: schedule.chatMode === 'NONE' ? null : run.chatId },
    ...{ answer: answer === undefined ? null : cutText(answer, answerMaxChars), isAnswerCut: isCut, error: errorMessage },
  };
  const body = JSON.stringify({ type: event, timestamp: createdAt.toISOString(), data });
  const delivery = { id: newId('webhookDelivery'), createdAt, orgId, userId, webhookId, event, body };
  await storage.operations.webhooks.addDelivery(delivery);
  await storage.conversations.schedules.noteDelivery(run.id, delivery.id);
}

const statuses: Readonly<Record<string, ScheduleRunStatus>> = {
  completed: 'COMPLETED',
  incomplete: 'INCOMPLETE',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
};

function describeProblem(run: EndedRun['run']): string {
  if (run === null) return 'The run was deleted before it ended';
  if (run.status === 'cancelled') return 'The run was cancelled';
  if (run.status === 'incomplete') return `The answer is incomplete: ${run.incompleteReason ?? 'it was cut off'}`;
  return run.errorMessage ?? 'The run failed';
}

function afterFailure({ failures, isEnabled }: Schedule) {
  const count = { failures: failures + 1 };
  return isEnabled && failures + 1 >= failuresMax ? { ...count, ...paused(`It failed ${failuresMax} times in a row`) } : count;
}

function plain(message: string): string {
  return cutText(oneLine(message), errorMaxChars);
}
