import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const tag = 'Administration';
const path = '/api/v1/admin/webhooks';
const one = `${path}/{webhookId}`;
const webhookFields = 'id createdAt updatedAt url description events agentIds isEnabled disabledReason failingSince';
const deliveryFields = 'id createdAt webhookId event body status attempts nextAttemptAt lastAnswer { at status bodyStart error }';

export const webhookRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listWebhooks',
    method: 'get',
    path,
    summary: 'List webhooks',
    description: "Those of the key's organization, newest first. Webhooks are for administrators.",
    tag,
    document: `query ($limit: Int = 100, $cursor: String) {
      webhooks(first: $limit, after: $cursor) { nodes { ${webhookFields} } ${pageInfo} }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createWebhook',
    method: 'post',
    path,
    summary: 'Add a webhook',
    description:
      'An address that is told of events, signed as Standard Webhooks say. `secret` checks the signatures: it is shown once.',
    tag,
    document: `mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { ${webhookFields} } } }`,
    body: 'input',
    example: { url: 'https://example.com/hooks', events: ['run.ended', 'limit.near'], description: 'Runs of the desk' },
  },
  {
    operationId: 'getWebhook',
    method: 'get',
    path: one,
    summary: 'Get webhook',
    description: 'What it is told, and whether it takes what it is sent.',
    tag,
    document: `query ($webhookId: ID!) { webhook(id: $webhookId) { ${webhookFields} } }`,
  },
  {
    operationId: 'updateWebhook',
    method: 'patch',
    path: one,
    summary: 'Update webhook',
    description:
      'Absent members are kept. `isEnabled: true` switches one on again that was switched off; what waited is sent then.',
    tag,
    document: `mutation ($webhookId: ID!, $input: UpdateWebhookInput!) { updateWebhook(id: $webhookId, input: $input) { ${webhookFields} } }`,
    body: 'input',
    example: { url: 'https://example.com/hooks', events: ['run.ended'], description: 'Runs of the desk', isEnabled: true },
  },
  {
    operationId: 'deleteWebhook',
    method: 'delete',
    path: one,
    summary: 'Delete webhook',
    description: 'With its deliveries. Answers what it was.',
    tag,
    document: `mutation ($webhookId: ID!) { deleteWebhook(id: $webhookId) { ${webhookFields} } }`,
  },
  {
    operationId: 'rotateWebhookSecret',
    method: 'post',
    path: `${one}/rotate-secret`,
    summary: 'Change the secret of a webhook',
    description: 'The new `secret` is shown once. For a day the one before signs too.',
    tag,
    document: `mutation ($webhookId: ID!) { rotateWebhookSecret(id: $webhookId) { secret webhook { ${webhookFields} } } }`,
  },
  {
    operationId: 'testWebhook',
    method: 'post',
    path: `${one}/test`,
    summary: 'Test a webhook',
    description: 'Sends an event of the type `webhook.test`. Its delivery tells what came of it.',
    tag,
    document: `mutation ($webhookId: ID!) { testWebhook(id: $webhookId) { ${deliveryFields} } }`,
  },
  {
    operationId: 'listWebhookDeliveries',
    method: 'get',
    path: `${one}/deliveries`,
    summary: 'List the deliveries of a webhook',
    description: 'Of the last 30 days, newest first, each with its last answer.',
    tag,
    document: `query ($webhookId: ID!, $limit: Int = 100, $cursor: String) {
      webhook(id: $webhookId) { deliveries(first: $limit, after: $cursor) { nodes { ${deliveryFields} } ${pageInfo} } }
    }`,
    query: pageQuery,
    member: 'deliveries',
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'redeliverWebhook',
    method: 'post',
    path: '/api/v1/admin/webhook-deliveries/{deliveryId}/redeliver',
    summary: 'Send a delivery again',
    description: 'With the same id, whatever became of it before.',
    tag,
    document: `mutation ($deliveryId: ID!) { redeliverWebhook(deliveryId: $deliveryId) { ${deliveryFields} } }`,
  },
];
