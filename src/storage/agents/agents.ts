import type { Agent, AgentView, RunnableAgent } from '../../entities/agents/agent.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { everything } from '../../entities/ground/filter.ts';
import type { Members } from '../../entities/ground/members.ts';
import type { Page } from '../../entities/ground/page.ts';
import type { AgentFilter, AgentViewer } from '../../entities/people/access.ts';
import { Prisma } from '../generated/client.ts';
import { settled } from '../ground/conflicts.ts';
import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { addMessageCounts } from './counters.ts';
import { type AgentPageRequest, findAgents, listAgents } from './queries.ts';
import { createRunnableAgents } from './runnable.ts';

/** What a caller may write of an agent. Absent members are kept. */
export type AgentChanges = Partial<
  Omit<
    Agent,
    | 'id'
    | 'createdAt'
    | 'updatedAt'
    | 'orgId'
    | 'userId'
    | 'messageCount'
    | 'ratingCount'
    | 'ratingSum'
    | 'isDeleted'
    | 'categoryId'
  >
> & {
  /** Replaces all editors. */
  readonly editorIds?: readonly string[];
  /** Replaces all groups. */
  readonly groupIds?: readonly string[];
};
export type NewAgent = AgentChanges &
  Pick<Agent, 'id' | 'createdAt' | 'orgId' | 'userId' | 'name' | 'description' | 'instructions' | 'src'>;

/** `viewer` is the user for whom `hasUserChats` and `visibleGroupIds` are computed. */
export interface AgentStore {
  /** An agent for a run, whoever runs it: the caller decides access from its members. A value when cached: no database round trip. */
  findRunnable(id: string, nowMs: number): RunnableAgent | undefined | Promise<RunnableAgent | undefined>;
  /** The agent if it exists and matches. */
  find(id: string, filter: AgentFilter, viewer: AgentViewer): Promise<AgentView | undefined>;
  /** Those of the agents that exist and match, in any order. @throws DomainError REPLY_TOO_LARGE */
  findMany(
    ids: readonly string[],
    filter: AgentFilter,
    viewer: AgentViewer,
    members?: Members<AgentView>,
  ): Promise<readonly AgentView[]>;
  /** Newest first, unless the request says otherwise. One statement for each alternative of the filter, and one to three for the agents; counting takes one more, when asked for. */
  list(
    filter: AgentFilter,
    narrow: AgentFilter,
    viewer: AgentViewer,
    page: AgentPageRequest,
    members?: Members<AgentView>,
  ): Promise<Page<AgentView>>;
  create(agent: NewAgent, viewer: AgentViewer): Promise<AgentView>;
  update(id: string, changes: AgentChanges, viewer: AgentViewer): Promise<AgentView>;
  /** @returns false when the agent was deleted before. */
  markDeleted(id: string): Promise<boolean>;
  /** Adds the messages that turns noted to the counts of their agents. */
  addMessageCounts(): Promise<void>;
  /** Whether its organization has approved it as it is now. */
  isApproved(id: string): Promise<boolean>;
}

export function createAgentStore(db: Database, signals: Signals): AgentStore {
  const runnable = createRunnableAgents(db, signals);

  async function find(id: string, filter: AgentFilter, viewer: AgentViewer): Promise<AgentView | undefined> {
    return (await findAgents(db, [id], filter, viewer))[0];
  }

  async function written(id: string, viewer: AgentViewer): Promise<AgentView> {
    signals.publish('agent-changed', id);
    const agent = await find(id, everything, viewer);
    if (agent === undefined) throw new DomainError('NOT_FOUND', 'The agent was deleted at the same time');
    return agent;
  }

  return {
    findRunnable: runnable.find,
    find,
    findMany: (ids, filter, viewer, members) => findAgents(db, ids, filter, viewer, members),
    list: (filter, narrow, viewer, page, members) => listAgents(db, { filter, narrow, viewer, page, members }),
    async create({ editorIds = [], groupIds = [], ...agent }, viewer) {
      const data = {
        ...dataOf(agent),
        editors: { create: editorIds.map((userId) => ({ userId })) },
        groups: { create: groupIds.map((groupId) => ({ groupId })) },
      };
      await settled(db.prisma.agent.create({ data }), 'agent');
      return written(agent.id, viewer);
    },
    async update(id, { editorIds, groupIds, ...changes }, viewer) {
      const update = db.prisma.agent.update({
        where: { id, isDeleted: false },
        data: {
          ...columnsOf(changes),
          ...(editorIds === undefined ? {} : { editors: { deleteMany: {}, create: editorIds.map((userId) => ({ userId })) } }),
          ...(groupIds === undefined ? {} : { groups: { deleteMany: {}, create: groupIds.map((groupId) => ({ groupId })) } }),
        },
      });
      await settled(update, 'agent');
      return written(id, viewer);
    },
    addMessageCounts: async () => void (await addMessageCounts(db)),
    async isApproved(id) {
      return (await db.prisma.agent.count({ where: { id, isApprovedByOrg: true } })) > 0;
    },
    async markDeleted(id) {
      const { count } = await db.prisma.agent.updateMany({ where: { id, isDeleted: false }, data: { isDeleted: true } });
      signals.publish('agent-changed', id);
      return count > 0;
    },
  };
}

/** A new agent as Prisma writes it, without its editors and groups. */
export function dataOf({ editorIds: _editors, groupIds: _groups, ...agent }: NewAgent) {
  const { id, createdAt, orgId, userId, name, description, instructions, src } = agent;
  return {
    // Prisma writes null for an absent list, and SQL does not read null as an empty list.
    publicCategories: [],
    orgCategoryIds: [],
    ...columnsOf(agent),
    ...{ id, createdAt, orgId, userId, name, description, instructions, src },
    updatedAt: createdAt,
  };
}

type Columns = Omit<AgentChanges, 'editorIds' | 'groupIds'>;

/** Members as Prisma writes them: lists as mutable arrays, JSON in its own columns. */
function columnsOf({ enabledTools, options, profile, publicCategories, orgCategoryIds, ...rest }: Columns) {
  return {
    ...rest,
    ...(enabledTools === undefined ? {} : { enabledTools: enabledTools as unknown as Prisma.InputJsonArray }),
    ...(options === undefined ? {} : { options: { ...options } as Prisma.InputJsonObject }),
    ...(profile === undefined ? {} : { profile: profile === null ? Prisma.DbNull : ({ ...profile } as Prisma.InputJsonObject) }),
    ...(publicCategories === undefined ? {} : { publicCategories: [...publicCategories] }),
    ...(orgCategoryIds === undefined ? {} : { orgCategoryIds: [...orgCategoryIds] }),
  };
}
