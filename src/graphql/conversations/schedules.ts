import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  getScheduleRuns,
  getSchedules,
  isOwnSchedule,
  listNextTimes,
  listSchedules,
  nextTimesMax,
  pageRunsOfSchedules,
  pageSchedulesOfAgents,
  runScheduleNow,
  updateSchedule,
} from '../../domain/conversations/schedules/schedules.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import { type Schedule, scheduleChats, scheduleRunStatuses, scheduleTriggers } from '../../entities/conversations/schedule.ts';
import type { PageRequest } from '../../entities/ground/page.ts';
import { loadAgent } from '../agents/agent-edge.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { reading } from '../ground/builder/members.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { AgentRef, ChatRef, RunRef, ScheduleRef, ScheduleRunRef, UserRef, WebhookRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';
import { ChatUserInputInput, ChatUserInputType } from './chats/chats.ts';

const ScheduleChatType = createEnum('ScheduleChat', 'Where the answers of a schedule are read.', scheduleChats, {
  NEW: 'In a new chat each time.',
  SAME: 'In one chat that goes on: each run reads what was said before, which costs more with each.',
  NONE: 'In no chat: the answer goes to the webhook only.',
});
const ScheduleTriggerType = createEnum('ScheduleTrigger', 'What began a run of a schedule.', scheduleTriggers, {
  TIME: 'Its time.',
  MANUAL: '`runScheduleNow`.',
});
const ScheduleRunStatusType = createEnum('ScheduleRunStatus', 'What became of a time of a schedule.', scheduleRunStatuses, {
  PENDING: 'The run begins within seconds; where the service is overloaded, later.',
  RUNNING: 'The run goes on.',
  COMPLETED: 'The answer is there.',
  INCOMPLETE: 'The answer was cut off.',
  FAILED: 'There is no answer: `error` says why.',
  CANCELLED: 'Somebody cancelled the run, or paused the schedule before it began.',
  SKIPPED: 'The run before still went on.',
});

const ScheduleRunType = ScheduleRunRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'One time of a schedule, and what became of it. Kept for 90 days.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of this run of the schedule.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the service noticed that its time has come.' }),
    dueAt: t.expose('dueAt', {
      type: 'DateTime',
      description: 'When it was to run; of several times that the service missed, the first.',
    }),
    trigger: t.expose('trigger', { type: ScheduleTriggerType, description: 'What began it.' }),
    status: t.expose('status', { type: ScheduleRunStatusType, description: 'What became of it.' }),
    error: t.exposeString('errorMessage', {
      nullable: true,
      description: 'Why there is no whole answer; null when there is one.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When its run began.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    scheduleId: t.exposeID('scheduleId', { description: 'The schedule.' }),
    schedule: t.field({
      type: ScheduleRef,
      nullable: true,
      description: 'The schedule.',
      resolve: ({ scheduleId }, _args, context) => loadNode(context, 'schedule', scheduleId),
    }),
    runId: t.exposeID('runId', { nullable: true, description: 'Its run; null before it began.' }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'Its run; null before it began, and for who may not see it.',
      resolve: ({ runId }, _args, context) => loadNode(context, 'run', runId),
    }),
    chatId: t.exposeID('chatId', { nullable: true, description: 'The chat with the answer.' }),
    chat: t.field({
      type: ChatRef,
      nullable: true,
      description: 'The chat with the answer; null when it is deleted, and for who may not read it.',
      resolve: ({ chatId }, _args, context) => loadNode(context, 'chat', chatId),
    }),
  }),
});
const ScheduleRunConnection = makeConnection(ScheduleRunType, 'ScheduleRun', 'Runs');

const runsOf = batched((ids: readonly string[], { deps }, page: PageRequest) => pageRunsOfSchedules(deps, ids, page));

const ScheduleType = ScheduleRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'Runs an agent at the times of a cron expression, with the rights that its owner has then.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the schedule.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed or ran.' }),
    name: t.exposeString('name', { description: 'What it is called; its chats are called so too.' }),
    userId: t.exposeID('userId', { description: 'Its owner.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'Its owner, as whom it runs.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
    agentId: t.exposeID('agentId', { nullable: true, description: 'The agent; null when it is gone.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'The agent; null when it is gone, and for who may not use it.',
      resolve: ({ agentId }, _args, context, info) => loadAgent(context, agentId, info),
    }),
    prompt: t.string({
      nullable: true,
      description: 'What the agent is asked; null for everyone but its owner.',
      resolve: (schedule, _args, { caller }) => (isOwnSchedule(caller, schedule) ? schedule.prompt : null),
    }),
    userInputs: t.field({
      type: [ChatUserInputType],
      description: "Values of the agent's user inputs, at most 100; none for everyone but its owner.",
      resolve: (schedule, _args, { caller }) => (isOwnSchedule(caller, schedule) ? Object.entries(schedule.userInputs) : []),
    }),
    cron: t.exposeString('cron', { description: 'When it runs, in five fields: minute, hour, day of month, month, weekday.' }),
    timeZone: t.exposeString('timeZone', { description: 'The time zone of `cron`, by its IANA name.' }),
    chatMode: t.expose('chatMode', { type: ScheduleChatType, description: 'Where its answers are read.' }),
    chatId: t.exposeID('chatId', { nullable: true, description: 'With the chat mode SAME: the chat, once it has begun.' }),
    chat: t.field({
      type: ChatRef,
      nullable: true,
      description: 'With the chat mode SAME: the chat, once it has begun.',
      resolve: ({ chatId }, _args, context) => loadNode(context, 'chat', chatId),
    }),
    webhookId: t.exposeID('webhookId', { nullable: true, description: 'The webhook that gets its answers.' }),
    webhook: t.field({
      type: WebhookRef,
      nullable: true,
      description: 'The webhook that gets its answers; null for everyone but administrators.',
      resolve: ({ webhookId }, _args, context) => loadNode(context, 'webhook', webhookId),
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'False: it is paused.' }),
    pausedReason: t.exposeString('pausedReason', { nullable: true, description: 'Why it is paused; null while it is not.' }),
    nextRunAt: t.expose('nextRunAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it runs next; null while it is paused.',
    }),
    nextTimes: t.field({
      type: ['DateTime'],
      description: 'The next times at which it runs; none while it is paused.',
      args: {
        first: t.arg.int({ required: true, defaultValue: 5, description: `How many, from 1 to ${nextTimesMax}.` }),
      },
      resolve: (schedule, { first }, { deps }) => listNextTimes(deps, schedule, first),
    }),
    runs: t.field({
      extensions: reading<Schedule>('id'),
      type: ScheduleRunConnection,
      description: 'What became of its times, newest first.',
      args: pageArgs(t.arg),
      resolve: ({ id }, args, context) => runsOf(context, id, pageRequest(context, args)),
    }),
  }),
});
const ScheduleConnection = makeConnection(ScheduleType, 'Schedule', 'Schedules');

const schedulesOf = batched((agentIds: readonly string[], { deps, caller }, page: PageRequest) =>
  pageSchedulesOfAgents(deps, caller, agentIds, page),
);

builder.objectField(AgentRef, 'schedules', (t) =>
  t.field({
    extensions: reading<AgentView>('id'),
    type: ScheduleConnection,
    description: "The caller's schedules with it, newest first.",
    args: pageArgs(t.arg),
    resolve: ({ id }, args, context) => schedulesOf(context, id, pageRequest(context, args)),
  }),
);

registerNode('schedule', {
  typeName: 'Schedule',
  operation: 'Query.schedule',
  loadMany: (ids, { deps, caller }) => getSchedules(deps, caller, ids),
});
registerNode('scheduleRun', {
  typeName: 'ScheduleRun',
  operation: 'Query.schedule',
  loadMany: (ids, { deps, caller }) => getScheduleRuns(deps, caller, ids),
});

const id = { description: 'The id of the schedule.' };

builder.queryFields((t) => ({
  schedule: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ScheduleType,
    nullable: true,
    description: 'One schedule of the caller, or for administrators of the organization; null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getSchedule(deps, caller, args.id),
  }),
  schedules: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ScheduleConnection,
    description: "The caller's schedules, newest first.",
    args: {
      agentId: t.arg.id({ required: false, description: 'Only those with this agent.' }),
      ofOrganization: t.arg.boolean({
        required: false,
        description: 'True: those of everybody in the organization, for administrators.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, last, before, ...query }, context) =>
      listSchedules(context.deps, context.caller, query, pageRequest(context, { first, after, last, before })),
  }),
}));

const cron =
  'When it runs, in five fields: minute (0-59), hour (0-23), day of month (1-31), month (1-12 or JAN-DEC), weekday (0-7 or SUN-SAT), as in `0 9 * * MON-FRI`.';
const chatMode = 'Where its answers are read.';
const inputs = "Values of the agent's user inputs; at most 50.";

const CreateScheduleInput = builder.inputType('CreateScheduleInput', {
  description: 'A new schedule.',
  fields: (t) => ({
    name: t.string({ description: '1 to 100 characters.' }),
    agentId: t.id({ description: 'The agent that runs.' }),
    prompt: t.string({ description: 'What the agent is asked each time; 1 to 10,000 characters.' }),
    userInputs: t.field({ type: [ChatUserInputInput], required: false, description: inputs }),
    cron: t.string({ description: cron }),
    timeZone: t.string({ description: 'The time zone of `cron`, by its IANA name: `Europe/Berlin`.' }),
    chatMode: t.field({ type: ScheduleChatType, required: false, description: `${chatMode} Default: NEW.` }),
    webhookId: t.id({
      required: false,
      description: 'A webhook of the organization that takes the event SCHEDULE_ENDED: it gets the answers, signed.',
    }),
    isEnabled: t.boolean({ required: false, description: 'False: it is made paused. Default: true.' }),
  }),
});
const UpdateScheduleInput = builder.inputType('UpdateScheduleInput', {
  description: 'Changes of a schedule: what is absent is kept, and what is null too, but for `webhookId`.',
  fields: (t) => ({
    name: t.string({ required: false, description: '1 to 100 characters.' }),
    agentId: t.id({ required: false, description: 'The agent that runs.' }),
    prompt: t.string({ required: false, description: 'What the agent is asked each time; 1 to 10,000 characters.' }),
    userInputs: t.field({ type: [ChatUserInputInput], required: false, description: inputs }),
    cron: t.string({ required: false, description: cron }),
    timeZone: t.string({ required: false, description: 'The time zone of `cron`, by its IANA name.' }),
    chatMode: t.field({ type: ScheduleChatType, required: false, description: chatMode }),
    webhookId: t.id({
      required: false,
      description: 'A webhook that gets the answers; null takes it away.',
    }),
    isEnabled: t.boolean({ required: false, description: 'False pauses it, true switches it on again.' }),
  }),
});

builder.mutationFields((t) => ({
  createSchedule: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ScheduleType,
    description: 'Makes a schedule of the caller. It runs with the rights of this person, not with those of the key.',
    args: { input: t.arg({ type: CreateScheduleInput, description: 'The schedule.' }) },
    resolve: (_root, { input }, { deps, caller }) =>
      createSchedule(deps, caller, { ...input, userInputs: toInputs(input.userInputs) }),
  }),
  updateSchedule: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ScheduleType,
    description: 'Changes, pauses or switches on a schedule of the caller. Administrators may pause those of others.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateScheduleInput, description: 'What to change.' }) },
    resolve: (_root, args, { deps, caller }) =>
      updateSchedule(deps, caller, args.id, { ...args.input, userInputs: toInputs(args.input.userInputs) }),
  }),
  deleteSchedule: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ScheduleType,
    description:
      'Deletes a schedule; a run that goes on ends, and the chats stay. Answers what it was. For its owner and administrators.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteSchedule(deps, caller, args.id),
  }),
  runScheduleNow: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ScheduleRunType,
    description: 'Runs a schedule of the caller now, also a paused one. Its times stay as they are.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => runScheduleNow(deps, caller, args.id),
  }),
}));

/** User inputs by their names, as the domain reads them. */
export function toInputs(
  inputValues: readonly { readonly name: string; readonly value?: unknown }[] | null | undefined,
): unknown {
  return inputValues == null ? undefined : Object.fromEntries(inputValues.map(({ name, value }) => [name, value]));
}
