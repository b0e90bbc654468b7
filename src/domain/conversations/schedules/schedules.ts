import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { Schedule, ScheduleChat, ScheduleRun } from '../../../entities/conversations/schedule.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import { emptyPage, type Page, type PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { oneLine, storableText } from '../../../lib/text/text.ts';
import type { ScheduleChanges, ScheduleFilter } from '../../../storage/conversations/schedules.ts';
import { agentForRun } from '../../agents/agents.ts';
import { readUserInputs } from '../../agents/parts/user-input.ts';
import type { Deps } from '../../deps.ts';
import { isAdministrator } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { admitSchedule, findPerson, type Obstacle, takesAnswers } from './rights.ts';
import { checkTimes, cleanCron, nextTime, nextTimes } from './times.ts';

type Optional<T> = T | null | undefined;

export interface CreateScheduleInput {
  readonly name: string;
  readonly agentId: string;
  readonly prompt: string;
  /** By variable name. */
  readonly userInputs?: Optional<unknown>;
  readonly cron: string;
  readonly timeZone: string;
  readonly chatMode?: Optional<ScheduleChat>;
  readonly webhookId?: Optional<string>;
  readonly isEnabled?: Optional<boolean>;
}
/** Absent members are kept; `webhookId: null` takes the webhook away. */
export type UpdateScheduleInput = { readonly [Name in keyof CreateScheduleInput]?: Optional<CreateScheduleInput[Name]> };

const nameMaxChars = 100;
const promptMaxChars = 10_000;
const userInputsMaxChars = 10_000;
export const nextTimesMax = 20;

/** The schedules among `ids` that the caller may see, in any order: its own, and for administrators those of the organization. */
export function getSchedules(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Schedule[]> {
  return deps.storage.conversations.schedules.findMany(ids, visibleSchedules(caller));
}

/** @throws DomainError NOT_FOUND, also for one that the caller may not see. */
export async function getSchedule(deps: Deps, caller: Caller, id: string): Promise<Schedule> {
  const [schedule] = isId('schedule', id) ? await getSchedules(deps, caller, [id]) : [];
  if (schedule === undefined) throw missingSchedule();
  return schedule;
}

/**
 * The caller's schedules, newest first.
 *
 * @param ofOrganization  those of everybody in the caller's organization.
 * @throws DomainError FORBIDDEN for `ofOrganization` of who is no administrator.
 */
export function listSchedules(
  deps: Deps,
  caller: Caller,
  { agentId, ofOrganization }: { readonly agentId?: Optional<string>; readonly ofOrganization?: Optional<boolean> },
  page: PageRequest,
): Promise<Page<Schedule>> {
  const { orgId, userId } = caller;
  if (ofOrganization === true && !isAdministrator(caller, orgId))
    throw new DomainError('FORBIDDEN', 'Only administrators see the schedules of others');
  const whose = ofOrganization === true ? { orgId } : { orgId, userId };
  return deps.storage.conversations.schedules.list({ ...whose, ...(typeof agentId === 'string' ? { agentId } : {}) }, page);
}

/** A page of the caller's schedules with each agent, in the order of the agents. Cost: two statements. */
export async function pageSchedulesOfAgents(
  deps: Deps,
  { orgId, userId }: Caller,
  agentIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<Schedule>[]> {
  const pages = await deps.storage.conversations.schedules.pagesOfAgents({ orgId, userId }, agentIds, page);
  return agentIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** What became of the times of schedules that the caller may see, in any order. */
export function getScheduleRuns(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly ScheduleRun[]> {
  return deps.storage.conversations.schedules.findRuns(ids, visibleSchedules(caller));
}

/** A page of the runs of each schedule, in the order of the schedules, newest first. Cost: two statements. */
export async function pageRunsOfSchedules(
  deps: Deps,
  scheduleIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<ScheduleRun>[]> {
  const pages = await deps.storage.conversations.schedules.pagesOfRuns(scheduleIds, page);
  return scheduleIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** The next times at which a schedule runs; none while it is paused. */
export function listNextTimes({ jobs, now }: Deps, { cron, timeZone, isEnabled }: Schedule, count: number): readonly Date[] {
  if (count < 1 || count > nextTimesMax)
    throw new DomainError('INVALID_VALUE', `first must be from 1 to ${nextTimesMax}`, { param: 'first' });
  return isEnabled ? nextTimes(jobs, { cron, timeZone }, now(), count) : [];
}

/**
 * Makes a schedule of the caller, which runs with the rights of this person and not with those of the key.
 *
 * @throws DomainError naming every faulty member; NOT_FOUND for an agent that the person may not use; CONFLICT for one schedule too many, and while
 * nothing may run for the person.
 */
export async function createSchedule(deps: Deps, caller: Caller, input: CreateScheduleInput): Promise<Schedule> {
  const { settings, jobs, now, newId } = deps;
  const { orgId, userId } = caller;
  const { agentId, chatMode, isEnabled } = input;
  checkMembers(deps, input);
  const id = newId('schedule');
  const agent = await agentNamed(deps, { id, orgId, userId }, agentId);
  const target = { chatMode: chatMode ?? 'NEW', webhookId: input.webhookId ?? null } as const;
  await requireTarget(deps, orgId, target);
  const userInputs = readInputs(agent.userInputs, input.userInputs);
  const times = { cron: cleanCron(input.cron), timeZone: input.timeZone };
  const createdAt = now();
  const state = isEnabled === false ? paused(ownPause) : { ...enabledState, nextRunAt: nextTime(jobs, times, createdAt) };
  const schedule = {
    ...{ id, createdAt, orgId, userId, agentId, userInputs, ...times, ...state },
    ...{ name: cleanName(input.name), prompt: storableText(input.prompt), ...target },
  };
  return deps.audit.change(caller, async () => {
    const newSchedule = await deps.storage.conversations.schedules.create(schedule, settings.SCHEDULES_MAX);
    if (newSchedule === undefined)
      throw new DomainError('CONFLICT', `A person has at most ${settings.SCHEDULES_MAX} schedules: delete one first`);
    return newSchedule;
  });
}

/**
 * Changes a schedule of the caller. Administrators pause schedules of others, and change nothing else of them. Switched on again, a schedule begins
 * with a clean record.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for a schedule of somebody else; and as `createSchedule`.
 */
export async function updateSchedule(deps: Deps, caller: Caller, id: string, input: UpdateScheduleInput): Promise<Schedule> {
  const schedule = await getSchedule(deps, caller, id);
  const isOwn = isOwnSchedule(caller, schedule);
  const inputEntries = Object.entries(input).filter(
    ([member, value]) => value !== undefined && (value !== null || member === 'webhookId'),
  );
  const isPause = inputEntries.length === 1 && input.isEnabled === false;
  if (!isOwn && !isPause)
    throw new DomainError('FORBIDDEN', 'Only its owner may change a schedule; administrators may pause and delete it');
  const changes = isPause ? paused(isOwn ? ownPause : 'An administrator paused it') : await readChanges(deps, schedule, input);
  return deps.audit.change(caller, async () => {
    await deps.storage.conversations.schedules.lock(id);
    const updatedSchedule = await deps.storage.conversations.schedules.update(id, changes);
    if (updatedSchedule === undefined) throw missingSchedule();
    return updatedSchedule;
  });
}

/** Deletes a schedule; a run that goes on ends. Its chats stay. @returns what it was. @throws DomainError NOT_FOUND. */
export async function deleteSchedule(deps: Deps, caller: Caller, id: string): Promise<Schedule> {
  const schedule = await getSchedule(deps, caller, id);
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.schedules.delete(id))) throw missingSchedule();
    return schedule;
  });
}

/**
 * Runs a schedule of the caller now, also a paused one. Its times stay as they are.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for a schedule of somebody else; CONFLICT while a run of it goes on, or when it may not run.
 */
export async function runScheduleNow(deps: Deps, caller: Caller, id: string): Promise<ScheduleRun> {
  const schedule = await getSchedule(deps, caller, id);
  if (!isOwnSchedule(caller, schedule)) throw new DomainError('FORBIDDEN', 'Only its owner may run a schedule');
  const { caller: person } = runnable(await admitSchedule(deps, schedule));
  const createdAt = deps.now();
  const { orgId, userId } = schedule;
  const scheduleRun = { id: deps.newId('scheduleRun'), createdAt, orgId, userId, scheduleId: id, dueAt: createdAt };
  return deps.audit.change(caller, async (tx) => {
    if (!(await deps.storage.conversations.schedules.lock(id))) throw missingSchedule();
    if (await deps.storage.conversations.schedules.isRunning(id))
      throw new DomainError('CONFLICT', 'A run of this schedule still goes on: wait for its end, or cancel it');
    const open = { trigger: 'MANUAL', status: 'PENDING', errorMessage: null, endedAt: null } as const;
    const newRun = await deps.storage.conversations.schedules.addRun({ ...scheduleRun, ...open });
    await deps.jobs.enqueue('schedules.run', { scheduleRunId: newRun.id }, { owner: person, tx });
    return newRun;
  });
}

export function isOwnSchedule(caller: Caller, { orgId, userId }: Pick<Schedule, 'orgId' | 'userId'>): boolean {
  return orgId === caller.orgId && userId === caller.userId;
}

/** Its owner's, those of the organization for its administrators, and all for an INSTANCE key. */
function visibleSchedules(caller: Caller): ScheduleFilter {
  const { orgId, userId, level } = caller;
  if (level === 'INSTANCE') return {};
  return isAdministrator(caller, orgId) ? { orgId } : { orgId, userId };
}

async function readChanges(deps: Deps, before: Schedule, input: UpdateScheduleInput): Promise<ScheduleChanges> {
  const { jobs, now } = deps;
  const { name, prompt, isEnabled } = input;
  checkMembers(deps, input, before);
  const agentId = input.agentId ?? before.agentId;
  const isOn = isEnabled ?? before.isEnabled;
  const webhookId = input.webhookId === undefined ? before.webhookId : input.webhookId;
  const chatMode = input.chatMode ?? before.chatMode;
  if (input.chatMode != null || input.webhookId !== undefined) await requireTarget(deps, before.orgId, { chatMode, webhookId });
  const agent =
    typeof input.agentId === 'string'
      ? await agentNamed(deps, before, input.agentId)
      : isOn || input.userInputs != null
        ? runnable(await admitSchedule(deps, { ...before, webhookId })).agent
        : undefined;
  const userInputs =
    agent === undefined ? before.userInputs : readInputs(agent.userInputs, input.userInputs ?? before.userInputs);
  const times = { cron: cleanCron(input.cron ?? before.cron), timeZone: input.timeZone ?? before.timeZone };
  const staysInChat = chatMode === 'SAME' && agentId === before.agentId;
  const isSwitchedOn = isOn && !before.isEnabled;
  const isOtherTime = times.cron !== before.cron || times.timeZone !== before.timeZone;
  return {
    ...{ agentId, userInputs, ...times, chatMode, webhookId },
    ...(staysInChat ? {} : { chatId: null }),
    ...(typeof name === 'string' ? { name: cleanName(name) } : {}),
    ...(typeof prompt === 'string' ? { prompt: storableText(prompt) } : {}),
    ...(isOn && (isSwitchedOn || isOtherTime) ? { ...enabledState, nextRunAt: nextTime(jobs, times, now()) } : {}),
    ...(isSwitchedOn ? { failures: 0 } : {}),
    ...(isEnabled === false && before.isEnabled ? paused(ownPause) : {}),
  };
}

const ownPause = 'Its owner paused it';
const enabledState = { isEnabled: true, pausedReason: null } as const;

/** The state of a schedule that does not run until somebody switches it on. */
export function paused(pausedReason: string) {
  return { isEnabled: false, pausedReason, nextRunAt: null } as const;
}

/** An agent that the person of a schedule may use. @throws DomainError NOT_FOUND; CONFLICT while nothing may run for the person. */
async function agentNamed(
  deps: Deps,
  schedule: Pick<Schedule, 'id' | 'orgId' | 'userId'>,
  agentId: string,
): Promise<RunnableAgent> {
  const { caller } = runnable(await findPerson(deps, schedule));
  return agentForRun(deps, caller, agentId);
}

/** @throws DomainError CONFLICT with the reason. */
function runnable<Found extends object>(outcome: Found | Obstacle): Found {
  if ('reason' in outcome) throw new DomainError('CONFLICT', `This schedule cannot run. ${outcome.reason}`);
  return outcome;
}

function readInputs(inputSpecs: Parameters<typeof readUserInputs>[0], valuesInput: unknown): Schedule['userInputs'] {
  const inputFaults = new Faults();
  const values = readUserInputs(inputSpecs, valuesInput, inputFaults);
  const faults = new Faults();
  // The input has them in a list, so their names stand in the sentence.
  for (const { code, message } of inputFaults.found)
    faults.add('userInputs', `userInputs: ${message.replace(/^userInputs\./, '')}`, code);
  if (JSON.stringify(values).length > userInputsMaxChars)
    faults.add('userInputs', `userInputs must have at most ${userInputsMaxChars} characters together`);
  faults.throwIfAny();
  return values;
}

/** @throws DomainError INVALID_VALUE for answers that nobody would get. */
async function requireTarget(
  deps: Deps,
  orgId: string,
  { chatMode, webhookId }: Pick<Schedule, 'chatMode' | 'webhookId'>,
): Promise<void> {
  const faults = new Faults();
  if (chatMode === 'NONE' && webhookId === null)
    faults.add('chatMode', 'chatMode NONE needs a webhookId: nobody would get the answer');
  if (webhookId !== null && !(await takesAnswers(deps, orgId, webhookId))) {
    const rule = 'must name a webhook of the organization that takes the event SCHEDULE_ENDED: administrators know which';
    faults.add('webhookId', `webhookId ${rule}`);
  }
  faults.throwIfAny();
}

function checkMembers({ jobs, settings }: Deps, input: UpdateScheduleInput, before?: Schedule): void {
  const faults = new Faults();
  const { name, prompt, cron, timeZone } = input;
  if (typeof name === 'string') faults.requireName('name', name, nameMaxChars);
  if (typeof prompt === 'string') faults.requireName('prompt', prompt, promptMaxChars);
  if (typeof cron === 'string' || typeof timeZone === 'string') {
    const times = { cron: cron ?? before?.cron ?? '', timeZone: timeZone ?? before?.timeZone ?? '' };
    checkTimes(jobs, times, settings.SCHEDULE_INTERVAL_MIN_MS, faults);
  }
  faults.throwIfAny();
}

function cleanName(name: string): string {
  return oneLine(storableText(name));
}

function missingSchedule(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such schedule', { param: 'id' });
}
