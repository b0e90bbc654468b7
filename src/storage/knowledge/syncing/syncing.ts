// Raw SQL: leases. One statement looks whether a run has ended, because it is asked after each item.
import type { Connection } from '../../../entities/knowledge/connection.ts';
import { connectedTypes, type DataSourceType, isConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Database, Sql, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import type { AlsoInTransaction, OwnedId } from '../indexing/lease.ts';
import { cancelItems, openStates } from '../items/states.ts';
import { findDueSources, openRuns } from '../sources/refresh-period.ts';
import { LeasedRuns } from './leased-runs.ts';
import { addUploadRun, uploadRunEnd } from './upload-runs.ts';

export type { SyncedItem, SyncLease } from './lease.ts';

/**
 * The runs of sources. Each call is one short transaction and announces the change.
 *
 * ```text
 * none ──begin──▶ LISTING ──finish──▶ INDEXING ──closeEnded: its last item is done──▶ COMPLETED, FAILED
 *  │               │  ▲  │                │  ▲
 *  │         cut off, release (the        │  └── added to by retries and further content
 *  │         next attempt of the job)     └──cancel──▶ CANCELLED
 *  │                     └──fail, nothing listed──▶ FAILED
 *  └── content was given: INDEXING at once
 * ```
 *
 * One job `knowledge.sync-source` reads a source. A refresh that is asked for during a run is noted in the source (`isSyncWanted`), and the statement
 * that ends the run queues the next job. The items of a run have jobs of their own, because several processes read them in parallel.
 */
export class SyncStore extends LeasedRuns {
  readonly #db: Database;
  readonly #signals: Signals;

  constructor(db: Database, signals: Signals) {
    super(db, signals);
    this.#db = db;
    this.#signals = signals;
  }

  /** Notes that a source is to be read, after the present run if there is one. `also` queues the job. */
  async want(id: string, isForced: boolean, also: AlsoInTransaction): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const { dataSource } = tx.prisma;
      await lockRow(tx, 'data_sources', id);
      if (isForced) await dataSource.updateMany({ where: { id }, data: { isSyncForced: true } });
      const isRunning = { runs: { some: { status: { in: openRuns } } } };
      await dataSource.updateMany({ where: { id, ...isRunning }, data: { isSyncWanted: true } });
      await also(tx, await findOwners(tx, [id]));
    });
  }

  /** Ends the run of a source whose items are all indexed or failed. `also` queues a further run that is wanted. */
  async closeEnded(dataSourceId: string, also: AlsoInTransaction): Promise<void> {
    if ((await findEndedRun(this.#db, dataSourceId)) === undefined) return;
    await this.#db.transaction(async (tx) => {
      const { sourceRun, knowledgeItem, dataSource } = tx.prisma;
      // Others that add items to the run wait here.
      await lockRow(tx, 'data_sources', dataSourceId);
      const run = await findEndedRun(tx, dataSourceId);
      if (run === undefined) return also(tx, []);
      const endedAt = new Date();
      const isListed = isConnectedType(run.type);
      const failureWhere = { dataSourceId, queuedRunId: run.id, indexStatus: 'FAILED' };
      const end = isListed
        ? { status: 'COMPLETED', failedCount: await knowledgeItem.count({ where: failureWhere }) }
        : await uploadRunEnd(tx, run);
      await sourceRun.update({ where: { id: run.id }, data: { ...end, endedAt } });
      await dataSource.update({ where: { id: dataSourceId }, data: { lastSyncedAt: endedAt } });
      const { isSyncWanted, deletingAt } = run;
      await also(tx, isSyncWanted && deletingAt === null ? await findOwners(tx, [dataSourceId]) : []);
    });
    this.#signals.publish('data-source-changed', dataSourceId);
  }

  /** Sources whose refresh is due, also after a failure. A source that needs a new connection waits for it. */
  findDue(): Promise<readonly OwnedId[]> {
    return findDueSources(this.#db, {
      type: { in: [...connectedTypes] },
      OR: [{ errorCode: null }, { errorCode: { not: 'AUTH' } }],
    });
  }

  /** Ends the run and the indexing of a source. @returns whether there was anything to end. */
  async cancel(dataSourceId: string): Promise<boolean> {
    const wasBusy = await this.#db.transaction(async (tx) => {
      await lockRow(tx, 'data_sources', dataSourceId);
      const { count: runs } = await tx.prisma.sourceRun.updateMany({
        where: { dataSourceId, status: { in: openRuns } },
        data: {
          status: 'CANCELLED',
          endedAt: new Date(),
          currentItem: null,
          leaseOwner: null,
          leaseUntil: null,
          fence: { increment: 1 },
        },
      });
      const items = await cancelItems(tx, { dataSourceId });
      const now = new Date();
      const data = { isSyncWanted: false, isSyncForced: false, lastSyncedAt: now, updatedAt: now };
      await tx.prisma.dataSource.updateMany({ where: { id: dataSourceId }, data });
      return runs + items > 0;
    });
    this.#signals.publish('data-source-changed', dataSourceId);
    return wasBusy;
  }

  /** Queues the items that failed. `runId`: of a source whose content was given, whose run it is noted in. `also` queues their jobs. */
  async retryFailed(dataSourceId: string, runId: string | undefined, also: AlsoInTransaction): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await lockRow(tx, 'data_sources', dataSourceId);
      const items = await tx.prisma.knowledgeItem.updateManyAndReturn({
        where: { dataSourceId, indexStatus: { in: ['FAILED', 'CANCELLED'] } },
        data: { updatedAt: new Date(), indexStatus: 'QUEUED', indexPercentage: 0, attempt: 0, isForced: true },
        select: { id: true },
      });
      const itemIds = items.map(({ id }) => id);
      const run = { dataSourceId, trigger: 'REFRESH', isForced: true } as const;
      if (runId !== undefined) await addUploadRun(tx, { ...run, id: runId }, itemIds);
      const owners = await findOwners(tx, [dataSourceId]);
      await also(
        tx,
        owners.flatMap((owner) => itemIds.map((id) => ({ ...owner, id }))),
      );
    });
    this.#signals.publish('data-source-changed', dataSourceId);
  }

  /** Makes the sources readable again that read with a connection and could not. `also` queues their jobs. */
  async reconnected(
    { id: connectionId, orgId, ownerUserId, installationId }: Pick<Connection, 'id' | 'orgId' | 'ownerUserId' | 'installationId'>,
    also: AlsoInTransaction,
  ): Promise<void> {
    const readsWith = [
      { data: { path: ['oauthTokenId'], equals: connectionId } },
      { data: { path: ['repoHostAppInstallationId'], equals: Number(installationId) }, orgId, ownerUserId },
    ];
    const sources = await this.#db.transaction(async (tx) => {
      const rows = await tx.prisma.dataSource.updateManyAndReturn({
        where: { errorCode: 'AUTH', deletingAt: null, OR: installationId === null ? readsWith.slice(0, 1) : readsWith },
        data: { updatedAt: new Date(), errorCode: null, errorMessage: null },
        select: { id: true },
      });
      const ids = rows.map(({ id }) => id);
      await also(tx, await findOwners(tx, ids));
      return ids;
    });
    for (const id of sources) this.#signals.publish('data-source-changed', id);
  }
}

/** Sources with their organization and tenant. */
async function findOwners({ prisma }: Transaction, ids: readonly string[]): Promise<readonly OwnedId[]> {
  const sources = await prisma.dataSource.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, orgId: true, organization: { select: { tenantId: true } } },
  });
  return sources.map(({ id, orgId, organization: { tenantId } }) => ({ id, orgId, tenantId }));
}

interface EndedRun {
  readonly id: string;
  readonly dataSourceId: string;
  readonly startedAt: Date;
  readonly type: DataSourceType;
  readonly isSyncWanted: boolean;
  readonly deletingAt: Date | null;
}

/** The run of a source whose items are all indexed or failed. */
async function findEndedRun(sql: Pick<Sql, 'query'>, dataSourceId: string): Promise<EndedRun | undefined> {
  const [run] = await sql.query<EndedRun>(
    `select r.id, r."dataSourceId", r."startedAt", s.type, s."isSyncWanted", s."deletingAt"
     from source_runs r join data_sources s on s.id = r."dataSourceId"
     where r."dataSourceId" = $1 and r.status = 'INDEXING' and not exists (
       select from knowledge_items i where i."dataSourceId" = $1 and i."queuedRunId" = r.id and i."indexStatus" = any($2::text[])
     ) limit 1`,
    [dataSourceId, openStates],
  );
  return run;
}
