import type { Pool } from 'pg';
import type { AgentFilter } from '../entities/access.ts';
import type { Agent, AgentEditor, AgentView } from '../entities/agent.ts';
import { isAny } from '../entities/filter.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../entities/page.ts';
import { agentCondition } from './agent-filter.ts';
import { Parameters, prepared } from './where.ts';

interface AgentViewRow extends Agent {
  readonly orgName: string;
  readonly userName: string;
  readonly editors: readonly AgentEditor[];
  readonly groupIds: readonly string[];
  readonly hasUserChats: boolean;
  readonly isOpenToOthers: boolean;
}

/** Everything that is shown of an agent, in the one statement that finds it. `a` is the agent; `viewer` the placeholder of a user id. */
function viewColumns(viewer: string): string {
  return `a.*, o.name as "orgName", coalesce(u.name, '') as "userName",
    coalesce((select json_agg(json_build_object('id', eu.id, 'name', eu.name, 'email', eu.email) order by e."createdAt", eu.id)
      from agent_editors e join users eu on eu.id = e."userId" where e."agentId" = a.id), '[]') as editors,
    array(select g."groupId" from agent_groups g where g."agentId" = a.id order by g."createdAt", g."groupId") as "groupIds",
    exists (select 1 from chats hc where hc."agentId" = a.id and hc."userId" = ${viewer} and hc."deletedAt" is null) as "hasUserChats",
    case when a.visibility = 'GROUP' then exists (select 1 from agent_groups og join group_members om on om."groupId" = og."groupId"
      where og."agentId" = a.id and om."userId" <> a."userId") else a.visibility <> 'PRIVATE' end as "isOpenToOthers"`;
}
const viewTables = 'join organizations o on o.id = a."orgId" left join users u on u.id = a."userId"';

export async function findAgents(
  pool: Pool,
  ids: readonly string[],
  filter: AgentFilter,
  viewerId: string,
): Promise<readonly AgentView[]> {
  const parameters = new Parameters();
  const text = `select ${viewColumns(parameters.add(viewerId))} from agents a ${viewTables}
    where a.id = any(${parameters.add(ids)}::text[]) and not a."isDeleted" and ${agentCondition(filter, parameters)}`;
  const { rows } = await pool.query<AgentViewRow>(prepared(text, parameters.values));
  return rows.map(viewOf);
}

interface ListRequest {
  readonly filter: AgentFilter;
  readonly narrow: AgentFilter;
  readonly viewerId: string;
  readonly page: PageRequest;
  countAll(): Promise<number>;
}

/**
 * One page, newest first. Each alternative of the filter reads its own first rows from its own index, and the page is made of those:
 * so it costs the same however many agents there are and however deep the page stands.
 */
export async function listAgents(
  pool: Pool,
  { filter, narrow, viewerId, page, countAll }: ListRequest,
): Promise<Page<AgentView>> {
  const parameters = new Parameters();
  const viewer = parameters.add(viewerId);
  const limit = parameters.add(page.limit + 1);
  const after = afterCondition(page, parameters);
  const branches = alternatives(filter).map(
    (branch) => `(select a.id, a."createdAt" from agents a
      where not a."isDeleted" and ${agentCondition(branch, parameters)} and ${agentCondition(narrow, parameters)} and ${after}
      order by a."createdAt" desc, a.id desc limit ${limit})`,
  );
  const text = `select ${viewColumns(viewer)}
    from (select found.id from (${branches.join(' union ')}) found order by found."createdAt" desc, found.id desc limit ${limit}) listed
    join agents a on a.id = listed.id ${viewTables}
    order by a."createdAt" desc, a.id desc`;
  const { rows } = await pool.query<AgentViewRow>(prepared(text, parameters.values));
  return pageOf(rows.map(viewOf), page, timeKey, countAll);
}

export async function countAgents(pool: Pool, filter: AgentFilter, narrow: AgentFilter): Promise<number> {
  const parameters = new Parameters();
  const branches = alternatives(filter).map(
    (branch) => `select a.id from agents a
      where not a."isDeleted" and ${agentCondition(branch, parameters)} and ${agentCondition(narrow, parameters)}`,
  );
  const text = `select count(*)::int as count from (${branches.join(' union ')}) found`;
  const { rows } = await pool.query<{ count: number }>(prepared(text, parameters.values));
  return rows[0]?.count ?? 0;
}

function alternatives(filter: AgentFilter): readonly AgentFilter[] {
  return isAny(filter) && filter.any.length > 0 ? filter.any.flatMap(alternatives) : [filter];
}

function afterCondition({ after }: PageRequest, parameters: Parameters): string {
  if (after === undefined) return 'true';
  const [createdAt, id] = after;
  return `(a."createdAt", a.id) < (${parameters.add(createdAt)}::timestamptz, ${parameters.add(id)}::text)`;
}

function viewOf(row: AgentViewRow): AgentView {
  return { ...row, editorIds: new Set(row.editors.map(({ id }) => id)) };
}
