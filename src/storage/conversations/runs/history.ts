// Raw SQL: thread order. The runs of several agents are read from the index of each, which Prisma cannot say; statistics are arithmetic on many rows.

import type { RunFigures, RunGroup, RunGrouping, RunNarrowing } from '../../../entities/conversations/runs/history.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import type { RunStep } from '../../../entities/conversations/runs/step.ts';
import { countUnlessWhole, type Page, type PageRequest, type SortKey, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { AgentFilter, ChatFilter, RunFilter } from '../../../entities/people/access.ts';
import { agentCondition, branches } from '../../agents/conditions.ts';
import { fewAgentsWhere } from '../../agents/few.ts';
import { agentWhere } from '../../agents/filter.ts';
import type { Database } from '../../ground/database.ts';
import { readingOrder } from '../../ground/lists/paging.ts';
import { Parameters } from '../../ground/sql/where.ts';
import { Store } from '../../ground/store.ts';
import { chatCondition } from '../chats/filter.ts';
import { pagesOfAgents } from './agent-pages.ts';
import { type FigureRow, percentiles, sums, toFigures } from './figures.ts';
import { Conditions, type RunHistoryQuery, type RunReach } from './history-conditions.ts';
import { findByQuestion } from './question-search.ts';
import { type RunRow, runColumns, toRun, unseen } from './rows.ts';
import { readVersionFigures, type VersionFigures, type VersionSpan } from './version-figures.ts';

export interface StatisticsQuery extends RunNarrowing {
  readonly since: Date;
  readonly until: Date;
}

const questionCharsMax = 2_000;
const searchMatchesMax = 100;

/** The rows of all runs, stored or not. */
export class RunHistoryStore extends Store {
  /** The runs among `ids` that match, in any order. Cost: one statement; one more for a rule about agents. */
  findMany(ids: readonly string[], filter: RunFilter): Promise<readonly Run[]> {
    return findMany(this.db, ids, filter);
  }

  /** The agents of an organization that match. Cost: one statement, which reads each alternative by its index. */
  async agentsOf(orgId: string, filter: AgentFilter): Promise<readonly string[]> {
    const parameters = new Parameters();
    const home = parameters.add(orgId);
    const parts = branches(filter).map(
      (branch) => `select id from agents where "orgId" = ${home} and not "isDeleted" and ${agentCondition(branch, parameters)}`,
    );
    if (parts.length === 0) return [];
    return (await this.db.queryPlanned<{ readonly id: string }>(parts.join(' union '), parameters.values)).map(({ id }) => id);
  }

  /** Newest first, unless the query says otherwise. Cost: one statement; a page costs the same at any depth. */
  async list(reach: RunReach, query: RunHistoryQuery, page: PageRequest): Promise<Page<Run>> {
    return toRunPage(this.db, await findRuns<RunRow>(this.db, reach, query, page), reach, query, page);
  }

  /** The same list with the steps of each run, as `stepsOf` has them. */
  async listWithSteps(
    reach: RunReach,
    query: RunHistoryQuery,
    page: PageRequest,
  ): Promise<{ readonly page: Page<Run>; readonly steps: ReadonlyMap<string, readonly RunStep[] | null> }> {
    const rows = await findRuns<RunRow & { readonly steps: readonly RunStep[] | null }>(
      this.db,
      reach,
      query,
      page,
      ', runs.steps',
    );
    return { page: toRunPage(this.db, rows, reach, query, page), steps: new Map(rows.map(({ id, steps }) => [id, steps])) };
  }

  /** The same of each of several agents, as a list with the filter of that agent. Cost: two statements; one more for counts. */
  pagesOfAgents(reach: RunReach, agentIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<Run>>> {
    return pagesOfAgents(this.db, reach, agentIds, page);
  }

  /** The steps in the rows of runs; null where the row itself says everything. */
  async stepsOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly RunStep[] | null>> {
    if (ids.length === 0) return new Map();
    const rows = await this.db.prisma.run.findMany({ where: { id: { in: [...ids] } }, select: { id: true, steps: true } });
    return new Map(rows.map(({ id, steps }) => [id, steps as unknown as readonly RunStep[] | null]));
  }

  /**
   * What the newest `rowsMax` runs took and cost, together and in groups; at most `groupsMax` groups. Cost: one statement, which reads all these runs.
   */
  statistics(
    reach: RunReach,
    query: StatisticsQuery,
    by: RunGrouping,
    bounds: { readonly rowsMax: number; readonly groupsMax: number },
  ): Promise<{ readonly total: RunFigures; readonly groups: readonly RunGroup[] }> {
    return readStatistics(this.db, reach, query, by, bounds);
  }

  /** What the runs of agents in their own organizations took and cost, without percentiles. Cost: one statement for all agents. */
  async sumsOfAgents(
    agents: readonly { readonly id: string; readonly orgId: string }[],
    since: Date,
    until: Date,
  ): Promise<ReadonlyMap<string, RunFigures>> {
    if (agents.length === 0) return new Map();
    const rows = await this.db.queryPlanned<FigureRow & { readonly key: string }>(
      `select a.id as key, ${sums} from unnest($1::text[], $2::text[]) as a(id, org)
         join runs on runs."agentId" = a.id and runs."orgId" = a.org
         where runs."createdAt" >= $3::timestamptz and runs."createdAt" < $4::timestamptz group by 1`,
      [agents.map(({ id }) => id), agents.map(({ orgId }) => orgId), since.toISOString(), until.toISOString()],
    );
    return new Map(rows.map((row) => [row.key, toFigures(row)]));
  }

  /** What the runs of an agent took and cost by its versions. Cost: one statement. */
  sumsOfVersions(span: VersionSpan, rowsMax: number): Promise<readonly VersionFigures[]> {
    return readVersionFigures(this.db, span, rowsMax);
  }

  /** Those of some agents that show their steps to all who use them, or match a rule that some agents do not. Cost: one statement; none without agents. */
  async agentsThatShowSteps(ids: readonly string[], filter: AgentFilter): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const isOpen = { OR: [{ intermediateStepsVisible: true }, agentWhere(filter)] };
    const where = { AND: [{ id: { in: [...ids] }, isDeleted: false }, isOpen] };
    return new Set((await this.db.prisma.agent.findMany({ where, select: { id: true } })).map(({ id }) => id));
  }

  /** Those of some agents that are not deleted and match a rule. Cost: one statement; none without agents. */
  async agentsAmong(ids: readonly string[], filter: AgentFilter): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const where = { AND: [{ id: { in: [...ids] }, isDeleted: false }, agentWhere(filter)] };
    return new Set((await this.db.prisma.agent.findMany({ where, select: { id: true } })).map(({ id }) => id));
  }

  /** The questions of stored runs in chats that match: what the user said last in the messages that began each run, at most 2,000 characters. Cost: one statement. */
  async questionsOf(runIds: readonly string[], filter: ChatFilter): Promise<ReadonlyMap<string, string>> {
    if (runIds.length === 0) return new Map();
    const parameters = new Parameters();
    const texts = await this.db.query<{ readonly runId: string; readonly content: string }>(
      `select distinct on (message."runId") message."runId", left(message.content, ${questionCharsMax}) as content
       from messages message join chats on chats.id = message."chatId"
       where message."runId" = any(${parameters.add(runIds)}::text[]) and message.role = 'user' and not message."isHidden"
         and chats."deletedAt" is null and ${chatCondition(filter, parameters)}
       order by message."runId", message.ordinal desc`,
      parameters.values,
    );
    return new Map(texts.map(({ runId, content }) => [runId, content]));
  }

  /** Runs whose question contains a text, in the newest chats of a user, and of agents that show theirs to the caller. Cost: two statements, and one for each thousand messages of these chats. */
  findByQuestion(
    text: string,
    owner: { readonly userId: string; readonly orgId: string },
    agentIds: readonly string[] | 'all',
  ): Promise<readonly string[]> {
    return findByQuestion(this.db, text, owner, agentIds, searchMatchesMax);
  }

  /** Agents of an organization whose name contains a text. Cost: two statements. */
  async findAgentsByName(text: string, orgId: string, filter: AgentFilter): Promise<readonly string[]> {
    const named = await fewAgentsWhere(this.db, { agent: 'named', text });
    const where = { AND: [{ orgId, isDeleted: false }, named, agentWhere(filter)] };
    return (await this.db.prisma.agent.findMany({ where, select: { id: true }, take: searchMatchesMax })).map(({ id }) => id);
  }
}

async function findMany({ prisma }: Database, ids: readonly string[], filter: RunFilter): Promise<readonly Run[]> {
  const organizationScope = filter.reach === 'instance' ? {} : { orgId: filter.orgId };
  const runRows = await prisma.run.findMany({ where: { id: { in: [...ids] }, ...organizationScope }, omit: unseen });
  const runs = runRows.map((row) => toRun(row as RunRow));
  if (filter.reach !== 'own') return runs;
  const { orgId, userId: ownerId, agents } = filter;
  const agentIds = [...new Set(runs.flatMap(({ userId, agentId }) => (userId === ownerId ? [] : (agentId ?? []))))];
  const where = { AND: [{ id: { in: agentIds }, orgId, isDeleted: false }, agentWhere(agents)] };
  const editable = agentIds.length === 0 ? [] : await prisma.agent.findMany({ where, select: { id: true } });
  const mine = new Set(editable.map(({ id }) => id));
  return runs.filter(({ userId, agentId }) => userId === ownerId || (agentId !== null && mine.has(agentId)));
}

function toRunPage(db: Database, rows: readonly RunRow[], reach: RunReach, query: RunHistoryQuery, page: PageRequest): Page<Run> {
  const countAll = countUnlessWhole(page, rows.length, (most) => countRuns(db, reach, query, most));
  return toPage(rows.map(toRun), page, timeKey, countAll, rows.length);
}

/** Each alternative of what is listed finds its own first rows by its own index, and the page is merged from those. */
async function findRuns<Row>(
  db: Database,
  reach: RunReach,
  query: RunHistoryQuery,
  page: PageRequest,
  moreColumns = '',
): Promise<readonly Row[]> {
  const conditions = new Conditions(reach, query);
  const alternatives = conditions.alternatives();
  if (alternatives.length === 0) return [];
  const direction = readingOrder(query.isOldestFirst === true ? 'asc' : 'desc', page);
  const order = `order by "createdAt" ${direction}, id ${direction}`;
  const from = placeCondition(conditions, page.after, direction);
  const limit = conditions.value(page.limit + 1, 'int');
  const parts = alternatives.map(({ each, where }) => {
    const rows = `select id, "createdAt" from runs where ${where}${from} ${order} limit ${limit}`;
    return each === undefined
      ? `(${rows})`
      : `(select found.* from unnest(${each}) as named(id) cross join lateral (${rows}) found)`;
  });
  const placesSql =
    parts.length === 1
      ? `select id from ${parts[0]} places`
      : `select id from (${parts.join(' union ')}) places ${order} limit ${limit}`;
  return db.queryPlanned<Row>(
    `select ${runColumns}${moreColumns} from runs where id in (${placesSql}) order by runs."createdAt" ${direction}, runs.id ${direction}`,
    conditions.values,
  );
}

function placeCondition(conditions: Conditions, after: SortKey | undefined, direction: 'asc' | 'desc'): string {
  const [time, id] = after ?? [];
  if (typeof time !== 'string' || typeof id !== 'string') return '';
  const than = direction === 'desc' ? '<' : '>';
  return ` and ("createdAt", id) ${than} (${conditions.value(time, 'timestamptz')}, ${conditions.value(id, 'text')})`;
}

async function countRuns(db: Database, reach: RunReach, query: RunHistoryQuery, most: number): Promise<number> {
  const conditions = new Conditions(reach, query);
  const alternatives = conditions.alternatives();
  if (alternatives.length === 0) return 0;
  const limit = conditions.value(most, 'int');
  const parts = alternatives.map(({ each, where }) => {
    const rows = `select id from runs where ${where} limit ${limit}`;
    return each === undefined
      ? `(${rows})`
      : `(select found.* from unnest(${each}) as named(id) cross join lateral (${rows}) found limit ${limit})`;
  });
  const unionSql = parts.length === 1 ? `${parts[0]} places` : `(${parts.join(' union ')} limit ${limit}) places`;
  const [row] = await db.queryPlanned<{ readonly count: number }>(
    `select count(*)::int as count from ${unionSql}`,
    conditions.values,
  );
  return row?.count ?? 0;
}

const groupKeys: Readonly<Record<RunGrouping, string>> = {
  AGENT: '"agentId"',
  USER: '"userId"',
  KEY: `nullif("keyId", '')`,
  MODEL: `nullif("modelId", '')`,
  DAY: `to_char(date_trunc('day', "createdAt", 'UTC') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
  HOUR: `to_char(date_trunc('hour', "createdAt", 'UTC') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
};

async function readStatistics(
  db: Database,
  reach: RunReach,
  query: StatisticsQuery,
  by: RunGrouping,
  { rowsMax, groupsMax }: { readonly rowsMax: number; readonly groupsMax: number },
) {
  const conditions = new Conditions(reach, query);
  const where = conditions.together();
  const order = by === 'DAY' || by === 'HOUR' ? 'key' : '"runCount" desc, key';
  const rows = await db.queryPlanned<FigureRow & { readonly key: string | null; readonly isTotal: boolean }>(
    `with counted as (
       select ${groupKeys[by]} as key, status, "firstTokenMs", "durationMs", "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens",
         cost, "ratedUp", "ratedDown", "hasFoundNothing"
       from runs where ${where} order by "createdAt" desc limit ${conditions.value(rowsMax, 'int')})
     select key, grouping(key) = 1 as "isTotal", ${sums}, ${percentiles} from counted group by grouping sets ((key), ())
     order by 2 desc, ${order} limit ${conditions.value(groupsMax + 1, 'int')}`,
    conditions.values,
  );
  const total = rows.find(({ isTotal }) => isTotal);
  if (total === undefined) throw new Error('statistics have a total, also of no runs');
  return {
    total: toFigures(total),
    groups: rows.filter(({ isTotal }) => !isTotal).map((row) => ({ key: row.key, ...toFigures(row) })),
  };
}
