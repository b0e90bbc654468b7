// Raw SQL: thread order. The first runs of each of several agents are read by the index of the agent, which Prisma cannot say with a rule for each.

import type { Run } from '../../../entities/conversations/runs/run.ts';
import { type Page, type PageRequest, timeKey } from '../../../entities/ground/page.ts';
import type { Database } from '../../ground/database.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { readingOrder } from '../../ground/lists/paging.ts';
import type { RunReach } from './history-conditions.ts';
import { type RunRow, toRun, unseen } from './rows.ts';

/**
 * One page of the runs of each agent, newest first, as far as a caller lists them.
 *
 * Cost: two statements; one more for all counts of a size.
 */
export function pagesOfAgents(
  db: Database,
  reach: RunReach,
  agentIds: readonly string[],
  page: PageRequest,
): Promise<ReadonlyMap<string, Page<Run>>> {
  return readChildPages<Run>(db, page, {
    async findPlaces() {
      const byAgent = Map.groupBy(await findPlaces(db, reach, agentIds, page), ({ agentId }) => agentId);
      return agentIds.map((id) => ({ id, places: byAgent.get(id) ?? [] }));
    },
    async read(ids) {
      const rows = await db.prisma.run.findMany({ where: { id: { in: ids } }, omit: unseen });
      return rows.map((row) => toRun(row as RunRow));
    },
    keyOf: timeKey,
    countAll: (most) => countRuns(db, reach, agentIds, most),
  });
}

function findPlaces(db: Database, reach: RunReach, agentIds: readonly string[], page: PageRequest) {
  const direction = readingOrder('desc', page);
  const [time = null, id = null] = page.after ?? [];
  const further = time === null ? '' : ` and ("createdAt", id) ${direction === 'desc' ? '<' : '>'} ($6::timestamptz, $7::text)`;
  const values = [...listValues(reach, agentIds), page.limit + 1, ...(time === null ? [] : [time, id])];
  return db.query<{ readonly agentId: string; readonly id: string }>(
    ofEach(
      `select "agentId", id from runs where RULE${further} order by "createdAt" ${direction}, id ${direction} limit $5::int`,
    ),
    values,
  );
}

async function countRuns(db: Database, reach: RunReach, agentIds: readonly string[], most: number) {
  const text = ofEach(
    'select named.id as "agentId", count(*)::int as count from (select 1 from runs where RULE limit $5) counted',
  );
  const rows = await db.query<{ readonly agentId: string; readonly count: number }>(text, [...listValues(reach, agentIds), most]);
  return new Map(rows.map(({ agentId, count }) => [agentId, count] as const));
}

/** Runs `sql` for each agent: for those of which the caller lists all runs, and for those of which it lists its own. */
function ofEach(sql: string): string {
  const rule = '"agentId" = named.id and "orgId" = $1::text';
  return `select found.* from unnest($2::text[]) named(id) cross join lateral (${sql.replace('RULE', rule)}) found
    union all
    select found.* from unnest($3::text[]) named(id) cross join lateral (${sql.replace('RULE', `${rule} and "userId" = $4::text`)}) found`;
}

function listValues(reach: RunReach, agentIds: readonly string[]): readonly unknown[] {
  const { userId } = reach;
  if (userId === undefined) return [reach.orgId, agentIds, [], ''];
  const editedAgentIds = new Set(reach.agentIds);
  return [reach.orgId, agentIds.filter((id) => editedAgentIds.has(id)), agentIds.filter((id) => !editedAgentIds.has(id)), userId];
}
