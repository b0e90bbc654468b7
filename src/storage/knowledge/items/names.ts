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

/**
 * Finds a page of the items of each source whose name contains a text, and one item more, in the order of reading.
 *
 * @returns their places by the ids of the sources; a source without any is absent.
 *
 * Cost: one statement, which reads the index of each source up to the end of the page: 1,700 buffers for 100,000 items.
 */
export async function findNamedItems(
  db: Database,
  dataSourceIds: readonly string[],
  search: NameSearch,
  page: PageRequest,
  offset = 0,
): Promise<ReadonlyMap<string, readonly Place[]>> {
  const direction = readingOrder('asc', page);
  const rows = await selectRows<Place & { readonly dataSourceId: string }>(
    db,
    (parameters) => `select source.id as "dataSourceId", item.id, item."rowBytes"
    from unnest(${parameters.add(dataSourceIds)}::text[]) as source (id)
    cross join lateral (${namedSql(parameters, search, direction, page.after)} limit ${parameters.add(page.limit + 1)} offset ${parameters.add(offset)}) as item
    order by source.id, item."createdAt" ${direction}, item.id ${direction}`,
  );
  return Map.groupBy(rows, ({ dataSourceId }) => dataSourceId);
}

/** Counts these items of each source, at most to `countMax`; a source without any is absent. Cost: one statement. */
export async function countNamedItems(
  db: Database,
  dataSourceIds: readonly string[],
  search: NameSearch,
  countMax: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await selectRows<{ readonly dataSourceId: string; readonly count: number }>(
    db,
    (parameters) => `select source.id as "dataSourceId", count(*)::int as count
    from unnest(${parameters.add(dataSourceIds)}::text[]) as source (id)
    cross join lateral (${namedSql(parameters, search, 'asc', undefined)} limit ${parameters.add(countMax)}) as item
    group by source.id`,
  );
  return new Map(rows.map(({ dataSourceId, count }) => [dataSourceId, count]));
}

/**
 * The items of `source.id` that are called so, in their order. What is read of each stands in the index "knowledge_items_of_source". `offset 0` keeps the
 * planner from weighing the name before it chooses how to read.
 */
function namedSql(
  parameters: Parameters,
  { search, statuses, gate }: NameSearch,
  direction: 'asc' | 'desc',
  after: PageRequest['after'],
): string {
  const order = `"createdAt" ${direction}, id ${direction}`;
  const [time, id] = after ?? [];
  const isFirst = typeof time !== 'string' || typeof id !== 'string';
  const conditions = [
    ...(statuses === undefined ? [] : [`"indexStatus" = any(${parameters.add(statuses)}::text[])`]),
    ...(isFirst
      ? []
      : [
          `("createdAt", id) ${direction === 'asc' ? '>' : '<'} (${parameters.add(time)}::timestamptz, ${parameters.add(id)}::text)`,
        ]),
  ];
  return `select id, "createdAt", "rowBytes" from (
      select id, "createdAt", "rowBytes", name from knowledge_items
      where ${['"dataSourceId" = source.id', `"indexStatus" <> 'DELETING'`, ...conditions].join(' and ')}
${openRuleCondition(gate, parameters, { source: '"dataSourceId"', rule: '"accessRuleId"' })}
      order by ${order} offset 0
    ) as searched where name ilike ${parameters.add(`%${literal(search)}%`)}::text order by ${order}`;
}
