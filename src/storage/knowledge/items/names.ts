// Raw SQL: names are searched in an index. With the name as one condition among others, PostgreSQL expects few matches and reads the whole table.

import type { PageRequest } from '../../../entities/ground/page.ts';
import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { Database } from '../../ground/database.ts';
import { type Place, readingOrder } from '../../ground/lists/paging.ts';
import { literal } from '../../ground/lists/where.ts';
import { type Parameters, selectRows } from '../../ground/sql/where.ts';
import { type AccessGate, openRuleCondition } from '../permissions/gate.ts';

export interface NameSearch {
  /** Ignoring case. */
  readonly search: string;
  readonly statuses?: readonly IndexStatus[] | undefined;
  /** What the person who asks may open of MIRRORED sources; absent: everything is shown. */
  readonly gate?: AccessGate | undefined;
}

/** Items of a source that one statement reads: the embedded database cannot end a statement, and others wait for it. Half of the bound of buffers in an index that is full of holes. */
const portionMax = 40_000;

/**
 * Finds a page of the items of each source whose name contains a text, and one item more, in the order of reading.
 *
 * @returns their places by the ids of the sources; a source without any is absent.
 *
 * Cost: one statement for each 40,000 items up to the end of the page, which reads their index: 700 to 1,300 buffers.
 */
export async function findNamedItems(
  db: Database,
  dataSourceIds: readonly string[],
  search: NameSearch,
  page: PageRequest,
  offset = 0,
): Promise<ReadonlyMap<string, readonly Place[]>> {
  const direction = readingOrder('asc', page);
  const needed = offset + page.limit + 1;
  const places = new Map<string, Place[]>();
  let starts = dataSourceIds.map((id) => toStart(id, page.after));
  while (starts.length > 0) {
    const rows = await selectRows<NamedItem>(
      db,
      (parameters) => `select source.id as "dataSourceId", item.*
      ${fromPortions(parameters, starts, search, direction)} limit ${parameters.add(needed)}) as item
      order by source.id, item."createdAt" ${direction}, item.id ${direction}`,
    );
    for (const { dataSourceId, id, rowBytes, isMatch } of rows) {
      const ofSource = places.get(dataSourceId) ?? [];
      if (isMatch) ofSource.push({ id, rowBytes });
      places.set(dataSourceId, ofSource);
    }
    starts = rows.flatMap(({ dataSourceId, createdAt, id, isEnd }) =>
      isEnd && (places.get(dataSourceId)?.length ?? 0) < needed ? [toStart(dataSourceId, [createdAt.toISOString(), id])] : [],
    );
  }
  return new Map([...places].map(([id, matches]) => [id, matches.slice(offset, needed)]));
}

/** Counts these items of each source, at most to `countMax`; a source without any is absent. Cost: one statement for each 40,000 items. */
export async function countNamedItems(
  db: Database,
  dataSourceIds: readonly string[],
  search: NameSearch,
  countMax: number,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let starts = dataSourceIds.map((id) => toStart(id, undefined));
  while (starts.length > 0) {
    const rows = await selectRows<CountedPortion>(
      db,
      (parameters) => `select source.id as "dataSourceId", count(*) filter (where "isMatch")::int as count,
        max("createdAt") filter (where "isEnd") as "endTime", max(item.id) filter (where "isEnd") as "endId"
      ${fromPortions(parameters, starts, search, 'asc')} limit ${parameters.add(countMax)}) as item
      group by source.id`,
    );
    for (const { dataSourceId, count } of rows) {
      if (count > 0) counts.set(dataSourceId, Math.min(countMax, (counts.get(dataSourceId) ?? 0) + count));
    }
    starts = rows.flatMap(({ dataSourceId, endTime, endId }) =>
      endTime !== null && endId !== null && (counts.get(dataSourceId) ?? 0) < countMax
        ? [toStart(dataSourceId, [endTime.toISOString(), endId])]
        : [],
    );
  }
  return counts;
}

interface NamedItem extends Required<Place> {
  readonly dataSourceId: string;
  readonly createdAt: Date;
  readonly isMatch: boolean;
  /** The last item of a portion: items behind it were not read. */
  readonly isEnd: boolean;
}

interface CountedPortion {
  readonly dataSourceId: string;
  readonly count: number;
  readonly endTime: Date | null;
  readonly endId: string | null;
}

/** Where the reading of a source begins: behind an item, or at the beginning of the list. */
interface Start {
  readonly id: string;
  readonly time: string | null;
  readonly itemId: string | null;
}

function toStart(id: string, after: PageRequest['after']): Start {
  const [time, itemId] = after ?? [];
  return typeof time === 'string' && typeof itemId === 'string' ? { id, time, itemId } : { id, time: null, itemId: null };
}

/**
 * The items that are called so, and the last item of each portion, in their order. What is read of each stands in the index "knowledge_items_of_source". `offset 0`
 * keeps the planner from weighing the name before it chooses how to read. The text ends within the parentheses of `item`.
 */
function fromPortions(
  parameters: Parameters,
  starts: readonly Start[],
  { search, statuses, gate }: NameSearch,
  direction: 'asc' | 'desc',
): string {
  const order = `"createdAt" ${direction}, id ${direction}`;
  // All sources begin at the same place of the list, or all go on.
  const isFirst = starts.every(({ time }) => time === null);
  const list = (values: readonly (string | null)[], type: string) => `${parameters.add(values)}::${type}[]`;
  const sources = [
    list(
      starts.map(({ id }) => id),
      'text',
    ),
    list(
      starts.map(({ time }) => time),
      'timestamptz',
    ),
    list(
      starts.map(({ itemId }) => itemId),
      'text',
    ),
  ].join(', ');
  const conditions = [
    '"dataSourceId" = source.id',
    `"indexStatus" <> 'DELETING'`,
    ...(statuses === undefined ? [] : [`"indexStatus" = any(${parameters.add(statuses)}::text[])`]),
    ...(isFirst ? [] : [`("createdAt", id) ${direction === 'asc' ? '>' : '<'} (source.time, source."itemId")`]),
  ];
  const rule = openRuleCondition(gate, parameters, { source: '"dataSourceId"', rule: '"accessRuleId"' });
  return `from unnest(${sources}) as source (id, time, "itemId")
    cross join lateral (
      select id, "createdAt", "rowBytes", "isMatch", number = ${portionMax} as "isEnd" from (
        select *, name ilike ${parameters.add(`%${literal(search)}%`)}::text as "isMatch", row_number() over (order by ${order}) as number from (
          select id, "createdAt", "rowBytes", name from knowledge_items
          where ${conditions.join(' and ')}
          ${rule}
          order by ${order} limit ${portionMax} offset 0) as portion
      ) as searched where "isMatch" or number = ${portionMax} order by ${order}`;
}
