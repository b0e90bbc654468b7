import type { Members } from '../../../entities/ground/members.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { DataSource, RefreshPeriod } from '../../../entities/knowledge/data-source.ts';
import type { AgentFilter, DataSourceFilter } from '../../../entities/people/access.ts';
import { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockRows } from '../../ground/sql/locks.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';
import { addDataSource, type NewSource } from './new-source.ts';
import type { DataSourceListQuery } from './places.ts';
import { createSourceQueries, type UsingAgent } from './queries.ts';

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

/** No method returns a source under deletion. */
export interface DataSourceStore {
  find(id: string, filter: DataSourceFilter): Promise<DataSource | undefined>;
  /** The sources with one of the ids that exist and match, in no order. */
  findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly DataSource[]>;
  /** The sources of many agents, newest attached first. `members`: the members to read besides the ids. */
  ofAgents(
    agentIds: readonly string[],
    filter: DataSourceFilter,
    members?: Members<DataSource>,
  ): Promise<ReadonlyMap<string, readonly DataSource[]>>;
  list(filter: DataSourceFilter, query: DataSourceListQuery, page: PageRequest): Promise<Page<DataSource>>;
  /** The agents that match and have the sources attached, by name. */
  agentsOf(dataSourceIds: readonly string[], filter: AgentFilter): Promise<readonly UsingAgent[]>;
  /** Writes source, item and attachment. `also` runs in the same transaction. */
  create(source: NewDataSource, also: (tx: Transaction) => Promise<void>): Promise<void>;
  /** How many sources are attached to an agent. */
  countOf(agentId: string): Promise<number>;
  attach(agentId: string, dataSourceId: string): Promise<void>;
  detach(agentId: string, dataSourceId: string): Promise<void>;
  update(id: string, changes: DataSourceChanges): Promise<void>;
  /**
   * Takes sources from an agent: those that other agents have attached too are detached, the others are hidden from everybody as by
   * `markDeleting`, together with whatever `also` does; what it throws leaves everything as it was.
   */
  release(
    agentId: string,
    ids: readonly string[],
    at: Date,
    also: (tx: Transaction, deletedIds: readonly string[]) => Promise<void>,
  ): Promise<{ readonly deletedIds: readonly string[]; readonly detachedIds: readonly string[] }>;
  /** Hides the sources from everybody and detaches them, together with whatever `also` does. @returns the ids that were not hidden before. */
  markDeleting(
    ids: readonly string[],
    at: Date,
    also: (tx: Transaction, ids: readonly string[]) => Promise<void>,
  ): Promise<readonly string[]>;
}
export interface DataSourceChanges {
  readonly name?: string;
  readonly refreshPeriod?: RefreshPeriod;
  readonly cite?: boolean;
  readonly orgVisible?: boolean;
  /** Its whole configuration. What a run left for the next one is forgotten. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly attach?: readonly string[];
  readonly detach?: readonly string[];
}

export function createDataSourceStore(db: Database, signals: Signals): DataSourceStore {
  function announce(id: string, agentIds: readonly string[]): void {
    signals.publish('data-source-changed', id);
    for (const agentId of agentIds) signals.publish('agent-changed', agentId);
  }

  return {
    ...createSourceQueries(db),
    async create({ agentId, item, runId, ...source }, also) {
      await db.transaction(async (tx) => {
        const { id: dataSourceId, createdAt, orgId, name, type } = source;
        await addDataSource(tx, agentId, source);
        const data = { ...item, dataSourceId, createdAt, updatedAt: createdAt, orgId, name, type, uniqueId: item.id };
        await tx.prisma.knowledgeItem.create({ data: { ...data, indexStatus: 'QUEUED' } });
        await addUploadRun(tx, { id: runId, dataSourceId, trigger: 'ADDED', isForced: false }, [item.id], true);
        await also(tx);
      });
      announce(source.id, [agentId]);
    },
    countOf: (agentId) => db.prisma.agentDataSource.count({ where: { agentId } }),
    async attach(agentId, dataSourceId) {
      await db.prisma.agentDataSource.createMany({ data: [{ agentId, dataSourceId }], skipDuplicates: true });
      announce(dataSourceId, [agentId]);
    },
    async detach(agentId, dataSourceId) {
      await db.prisma.agentDataSource.deleteMany({ where: { agentId, dataSourceId } });
      announce(dataSourceId, [agentId]);
    },
    async update(id, { attach = [], detach = [], data: configuration, ...changes }) {
      const read = configuration === undefined ? {} : { data: configuration as Prisma.InputJsonObject, syncState: Prisma.DbNull };
      await db.transaction(async ({ prisma: { dataSource, agentDataSource } }) => {
        await dataSource.updateMany({ where: { id }, data: { ...changes, ...read, updatedAt: new Date() } });
        await agentDataSource.deleteMany({ where: { dataSourceId: id, agentId: { in: [...detach] } } });
        const data = attach.map((agentId) => ({ agentId, dataSourceId: id }));
        await agentDataSource.createMany({ data, skipDuplicates: true });
      });
      announce(id, [...attach, ...detach]);
    },
    async release(agentId, ids, at, also) {
      const released = await db.transaction(async (tx) => {
        const { dataSource, agentDataSource } = tx.prisma;
        // Holds back whoever attaches one of them at the same moment.
        await lockRows(tx, 'data_sources', ids);
        const others = await agentDataSource.findMany({
          where: { dataSourceId: { in: [...ids] }, agentId: { not: agentId }, agent: { isDeleted: false } },
          select: { dataSourceId: true },
        });
        const used = new Set(others.map(({ dataSourceId }) => dataSourceId));
        const detachedIds = ids.filter((id) => used.has(id));
        const unused = ids.filter((id) => !used.has(id));
        await agentDataSource.deleteMany({ where: { agentId, dataSourceId: { in: detachedIds } } });
        await agentDataSource.deleteMany({ where: { dataSourceId: { in: unused } } });
        const sources = await dataSource.updateManyAndReturn({
          where: { id: { in: unused }, deletingAt: null },
          data: { deletingAt: at, updatedAt: at },
          select: { id: true },
        });
        const deletedIds = sources.map(({ id }) => id);
        await also(tx, deletedIds);
        return { deletedIds, detachedIds };
      });
      for (const id of [...released.deletedIds, ...released.detachedIds]) announce(id, []);
      signals.publish('agent-changed', agentId);
      return released;
    },
    async markDeleting(ids, at, also) {
      const { marked, agentIds } = await db.transaction(async (tx) => {
        const { dataSource, agentDataSource } = tx.prisma;
        const sources = await dataSource.updateManyAndReturn({
          where: { id: { in: [...ids] }, deletingAt: null },
          data: { deletingAt: at, updatedAt: at },
          select: { id: true },
        });
        const where = { dataSourceId: { in: [...ids] } };
        const attached = await agentDataSource.findMany({ where, select: { agentId: true } });
        await agentDataSource.deleteMany({ where });
        const hidden = sources.map(({ id }) => id);
        await also(tx, hidden);
        return { marked: hidden, agentIds: attached.map(({ agentId }) => agentId) };
      });
      for (const id of marked) announce(id, []);
      for (const agentId of new Set(agentIds)) signals.publish('agent-changed', agentId);
      return marked;
    },
  };
}
