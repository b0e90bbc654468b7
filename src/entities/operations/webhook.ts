/** What an organization can be told. On the wire of webhooks as they are here. */
export const webhookEvents = [
  'run.ended',
  'source.failed',
  'approval.wanted',
  'limit.near',
  'budget.reached',
  'schedule.ended',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];
/** An event of `testWebhook`, which every webhook gets. */
export const testEvent = 'webhook.test';

export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export interface Webhook {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly url: string;
  readonly description: string;
  readonly events: readonly WebhookEvent[];
  readonly agentIds: readonly string[];
  readonly isEnabled: boolean;
  readonly disabledReason: string | null;
  /** Since when no delivery has succeeded. */
  readonly failingSince: Date | null;
}

export interface WebhookDelivery {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly webhookId: string;
  /** Whose run, approval or source it tells of; null: nobody's. */
  readonly userId: string | null;
  readonly event: string;
  readonly body: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastBodyStart: string | null;
  readonly lastError: string | null;
}

const secondsMs = 1_000;
const hoursMs = 3_600_000;
/** The waits after each failed attempt: about a day together. */
export const retryDelaysMs: readonly number[] = [
  ...[5, 30, 120, 600, 1_800].map((seconds) => seconds * secondsMs),
  ...[1, 2, 4, 6, 10].map((hours) => hours * hoursMs),
];
