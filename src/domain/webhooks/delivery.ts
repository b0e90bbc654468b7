import { createHmac } from 'node:crypto';
import { EgressError } from '../../engine/egress/error.ts';
import { retryDelaysMs } from '../../entities/webhooks/webhook.ts';
import { storableText } from '../../lib/text.ts';
import type { Attempt, DueDelivery, SealedWebhook } from '../../storage/webhooks/webhooks.ts';
import type { Deps } from '../deps.ts';
import { placeOf } from './webhooks.ts';

/** How soon a delivery is begun. */
const lookEveryMs = 2_000;
/** Deliveries under way in one process at one time. */
const concurrentMax = 20;
const timeoutMs = 10_000;
/** A process that was killed leaves its deliveries to others after this time. */
const leaseMs = 30_000;
/** Bytes of an answer that are read. */
const answerBytesMax = 1024 * 1024;
const bodyStartMaxChars = 500;
const sweepEveryMs = 3_600_000;
const keptMs = 30 * 86_400_000;
/** A webhook that takes nothing for so long is switched off. */
const failingMaxMs = 5 * 86_400_000;

/** Sends what is due. Of several processes one sends each delivery; a killed one may have sent it unseen: `webhook-id` is the same then. */
export function registerWebhookDelivery(deps: Deps): void {
  const { jobs, storage, now } = deps;
  jobs.every('webhooks.deliver', lookEveryMs, async (signal) => {
    const due = await storage.webhooks.takeDue(concurrentMax, leaseMs);
    await Promise.all(due.map((delivery) => deliver(deps, delivery, signal)));
  });
  jobs.every('webhooks.sweep', sweepEveryMs, () => storage.webhooks.sweep(new Date(now().getTime() - keptMs)));
}

async function deliver(deps: Deps, due: DueDelivery, signal: AbortSignal): Promise<void> {
  const { storage, now, logger } = deps;
  const answer = await send(deps, due, signal);
  signal.throwIfAborted();
  const at = now();
  const { delivery, webhook } = due;
  await storage.webhooks.record(due, attemptOf(answer, delivery.attempts, at), at);
  const { failingSince } = webhook;
  if (answer.isGood || failingSince === null || at.getTime() - failingSince.getTime() < failingMaxMs) return;
  const disabledReason = 'It took no delivery for five days';
  await storage.webhooks.update(webhook.id, webhook.orgId, { isEnabled: false, disabledReason });
  logger.warn({ webhookId: webhook.id, orgId: webhook.orgId }, 'a webhook that took nothing for five days is switched off');
}

interface Answer {
  readonly isGood: boolean;
  readonly status: number | null;
  readonly bodyStart: string | null;
  readonly error: string | null;
}

async function send(deps: Deps, { delivery, webhook, tenantId }: DueDelivery, signal: AbortSignal): Promise<Answer> {
  const failed = (error: string): Answer => ({ isGood: false, status: null, bodyStart: null, error });
  try {
    const request = {
      ...{ owner: { tenantId, orgId: webhook.orgId }, url: webhook.url, method: 'POST' as const, body: delivery.body },
      headers: { 'content-type': 'application/json', ...(await signatureOf(deps, webhook, delivery.id, delivery.body)) },
      ...{ bytesMax: answerBytesMax, timeoutMs, redirectsMax: 0, isPrompt: true as const },
    };
    return await deps.egress.receive(request, signal, async ({ status }, content) => {
      const isGood = status >= 200 && status < 300;
      const bodyStart = storableText(await startOf(content)).slice(0, bodyStartMaxChars);
      return { isGood, status, bodyStart, error: isGood ? null : `The receiver answered ${status}` };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) return failed(error.message);
    deps.logger.error({ err: error, webhookId: webhook.id }, 'a webhook could not be sent');
    return failed('The service failed to send it');
  }
}

/** As much as is shown: the rest is not fetched. */
async function startOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const block of content) return Buffer.from(block).toString('utf8', 0, bodyStartMaxChars * 4);
  return '';
}

/** The headers of Standard Webhooks. While a secret is being changed, both sign. */
async function signatureOf(
  { storage, now }: Deps,
  webhook: SealedWebhook,
  id: string,
  body: string,
): Promise<Record<string, string>> {
  const at = now();
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const { secret, previousSecret, previousUntil } = webhook;
  const isChanging = previousSecret !== null && previousUntil !== null && previousUntil > at;
  const secrets = isChanging ? [secret, previousSecret] : [secret];
  const place = placeOf(webhook.orgId, webhook.id);
  const signatures = secrets.map(async (sealed) => {
    const key = Buffer.from((await storage.vault.open(place, sealed)).replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': (await Promise.all(signatures)).join(' ') };
}

function attemptOf({ isGood, status, bodyStart, error }: Answer, attemptsBefore: number, at: Date): Attempt {
  const last = { lastStatus: status, lastBodyStart: bodyStart, lastError: error };
  if (isGood) return { ...last, status: 'DELIVERED', nextAttemptAt: null };
  const delayMs = retryDelaysMs[attemptsBefore];
  if (delayMs === undefined) return { ...last, status: 'FAILED', nextAttemptAt: null };
  return { ...last, status: 'PENDING', nextAttemptAt: new Date(at.getTime() + delayMs) };
}
