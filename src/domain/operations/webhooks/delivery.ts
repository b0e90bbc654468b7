import { setTimeout as wait } from 'node:timers/promises';
import { EgressError } from '../../../engine/egress/error.ts';
import { retryDelaysMs } from '../../../entities/operations/webhook.ts';
import { signedPost } from '../../../lib/standard-webhooks.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { Attempt, DeliveryDemand, DueDelivery, SealedWebhook } from '../../../storage/operations/webhooks/webhooks.ts';
import { notificationPost } from '../../conversations/tasks/notifications.ts';
import type { Deps } from '../../deps.ts';
import { toSecretPlace } from './webhooks.ts';

/** How soon a place that became free is used again. */
const refillEveryMs = 50;
/** Deliveries under way in one process at one time. */
const concurrentMax = 100;
/** Of one organization, begun at one time. One that has as many under way begins no other. */
const ofOrganizationMax = 8;
/** The same of one webhook. One that fails is sent one delivery after the other. */
const ofWebhookMax = 4;
const timeoutMs = 10_000;
/** A process that was killed leaves its deliveries to others after this time. */
const leaseMs = 30_000;
/** Bytes of an answer that are read. */
const answerBytesMax = 1024 * 1024;
const bodyStartMaxChars = 500;
/** The status of a receiver that wants no more deliveries, as Standard Webhooks say. */
const goneStatus = 410;
const sweepEveryMs = 3_600_000;
const keptMs = 30 * 86_400_000;
/** A webhook that takes nothing for so long is switched off. */
const failingMaxMs = 5 * 86_400_000;

/** Sends what is due. Of several processes one sends each delivery; a killed one may have sent it unseen: `webhook-id` is the same then. */
export function registerWebhookDelivery(deps: Deps): void {
  const { jobs, storage, now } = deps;
  jobs.every('webhooks.deliver', deps.settings.DUE_LOOK_EVERY_MS, (signal) => deliverDue(deps, signal));
  jobs.lead('webhooks.sweep', sweepEveryMs, (signal) =>
    storage.operations.webhooks.sweep(new Date(now().getTime() - keptMs), signal),
  );
}

/** Until nothing is due and nothing under way. A receiver that is slow keeps nobody else waiting. */
async function deliverDue(deps: Deps, signal: AbortSignal): Promise<void> {
  const underWay = new Map<Promise<void>, DueDelivery>();
  try {
    for (;;) {
      signal.throwIfAborted();
      const due = await deps.storage.operations.webhooks.takeDue(measureDemand([...underWay.values()]), leaseMs);
      for (const delivery of due) {
        const sending = deliver(deps, delivery, signal)
          .catch((error: unknown) => {
            if (!signal.aborted)
              deps.logger.warn({ err: error, deliveryId: delivery.delivery.id }, 'a delivery was not recorded');
          })
          .finally(() => underWay.delete(sending));
        underWay.set(sending, delivery);
      }
      if (underWay.size === 0) return;
      const isDone = new AbortController();
      const ending = AbortSignal.any([signal, isDone.signal]);
      const look = wait(deps.settings.DUE_LOOK_EVERY_MS, undefined, { signal: ending, ref: false });
      await Promise.race([...underWay.keys(), look]).finally(() => isDone.abort());
      await wait(refillEveryMs, undefined, { signal, ref: false });
    }
  } finally {
    await Promise.all(underWay.keys());
  }
}

/** What else may be begun while these are under way. */
function measureDemand(underWay: readonly DueDelivery[]): DeliveryDemand {
  const ofOrganizations = Map.groupBy(underWay, ({ webhook }) => webhook.orgId);
  const ofWebhooks = Map.groupBy(underWay, ({ webhook }) => webhook.id);
  const isFailing = (deliveries: readonly DueDelivery[]) => deliveries.some(({ webhook }) => webhook.failingSince !== null);
  return {
    countMax: concurrentMax - underWay.length,
    ...{ ofOrganizationMax, ofWebhookMax },
    busyOrgIds: listKeys(ofOrganizations, ({ length }) => length >= ofOrganizationMax),
    busyWebhookIds: listKeys(ofWebhooks, (deliveries) => deliveries.length >= ofWebhookMax || isFailing(deliveries)),
  };
}

function listKeys<T>(groups: ReadonlyMap<string, T>, isMeant: (group: T) => boolean): readonly string[] {
  return [...groups].flatMap(([key, group]) => (isMeant(group) ? [key] : []));
}

async function deliver(deps: Deps, due: DueDelivery, signal: AbortSignal): Promise<void> {
  const answer = await send(deps, due, signal);
  signal.throwIfAborted();
  const at = deps.now();
  const failingSince = await deps.storage.operations.webhooks.record(due, toAttempt(answer, due.delivery.attempts, at), at);
  if (answer.isGood) return;
  if (answer.status === goneStatus) return switchOff(deps, due, 'The receiver answered 410: it is gone');
  if (failingSince !== null && at.getTime() - failingSince.getTime() >= failingMaxMs)
    await switchOff(deps, due, 'It took no delivery for five days');
}

/** With an entry of the audit log, as of any change of a webhook. Nobody is its actor. */
async function switchOff(deps: Deps, { webhook: { id, orgId } }: DueDelivery, disabledReason: string): Promise<void> {
  const change = { isEnabled: false, disabledReason };
  const isChanged = await deps.audit.changeOfService(
    {
      orgId,
      action: 'updateWebhook',
      targetIds: [id],
      changes: Object.entries(change).map(([member, value]) => ({ member, value })),
    },
    () => deps.storage.operations.webhooks.switchOff(id, orgId, disabledReason),
  );
  if (isChanged) deps.logger.warn({ webhookId: id, orgId, reason: disabledReason }, 'a webhook was switched off');
}

interface Answer {
  readonly isGood: boolean;
  readonly status: number | null;
  readonly bodyStart: string | null;
  readonly error: string | null;
}

async function send(deps: Deps, { delivery, webhook, tenantId }: DueDelivery, signal: AbortSignal): Promise<Answer> {
  const toFailure = (error: string): Answer => ({ isGood: false, status: null, bodyStart: null, error });
  try {
    const at = deps.now();
    const secrets = await openSecrets(deps, webhook, at);
    const request = {
      ...(webhook.taskId === null
        ? signedPost(webhook.url, delivery.body, delivery.id, at, secrets)
        : notificationPost(webhook.url, delivery.body, delivery.id, secrets[0] ?? '{}')),
      ...{ owner: { tenantId, orgId: webhook.orgId }, bytesMax: answerBytesMax, timeoutMs, isPrompt: true as const },
    };
    return await deps.egress.receive(request, signal, async ({ status }, content) => {
      const isGood = status >= 200 && status < 300;
      return { isGood, status, bodyStart: await readStart(content), error: isGood ? null : `The receiver answered ${status}` };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) return toFailure(error.message);
    deps.logger.error({ err: error, webhookId: webhook.id }, 'a webhook could not be sent');
    return toFailure('The service failed to send it');
  }
}

/** As much as is shown: the rest is not fetched. The status tells what became of the delivery, also when the body does not arrive whole. */
async function readStart(content: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = Buffer.alloc(bodyStartMaxChars * 4);
  let length = 0;
  try {
    for await (const block of content) {
      length += Buffer.from(block).copy(bytes, length);
      if (length === bytes.length) break;
    }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
  }
  // A character that is cut in two at the end of the bytes is not among the first ones: each has four bytes at most.
  return storableText(bytes.toString('utf8', 0, length))
    .slice(0, bodyStartMaxChars)
    .toWellFormed();
}

/** While a secret is being changed, both sign. */
function openSecrets({ storage }: Deps, webhook: SealedWebhook, at: Date): Promise<readonly string[]> {
  const { orgId, id, secret, previousSecret, previousUntil } = webhook;
  const isChanging = previousSecret !== null && previousUntil !== null && previousUntil > at;
  const secrets = isChanging ? [secret, previousSecret] : [secret];
  return Promise.all(secrets.map((sealedSecret) => storage.vault.open(toSecretPlace(orgId, id), sealedSecret)));
}

function toAttempt({ isGood, status, bodyStart, error }: Answer, attemptsBefore: number, at: Date): Attempt {
  const last = { lastStatus: status, lastBodyStart: bodyStart, lastError: error };
  if (isGood) return { ...last, status: 'DELIVERED', nextAttemptAt: null };
  const delayMs = retryDelaysMs[attemptsBefore];
  if (delayMs === undefined) return { ...last, status: 'FAILED', nextAttemptAt: null };
  return { ...last, status: 'PENDING', nextAttemptAt: new Date(at.getTime() + delayMs) };
}
