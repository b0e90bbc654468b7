import { expect } from 'vitest';
import type { Reply, TestClient } from '../client.ts';

/** What administrators do with webhooks, over REST. */
export interface WebhookHand {
  readonly id: string;
  readonly secret: string;
  /** Makes deliveries of `webhook.test`. @returns their ids. */
  test(count?: number): Promise<readonly string[]>;
  deliveries(): Promise<readonly Delivery[]>;
  get(): Promise<Reply['body']>;
}
export interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly body: string;
  readonly lastAnswer: {
    readonly status: number | null;
    readonly bodyStart: string | null;
    readonly error: string | null;
  } | null;
}

const path = '/api/v1/admin/webhooks';

export async function makeWebhook(who: TestClient, url: string, events: readonly string[] = ['run.ended']): Promise<WebhookHand> {
  const made = await who.post(path, { url, events });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return webhookOf(who, made.body.webhook.id, made.body.secret);
}

/** One that is there already, for another client. */
export function webhookOf(who: TestClient, id: string, secret: string): WebhookHand {
  return {
    ...{ id, secret },
    async test(count = 1) {
      const replies = await Promise.all(Array.from({ length: count }, () => who.post(`${path}/${id}/test`, {})));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      return replies.map(({ body }) => body.id);
    },
    deliveries: async () => (await who.get(`${path}/${id}/deliveries`)).body.data,
    get: async () => (await who.get(`${path}/${id}`)).body,
  };
}
