// Raw SQL: the alternatives of a list are read in one statement, each by its own index.
import type { AgentView } from '../../entities/agents/agent.ts';
import { isAny } from '../../entities/ground/filter.ts';
import { type Members, reads } from '../../entities/ground/members.ts';
import { countUnlessWhole, type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { AgentFilter, AgentViewer } from '../../entities/people/access.ts';
import type { Prisma } from '../generated/client.ts';
import type { Database } from '../ground/database.ts';
import { type Place, readingOrder, readPage, requireShortList } from '../ground/lists/paging.ts';
import { type Selection, selected } from '../ground/lists/selected.ts';
import { Parameters } from '../ground/sql/where.ts';
import { groupWhere } from '../people/groups/filter.ts';
import { agentCondition, branches } from './conditions.ts';
import { fewAgents, listLeaves } from './few.ts';
import { agentWhere } from './filter.ts';

type AgentMembers = Members<AgentView>;

/** Everything that an agent's view is made of, as Prisma selects it. */
const selectAll = ({ userId }: AgentViewer) =>
  ({
    id: true,
    createdAt: true,
    updatedAt: true,
    orgId: true,
    userId: true,
    name: true,
    description: true,
    instructions: true,
    introduction: true,
    seed: true,
    src: true,
    modelId: true,
    visibility: true,
    listInOrgCatalog: true,
    listInPublicCatalog: true,
    listInTenantCatalog: true,
    isApprovedByOrg: true,
    chatLogsVisible: true,
    generateCitations: true,
    intermediateStepsVisible: true,
    enabledTools: true,
    options: true,
    profile: true,
    publicCategories: true,
    orgCategoryIds: true,
    categoryId: true,
    messageCount: true,
    ratingCount: true,
    ratingSum: true,
    isDeleted: true,
    publishing: true,
    publishedVersion: true,
    draftRevision: true,
    isDraftChanged: true,
    canaryVersion: true,
    canaryPercent: true,
    canaryStartedAt: true,
    organization: { select: { name: true } },
    editors: { select: { userId: true }, orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }] },
    groups: {
      // Two members decide whether one of them is not the owner.
      select: {
        groupId: true,
        group: { select: { members: { select: { userId: true }, where: { userId: { not: null } }, take: 2 } } },
      },
      orderBy: [{ createdAt: 'asc' }, { groupId: 'asc' }],
    },
    users: { select: { userId: true }, where: { userId }, take: 1 },
  }) as const satisfies Prisma.AgentSelect;
type AgentRow = Prisma.AgentGetPayload<{ select: ReturnType<typeof selectAll> }>;

const selection: Selection<AgentView> = {
  // The cursor of a page needs the time and the id; the audit log needs the owner; `isOpenToOthers` needs the visibility; of a draft that differs, others see
  // what people get.
  always: new Set(['id', 'createdAt', 'orgId', 'userId', 'visibility', 'isDraftChanged']),
  madeOf: {
    organization: ['orgName'],
    editors: ['editors', 'editorIds'],
    groups: ['groupIds', 'visibleGroupIds', 'isOpenToOthers'],
    users: ['hasUserChats'],
  },
};
const longMembers = [
  'description',
  'instructions',
  'introduction',
  'seed',
  'src',
  'enabledTools',
  'options',
  'profile',
  'editors',
] as const satisfies readonly (keyof AgentView)[];
/** Cost: one statement for the agents; one more each for the names of users, and for the groups that the viewer may see. */
async function readViews(
  db: Database,
  where: Prisma.AgentWhereInput,
  viewer: AgentViewer,
  members: AgentMembers,
): Promise<readonly AgentView[]> {
  const rows = await db.prisma.agent.findMany({ where, select: selected(selectAll(viewer), members, selection) });
  const [users, seenGroupIds] = await Promise.all([readUsers(db, rows, members), readVisibleGroups(db, rows, viewer, members)]);
  return rows.map((row) => toView(row, users, seenGroupIds));
}

type Users = ReadonlyMap<string, AgentView['editors'][number]>;

async function readUsers(db: Database, rows: readonly AgentRow[], members: AgentMembers): Promise<Users> {
  const ids = new Set(rows.flatMap((row) => (row.editors ?? []).map(({ userId }) => userId)));
  if (reads(members, 'userName')) for (const { userId } of rows) ids.add(userId);
  if (ids.size === 0) return new Map();
  const users = await db.prisma.user.findMany({ where: { id: { in: [...ids] } }, select: { id: true, name: true, email: true } });
  return new Map(users.map((user) => [user.id, user]));
}

async function readVisibleGroups(
  db: Database,
  rows: readonly AgentRow[],
  { groups }: AgentViewer,
  members: AgentMembers,
): Promise<ReadonlySet<string>> {
  const ids = new Set(rows.flatMap((row) => (row.groups ?? []).map(({ groupId }) => groupId)));
  if (ids.size === 0 || !reads(members, 'visibleGroupIds')) return new Set();
  const where = { AND: [{ id: { in: [...ids] } }, groupWhere(groups)] };
  const visible = await db.prisma.group.findMany({ where, select: { id: true } });
  return new Set(visible.map(({ id }) => id));
}

/** Members that were not selected are absent. */
function toView(
  { organization, editors, groups, users: chatting, ...own }: Partial<AgentRow>,
  users: Users,
  seenGroupIds: ReadonlySet<string>,
): AgentView {
  const editing = editors?.flatMap(({ userId }) => users.get(userId) ?? []);
  const groupIds = groups?.map(({ groupId }) => groupId) ?? [];
  const others = groups?.flatMap(({ group }) => group.members).filter(({ userId }) => userId !== own.userId) ?? [];
  return {
    ...own,
    orgName: organization?.name,
    userName: users.get(own.userId ?? '')?.name ?? '',
    editors: editing,
    editorIds: new Set(editing?.map(({ id }) => id)),
    groupIds,
    visibleGroupIds: groupIds.filter((id) => seenGroupIds.has(id)),
    hasUserChats: (chatting ?? []).length > 0,
    isOpenToOthers: own.visibility === 'GROUP' ? others.length > 0 : own.visibility !== 'PRIVATE',
  } as unknown as AgentView;
}

/** @throws DomainError REPLY_TOO_LARGE when several agents are too long together. */
export async function findAgents(
  db: Database,
  ids: readonly string[],
  filter: AgentFilter,
  viewer: AgentViewer,
  members?: AgentMembers,
): Promise<readonly AgentView[]> {
  const where = { AND: [{ id: { in: [...ids] }, isDeleted: false }, agentWhere(filter)] };
  if (ids.length > 1 && reads(members, ...longMembers)) {
    const { _sum: sum } = await db.prisma.agent.aggregate({ where, _sum: { rowBytes: true } });
    requireShortList(db, sum.rowBytes);
  }
  return readViews(db, where, viewer, members);
}

export interface AgentPageRequest extends PageRequest {
  readonly isOldestFirst?: boolean;
}

interface ListRequest {
  readonly filter: AgentFilter;
  readonly narrow: AgentFilter;
  readonly viewer: AgentViewer;
  readonly page: AgentPageRequest;
  readonly members: AgentMembers;
}

/**
 * One page, by the time at which agents were made. Each alternative of the filter finds its own first agents by its own index, and the page is merged from those: its cost
 * does not depend on the number of agents or on the depth of the page.
 */
export async function listAgents(db: Database, { filter, narrow, viewer, page, members }: ListRequest): Promise<Page<AgentView>> {
  const isLong = reads(members, ...longMembers);
  const narrowing = { filter: narrow, ids: await fewAgents(db, narrow) };
  const places = await findPlaces(db, filter, narrowing, page, isLong);
  const { rows, foundCount } = await readPage(db, places, (ids) => readViews(db, { id: { in: ids } }, viewer, members));
  const countAll = countUnlessWhole(page, foundCount, (most) => countAgents(db, filter, narrowing, most));
  return toPage(rows, page, timeKey, countAll, foundCount);
}

interface Narrowing {
  readonly filter: AgentFilter;
  /** All that match, as `fewAgents` names them. */
  readonly ids: readonly string[] | undefined;
}

async function findPlaces(db: Database, filter: AgentFilter, narrow: Narrowing, page: AgentPageRequest, isSized: boolean) {
  const parameters = new Parameters();
  const direction = readingOrder(page.isOldestFirst === true ? 'asc' : 'desc', page);
  const [time, id] = page.after ?? [];
  const further =
    typeof time !== 'string' || typeof id !== 'string'
      ? ''
      : ` and ("createdAt", id) ${direction === 'desc' ? '<' : '>'} (${parameters.add(time)}::timestamptz, ${parameters.add(id)}::text)`;
  const inOrder = `order by "createdAt" ${direction}, id ${direction} limit ${page.limit + 1}`;
  const columns = `id, "createdAt"${isSized ? ', "rowBytes"' : ''}`;
  const parts = alternatives(filter).map(
    (branch) => `(select ${columns} from agents where ${branchCondition(branch, narrow, parameters)}${further} ${inOrder})`,
  );
  const text = parts.length === 1 ? `${parts[0]}` : `select * from (${parts.join(' union ')}) places ${inOrder}`;
  return db.queryPlanned<Place & { readonly createdAt: Date }>(text, parameters.values);
}

/** Rows that one statement reads by their texts, about which no index can tell: the embedded database cannot end a statement, and others wait for it. */
const searchedMax = 5_000;

/** An agent that matches several alternatives counts once. Each alternative is read by its own index until there are enough. */
async function countAgents(db: Database, filter: AgentFilter, narrow: Narrowing, most: number): Promise<number> {
  const each = branches(filter);
  if (each.length === 0) return 0;
  const isSearch = narrow.ids === undefined && listLeaves(narrow.filter).some(({ agent }) => agent === 'mentions');
  if (isSearch) return countSearched(db, each, narrow, most);
  const parameters = new Parameters();
  const parts = each.map(
    (branch) => `(select id from agents where ${branchCondition(branch, narrow, parameters)} limit ${most})`,
  );
  const [row] = await db.queryPlanned<{ readonly count: number }>(
    `select count(*)::int as count from (select * from (${parts.join(' union ')}) places limit ${most}) counted`,
    parameters.values,
  );
  return row?.count ?? 0;
}

async function countSearched(db: Database, each: readonly AgentFilter[], narrow: Narrowing, most: number): Promise<number> {
  const ids = new Set<string>();
  for (const branch of each) {
    let after = '';
    for (let found = searchedMax; found === searchedMax && ids.size < most; ) {
      const parameters = new Parameters();
      const condition = branchCondition(branch, narrow, parameters);
      const rows = await db.queryPlanned<{ readonly id: string }>(
        `select id from agents where ${condition} and id > ${parameters.add(after)} order by id limit ${searchedMax}`,
        parameters.values,
      );
      for (const { id } of rows) ids.add(id);
      found = rows.length;
      after = rows.at(-1)?.id ?? '';
    }
    if (ids.size >= most) break;
  }
  return Math.min(ids.size, most);
}

function branchCondition(branch: AgentFilter, { filter, ids }: Narrowing, parameters: Parameters): string {
  const conditions = ['not "isDeleted"', agentCondition(branch, parameters), agentCondition(filter, parameters)];
  return [...conditions, ...(ids === undefined ? [] : [`id = any(${parameters.share(ids)}::text[])`])].join(' and ');
}

export function alternatives(filter: AgentFilter): readonly AgentFilter[] {
  return isAny(filter) && filter.any.length > 0 ? filter.any.flatMap(alternatives) : [filter];
}
