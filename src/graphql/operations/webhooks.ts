import {
  createWebhook,
  deleteWebhook,
  getDeliveries,
  getWebhook,
  getWebhooks,
  listWebhooks,
  pageDeliveries,
  redeliverWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  type WebhookWithSecret,
} from '../../domain/operations/webhooks/webhooks.ts';
import type { PageRequest } from '../../entities/ground/page.ts';
import { deliveryStatuses, type Webhook, type WebhookDelivery, webhookEvents } from '../../entities/operations/webhook.ts';
import { loadAgent } from '../agents/agent-edge.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { reading } from '../ground/builder/members.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { AgentRef, WebhookDeliveryRef, WebhookRef } from '../ground/refs.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';

const WebhookEventType = createEnum(
  'WebhookEvent',
  'What an organization can be told.',
  webhookEvents,
  {
    'run.ended': 'A run ended, whatever its end: its status says which.',
    'source.failed': 'A data source could not be read.',
    'approval.wanted': 'A run waits for a person to approve a call.',
    'limit.near': 'The organization has used 80 or 95 percent of a limit of tokens.',
    'budget.reached': 'Of a budget 80 percent are used, or all: once for each of its days or months.',
    'schedule.ended':
      'A schedule that names this webhook has its answer. It is in the body: people of the organization may send answers here.',
  },
  ofFormat,
);

const DeliveryStatusType = createEnum('WebhookDeliveryStatus', 'Where a delivery stands.', deliveryStatuses, {
  PENDING: 'It is sent, or sent again, at `nextAttemptAt`.',
  DELIVERED: 'The receiver took it.',
  FAILED: 'It was given up after about a day. `redeliverWebhook` sends it again.',
});

const WebhookAnswerType = builder.objectRef<WebhookDelivery>('WebhookAnswer').implement({
  access: { scope: 'ADMIN:READ' },
  description: 'What the last attempt of a delivery brought.',
  fields: (t) => ({
    at: t.expose('lastAttemptAt', { type: 'DateTime', nullable: true, description: 'When it was sent.' }),
    status: t.exposeInt('lastStatus', { nullable: true, description: 'The status of the answer; null when there was none.' }),
    bodyStart: t.exposeString('lastBodyStart', { nullable: true, description: 'The first 500 characters of the answer.' }),
    error: t.exposeString('lastError', { nullable: true, description: 'Why it failed, in one sentence; null when it did not.' }),
  }),
});

const DeliveryType = WebhookDeliveryRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'One event for one webhook. Kept for 30 days.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id: the header `webhook-id`, the same for every attempt.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    event: t.exposeString('event', { description: 'The type in the body: `run.ended`, or `webhook.test` of a test.' }),
    body: t.exposeString('body', { description: 'What is sent: ids and states; of SCHEDULE_ENDED, the answer too.' }),
    status: t.expose('status', { type: DeliveryStatusType, description: 'Where it stands.' }),
    attempts: t.exposeInt('attempts', { description: 'How often it was sent.' }),
    nextAttemptAt: t.expose('nextAttemptAt', { type: 'DateTime', nullable: true, description: 'When it is sent next.' }),
    lastAnswer: t.field({
      type: WebhookAnswerType,
      nullable: true,
      description: 'What the last attempt brought; null before the first.',
      resolve: (delivery) => (delivery.lastAttemptAt === null ? null : delivery),
    }),
    webhookId: t.exposeID('webhookId', { description: 'Which webhook gets it.' }),
    webhook: t.field({
      type: WebhookRef,
      nullable: true,
      description: 'Which webhook gets it.',
      resolve: ({ webhookId }, _args, context) => loadNode(context, 'webhook', webhookId),
    }),
  }),
});
const DeliveryConnection = makeConnection(DeliveryType, 'WebhookDelivery', 'Deliveries');

const deliveriesOf = batched((webhookIds: readonly string[], { deps }, page: PageRequest) =>
  pageDeliveries(deps, webhookIds, page),
);

const WebhookType = WebhookRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'An address that is told what people of the organization wait for, signed as Standard Webhooks say.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the webhook.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    url: t.exposeString('url', { description: 'Where it is sent.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    events: t.expose('events', { type: [WebhookEventType], description: 'What it is told.' }),
    agentIds: t.exposeIDList('agentIds', { description: 'Runs and approvals of these agents only; empty: of all.' }),
    agents: t.field({
      type: [AgentRef],
      description: 'The agents of `agentIds` that the caller may use.',
      resolve: async ({ agentIds }, _args, context, info) =>
        (await Promise.all(agentIds.map((id) => loadAgent(context, id, info)))).filter((agent) => agent != null),
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'False: it is told nothing.' }),
    disabledReason: t.exposeString('disabledReason', { nullable: true, description: 'Why it is told nothing.' }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it took nothing; after five days it is switched off. Null: it took the last delivery.',
    }),
    deliveries: t.field({
      extensions: reading<Webhook>('id'),
      type: DeliveryConnection,
      description: 'What it was told, newest first.',
      args: { ...pageArgs(t.arg) },
      resolve: ({ id }, args, context) => deliveriesOf(context, id, pageRequest(context, args)),
    }),
  }),
});
const WebhookConnection = makeConnection(WebhookType, 'Webhook', 'Webhooks');

registerNode('webhook', {
  typeName: 'Webhook',
  operation: 'Query.webhook',
  loadMany: (ids, { deps, caller }) => getWebhooks(deps, caller, ids),
});
registerNode('webhookDelivery', {
  typeName: 'WebhookDelivery',
  operation: 'Query.webhook',
  loadMany: (ids, { deps, caller }) => getDeliveries(deps, caller, ids),
});

const WebhookSecretPayload = builder.objectRef<WebhookWithSecret>('WebhookSecretPayload').implement({
  access: { scope: 'ADMIN:READ' },
  description: 'A webhook and its secret.',
  fields: (t) => ({
    webhook: t.field({ type: WebhookType, description: 'The webhook.', resolve: ({ webhook }) => webhook }),
    secret: t.exposeString('secret', { description: 'Receivers check signatures with it. It is shown once.' }),
  }),
});

const id = { description: 'The id of the webhook.' };

builder.queryFields((t) => ({
  webhook: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: WebhookType,
    nullable: true,
    description: "One webhook of the caller's organization; null when there is none.",
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getWebhook(deps, caller, args.id),
  }),
  webhooks: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: WebhookConnection,
    description: "The webhooks of the caller's organization, newest first.",
    args: { ...pageArgs(t.arg) },
    resolve: (_root, args, context) => listWebhooks(context.deps, context.caller, pageRequest(context, args)),
  }),
}));

const CreateWebhookInput = builder.inputType('CreateWebhookInput', {
  description: 'A new webhook.',
  fields: (t) => ({
    url: t.string({
      description: 'Where to send. Addresses of private networks are refused when it is sent, unless EGRESS_ALLOW opens them.',
    }),
    events: t.field({ type: [WebhookEventType], description: 'What to tell; at least one.' }),
    agentIds: t.idList({
      required: false,
      description: 'Runs and approvals of these agents only, at most 100. Default: of all.',
    }),
    description: t.string({ required: false, description: 'What it is for; at most 500 characters.' }),
  }),
});

const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description: 'Changes of a webhook: what is absent or null is kept.',
  fields: (t) => ({
    url: t.string({ required: false, description: 'Where to send.' }),
    events: t.field({ type: [WebhookEventType], required: false, description: 'What to tell; at least one.' }),
    agentIds: t.idList({ required: false, description: 'Runs and approvals of these agents only; empty: of all.' }),
    description: t.string({ required: false, description: 'What it is for.' }),
    isEnabled: t.boolean({ required: false, description: 'False: it is told nothing, and what was not sent yet waits.' }),
  }),
});

builder.mutationFields((t) => ({
  createWebhook: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: WebhookSecretPayload,
    description: 'Makes a webhook. The secret is shown once.',
    args: { input: t.arg({ type: CreateWebhookInput, description: 'The webhook.' }) },
    resolve: (_root, { input }, { deps, caller }) => createWebhook(deps, caller, input),
  }),
  updateWebhook: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: WebhookType,
    description: 'Changes a webhook.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateWebhookInput, description: 'What to change.' }) },
    resolve: (_root, args, { deps, caller }) => updateWebhook(deps, caller, args.id, args.input),
  }),
  deleteWebhook: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: WebhookType,
    description: 'Deletes a webhook with its deliveries. Answers what it was.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteWebhook(deps, caller, args.id),
  }),
  rotateWebhookSecret: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: WebhookSecretPayload,
    description: 'Makes a new secret, shown once. For a day the one before signs too.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => rotateWebhookSecret(deps, caller, args.id),
  }),
  testWebhook: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: DeliveryType,
    description: 'Sends an event of the type `webhook.test`. The delivery tells what came of it.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => testWebhook(deps, caller, args.id),
  }),
  redeliverWebhook: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: DeliveryType,
    description: 'Sends a delivery again, with the same id.',
    args: { deliveryId: t.arg.id({ description: 'The id of the delivery.' }) },
    resolve: (_root, args, { deps, caller }) => redeliverWebhook(deps, caller, args.deliveryId),
  }),
}));
