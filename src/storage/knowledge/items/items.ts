import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { IndexStatus, KnowledgeItem } from '../../../entities/knowledge/data-source.ts';
import { parseOmissions } from '../../../entities/knowledge/omission.ts';
import type { ItemPassages } from '../../../entities/knowledge/passage.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { byTime, readPage, requireWholePage } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';
import { readPassages } from '../passages/item-passages.ts';
import type { AccessGate } from '../permissions/gate.ts';
import { dataSourceWhere } from '../sources/filter.ts';
import { countNamedItems, findNamedItems, type NameSearch } from './names.ts';

/** Which items of a source; absent members: all. */
export interface ItemQuery {
  readonly statuses?: readonly IndexStatus[] | undefined;
  /** Searched in the name, ignoring case; '' matches all. */
  readonly search?: string | undefined;
  /** What the person who asks may open of MIRRORED sources; absent: everything is shown. */
  readonly gate?: AccessGate | undefined;
}

/** The documents of sources. Items of a source under deletion are never returned. */
export class KnowledgeItemStore extends Store {
  readonly #read = (ids: string[]) => {
    return this.db.prisma.knowledgeItem.findMany({ where: { id: { in: ids } }, select });
  };

  /** The items among the ids whose sources match, in no order. */
  async findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly KnowledgeItem[]> {
    const dataSource = { AND: [{ deletingAt: null }, dataSourceWhere(filter)] };
    const rows = await this.db.prisma.knowledgeItem.findMany({ where: { id: { in: [...ids] }, dataSource }, select });
    return rows.map(toItem);
  }

  /** An item whose source matches. */
  async find(id: string, filter: DataSourceFilter): Promise<KnowledgeItem | undefined> {
    return (await this.findMany([id], filter))[0];
  }

  /** Oldest first. The domain has decided that the caller may see the source. */
  async list(
    dataSourceId: string,
    query: ItemQuery,
    page: PageRequest,
    offset: number | undefined,
  ): Promise<Page<KnowledgeItem>> {
    const found = await readPage(this.db, await this.#placesIn(dataSourceId, query, page, offset), this.#read);
    if (offset !== undefined) requireWholePage(this.db, found, page.limit);
    return toPage(found.rows.map(toItem), page, timeKey, (most) => this.#countIn(dataSourceId, query, most), found.foundCount);
  }

  /** The same of several sources: a page of each. */
  pagesOf(
    dataSourceIds: readonly string[],
    query: ItemQuery,
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<KnowledgeItem>>> {
    const db = this.db;

    const ofSources = { in: [...dataSourceIds] };
    const where = itemsWhere(query);
    const search = toSearch(query);
    return readChildPages<KnowledgeItem>(this.db, page, {
      async findPlaces() {
        if (search !== undefined) {
          const placesBySource = await findNamedItems(db, dataSourceIds, search, page);
          return dataSourceIds.map((id) => ({ id, places: placesBySource.get(id) ?? [] }));
        }
        const items = { ...byTime('createdAt', 'asc', where, page), select: { id: true, rowBytes: true } };
        const sources = await db.prisma.dataSource.findMany({ where: { id: ofSources }, select: { id: true, items } });
        return sources.map(({ id, items: places }) => ({ id, places }));
      },
      read: async (ids) => (await this.#read(ids)).map(toItem),
      keyOf: timeKey,
      async countAll(most) {
        if (search !== undefined) return countNamedItems(db, dataSourceIds, search, most);
        const groups = await db.prisma.knowledgeItem.groupBy({
          by: ['dataSourceId'],
          where: { dataSourceId: ofSources, ...where },
          _count: true,
        });
        return new Map(groups.map(({ dataSourceId, _count }) => [dataSourceId, _count]));
      },
    });
  }

  /** A page of the passages of each of the items, which the domain has found for the caller. */
  passagesOf(itemIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, ItemPassages>> {
    return readPassages(this.db, itemIds, page);
  }

  /** Which of these items a person may open. */
  async openAmong(ids: readonly string[], gate: AccessGate): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const where = { AND: [{ id: { in: [...ids] }, indexStatus: { not: 'DELETING' } }, openWhere(gate)] };
    const items = await this.db.prisma.knowledgeItem.findMany({ where, select: { id: true } });
    return items.map(({ id }) => id);
  }

  async setCite(id: string, cite: boolean): Promise<void> {
    await this.db.prisma.knowledgeItem.updateMany({ where: { id }, data: { cite, updatedAt: new Date() } });
  }

  async #placesIn(dataSourceId: string, query: ItemQuery, page: PageRequest, offset: number | undefined) {
    const search = toSearch(query);
    if (search !== undefined)
      return (await findNamedItems(this.db, [dataSourceId], search, page, offset)).get(dataSourceId) ?? [];
    return this.db.prisma.knowledgeItem.findMany({
      ...byTime('createdAt', 'asc', { dataSourceId, ...itemsWhere(query) }, page),
      skip: offset ?? 0,
      select: { id: true, rowBytes: true },
    });
  }

  async #countIn(dataSourceId: string, query: ItemQuery, most: number): Promise<number> {
    const search = toSearch(query);
    if (search !== undefined) return (await countNamedItems(this.db, [dataSourceId], search, most)).get(dataSourceId) ?? 0;
    return this.db.prisma.knowledgeItem.count({ where: { dataSourceId, ...itemsWhere(query) }, take: most });
  }
}

/** The part of a query that Prisma asks; one with a text to search for goes to `findNamedItems`. */
function itemsWhere({ statuses, gate }: ItemQuery): Prisma.KnowledgeItemWhereInput {
  return {
    AND: [
      { indexStatus: { not: 'DELETING' } },
      ...(statuses === undefined ? [] : [{ indexStatus: { in: [...statuses] } }]),
      ...(gate === undefined ? [] : [openWhere(gate)]),
    ],
  };
}

/** The items that a person may open. A long list of rules is cut: what lies behind it is not shown, though searches find it. */
function openWhere({ mirroredIds, ruleIds }: AccessGate): Prisma.KnowledgeItemWhereInput {
  const openRules = { accessRuleId: { in: ruleIds.slice(0, rulesMax) } };
  return { OR: [{ dataSourceId: { notIn: [...mirroredIds] } }, openRules] };
}

/** A statement takes 65,535 values. */
const rulesMax = 30_000;

/** Undefined: the query names no text. */
function toSearch({ search = '', statuses, gate }: ItemQuery): NameSearch | undefined {
  return search === '' ? undefined : { search, statuses, gate };
}

const select = {
  id: true,
  createdAt: true,
  updatedAt: true,
  orgId: true,
  dataSourceId: true,
  name: true,
  uniqueId: true,
  parentUniqueId: true,
  type: true,
  indexStatus: true,
  indexPercentage: true,
  documentCount: true,
  tokenCount: true,
  contentBlobKey: true,
  filename: true,
  mimeType: true,
  sizeBytes: true,
  contentUrl: true,
  isContentStoredExternally: true,
  isBlobStorageDeleted: true,
  metadata: true,
  cite: true,
  omissions: true,
  errorCode: true,
  errorMessage: true,
  isRetryable: true,
  lastCheckedAt: true,
  indexedAt: true,
} as const satisfies Prisma.KnowledgeItemSelect & Record<keyof KnowledgeItem, true>;
type ItemRow = Prisma.KnowledgeItemGetPayload<{ select: typeof select }>;

function toItem(row: ItemRow): KnowledgeItem {
  const { sizeBytes, omissions, ...own } = row;
  return {
    ...(own as Omit<KnowledgeItem, 'sizeBytes' | 'omissions'>),
    sizeBytes: sizeBytes === null ? null : Number(sizeBytes),
    omissions: parseOmissions(omissions) ?? [],
  };
}
