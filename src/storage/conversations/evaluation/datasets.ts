import type { CaseContent, Dataset, DatasetCase } from '../../../entities/conversations/evaluation/dataset.ts';
import { type Page, type PageRequest, type SortKey, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import { byTime, newestFirst, readPage } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';

export type NewDataset = Omit<Dataset, 'updatedAt' | 'revision' | 'caseCount' | 'draftCount'>;
export type NewCase = Omit<DatasetCase, 'fromRevision' | 'createdAt' | 'orgId' | 'datasetId'>;

/** `full`: the dataset, or the agent, has as many as may be. `case-missing`: a case to change or to take out is gone. */
export type DatasetWrite = 'written' | 'full' | 'missing' | 'case-missing';

/** A change of the cases of a dataset, which makes a new revision. */
export interface CaseChange {
  readonly added?: readonly NewCase[];
  /** Cases as they are from now on. */
  readonly changed?: readonly NewCase[];
  /** Ids of cases to take out; `all`: every one. */
  readonly removed?: readonly string[] | 'all';
  readonly at: Date;
}

/** Narrows the cases of a dataset. */
export interface CaseQuery {
  readonly datasetId: string;
  readonly revision: number;
  readonly tag?: string | undefined;
  readonly isDraft?: boolean | undefined;
}

const rowsAtOnce = 500;

export class DatasetStore extends Store {
  async find(id: string): Promise<Dataset | undefined> {
    return (await this.db.prisma.dataset.findUnique({ where: { id } })) ?? undefined;
  }

  /** Newest first. */
  async list(agentId: string, page: PageRequest): Promise<Page<Dataset>> {
    const where = { agentId };
    const rows = await this.db.prisma.dataset.findMany(newestFirst(where, page));
    return toPage(rows, page, timeKey, (take) => this.db.prisma.dataset.count({ where, take }));
  }

  /** Writes of one agent take turns, so that they cannot pass the limit together. */
  create(dataset: NewDataset, countMax: number): Promise<DatasetWrite> {
    return this.db.transaction(async (tx) => {
      await lockRow(tx, 'agents', dataset.agentId);
      if ((await tx.prisma.dataset.count({ where: { agentId: dataset.agentId } })) >= countMax) return 'full';
      await tx.prisma.dataset.create({ data: dataset });
      return 'written';
    });
  }

  async update(id: string, changes: Partial<Pick<Dataset, 'name' | 'description' | 'callsTools'>>): Promise<boolean> {
    return (await this.db.prisma.dataset.updateMany({ where: { id }, data: changes })).count === 1;
  }

  async delete(id: string): Promise<boolean> {
    return (await this.db.prisma.dataset.deleteMany({ where: { id } })).count === 1;
  }

  /** Changes cases in one transaction. Changes of one dataset take turns. */
  changeCases(datasetId: string, change: CaseChange, countMax: number): Promise<DatasetWrite> {
    return this.db
      .transaction(async (tx) => {
        if (!(await lockRow(tx, 'datasets', datasetId))) return 'missing';
        const before = await tx.prisma.dataset.findUniqueOrThrow({ where: { id: datasetId } });
        const revision = before.revision + 1;
        const changedIds = (change.changed ?? []).map(({ id }) => id);
        const removedIds = change.removed === 'all' ? undefined : [...changedIds, ...(change.removed ?? [])];
        const present = { datasetId, toRevision: null, ...(removedIds === undefined ? {} : { id: { in: removedIds } }) };
        const ended = await tx.prisma.datasetCase.findMany({ where: present, select: { id: true, createdAt: true } });
        const createdAt = new Map(ended.map((row) => [row.id, row.createdAt]));
        if (removedIds?.some((id) => !createdAt.has(id))) return 'case-missing';
        await tx.prisma.datasetCase.updateMany({ where: present, data: { toRevision: revision } });
        const rows = [...(change.changed ?? []), ...(change.added ?? [])].map((row) => ({
          ...row,
          ...{ datasetId, orgId: before.orgId, fromRevision: revision, createdAt: createdAt.get(row.id) ?? change.at },
        }));
        await addCases(tx, rows);
        const caseCount = await countCases(tx, datasetId, {});
        if (caseCount > countMax) throw new CasesFull();
        const draftCount = await countCases(tx, datasetId, { isDraft: true });
        await tx.prisma.dataset.update({ where: { id: datasetId }, data: { revision, caseCount, draftCount } });
        return 'written' as const;
      })
      .catch((error: unknown) => {
        if (error instanceof CasesFull) return 'full';
        throw error;
      });
  }

  /** Cases of a dataset as they are now, by their ids, in any order. */
  async findCases(datasetId: string, ids: readonly string[]): Promise<readonly DatasetCase[]> {
    const where = { datasetId, toRevision: null, id: { in: [...ids] } };
    return (await this.db.prisma.datasetCase.findMany({ where })).map(toCase);
  }

  /** The cases of a revision, oldest first. */
  async listCases(query: CaseQuery, page: PageRequest): Promise<Page<DatasetCase>> {
    const where = whereCases(query);
    const { datasetCase } = this.db.prisma;
    const select = { id: true, rowBytes: true } as const;
    const places = await datasetCase.findMany({ ...byTime('createdAt', 'asc', where, page), select });
    const { rows, foundCount } = await readPage(this.db, places, async (ids) =>
      (await datasetCase.findMany({ where: { AND: [where, { id: { in: ids } }] } })).map(toCase),
    );
    return toPage(rows, page, timeKey, (take) => datasetCase.count({ where, take }), foundCount);
  }

  /** All cases of a revision, oldest first, in pages of a bounded size. */
  async *readCases(query: CaseQuery): AsyncGenerator<readonly DatasetCase[]> {
    let after: SortKey | undefined;
    for (;;) {
      const { items, hasNextPage } = await this.listCases(query, { limit: 200, after });
      yield items;
      const last = items.at(-1);
      if (!hasNextPage || last === undefined) return;
      after = timeKey(last);
    }
  }
}

/** Writes cases of a revision. */
export async function addCases(
  tx: Transaction,
  cases: readonly (NewCase & Pick<DatasetCase, 'datasetId' | 'orgId' | 'createdAt' | 'fromRevision'>)[],
): Promise<void> {
  for (let start = 0; start < cases.length; start += rowsAtOnce) {
    const data = cases.slice(start, start + rowsAtOnce).map((row) => ({
      ...row,
      content: row.content as unknown as Prisma.InputJsonObject,
      tags: [...row.tags],
    }));
    await tx.prisma.datasetCase.createMany({ data });
  }
}

/** The transaction ends without a trace. */
class CasesFull extends Error {}

function countCases(tx: Transaction, datasetId: string, more: object): Promise<number> {
  return tx.prisma.datasetCase.count({ where: { datasetId, toRevision: null, ...more } });
}

function whereCases({ datasetId, revision, tag, isDraft }: CaseQuery): Prisma.DatasetCaseWhereInput {
  return {
    datasetId,
    fromRevision: { lte: revision },
    OR: [{ toRevision: null }, { toRevision: { gt: revision } }],
    ...(tag === undefined ? {} : { tags: { has: tag } }),
    ...(isDraft === undefined ? {} : { isDraft }),
  };
}

type CaseRow = Omit<DatasetCase, 'content'> & {
  readonly content: unknown;
  readonly toRevision: number | null;
  readonly rowBytes: number;
};

/** A case as it is stored. */
export function toCase({ content, toRevision: _to, rowBytes: _bytes, ...row }: CaseRow): DatasetCase {
  return { ...row, content: content as CaseContent };
}
