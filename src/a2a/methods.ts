import { agentForRun } from '../domain/agents/agents.ts';
import {
  createNotification,
  deleteNotification,
  getNotification,
  listNotifications,
  type ShownNotification,
} from '../domain/conversations/tasks/notifications.ts';
import { cancelTask, followTask, getTask, listTasks, loadTurns, sendTask } from '../domain/conversations/tasks/tasks.ts';
import { performOperation, requireOperation } from '../domain/ground/audit/operation.ts';
import { Faults } from '../domain/ground/faults.ts';
import type { RunEvent, RunSnapshot } from '../entities/conversations/runs/event.ts';
import { type Task, type TaskState, taskStates } from '../entities/conversations/task.ts';
import { DomainError } from '../entities/ground/errors.ts';
import type { SortKey } from '../entities/ground/page.ts';
import type { Warning } from '../entities/ground/warning.ts';
import type { CallContext } from '../http/context.ts';
import { TaskEncoder } from '../wire/a2a/events.ts';
import { ContentTypeError, readMessage } from '../wire/a2a/message.ts';
import { type ListParams, type MethodName, type ParamsOf, readParams, type SendParams, statePrefix } from '../wire/a2a/params.ts';
import { type ShownTask, toTask } from '../wire/a2a/task.ts';
import { toCard } from './card.ts';

/** One call of a method. */
export interface MethodCall {
  readonly context: CallContext;
  readonly agentId: string;
  readonly requestId: string | number;
  readonly params: unknown;
}

/** What a method gives: a result, or a stream. */
export type MethodResult =
  | { readonly result: object | null }
  | { readonly encoder: TaskEncoder; readonly events: AsyncIterable<readonly RunEvent[]> };

type Method = (call: MethodCall) => Promise<MethodResult>;

/** The methods whose calls hold a place among the runs. */
export const runMethods: ReadonlySet<MethodName> = new Set<MethodName>([
  'SendMessage',
  'SendStreamingMessage',
  'SubscribeToTask',
]);

const listDefault = 50;
const textModes = ['text/plain', 'text/*', '*/*', 'application/json'];

/** @throws DomainError naming the member of the params that is wrong. */
function read<Name extends MethodName>(name: Name, { params }: MethodCall): ParamsOf<Name> {
  const faults = new Faults();
  const result = readParams(name, params, faults);
  faults.throwIfAny();
  if (result === undefined) throw new Error('params without faults are read');
  return result;
}

export const methods: Readonly<Record<MethodName, Method>> = {
  async SendMessage(call) {
    const params = read('SendMessage', call);
    const { task: begun, events, warnings } = await send(call, params);
    const isAwaited = params.configuration?.returnImmediately !== true;
    if (isAwaited) for await (const _batch of events.batches());
    const { signal, caller } = call.context;
    signal.throwIfAborted();
    const task = isAwaited ? await ownTask(call, caller, begun.id) : begun;
    return { result: { task: await showTask(call, task, { ...historyOf(params), hasArtifacts: true }, warnings) } };
  },
  async SendStreamingMessage(call) {
    const params = read('SendStreamingMessage', call);
    const { task, events, warnings } = await send(call, params);
    const shown = await showTask(call, task, { ...historyOf(params), hasArtifacts: true }, warnings, nothingSaid);
    return { encoder: encode(call, task, shown, undefined), events: events.batches() };
  },
  async GetTask(call) {
    const { id, historyLength } = read('GetTask', call);
    const task = await performOperation(call.context, 'Query.response', [id], (caller) => ownTask(call, caller, id));
    return { result: await showTask(call, task, { historyLength, hasArtifacts: true }) };
  },
  async ListTasks(call) {
    return { result: await list(call, read('ListTasks', call)) };
  },
  async CancelTask(call) {
    const { id } = read('CancelTask', call);
    const { deps } = call.context;
    const task = await performOperation(call.context, 'Mutation.cancelResponse', [id], (caller) =>
      cancelTask(deps, caller, call.agentId, id),
    );
    return { result: await showTask(call, task, { hasArtifacts: true }) };
  },
  async SubscribeToTask(call) {
    const { id } = read('SubscribeToTask', call);
    const { context } = call;
    requireOperation(context, 'Subscription.runEvents', [id]);
    const task = await ownTask(call, context.caller, id);
    const { run, events } = await followTask(context.deps, context.caller, task, context.signal);
    const shown = await showTask(call, task, { hasArtifacts: true }, [], run ?? nothingSaid);
    return { encoder: encode(call, task, shown, run), events: events.batches() };
  },
  async CreateTaskPushNotificationConfig(call) {
    const params = read('CreateTaskPushNotificationConfig', call);
    const { deps } = call.context;
    const config = await performOperation(call.context, 'Mutation.createResponse', [params.taskId], async (caller) =>
      createNotification(deps, caller, await ownTask(call, caller, params.taskId, 'taskId'), params),
    );
    return { result: toConfig(config) };
  },
  async GetTaskPushNotificationConfig(call) {
    const { taskId, id } = read('GetTaskPushNotificationConfig', call);
    const config = await performOperation(call.context, 'Query.response', [taskId], async (caller) =>
      getNotification(call.context.deps, caller, await ownTask(call, caller, taskId, 'taskId'), id),
    );
    return { result: toConfig(config) };
  },
  async ListTaskPushNotificationConfigs(call) {
    const { taskId } = read('ListTaskPushNotificationConfigs', call);
    const configs = await performOperation(call.context, 'Query.response', [taskId], async (caller) =>
      listNotifications(call.context.deps, caller, await ownTask(call, caller, taskId, 'taskId')),
    );
    return { result: { configs: configs.map(toConfig), nextPageToken: '' } };
  },
  async DeleteTaskPushNotificationConfig(call) {
    const { taskId, id } = read('DeleteTaskPushNotificationConfig', call);
    await performOperation(call.context, 'Mutation.createResponse', [taskId], async (caller) =>
      deleteNotification(call.context.deps, caller, await ownTask(call, caller, taskId, 'taskId'), id),
    );
    return { result: null };
  },
  async GetExtendedAgentCard(call) {
    read('GetExtendedAgentCard', call);
    return { result: await extendedCard(call.context, call.agentId) };
  },
};

/** The card for a caller who may use the agent. @throws DomainError NOT_FOUND; INSUFFICIENT_SCOPE. */
export async function extendedCard(context: CallContext, agentId: string): Promise<object> {
  const { deps } = context;
  const agent = await performOperation(context, 'Query.agent', [agentId], async (caller) => {
    const runnable = await agentForRun(deps, caller, agentId);
    deps.audit.read(caller, 'agent', [runnable]);
    return runnable;
  });
  return toCard(deps, agent, true);
}

function ownTask({ context, agentId }: MethodCall, caller: CallContext['caller'], id: string, param?: string): Promise<Task> {
  return getTask(context.deps, caller, agentId, id, param);
}

async function send(call: MethodCall, params: SendParams) {
  const { context, agentId } = call;
  const modes = params.configuration?.acceptedOutputModes ?? [];
  if (modes.length > 0 && !modes.some((mode) => textModes.includes(mode.toLowerCase()))) {
    const param = 'configuration.acceptedOutputModes';
    throw new ContentTypeError('UNSUPPORTED_VALUE', `${param} must have text/plain, which is what the agent answers with`, {
      param,
    });
  }
  const message = readMessage(params);
  const sent = await performOperation(context, 'Mutation.createResponse', [agentId], (caller) =>
    sendTask(context.deps, caller, agentId, params, message, context.signal).catch((error: unknown) => {
      throw error instanceof DomainError ? inPlace(error, message.toPlace) : error;
    }),
  );
  return { ...sent, warnings: message.warnings };
}

/** A failure of a request for a response, in the members of the protocol. */
function inPlace(error: DomainError, toPlace: (param: string) => string): DomainError {
  const { param, faults } = error.detail;
  if (error.constructor !== DomainError || param === undefined) return error;
  const rename = (message: string, from: string) => message.replace(from, toPlace(from));
  return new DomainError(error.code, rename(error.message, param), {
    ...error.detail,
    param: toPlace(param),
    ...(faults === undefined
      ? {}
      : {
          faults: faults.map((fault) => ({ ...fault, param: toPlace(fault.param), message: rename(fault.message, fault.param) })),
        }),
  });
}

function historyOf({ configuration }: SendParams): Pick<ShownTask, 'historyLength'> {
  return { historyLength: configuration?.historyLength };
}

type Shown = Omit<ShownTask, 'isCanceled'>;

const nothingSaid = { status: 'in_progress', output: [] } as const;

/** The task with its responses as they are now. @param state  that of the last one where a stream goes on behind it. */
async function showTask(
  call: MethodCall,
  task: Task,
  shown: Shown,
  warnings: readonly Warning[] = [],
  state?: Pick<RunSnapshot, 'status' | 'output'>,
): Promise<object> {
  const { deps, caller } = call.context;
  const turns = (await loadTurns(deps, caller, [task], shown.historyLength !== 0)).get(task.id) ?? [];
  const last = turns.at(-1);
  if (last === undefined) throw new DomainError('NOT_FOUND', 'The responses of this task were deleted', { param: 'id' });
  const all = [...turns.slice(0, -1), { ...last, run: { ...last.run, ...state }, warnings: [...last.warnings, ...warnings] }];
  return toTask(toPlace(task), all, { ...shown, isCanceled: task.state === 'CANCELED' });
}

function toPlace({ id, chatId }: Task) {
  return { taskId: id, contextId: chatId };
}

function encode({ context, requestId }: MethodCall, task: Task, shown: object, run: RunSnapshot | undefined): TaskEncoder {
  return new TaskEncoder({ place: toPlace(task), requestId, task: shown, run, now: context.deps.now });
}

async function list(call: MethodCall, params: ListParams): Promise<object> {
  const { context, agentId } = call;
  const { deps } = context;
  const { contextId, status, statusTimestampAfter, historyLength, includeArtifacts } = params;
  const pageSize = params.pageSize ?? listDefault;
  const state = taskStates.find((name) => status === `${statePrefix}${name}`);
  // States that no task here comes into.
  if (state === undefined && status !== undefined && status !== null && status !== `${statePrefix}UNSPECIFIED`)
    return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
  const filter = {
    ...((contextId ?? '') === '' ? {} : { chatId: contextId ?? '' }),
    ...(state === undefined ? {} : { state: state satisfies TaskState }),
    ...(statusTimestampAfter == null ? {} : { since: new Date(statusTimestampAfter) }),
  };
  const request = { limit: pageSize, after: readToken(params.pageToken) };
  return performOperation(context, 'Query.response', [agentId], async (caller) => {
    const page = await listTasks(deps, caller, agentId, filter, request);
    const turns = await loadTurns(
      deps,
      caller,
      page.items,
      historyLength !== undefined && historyLength !== null && historyLength > 0,
    );
    const last = page.items.at(-1);
    const tasks = page.items.flatMap((task) => {
      const own = turns.get(task.id) ?? [];
      const shown = {
        historyLength: historyLength ?? 0,
        hasArtifacts: includeArtifacts === true,
        isCanceled: task.state === 'CANCELED',
      };
      return own.length === 0 ? [] : [toTask(toPlace(task), own, shown)];
    });
    const nextPageToken = page.hasNextPage && last !== undefined ? writeToken(page.keyOf(last)) : '';
    return { tasks, nextPageToken, pageSize, totalSize: await page.countAll(totalMax) };
  });
}

/** What a list counts at most. */
const totalMax = 100_000;

function writeToken(key: SortKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

function readToken(token: string | null | undefined): SortKey | undefined {
  if (token === undefined || token === null || token === '') return undefined;
  try {
    const key: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    const [time, id] = Array.isArray(key) ? (key as readonly unknown[]) : [];
    if (typeof time === 'string' && typeof id === 'string' && !Number.isNaN(Date.parse(time))) return [time, id];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new DomainError('INVALID_VALUE', 'pageToken must be the nextPageToken of an earlier page', { param: 'pageToken' });
}

function toConfig({ taskId, configId, url, token, scheme, credentials }: ShownNotification): object {
  return {
    ...{ taskId, id: configId, url },
    ...(token === undefined ? {} : { token }),
    ...(scheme === undefined ? {} : { authentication: { scheme, ...(credentials === undefined ? {} : { credentials }) } }),
  };
}
