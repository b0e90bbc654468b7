// Raw SQL: deliveries that are due are leased by one statement with `for update skip locked`, some of each organization, which Prisma has no words for.
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { Webhook, WebhookDelivery } from '../../../entities/operations/webhook.ts';
import type { WebhookModel as WebhookRow } from '../../generated/models/Webhook.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';

/** A webhook with its secrets, sealed. */
export interface SealedWebhook extends Webhook {
  readonly secret: string;
  readonly previousSecret: string | null;
  readonly previousUntil: Date | null;
  /** The task that it tells of, for the client of that task; null: an administrator made it. */
  readonly taskId: string | null;
}
/** Those that administrators made: no list shows the others. */
const ofOrganization = { taskId: null };
export type WebhookChange = Partial<
  Omit<SealedWebhook, 'id' | 'createdAt' | 'updatedAt' | 'orgId' | 'events' | 'agentIds' | 'taskId'> & {
    readonly events: string[];
    readonly agentIds: string[];
  }
>;

/** A delivery that this process holds until `nextAttemptAt`. */
export interface DueDelivery {
  readonly delivery: WebhookDelivery;
  readonly webhook: SealedWebhook;
  readonly tenantId: string;
}

/** How many deliveries to take, and whose not. */
export interface DeliveryDemand {
  readonly countMax: number;
  readonly ofOrganizationMax: number;
  /** Of a webhook that fails one is taken. */
  readonly ofWebhookMax: number;
  readonly busyOrgIds: readonly string[];
  readonly busyWebhookIds: readonly string[];
}

/** What became of an attempt. */
export interface Attempt {
  readonly status: WebhookDelivery['status'];
  readonly nextAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastBodyStart: string | null;
  readonly lastError: string | null;
}

const sweptAtOnce = 2_000;

export class WebhookStore extends Store {
  async create(
    webhook: Omit<SealedWebhook, 'updatedAt' | 'disabledReason' | 'failingSince' | 'previousSecret' | 'previousUntil' | 'taskId'>,
  ): Promise<Webhook> {
    return toWebhook(
      await this.db.prisma.webhook.create({
        data: { ...webhook, events: [...webhook.events], agentIds: [...webhook.agentIds] },
      }),
    );
  }

  count(orgId: string): Promise<number> {
    return this.db.prisma.webhook.count({ where: { orgId, ...ofOrganization } });
  }

  async findMany(ids: readonly string[], orgId: string): Promise<readonly Webhook[]> {
    return (await this.db.prisma.webhook.findMany({ where: { id: { in: [...ids] }, orgId, ...ofOrganization } })).map(toWebhook);
  }

  async findSealed(id: string, orgId: string): Promise<SealedWebhook | undefined> {
    const row = await this.db.prisma.webhook.findFirst({ where: { id, orgId, ...ofOrganization } });
    return row === null ? undefined : (row as SealedWebhook);
  }

  async list(orgId: string, page: PageRequest): Promise<Page<Webhook>> {
    const where = { orgId, ...ofOrganization };
    const rows = await this.db.prisma.webhook.findMany(newestFirst(where, page));
    return toPage(rows.map(toWebhook), page, timeKey, (take) => this.db.prisma.webhook.count({ where, take }));
  }

  /** @returns undefined when there is no such webhook any more. */
  async update(id: string, orgId: string, change: WebhookChange): Promise<Webhook | undefined> {
    const { count } = await this.db.prisma.webhook.updateMany({ where: { id, orgId, ...ofOrganization }, data: change });
    if (count === 0) return undefined;
    const row = await this.db.prisma.webhook.findUnique({ where: { id } });
    return row === null ? undefined : toWebhook(row);
  }

  /** Its deliveries go with it. */
  async delete(id: string, orgId: string): Promise<boolean> {
    return (await this.db.prisma.webhook.deleteMany({ where: { id, orgId, ...ofOrganization } })).count > 0;
  }

  async addDelivery(
    delivery: Pick<WebhookDelivery, 'id' | 'createdAt' | 'orgId' | 'webhookId' | 'event' | 'body'> &
      Partial<Pick<WebhookDelivery, 'userId'>>,
  ): Promise<WebhookDelivery> {
    return (await this.db.prisma.webhookDelivery.create({
      data: { ...delivery, nextAttemptAt: delivery.createdAt },
    })) as WebhookDelivery;
  }

  async findDeliveries(ids: readonly string[], orgId: string): Promise<readonly WebhookDelivery[]> {
    return (await this.db.prisma.webhookDelivery.findMany({
      where: { id: { in: [...ids] }, orgId, webhook: ofOrganization },
    })) as readonly WebhookDelivery[];
  }

  /** A page of deliveries for each webhook, newest first. */
  pagesOfDeliveries(webhookIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<WebhookDelivery>>> {
    const db = this.db;

    const ids = [...webhookIds];
    return readChildPages<WebhookDelivery>(this.db, page, {
      async findPlaces() {
        const deliveries = { ...newestFirst({}, page), select: { id: true } };
        const webhooks = await db.prisma.webhook.findMany({ where: { id: { in: ids } }, select: { id: true, deliveries } });
        return webhooks.map(({ id, deliveries: places }) => ({ id, places }));
      },
      read: async (own) =>
        (await this.db.prisma.webhookDelivery.findMany({ where: { id: { in: own } } })) as unknown as readonly WebhookDelivery[],
      keyOf: timeKey,
      async countAll() {
        const groups = await db.prisma.webhookDelivery.groupBy({
          by: ['webhookId'],
          where: { webhookId: { in: ids } },
          _count: true,
        });
        return new Map(groups.map(({ webhookId, _count }) => [webhookId, _count]));
      },
    });
  }

  /** Sends a delivery again from its first attempt on. */
  async redeliver(id: string, orgId: string, at: Date): Promise<WebhookDelivery | undefined> {
    const data = { status: 'PENDING', attempts: 0, nextAttemptAt: at };
    const { count } = await this.db.prisma.webhookDelivery.updateMany({ where: { id, orgId, webhook: ofOrganization }, data });
    if (count === 0) return undefined;
    return ((await this.db.prisma.webhookDelivery.findUnique({ where: { id } })) as WebhookDelivery | null) ?? undefined;
  }

  /**
   * Takes deliveries that are due for `leaseMs`: no other process gets them meanwhile. Those of webhooks that are switched off wait. The oldest of each
   * organization come first. Of webhooks of tasks, of which there may be any number, only those with something due are looked at.
   */
  async takeDue(
    { countMax, ofOrganizationMax, ofWebhookMax, busyOrgIds, busyWebhookIds }: DeliveryDemand,
    leaseMs: number,
  ): Promise<readonly DueDelivery[]> {
    const taken = await this.db.query<{ readonly id: string; readonly tenantId: string | null }>(
      `update webhook_deliveries set "nextAttemptAt" = now() + $1 * interval '1 millisecond'
         where id in (
           select id from (
             select d.id, row_number() over (partition by w."orgId" order by d."nextAttemptAt") as place
             from (
               select * from webhooks where "taskId" is null
               union all select * from webhooks where id in (
                 select "webhookId" from webhook_deliveries where status = 'PENDING' and event = 'task.changed' and "nextAttemptAt" <= now())
             ) w cross join lateral (
               select id, "nextAttemptAt" from webhook_deliveries
               where "webhookId" = w.id and status = 'PENDING' and "nextAttemptAt" <= now()
               order by "nextAttemptAt" limit case when w."failingSince" is null then $4::int else 1 end for update skip locked
             ) d
             where w."isEnabled" and w."orgId" <> all ($5::text[]) and w.id <> all ($6::text[])
           ) due
           where place <= $3 order by place limit $2)
         returning id, (select o."tenantId" from organizations o where o.id = webhook_deliveries."orgId") as "tenantId"`,
      [leaseMs, countMax, ofOrganizationMax, ofWebhookMax, busyOrgIds, busyWebhookIds],
    );
    if (taken.length === 0) return [];
    const tenants = new Map(taken.map(({ id, tenantId }) => [id, tenantId ?? undefined]));
    const where = { id: { in: [...tenants.keys()] } };
    const rows = await this.db.prisma.webhookDelivery.findMany({ where, include: { webhook: true } });
    return rows.flatMap(({ webhook, ...delivery }) => {
      const tenantId = tenants.get(delivery.id);
      const due = { delivery: delivery as WebhookDelivery, webhook: webhook as SealedWebhook };
      return tenantId === undefined ? [] : [{ ...due, tenantId }];
    });
  }

  /** Writes what became of an attempt, and whether its webhook works. @returns since when it fails. */
  async record({ delivery, webhook }: DueDelivery, attempt: Attempt, at: Date): Promise<Date | null> {
    const { id } = delivery;
    // Another process has it where the lease ran out meanwhile: that one's attempt counts.
    const data = { ...attempt, lastAttemptAt: at, attempts: { increment: 1 } };
    const { count } = await this.db.prisma.webhookDelivery.updateMany({
      where: { id, status: 'PENDING', nextAttemptAt: delivery.nextAttemptAt },
      data,
    });
    if (count === 0) return null;
    if (attempt.status === 'DELIVERED') {
      await this.db.prisma.webhook.updateMany({
        where: { id: webhook.id, failingSince: { not: null } },
        data: { failingSince: null },
      });
      return null;
    }
    // Also one that an administrator switched on while this was under way begins anew.
    const begun = await this.db.prisma.webhook.updateMany({
      where: { id: webhook.id, failingSince: null },
      data: { failingSince: at },
    });
    return begun.count > 0 ? at : (webhook.failingSince ?? at);
  }

  /** @returns whether it was on. */
  async switchOff(id: string, orgId: string, disabledReason: string): Promise<boolean> {
    const where = { id, orgId, isEnabled: true };
    return (await this.db.prisma.webhook.updateMany({ where, data: { isEnabled: false, disabledReason } })).count > 0;
  }

  /** Deletes deliveries from before. */
  async sweep(before: Date, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const where = { createdAt: { lt: before } };
      if ((await this.db.prisma.webhookDelivery.deleteMany({ where, limit: sweptAtOnce })).count < sweptAtOnce) return;
    }
  }
}

/** Without the secrets. */
function toWebhook(sealed: WebhookRow): Webhook {
  const {
    secret: _secret,
    previousSecret: _previous,
    previousUntil: _until,
    taskId: _task,
    taskConfigId: _config,
    ...row
  } = sealed;
  return row as Webhook;
}
