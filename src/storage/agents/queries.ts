// Raw SQL: the list of agents and what is shown of them take one statement, with a caller's rule as an SQL condition.
import type { AgentFilter, AgentViewer } from '../../entities/accounts/access.ts';
import type { Agent, AgentView } from '../../entities/agents/agent.ts';
import { isAny } from '../../entities/filter.ts';
import { type Members, reads } from '../../entities/members.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import { groupCondition } from '../accounts/group-filter.ts';
import type { Database } from '../database/database.ts';
import { readPage, readWhole } from '../database/sql/bounded-rows.ts';
import { countRows, Parameters } from '../database/sql/where.ts';
import { agentCondition } from './filter.ts';

type AgentViewRow = Omit<AgentView, 'editorIds'>;

type AgentMembers = Members<AgentView>;

/** The columns that are the agent's own. */
const ownColumns = [
  'id',
  'createdAt',
  'updatedAt',
  'orgId',
  'userId',
  'name',
  'description',
  'instructions',
  'introduction',
  'seed',
  'src',
  'modelId',
  'visibility',
  'listInOrgCatalog',
  'listInPublicCatalog',
  'listInTenantCatalog',
  'isApprovedByOrg',
  'chatLogsVisible',
  'generateCitations',
  'intermediateStepsVisible',
  'enabledTools',
  'options',
  'profile',
  'publicCategories',
  'orgCategoryIds',
  'categoryId',
  'messageCount',
  'ratingCount',
  'ratingSum',
  'isDeleted',
] as const satisfies readonly (keyof Agent)[];
const longColumns = [
  'description',
  'instructions',
  'introduction',
  'seed',
  'src',
  'enabledTools',
  'options',
  'profile',
  'editors',
] as const;
/** Always selected: the cursor of a page needs the time and the id; the audit log needs the owner of everything that an administrator is shown. */
const keyColumns: ReadonlySet<string> = new Set(['id', 'createdAt', 'orgId', 'userId']);

/** The select list and joins of an agent's view, so that one statement finds and shows it. `a` is the agent. */
function viewSql(members: AgentMembers, viewer: AgentViewer, parameters: Parameters): { columns: string; joins: string } {
  const columns = ownColumns.filter((name) => keyColumns.has(name) || reads(members, name)).map((name) => `a."${name}"`);
  let joins = '';
  if (reads(members, 'orgName')) {
    columns.push('o.name as "orgName"');
    joins += ' join organizations o on o.id = a."orgId"';
  }
  if (reads(members, 'userName')) {
    columns.push(`coalesce(u.name, '') as "userName"`);
    joins += ' left join users u on u.id = a."userId"';
  }
  if (reads(members, 'editors', 'editorIds')) {
    columns.push(`coalesce((select json_agg(json_build_object('id', eu.id, 'name', eu.name, 'email', eu.email) order by e."createdAt", eu.id)
      from agent_editors e join users eu on eu.id = e."userId" where e."agentId" = a.id), '[]') as editors`);
  }
  if (reads(members, 'groupIds')) {
    columns.push(
      `array(select g."groupId" from agent_groups g where g."agentId" = a.id order by g."createdAt", g."groupId") as "groupIds"`,
    );
  }
  if (reads(members, 'visibleGroupIds')) {
    columns.push(`array(select x."groupId" from agent_groups x join groups g on g.id = x."groupId"
      where x."agentId" = a.id and ${groupCondition(viewer.groups, parameters)} order by x."createdAt", x."groupId") as "visibleGroupIds"`);
  }
  if (reads(members, 'hasUserChats')) {
    columns.push(`exists (select 1 from chats hc
      where hc."agentId" = a.id and hc."userId" = ${parameters.add(viewer.userId)} and hc."deletedAt" is null) as "hasUserChats"`);
  }
  if (reads(members, 'isOpenToOthers')) {
    columns.push(`case when a.visibility = 'GROUP' then exists (select 1 from agent_groups og join group_members om on om."groupId" = og."groupId"
      where og."agentId" = a.id and om."userId" <> a."userId") else a.visibility <> 'PRIVATE' end as "isOpenToOthers"`);
  }
  return { columns: columns.join(', '), joins };
}

export async function findAgents(
  db: Database,
  ids: readonly string[],
  filter: AgentFilter,
  viewer: AgentViewer,
): Promise<readonly AgentView[]> {
  const parameters = new Parameters();
  const { columns, joins } = viewSql(undefined, viewer, parameters);
  const text = `select ${columns} from agents a ${joins}
    where a.id = any(${parameters.add(ids)}::text[]) and not a."isDeleted" and ${agentCondition(filter, parameters)}`;
  const { values } = parameters;
  const rows =
    ids.length > 1
      ? await readWhole<AgentViewRow>(db, { text, values }, longColumns)
      : await db.query<AgentViewRow>(text, values);
  return rows.map(viewOf);
}

interface ListRequest {
  readonly filter: AgentFilter;
  readonly narrow: AgentFilter;
  readonly viewer: AgentViewer;
  readonly page: PageRequest;
  readonly members: AgentMembers;
  countAll(): Promise<number>;
}

/**
 * One page, newest first. Each alternative of the filter reads its own first rows from its own index, and the page is merged from those: its cost
 * does not depend on the number of agents or on the depth of the page.
 */
export async function listAgents(
  db: Database,
  { filter, narrow, viewer, page, members, countAll }: ListRequest,
): Promise<Page<AgentView>> {
  const parameters = new Parameters();
  const { columns, joins } = viewSql(members, viewer, parameters);
  const limit = parameters.add(page.limit + 1);
  const after = afterCondition(page, parameters);
  const branches = alternatives(filter).map(
    (branch) => `(select a.id, a."createdAt" from agents a
      where not a."isDeleted" and ${agentCondition(branch, parameters)} and ${agentCondition(narrow, parameters)} and ${after}
      order by a."createdAt" desc, a.id desc limit ${limit})`,
  );
  const text = `select ${columns}
    from (select found.id from (${branches.join(' union ')}) found order by found."createdAt" desc, found.id desc limit ${limit}) listed
    join agents a on a.id = listed.id ${joins}
    order by a."createdAt" desc, a.id desc`;
  const long = longColumns.filter((name) => reads(members, name));
  const { rows, foundCount } = await readPage<AgentViewRow>(db, { text, values: parameters.values }, long);
  return pageOf(rows.map(viewOf), page, timeKey, countAll, foundCount);
}

export function countAgents(db: Database, filter: AgentFilter, narrow: AgentFilter): Promise<number> {
  return countRows(db, (given) => {
    const branches = alternatives(filter).map(
      (branch) => `select a.id from agents a
        where not a."isDeleted" and ${agentCondition(branch, given)} and ${agentCondition(narrow, given)}`,
    );
    return `from (${branches.join(' union ')}) found`;
  });
}

function alternatives(filter: AgentFilter): readonly AgentFilter[] {
  return isAny(filter) && filter.any.length > 0 ? filter.any.flatMap(alternatives) : [filter];
}

function afterCondition({ after }: PageRequest, parameters: Parameters): string {
  if (after === undefined) return 'true';
  const [createdAt, id] = after;
  return `(a."createdAt", a.id) < (${parameters.add(createdAt)}::timestamptz, ${parameters.add(id)}::text)`;
}

/** A row has no editors when the query does not read them. */
function viewOf(row: Omit<AgentViewRow, 'editors'> & Partial<Pick<AgentViewRow, 'editors'>>): AgentView {
  if (row.editors === undefined) return row as AgentView;
  return { ...row, editors: row.editors, editorIds: new Set(row.editors.map(({ id }) => id)) };
}
