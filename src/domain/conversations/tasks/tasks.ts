import { RunFold } from '../../../engine/runs/events/fold.ts';
import type { ChatMessage, PromptPart } from '../../../entities/conversations/chats/chat.ts';
import type { RunEventStream, RunSnapshot } from '../../../entities/conversations/runs/event.ts';
import { endedTaskStates, type Task, type TaskState } from '../../../entities/conversations/task.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { TaskFilter, TaskOwner } from '../../../storage/conversations/runs/tasks.ts';
import { TaskError } from '../../../wire/a2a/errors.ts';
import type { ReadMessage } from '../../../wire/a2a/message.ts';
import type { SendParams } from '../../../wire/a2a/params.ts';
import type { TaskTurn } from '../../../wire/a2a/task.ts';
import type { Deps } from '../../deps.ts';
import { visibleChats } from '../../ground/access/access.ts';
import { beginResponse } from '../responses/create.ts';
import { followResponse, openOutput } from '../responses/lifecycle.ts';
import { listRunStates } from '../runs/states.ts';
import { prepareNotification } from './notifications.ts';

/** A task of the caller with an agent. @throws TaskError TASK_NOT_FOUND, also for one of another person or agent. */
export async function getTask(deps: Deps, caller: Caller, agentId: string, id: string, param = 'id'): Promise<Task> {
  const task = isId('response', id) ? await deps.storage.conversations.tasks.find(id, ownerOf(caller, agentId)) : undefined;
  if (task === undefined) throw new TaskError('TASK_NOT_FOUND', 'There is no such task', param);
  return task;
}

/** The tasks of the caller with an agent; those whose state changed last come first. */
export function listTasks(
  deps: Deps,
  caller: Caller,
  agentId: string,
  filter: TaskFilter,
  page: PageRequest,
): Promise<Page<Task>> {
  return deps.storage.conversations.tasks.list(ownerOf(caller, agentId), filter, page);
}

function ownerOf({ orgId, userId }: Caller, agentId: string): TaskOwner {
  return { orgId, userId, agentId };
}

/** A task that was begun, or goes on. */
export interface SentTask {
  readonly task: Task;
  /** All events of the response that answers the message. */
  readonly events: RunEventStream;
}

/**
 * Begins a task, or goes on with one: a stored response in the background, so that nobody who leaves ends it. A task that works or waits takes the message
 * into its turn.
 *
 * @throws TaskError TASK_NOT_FOUND; UNSUPPORTED_OPERATION for a task that is over; DomainError like `beginResponse`.
 */
export async function sendTask(
  deps: Deps,
  caller: Caller,
  agentId: string,
  params: SendParams,
  { items, tools, secrets }: ReadMessage,
  signal: AbortSignal,
): Promise<SentTask> {
  const { messageId, taskId = null, contextId = null } = params.message;
  const isNew = taskId === null || taskId === '';
  const earlier = isNew ? undefined : await getTask(deps, caller, agentId, taskId, 'message.taskId');
  const place = readPlace(contextId, earlier);
  const notification = await prepareNotification(deps, caller, params.configuration?.taskPushNotificationConfig ?? undefined);
  const { tasks } = deps.storage.conversations;
  let begunId = earlier?.id ?? '';
  const onPlaced = async (runId: string, chatId: string, isWaiting: boolean) => {
    const state: TaskState = isWaiting ? 'SUBMITTED' : 'WORKING';
    if (earlier === undefined) begunId = await createTask(deps, caller, { agentId, runId, chatId, messageId, state });
    else if (!earlier.runIds.includes(runId) && !(await tasks.goOn(earlier, { runId, messageId, state, at: deps.now() })))
      throw new DomainError('CONFLICT', 'Another message has gone on with this task', { param: 'message.taskId' });
    await notification?.(begunId);
  };
  const input = {
    ...{ model: agentId, input: items, store: true, background: true, stream: true },
    ...(place === undefined ? {} : { conversation: place }),
    // What works while a task waits is another one of its context.
    ...(earlier?.state === 'WORKING' ? { threadMode: 'steer' as const } : {}),
    ...(tools === undefined ? {} : { tools }),
    ...(secrets === undefined ? {} : { userSecrets: secrets }),
  };
  const { events } = await beginResponse(deps, caller, input, signal, undefined, onPlaced);
  return { task: await getTask(deps, caller, agentId, begunId), events };
}

/** The thread of a message; undefined: a new one. */
function readPlace(contextId: string | null, earlier: Task | undefined): string | undefined {
  if (earlier === undefined) return contextId === null || contextId === '' ? undefined : contextId;
  if (endedTaskStates.includes(earlier.state)) {
    const message = `This task is ${earlier.state.toLowerCase()}: send the message without taskId, with the contextId of the task`;
    throw new TaskError('UNSUPPORTED_OPERATION', message, 'message.taskId');
  }
  if (contextId !== null && contextId !== '' && contextId !== earlier.chatId) {
    const message = 'message.contextId is not that of the task: leave it out';
    throw new DomainError('INVALID_VALUE', message, { param: 'message.contextId' });
  }
  return earlier.chatId;
}

interface BegunTask {
  readonly agentId: string;
  readonly runId: string;
  readonly chatId: string;
  readonly messageId: string;
  readonly state: TaskState;
}

/** A request that joined a waiting one is of its task. @returns the id of the task. */
async function createTask(deps: Deps, caller: Caller, { runId, messageId, ...begun }: BegunTask): Promise<string> {
  const { orgId, userId } = caller;
  const joined = await deps.storage.conversations.tasks.findByRun(runId);
  if (joined !== undefined) return joined.id;
  const task = { id: runId, createdAt: deps.now(), orgId, userId, ...begun, messageIds: [messageId] };
  await deps.storage.conversations.tasks.create(task);
  return runId;
}

/**
 * Ends a task.
 *
 * @throws TaskError TASK_NOT_FOUND; TASK_NOT_CANCELABLE for one that is over.
 */
export async function cancelTask(deps: Deps, caller: Caller, agentId: string, id: string): Promise<Task> {
  const task = await getTask(deps, caller, agentId, id);
  if (endedTaskStates.includes(task.state))
    throw new TaskError('TASK_NOT_CANCELABLE', `This task is ${task.state.toLowerCase()} already`, 'id');
  if (task.state === 'INPUT_REQUIRED') {
    await deps.audit.change(caller, () => deps.storage.conversations.tasks.cancel(task, deps.now()));
  } else await deps.runs.cancel(task.lastRunId, (write) => deps.audit.change(caller, write));
  return getTask(deps, caller, agentId, id);
}

/** A task that is followed, with what it has said so far. */
export interface FollowedTask {
  readonly run: RunSnapshot | undefined;
  /** What comes behind it. */
  readonly events: RunEventStream;
}

/** @throws TaskError UNSUPPORTED_OPERATION for a task that is over. */
export async function followTask(deps: Deps, caller: Caller, task: Task, signal: AbortSignal): Promise<FollowedTask> {
  if (endedTaskStates.includes(task.state))
    throw new TaskError('UNSUPPORTED_OPERATION', `This task is ${task.state.toLowerCase()}: nothing comes any more`, 'id');
  const { lastRunId } = task;
  const events = (await deps.storage.conversations.runEvents.readStates([lastRunId])).get(lastRunId) ?? [];
  const fold = new RunFold();
  fold.add(events);
  const last = events.at(-1);
  const run = last === undefined ? undefined : fold.snapshot();
  return {
    run: run === undefined ? undefined : { ...run, output: await openOutput(deps, caller, run.output) },
    events: await followResponse(deps, caller, lastRunId, { afterSequence: last?.sequence ?? -1 }, signal),
  };
}

/**
 * The responses of some tasks, by the ids of the tasks.
 *
 * Cost: two statements, and one for the messages; one more where sources are MIRRORED.
 */
export async function loadTurns(
  deps: Deps,
  caller: Caller,
  tasks: readonly Task[],
  hasMessages: boolean,
): Promise<ReadonlyMap<string, readonly TaskTurn[]>> {
  const { runs, chats } = deps.storage.conversations;
  const runIds = tasks.flatMap((task) => task.runIds);
  const rows = await runs.findInChats(runIds, visibleChats(caller));
  const states = new Map((await listRunStates(deps, rows)).map((state) => [state.id, state]));
  const messages = hasMessages
    ? Map.groupBy(await chats.messagesOfRuns(rows.map(({ id }) => id)), ({ runId }) => runId)
    : undefined;
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  const turnsOf = async (task: Task): Promise<readonly TaskTurn[]> => {
    const turns: TaskTurn[] = [];
    for (const [index, runId] of task.runIds.entries()) {
      const [row, state] = [rowsById.get(runId), states.get(runId)];
      if (row === undefined || state === undefined) continue;
      const said = messages?.get(runId);
      turns.push({
        run: { ...state, output: await openOutput(deps, caller, state.output) },
        isWaiting: row.isWaiting,
        at: row.endedAt ?? row.startedAt ?? row.createdAt,
        warnings: [...(state.head?.warnings ?? []), ...(state.warnings ?? [])],
        ...(said === undefined ? {} : { messages: toHistory(task, said, task.messageIds[index]) }),
      });
    }
    return turns;
  };
  const all: [string, readonly TaskTurn[]][] = [];
  for (const task of tasks) all.push([task.id, await turnsOf(task)]);
  return new Map(all);
}

/** What the user said before an answer is one message; what was said into a turn that worked are others. */
function toHistory({ id, chatId }: Task, messages: readonly ChatMessage[], firstId = ''): readonly object[] {
  const history: { readonly messageId: string; readonly parts: object[] }[] = [];
  let isOpen = false;
  for (const message of messages) {
    const isSaid = (message.role === 'user' || message.role === 'tool') && !message.isHidden;
    if (isSaid) {
      if (!isOpen) history.push({ messageId: history.length === 0 && firstId !== '' ? firstId : message.id, parts: [] });
      history.at(-1)?.parts.push(...toParts(message));
    }
    isOpen = isSaid;
  }
  return history.map((one) => ({ ...one, contextId: chatId, taskId: id, role: 'ROLE_USER' }));
}

function toParts({ role, content, parts, toolCallId }: ChatMessage): readonly object[] {
  if (role === 'tool') return [{ data: { callId: toolCallId, output: content } }];
  return parts === null ? [{ text: content }] : parts.map(toPart);
}

function toPart(part: PromptPart): object {
  if (part.type === 'text') return { text: part.text };
  if (part.type === 'id') return { data: { fileId: part.id } };
  const inline = /^data:([^;,]*)(?:;base64)?,(.*)$/s.exec(part.url);
  return inline === null ? { url: part.url } : { raw: inline[2] ?? '', mediaType: inline[1] ?? '' };
}
