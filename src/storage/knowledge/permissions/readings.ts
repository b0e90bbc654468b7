// Raw SQL: leases by the time of the database, and items of a source by their ids, a thousand at a time.
import { type ConnectedType, connectedTypes } from '../../../entities/knowledge/data-source.ts';
import type { GroupMembers, ItemAccess } from '../../../entities/knowledge/permissions.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { Database, Sql } from '../../ground/database.ts';
import { type Lease, LeaseLostError, milliseconds } from '../../ground/leases.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { isAhead } from '../../ground/sql/clock.ts';
import { PublishingStore } from '../../ground/store.ts';
import type { OwnedId } from '../indexing/lease.ts';
import { writeGroups } from './groups.ts';
import { type PermissionPlace, writeItemAccess } from './rules.ts';

/** The right to read the permissions of a source. The owner with the attempt is the fence. */
export interface ReadingLease extends Lease, ShareOwner {
  readonly source: {
    readonly id: string;
    readonly ownerUserId: string;
    readonly type: ConnectedType;
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly directory: string;
  /** What the last complete reading left. */
  readonly state: unknown;
  /** Where this reading was cut off; undefined at its beginning. */
  readonly place: unknown;
  /** When everything was read last. */
  readonly fullAt: Date | null;
}

/** An item of a source, as readers of permissions know it. */
export interface ReadingItem {
  readonly uniqueId: string;
  readonly parentUniqueId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly notes: Readonly<Record<string, unknown>>;
}

export interface ReadingPeriods {
  readonly syncMs: number;
  /** Of kinds whose service tells of changes. */
  readonly feedMs: number;
  readonly feedTypes: readonly ConnectedType[];
}

const itemsAtOnce = 1_000;
const dueAtOnce = 500;

/** The readings of permissions: one for each MIRRORED source that a connector reads. Each call is one short transaction. */
export class PermissionReadingStore extends PublishingStore {
  readonly #maxAgeMs: number;

  /** @param maxAgeMs  how long permissions count after they were read. */
  constructor(db: Database, signals: Signals, maxAgeMs: number) {
    super(db, signals);
    this.#maxAgeMs = maxAgeMs;
  }

  /**
   * Sources whose permissions are to be read: never read, cut off, or their period is over, or the clock was set back. After failures the wait grows, up
   * to a period.
   */
  findDue({ syncMs, feedMs, feedTypes }: ReadingPeriods): Promise<readonly OwnedId[]> {
    return this.db.query<OwnedId>(findDueSql, [connectedTypes, feedTypes, feedMs, syncMs, dueAtOnce]);
  }

  /** The source, where it is MIRRORED and has items of which nothing was told: those of the listing that just ended. */
  async findWithNewItems(dataSourceId: string): Promise<readonly OwnedId[]> {
    return this.db.query<OwnedId>(findWithNewItemsSql, [dataSourceId, connectedTypes]);
  }

  /**
   * Takes the reading of a source, which begins or goes on. One that began so long ago that what it told first counts no more begins anew.
   *
   * @returns undefined where the source is not MIRRORED any more, or another process reads.
   */
  async begin(
    dataSourceId: string,
    { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
  ): Promise<ReadingLease | undefined> {
    const [row] = await this.db.query<BegunRow>(beginSql, [dataSourceId, owner, leaseMs, connectedTypes, this.#maxAgeMs]);
    if (row === undefined) return undefined;
    this.signals.publish('data-source-changed', dataSourceId);
    const { attempt, ownerUserId, type, data, fullAt, place, state, ...rest } = row;
    return {
      ...{ id: dataSourceId, owner, fence: attempt, orgId: rest.orgId, tenantId: rest.tenantId, directory: rest.directory },
      source: { id: dataSourceId, ownerUserId, type, data },
      ...{ state: state ?? undefined, place: place ?? undefined, fullAt: fullAt === null ? null : new Date(fullAt) },
    };
  }

  /** Notes the directory that the source has now. What was read of another one is not gone on with. @throws LeaseLostError */
  async enter(lease: ReadingLease, directory: string): Promise<void> {
    await this.#write(this.db, lease, 'directory = $4, state = null, place = null, "fullAt" = null, "itemCount" = 0', [
      directory,
    ]);
  }

  async renew(lease: ReadingLease, leaseMs: number): Promise<void> {
    await this.#write(this.db, lease, `"leaseUntil" = now() + ${milliseconds('$4')}`, [leaseMs]);
  }

  /** Stores a part of a reading: all of it or nothing. Items that have these permissions already are not written. @throws LeaseLostError */
  async apply(
    lease: ReadingLease,
    place: PermissionPlace,
    part: { readonly items: readonly ItemAccess[]; readonly groups: readonly GroupMembers[]; readonly place: unknown },
  ): Promise<number> {
    const { changedCount, memberCount } = await this.db.transaction(async (tx) => {
      const written = 'place = $4::jsonb, "itemCount" = "itemCount" + $5';
      await this.#write(tx, lease, written, [JSON.stringify(part.place ?? null), part.items.length]);
      const memberCount = await writeGroups(tx, place, part.groups);
      return { memberCount, changedCount: await writeItemAccess(tx, place, part.items) };
    });
    if (changedCount + memberCount > 0) this.signals.publish('permissions-changed', lease.id);
    this.signals.publish('data-source-changed', lease.id);
    return changedCount;
  }

  /** Ends a reading that told all that it had to. @param state  undefined: what was there before is kept. @throws LeaseLostError */
  async finish(
    lease: ReadingLease,
    {
      isFull,
      state,
      missingRights,
    }: { readonly isFull: boolean; readonly state: unknown; readonly missingRights: readonly string[] },
  ): Promise<void> {
    const kept = state === undefined ? null : JSON.stringify(state);
    await this.#write(this.db, lease, finishSet, [isFull, kept, missingRights]);
    // Of what a feed of changes told, each part was published. A source that counts again is found within the age of what is remembered.
    if (isFull || lease.fullAt === null) this.signals.publish('permissions-changed', lease.id);
    this.signals.publish('data-source-changed', lease.id);
  }

  /** Ends an attempt. What was read stays, and the next one goes on. @throws LeaseLostError */
  async fail(lease: ReadingLease, { code, message }: { readonly code: string; readonly message: string }): Promise<void> {
    await this.#write(this.db, lease, `"failedAt" = now(), "errorCode" = $4, "errorMessage" = $5, ${leaseEnded}`, [
      code,
      message,
    ]);
    this.signals.publish('data-source-changed', lease.id);
  }

  /** The process stops: another may go on at once. */
  async release(lease: ReadingLease): Promise<void> {
    await this.#write(this.db, lease, leaseEnded, []).catch((error: unknown) => {
      if (!(error instanceof LeaseLostError)) throw error;
    });
  }

  known(dataSourceId: string, uniqueIds: readonly string[]): Promise<readonly ReadingItem[]> {
    if (uniqueIds.length === 0) return Promise.resolve([]);
    return this.db.query(`${itemsSql} and "uniqueId" = any($2::text[])`, [dataSourceId, uniqueIds]);
  }

  /** All items of a source behind an id, in the order of their ids. */
  items(dataSourceId: string, after = ''): AsyncGenerator<readonly ReadingItem[], void, void> {
    return this.#pages(`${itemsSql} and "uniqueId" > $2 ${pageSql}`, dataSourceId, after);
  }

  /** Items of which nothing was ever told. */
  newItems(dataSourceId: string): AsyncGenerator<readonly ReadingItem[], void, void> {
    return this.#pages(
      `${itemsSql} and "accessRuleId" is null and "accessUnknown" is null and "uniqueId" > $2 ${pageSql}`,
      dataSourceId,
      '',
    );
  }

  /**
   * Tells the webhooks of sources whose permissions have not been read for long, once: they are about to count no more.
   *
   * @returns the ids of these sources.
   */
  async warn(maxAgeMs: number): Promise<readonly string[]> {
    const rows = await this.db.query<{ readonly id: string }>(warnSql, [maxAgeMs * warnedPart, connectedTypes]);
    for (const { id } of rows) this.signals.publish('data-source-changed', id);
    return rows.map(({ id }) => id);
  }

  async *#pages(sql: string, dataSourceId: string, begin: string): AsyncGenerator<readonly ReadingItem[], void, void> {
    for (let after = begin; ; ) {
      const items = await this.db.query<ReadingItem>(sql, [dataSourceId, after]);
      if (items.length > 0) yield items;
      const last = items.at(-1);
      if (last === undefined || items.length < itemsAtOnce) return;
      after = last.uniqueId;
    }
  }

  async #write(sql: Pick<Sql, 'execute'>, { id, owner, fence }: Lease, set: string, values: readonly unknown[]): Promise<void> {
    const written = await sql.execute(
      `update permission_readings set ${set} where "dataSourceId" = $1 and "leaseOwner" = $2 and attempt = $3`,
      [id, owner, fence, ...values],
    );
    if (written === 0) throw new LeaseLostError(`another process reads the permissions of ${id}`);
  }
}

interface BegunRow extends ShareOwner {
  readonly attempt: number;
  readonly directory: string;
  readonly state: unknown;
  readonly place: unknown;
  readonly fullAt: string | Date | null;
  readonly ownerUserId: string;
  readonly type: ConnectedType;
  readonly data: Readonly<Record<string, unknown>>;
}

/** When it is said that permissions count no more soon: after this part of their time. */
const warnedPart = 0.75;

const leaseEnded = '"leaseOwner" = null, "leaseUntil" = null';

const finishSet = `"readAt" = now(), "fullAt" = case when $4::boolean then now() else "fullAt" end,
  state = coalesce($5::jsonb, state), "missingRights" = $6::text[], "startedAt" = null, place = null, "itemCount" = 0, attempt = 0,
  "errorCode" = null, "errorMessage" = null, "failedAt" = null, "warnedAt" = null, ${leaseEnded}`;

const findDueSql = `
select source.id, source."orgId", organization."tenantId"
from data_sources as source
join organizations as organization on organization.id = source."orgId"
left join permission_readings as reading on reading."dataSourceId" = source.id
where source.access <> 'LENT' and source.access = 'MIRRORED' and source.type = any($1::text[]) and source."deletingAt" is null
  and (reading."leaseUntil" is null or reading."leaseUntil" < now())
  and (case
    when reading."dataSourceId" is null then true
    when reading."failedAt" is not null then
      reading."failedAt" < now() - least($4::float8, $3::float8 * power(2, least(reading.attempt, 10))) * interval '1 millisecond'
    when reading."startedAt" is not null or reading."readAt" is null then true
    else reading."readAt" < now() - (case when source.type = any($2::text[]) then $3::float8 else $4::float8 end) * interval '1 millisecond'
  end or ${isAhead('coalesce(reading."failedAt", reading."readAt")')})
order by reading."readAt" nulls first limit $5`;

const findWithNewItemsSql = `
select source.id, source."orgId", organization."tenantId" from data_sources as source
join organizations as organization on organization.id = source."orgId"
where source.id = $1 and source.access = 'MIRRORED' and source.type = any($2::text[]) and source."deletingAt" is null and exists (
  select from knowledge_items as item
  where item."dataSourceId" = $1 and item."accessRuleId" is null and item."accessUnknown" is null and item."indexStatus" <> 'DELETING')`;

const goesOn = `reading."startedAt" > now() - ${milliseconds('$5')}`;

const beginSql = `
with source as (
  select source.id, source."orgId", organization."tenantId", source."ownerUserId", source.type, source.data
  from data_sources as source join organizations as organization on organization.id = source."orgId"
  where source.id = $1 and source.access = 'MIRRORED' and source.type = any($4::text[]) and source."deletingAt" is null
), taken as (
  insert into permission_readings as reading ("dataSourceId", directory, "startedAt", attempt, "leaseOwner", "leaseUntil")
  select id, '', now(), 1, $2, now() + ${milliseconds('$3')} from source
  on conflict ("dataSourceId") do update set "leaseOwner" = $2, "leaseUntil" = excluded."leaseUntil", attempt = reading.attempt + 1,
    "startedAt" = case when ${goesOn} then reading."startedAt" else now() end, place = case when ${goesOn} then reading.place end,
    "itemCount" = case when ${goesOn} then reading."itemCount" else 0 end
  where reading."leaseOwner" is null or reading."leaseOwner" = $2 or reading."leaseUntil" < now()
  returning attempt, directory, state, place, "fullAt"
)
select taken.*, source."orgId", source."tenantId", source."ownerUserId", source.type, source.data from taken cross join source`;

const itemsSql = `
select "uniqueId", "parentUniqueId", metadata, notes from knowledge_items where "dataSourceId" = $1 and "indexStatus" <> 'DELETING'`;
const pageSql = `order by "uniqueId" limit ${itemsAtOnce}`;

const warnSql = `
with old as (
  update permission_readings as reading set "warnedAt" = now()
  from data_sources as source
  where source.id = reading."dataSourceId" and source.access <> 'LENT' and source.type = any($2::text[]) and source."deletingAt" is null
    and reading."warnedAt" is null and reading."readAt" < now() - ${milliseconds('$1')}
  returning source.id, source."orgId", source."ownerUserId", reading."errorCode"
), told as (
  select parley_webhook_deliveries(old."orgId", old."ownerUserId", null, 'source.failed',
    json_build_object('dataSourceId', old.id, 'sourceRunId', null, 'errorCode', 'PERMISSIONS_OLD'))::text from old
)
select old.id from old where (select count(*) from told) >= 0`;
