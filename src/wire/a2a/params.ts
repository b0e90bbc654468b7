import { z } from 'zod';
import { taskStates } from '../../entities/conversations/task.ts';
import type { FaultNotes } from '../../entities/ground/fault-notes.ts';
import { readWire } from '../ground/read.ts';

/**
 * The A2A protocol 1.0: what its methods take. Members that the protocol does not have are passed over, as it asks; those that it has and the service does not
 * serve are refused by name.
 */

/** The version that is spoken. */
export const protocolVersion = '1.0';
export const statePrefix = 'TASK_STATE_';
const itemsMax = 1_000;
const idText = z.string().max(200);
const taskId = z.string().min(1, 'must name a task').max(200);
const tenant = z.literal('', 'must be left out: the card of the agent names no tenant').nullish();
const historyLength = z.int('must be a whole number').min(0, 'must be from 0').max(2_147_483_647).nullish();
const extensions = z.array(z.string().max(2_000)).max(100).nullish();
const struct = z.record(z.string(), z.unknown(), 'must be an object');

const part = z
  .object({
    text: z.string().nullish(),
    raw: z
      .string()
      .regex(/^[A-Za-z0-9+/_=\s-]*$/, 'must be base64')
      .nullish(),
    url: z
      .string()
      .regex(/^https?:\/\/\S+$/i, 'must be an http or https address')
      .nullish(),
    data: z.unknown().optional(),
    metadata: struct.nullish(),
    filename: z.string().max(255).nullish(),
    mediaType: z
      .string()
      .regex(/^$|^[\w.+-]+\/[\w.+-]+(?:;.*)?$/, 'must be a media type such as text/plain')
      .nullish(),
  })
  .refine((value) => contentMembers.filter((name) => isPresent(value[name])).length === 1, {
    message: 'must have exactly one of text, raw, url and data',
  });
const contentMembers = ['text', 'raw', 'url', 'data'] as const;
export type WirePart = z.output<typeof part>;

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

const message = z.object({
  messageId: z.string().min(1, 'must not be empty').max(200),
  contextId: idText.nullish(),
  taskId: idText.nullish(),
  role: z.literal('ROLE_USER', 'must be ROLE_USER'),
  parts: z.array(part).min(1, 'must have at least one part').max(itemsMax),
  metadata: struct.nullish(),
  extensions,
  referenceTaskIds: z.array(idText).max(100).nullish(),
});

const httpAddress = z
  .string()
  .max(2_000)
  .refine(
    (text) => {
      const url = URL.parse(text);
      const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
      return isWeb && url.username === '' && url.password === '';
    },
    { message: 'must be an address such as https://example.com/hook, without a user name and a password' },
  );
/** A line of a header: nothing in it begins another one. */
const headerText = z
  .string()
  .max(8_000)
  .regex(/^[\x20-\x7e]*$/, 'must have visible characters of ASCII only');
const notification = z.object({
  tenant,
  id: idText.nullish(),
  taskId: idText.nullish(),
  url: httpAddress,
  token: headerText.nullish(),
  authentication: z
    .object({
      scheme: z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a scheme such as Bearer'),
      credentials: headerText.nullish(),
    })
    .nullish(),
});
export type NotificationParams = z.output<typeof notification>;

const sendMessage = z.object({
  tenant,
  message,
  configuration: z
    .object({
      acceptedOutputModes: z.array(z.string().max(200)).max(100).nullish(),
      taskPushNotificationConfig: notification.nullish(),
      historyLength,
      returnImmediately: z.boolean().nullish(),
    })
    .nullish(),
  metadata: struct.nullish(),
});
export type SendParams = z.output<typeof sendMessage>;

const state = z.enum(
  [...taskStates, 'REJECTED', 'AUTH_REQUIRED', 'UNSPECIFIED'].map((name) => `${statePrefix}${name}`) as [string, ...string[]],
);
const listTasks = z.object({
  tenant,
  contextId: idText.nullish(),
  status: state.nullish(),
  pageSize: z.int('must be a whole number').min(1, 'must be from 1 to 100').max(100, 'must be from 1 to 100').nullish(),
  pageToken: z.string().max(1_000).nullish(),
  historyLength,
  statusTimestampAfter: z.iso.datetime({ offset: true, error: 'must be a time such as 2026-11-29T12:00:00Z' }).nullish(),
  includeArtifacts: z.boolean().nullish(),
});
export type ListParams = z.output<typeof listTasks>;

const namedConfig = z.object({ tenant, taskId, id: z.string().min(1, 'must not be empty').max(200) });

/** What each method takes. */
export const methodParams = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendMessage,
  GetTask: z.object({ tenant, id: taskId, historyLength }),
  ListTasks: listTasks,
  CancelTask: z.object({ tenant, id: taskId, metadata: struct.nullish() }),
  SubscribeToTask: z.object({ tenant, id: taskId }),
  CreateTaskPushNotificationConfig: notification.extend({ taskId }),
  GetTaskPushNotificationConfig: namedConfig,
  ListTaskPushNotificationConfigs: z.object({
    tenant,
    taskId,
    pageSize: z.int('must be a whole number').min(0, 'must be from 0').nullish(),
    pageToken: z.literal('', 'must be left out: one page has all').nullish(),
  }),
  DeleteTaskPushNotificationConfig: namedConfig,
  GetExtendedAgentCard: z.object({ tenant }),
} as const;
export type MethodName = keyof typeof methodParams;
export type ParamsOf<Name extends MethodName> = z.output<(typeof methodParams)[Name]>;

export function isMethod(name: string): name is MethodName {
  return Object.hasOwn(methodParams, name);
}

/** @returns undefined with faults, which name the members as the caller wrote them. */
export function readParams<Name extends MethodName>(name: Name, params: unknown, faults: FaultNotes): ParamsOf<Name> | undefined {
  return readWire<z.ZodType>(methodParams[name], params ?? {}, '', faults) as ParamsOf<Name> | undefined;
}
