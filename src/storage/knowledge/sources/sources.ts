import type { RefreshPeriod } from '../../../entities/knowledge/data-source.ts';
import type { SourcePermissions } from '../../../entities/knowledge/permissions.ts';
import { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockRows } from '../../ground/sql/locks.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';
import { addDataSource, type NewSource } from './new-source.ts';
import { SourceQueries } from './queries.ts';

export interface NewDataSource extends NewSource {
  readonly agentId: string;
  /** The source's only document. */
  readonly item: {
    readonly id: string;
    readonly contentBlobKey: string;
    readonly filename: string;
    readonly mimeType: string;
    readonly sizeBytes: number;
  };
  /** The id of its first run. */
  readonly runId: string;
}

export interface DataSourceChanges extends Partial<SourcePermissions> {
  readonly name?: string;
  readonly refreshPeriod?: RefreshPeriod;
  readonly cite?: boolean;
  readonly orgVisible?: boolean;
  /** Its whole configuration. What a run left for the next one is forgotten. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly attach?: readonly string[];
  readonly detach?: readonly string[];
}

/** No method returns a source under deletion. */
export class DataSourceStore extends SourceQueries {
  readonly #db: Database;
  readonly #signals: Signals;

  constructor(db: Database, signals: Signals) {
    super(db);
    this.#db = db;
    this.#signals = signals;
  }

  /** Writes source, item and attachment. `also` runs in the same transaction. */
  async create({ agentId, item, runId, ...source }: NewDataSource, also: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const { id: dataSourceId, createdAt, orgId, name, type } = source;
      await addDataSource(tx, agentId, source);
      const data = { ...item, dataSourceId, createdAt, updatedAt: createdAt, orgId, name, type, uniqueId: item.id };
      await tx.prisma.knowledgeItem.create({ data: { ...data, indexStatus: 'QUEUED' } });
      await addUploadRun(tx, { id: runId, dataSourceId, trigger: 'ADDED', isForced: false }, [item.id], true);
      await also(tx);
    });
    this.#announce(source.id, [agentId]);
    if (source.access === 'MIRRORED') this.#signals.publish('permissions-changed', source.id);
  }

  /** How many sources are attached to an agent. */
  countOf(agentId: string): Promise<number> {
    return this.#db.prisma.agentDataSource.count({ where: { agentId } });
  }

  async attach(agentId: string, dataSourceId: string): Promise<void> {
    await this.#db.prisma.agentDataSource.createMany({ data: [{ agentId, dataSourceId }], skipDuplicates: true });
    this.#announce(dataSourceId, [agentId]);
  }

  async detach(agentId: string, dataSourceId: string): Promise<void> {
    await this.#db.prisma.agentDataSource.deleteMany({ where: { agentId, dataSourceId } });
    this.#announce(dataSourceId, [agentId]);
  }

  async update(id: string, { attach = [], detach = [], data: configuration, ...changes }: DataSourceChanges): Promise<void> {
    const read = configuration === undefined ? {} : { data: configuration as Prisma.InputJsonObject, syncState: Prisma.DbNull };
    await this.#db.transaction(async ({ prisma: { dataSource, agentDataSource, permissionReading } }) => {
      await dataSource.updateMany({ where: { id }, data: { ...changes, ...read, updatedAt: new Date() } });
      // Permissions of an earlier time count no more: until they are read anew, the source is open to nobody.
      if (changes.access !== undefined) await permissionReading.deleteMany({ where: { dataSourceId: id } });
      await agentDataSource.deleteMany({ where: { dataSourceId: id, agentId: { in: [...detach] } } });
      const data = attach.map((agentId) => ({ agentId, dataSourceId: id }));
      await agentDataSource.createMany({ data, skipDuplicates: true });
    });
    this.#announce(id, [...attach, ...detach]);
    if (changes.access !== undefined || changes.linkShared !== undefined || changes.recheck !== undefined)
      this.#signals.publish('permissions-changed', id);
  }

  /**
   * Takes sources from an agent: those that other agents have attached too are detached, the others are hidden from everybody as by
   * `markDeleting`, together with whatever `also` does; what it throws leaves everything as it was.
   */
  async release(
    agentId: string,
    ids: readonly string[],
    at: Date,
    also: (tx: Transaction, deletedIds: readonly string[]) => Promise<void>,
  ): Promise<{ readonly deletedIds: readonly string[]; readonly detachedIds: readonly string[] }> {
    const released = await this.#db.transaction(async (tx) => {
      const { dataSource, agentDataSource } = tx.prisma;
      // Holds back whoever attaches one of them at the same moment.
      await lockRows(tx, 'data_sources', ids);
      const others = await agentDataSource.findMany({
        where: { dataSourceId: { in: [...ids] }, agentId: { not: agentId }, agent: { isDeleted: false } },
        select: { dataSourceId: true },
      });
      const usedIds = new Set(others.map(({ dataSourceId }) => dataSourceId));
      const detachedIds = ids.filter((id) => usedIds.has(id));
      const unusedIds = ids.filter((id) => !usedIds.has(id));
      await agentDataSource.deleteMany({ where: { agentId, dataSourceId: { in: detachedIds } } });
      await agentDataSource.deleteMany({ where: { dataSourceId: { in: unusedIds } } });
      const sources = await dataSource.updateManyAndReturn({
        where: { id: { in: unusedIds }, deletingAt: null },
        data: { deletingAt: at, updatedAt: at },
        select: { id: true },
      });
      const deletedIds = sources.map(({ id }) => id);
      await also(tx, deletedIds);
      return { deletedIds, detachedIds };
    });
    for (const id of [...released.deletedIds, ...released.detachedIds]) this.#announce(id, []);
    this.#signals.publish('agent-changed', agentId);
    return released;
  }

  /** Hides the sources from everybody and detaches them, together with whatever `also` does. @returns the ids that were not hidden before. */
  async markDeleting(
    ids: readonly string[],
    at: Date,
    also: (tx: Transaction, ids: readonly string[]) => Promise<void>,
  ): Promise<readonly string[]> {
    const { marked, agentIds } = await this.#db.transaction(async (tx) => {
      const { dataSource, agentDataSource } = tx.prisma;
      const sources = await dataSource.updateManyAndReturn({
        where: { id: { in: [...ids] }, deletingAt: null },
        data: { deletingAt: at, updatedAt: at },
        select: { id: true },
      });
      const where = { dataSourceId: { in: [...ids] } };
      const attachments = await agentDataSource.findMany({ where, select: { agentId: true } });
      await agentDataSource.deleteMany({ where });
      const hiddenIds = sources.map(({ id }) => id);
      await also(tx, hiddenIds);
      return { marked: hiddenIds, agentIds: attachments.map(({ agentId }) => agentId) };
    });
    for (const id of marked) this.#announce(id, []);
    for (const agentId of new Set(agentIds)) this.#signals.publish('agent-changed', agentId);
    return marked;
  }

  #announce(id: string, agentIds: readonly string[]): void {
    this.#signals.publish('data-source-changed', id);
    for (const agentId of agentIds) this.#signals.publish('agent-changed', agentId);
  }
}
