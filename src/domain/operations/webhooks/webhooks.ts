import { randomBytes } from 'node:crypto';
import { DomainError } from '../../../entities/ground/errors.ts';
import { emptyPage, type Page, type PageRequest } from '../../../entities/ground/page.ts';
import { testEvent, type Webhook, type WebhookDelivery, type WebhookEvent } from '../../../entities/operations/webhook.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { storableText } from '../../../lib/text/text.ts';
import { getAgents } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { isAdministrator } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';

type Optional<T> = T | null | undefined;

export interface CreateWebhookInput {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly agentIds?: Optional<readonly string[]>;
  readonly description?: Optional<string>;
}
/** Absent members are kept. */
export interface UpdateWebhookInput {
  readonly url?: Optional<string>;
  readonly events?: Optional<readonly WebhookEvent[]>;
  readonly agentIds?: Optional<readonly string[]>;
  readonly description?: Optional<string>;
  readonly isEnabled?: Optional<boolean>;
}
/** A webhook and the secret of its signatures, which is shown once. */
export interface WebhookWithSecret {
  readonly id: string;
  readonly orgId: string;
  readonly webhook: Webhook;
  readonly secret: string;
}

const webhooksMax = 50;
const agentsMax = 100;
const urlMaxChars = 2_000;
const descriptionMaxChars = 500;
const secretBytes = 32;
const previousSecretMs = 86_400_000;

/** The webhooks of the caller's organization, newest first. @throws DomainError FORBIDDEN for who is no administrator, as everything here. */
export async function listWebhooks(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<Webhook>> {
  requireAdministrator(caller);
  return deps.storage.operations.webhooks.list(caller.orgId, page);
}

/** The webhooks of the caller's organization among `ids`; none for who is no administrator. */
export async function getWebhooks(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Webhook[]> {
  if (!isAdministrator(caller, caller.orgId)) return [];
  return deps.storage.operations.webhooks.findMany(ids, caller.orgId);
}

/** @throws DomainError NOT_FOUND. */
export async function getWebhook(deps: Deps, caller: Caller, id: string): Promise<Webhook> {
  requireAdministrator(caller);
  const [webhook] = await getWebhooks(deps, caller, [id]);
  if (webhook === undefined) throw missingWebhook();
  return webhook;
}

export async function getDeliveries(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly WebhookDelivery[]> {
  if (!isAdministrator(caller, caller.orgId)) return [];
  return deps.storage.operations.webhooks.findDeliveries(ids, caller.orgId);
}

/** A page of the deliveries of each webhook, in the order of the webhooks. */
export async function pageDeliveries(
  deps: Deps,
  webhookIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<WebhookDelivery>[]> {
  const pages = await deps.storage.operations.webhooks.pagesOfDeliveries(webhookIds, page);
  return webhookIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** @throws DomainError naming every faulty member; CONFLICT when there are as many as may be. */
export async function createWebhook(deps: Deps, caller: Caller, input: CreateWebhookInput): Promise<WebhookWithSecret> {
  requireAdministrator(caller);
  const { url, events, description, agentIds } = input;
  await check(deps, caller, input);
  const { orgId } = caller;
  const id = deps.newId('webhook');
  const secret = makeSecret();
  const sealedSecret = await deps.storage.vault.seal(toSecretPlace(orgId, id), secret);
  const members = { url, events: distinct(events), agentIds: distinct(agentIds ?? []), isEnabled: true };
  return deps.audit.change(caller, async () => {
    if ((await deps.storage.operations.webhooks.count(orgId)) >= webhooksMax)
      throw new DomainError('CONFLICT', `An organization has at most ${webhooksMax} webhooks: delete one first`);
    const own = { id, orgId, createdAt: deps.now(), description: storableText(description ?? '').trim(), secret: sealedSecret };
    return { id, orgId, secret, webhook: await deps.storage.operations.webhooks.create({ ...own, ...members }) };
  });
}

/** Switched on again, a webhook begins with a clean record. @throws DomainError as `createWebhook`. */
export async function updateWebhook(deps: Deps, caller: Caller, id: string, input: UpdateWebhookInput): Promise<Webhook> {
  await getWebhook(deps, caller, id);
  await check(deps, caller, input);
  const { url, events, agentIds, description, isEnabled } = input;
  return deps.audit.change(caller, async () => {
    const changedWebhook = await deps.storage.operations.webhooks.update(id, caller.orgId, {
      ...(typeof url === 'string' ? { url } : {}),
      ...(events == null ? {} : { events: distinct(events) }),
      ...(agentIds == null ? {} : { agentIds: distinct(agentIds) }),
      ...(typeof description === 'string' ? { description: storableText(description).trim() } : {}),
      ...(isEnabled === true ? { isEnabled, disabledReason: null, failingSince: null } : {}),
      ...(isEnabled === false ? { isEnabled, disabledReason: 'An administrator switched it off' } : {}),
    });
    if (changedWebhook === undefined) throw missingWebhook();
    return changedWebhook;
  });
}

/** Deletes a webhook with its deliveries. @returns what it was. @throws DomainError NOT_FOUND. */
export async function deleteWebhook(deps: Deps, caller: Caller, id: string): Promise<Webhook> {
  const webhook = await getWebhook(deps, caller, id);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.operations.webhooks.delete(id, caller.orgId))) throw missingWebhook();
    await deps.storage.conversations.schedules.pauseThose({ webhookId: id });
    return webhook;
  });
  return webhook;
}

/** Makes a new secret. The one before signs too for a day, so that receivers can change. @throws DomainError NOT_FOUND. */
export async function rotateWebhookSecret(deps: Deps, caller: Caller, id: string): Promise<WebhookWithSecret> {
  requireAdministrator(caller);
  const before = await deps.storage.operations.webhooks.findSealed(id, caller.orgId);
  if (before === undefined) throw missingWebhook();
  const secret = makeSecret();
  const sealedSecret = await deps.storage.vault.seal(toSecretPlace(caller.orgId, id), secret);
  const previousUntil = new Date(deps.now().getTime() + previousSecretMs);
  return deps.audit.change(caller, async () => {
    const change = { secret: sealedSecret, previousSecret: before.secret, previousUntil };
    const webhook = await deps.storage.operations.webhooks.update(id, caller.orgId, change);
    if (webhook === undefined) throw missingWebhook();
    return { id, orgId: caller.orgId, webhook, secret };
  });
}

/** Sends an event of the type `webhook.test`. @throws DomainError NOT_FOUND. */
export async function testWebhook(deps: Deps, caller: Caller, webhookId: string): Promise<WebhookDelivery> {
  const { orgId } = await getWebhook(deps, caller, webhookId);
  const createdAt = deps.now();
  const body = JSON.stringify({ type: testEvent, timestamp: createdAt.toISOString(), data: { webhookId } });
  const delivery = { id: deps.newId('webhookDelivery'), createdAt, orgId, webhookId, event: testEvent, body };
  return deps.audit.change(caller, () => deps.storage.operations.webhooks.addDelivery(delivery));
}

/** Sends a delivery again, with the same id. @throws DomainError NOT_FOUND. */
export async function redeliverWebhook(deps: Deps, caller: Caller, deliveryId: string): Promise<WebhookDelivery> {
  requireAdministrator(caller);
  return deps.audit.change(caller, async () => {
    const delivery = await deps.storage.operations.webhooks.redeliver(deliveryId, caller.orgId, deps.now());
    if (delivery === undefined) throw new DomainError('NOT_FOUND', 'There is no such delivery', { param: 'deliveryId' });
    return delivery;
  });
}

function requireAdministrator(caller: Caller): void {
  if (!isAdministrator(caller, caller.orgId))
    throw new DomainError('FORBIDDEN', 'Only administrators see and change the webhooks of their organization');
}

/** The row that the secrets of a webhook are sealed for. */
export function toSecretPlace(orgId: string, id: string) {
  return { orgId, table: 'webhooks', rowId: id };
}

async function check(deps: Deps, caller: Caller, { url, events, agentIds, description }: UpdateWebhookInput): Promise<void> {
  const faults = new Faults();
  if (typeof url === 'string') checkUrl(url, faults);
  if (events != null && events.length === 0) faults.add('events', 'events must name at least one event, such as RUN_ENDED');
  if (agentIds != null) faults.requireCount('agentIds', agentIds, agentsMax);
  if (typeof description === 'string') faults.requireLength('description', description, descriptionMaxChars);
  faults.throwIfAny();
  const visible = new Set((await getAgents(deps, caller, distinct(agentIds ?? []))).map((agent) => agent.id));
  for (const [index, id] of (agentIds ?? []).entries())
    if (!visible.has(id)) faults.add(`agentIds[${index}]`, `agentIds[${index}] is not an agent that you can see`);
  faults.throwIfAny();
}

function checkUrl(text: string, faults: Faults): void {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!isWeb || url.username !== '' || url.password !== '')
    faults.add('url', 'url must be an address such as https://example.com/hooks, without a user name and a password');
  else faults.requireLength('url', text, urlMaxChars);
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}

function makeSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}

function missingWebhook(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such webhook', { param: 'id' });
}
