import type { NotificationSecrets, Task, TaskNotification } from '../../../entities/conversations/task.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { TaskError } from '../../../wire/a2a/errors.ts';
import type { NotificationParams } from '../../../wire/a2a/params.ts';
import type { Deps } from '../../deps.ts';

const notificationsMax = 10;

/** A configuration as its client reads it. */
export interface ShownNotification extends NotificationSecrets {
  readonly taskId: string;
  readonly configId: string;
  readonly url: string;
}

/**
 * Seals a configuration that comes with a message, and returns what writes it once its task is known.
 *
 * @throws DomainError for one that names a task: the message does.
 */
export async function prepareNotification(
  deps: Deps,
  caller: Caller,
  params: NotificationParams | undefined,
): Promise<((taskId: string) => Promise<void>) | undefined> {
  if (params === undefined) return undefined;
  const param = 'configuration.taskPushNotificationConfig.taskId';
  if ((params.taskId ?? '') !== '')
    throw new DomainError('INVALID_VALUE', `${param} must be left out: the message names the task`, { param });
  const sealed = await seal(deps, caller, params);
  return (taskId) => put(deps, caller, { ...sealed, taskId });
}

/** Has a task tell an address where it stops. One of the same id takes the place of the other. @throws DomainError CONFLICT. */
export async function createNotification(
  deps: Deps,
  caller: Caller,
  { id: taskId }: Task,
  params: NotificationParams,
): Promise<ShownNotification> {
  const notification = { ...(await seal(deps, caller, params)), taskId };
  await deps.audit.change(caller, () => put(deps, caller, notification));
  return open(deps, caller, notification);
}

export async function listNotifications(deps: Deps, caller: Caller, task: Task): Promise<readonly ShownNotification[]> {
  const notifications = await deps.storage.conversations.tasks.listNotifications(task.id);
  return Promise.all(notifications.map((one) => open(deps, caller, one)));
}

/** @throws TaskError TASK_NOT_FOUND. */
export async function getNotification(deps: Deps, caller: Caller, task: Task, id: string): Promise<ShownNotification> {
  const notifications = await deps.storage.conversations.tasks.listNotifications(task.id);
  const match = notifications.find(({ configId }) => configId === id);
  if (match === undefined) throw new TaskError('TASK_NOT_FOUND', 'This task has no such configuration', 'id');
  return open(deps, caller, match);
}

/** One that is not there is deleted already. */
export async function deleteNotification(deps: Deps, caller: Caller, task: Task, id: string): Promise<void> {
  await deps.audit.change(caller, () => deps.storage.conversations.tasks.deleteNotification(task.id, id));
}

/**
 * The members of a request that tells a client of a task. Redirects are not followed.
 *
 * @param id  the same for every attempt to send the same thing.
 * @param secrets  `NotificationSecrets` as JSON.
 */
export function notificationPost(url: string, body: string, id: string, secrets: string) {
  const { token, scheme, credentials } = JSON.parse(secrets) as NotificationSecrets;
  const headers: Record<string, string> = { 'content-type': 'application/a2a+json', 'a2a-version': '1.0', 'webhook-id': id };
  if (token !== undefined) headers['x-a2a-notification-token'] = token;
  if (scheme !== undefined) headers.authorization = credentials === undefined ? scheme : `${scheme} ${credentials}`;
  return { url, method: 'POST' as const, headers, body, redirectsMax: 0 };
}

/** Part of a transaction. @throws DomainError CONFLICT for one too many. */
async function put(deps: Deps, caller: Caller, notification: TaskNotification): Promise<void> {
  const { tasks } = deps.storage.conversations;
  const { taskId, configId } = notification;
  const others = (await tasks.listNotifications(taskId)).filter((one) => one.configId !== configId);
  if (others.length >= notificationsMax)
    throw new DomainError('CONFLICT', `A task has at most ${notificationsMax} configurations: delete one first`);
  await tasks.deleteNotification(taskId, configId);
  await tasks.addNotification(caller, notification);
}

async function seal(deps: Deps, { orgId }: Caller, params: NotificationParams): Promise<Omit<TaskNotification, 'taskId'>> {
  const { id, url, token, authentication } = params;
  const webhookId = deps.newId('webhook');
  const secrets: NotificationSecrets = {
    ...((token ?? '') === '' ? {} : { token: token ?? '' }),
    ...(authentication == null ? {} : { scheme: authentication.scheme }),
    ...((authentication?.credentials ?? '') === '' ? {} : { credentials: authentication?.credentials ?? '' }),
  };
  const secret = await deps.storage.vault.seal(secretPlace(orgId, webhookId), JSON.stringify(secrets));
  return { configId: (id ?? '') === '' ? webhookId : (id ?? ''), url, isEnabled: true, secret, webhookId };
}

async function open({ storage }: Deps, { orgId }: Caller, notification: TaskNotification): Promise<ShownNotification> {
  const { taskId, configId, url, secret, webhookId } = notification;
  const secrets = JSON.parse(await storage.vault.open(secretPlace(orgId, webhookId), secret)) as NotificationSecrets;
  return { taskId, configId, url, ...secrets };
}

/** Deliveries open the secrets of every webhook in the same way: domain/operations/webhooks. */
function secretPlace(orgId: string, rowId: string) {
  return { orgId, table: 'webhooks', rowId };
}
