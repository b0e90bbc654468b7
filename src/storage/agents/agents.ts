import type { Agent, AgentView, RunnableAgent } from '../../entities/agents/agent.ts';
import type { AgentPublishing } from '../../entities/agents/version.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { everything } from '../../entities/ground/filter.ts';
import type { Members } from '../../entities/ground/members.ts';
import type { Page } from '../../entities/ground/page.ts';
import type { AgentFilter, AgentViewer } from '../../entities/people/access.ts';
import { Prisma } from '../generated/client.ts';
import { settled } from '../ground/conflicts.ts';
import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { PublishingStore } from '../ground/store.ts';
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
export type NewAgent = AgentChanges & { readonly publishing?: AgentPublishing } & Pick<
    Agent,
    'id' | 'createdAt' | 'orgId' | 'userId' | 'name' | 'description' | 'instructions' | 'src'
  >;

/** `viewer` is the user for whom `hasUserChats` and `visibleGroupIds` are computed. */
export class AgentStore extends PublishingStore {
  readonly #runnable;

  constructor(db: Database, signals: Signals) {
    super(db, signals);
    this.#runnable = createRunnableAgents(db, signals);
  }

  /**
   * An agent for a run, whoever runs it: the caller decides access from its members. A value when cached: no database round trip.
   *
   * @param version  0 for the draft. Default: the published one. Undefined for a version that does not exist.
   */
  findRunnable(
    id: string,
    nowMs: number,
    version?: number | null,
  ): RunnableAgent | undefined | Promise<RunnableAgent | undefined> {
    return this.#runnable.find(id, nowMs, version ?? undefined);
  }

  /** The agent if it exists and matches. */
  async find(id: string, filter: AgentFilter, viewer: AgentViewer, members?: Members<AgentView>): Promise<AgentView | undefined> {
    return (await findAgents(this.db, [id], filter, viewer, members))[0];
  }

  /** Those of the agents that exist and match, in any order. @throws DomainError REPLY_TOO_LARGE */
  findMany(
    ids: readonly string[],
    filter: AgentFilter,
    viewer: AgentViewer,
    members?: Members<AgentView>,
  ): Promise<readonly AgentView[]> {
    return findAgents(this.db, ids, filter, viewer, members);
  }

  /** Newest first, unless the request says otherwise. One statement for each alternative of the filter, and one to three for the agents; counting takes one more, when asked for. */
  list(
    filter: AgentFilter,
    narrow: AgentFilter,
    viewer: AgentViewer,
    page: AgentPageRequest,
    members?: Members<AgentView>,
  ): Promise<Page<AgentView>> {
    return listAgents(this.db, { filter, narrow, viewer, page, members });
  }

  async create({ editorIds = [], groupIds = [], ...agent }: NewAgent, viewer: AgentViewer): Promise<AgentView> {
    const data = {
      ...toData(agent),
      editors: { create: editorIds.map((userId) => ({ userId })) },
      groups: { create: groupIds.map((groupId) => ({ groupId })) },
    };
    await settled(this.db.prisma.agent.create({ data }), 'agent');
    return this.#written(agent.id, viewer);
  }

  async update(id: string, { editorIds, groupIds, ...changes }: AgentChanges, viewer: AgentViewer): Promise<AgentView> {
    const update = this.db.prisma.agent.update({
      where: { id, isDeleted: false },
      data: {
        ...toColumns(changes),
        ...(editorIds === undefined ? {} : { editors: { deleteMany: {}, create: editorIds.map((userId) => ({ userId })) } }),
        ...(groupIds === undefined ? {} : { groups: { deleteMany: {}, create: groupIds.map((groupId) => ({ groupId })) } }),
      },
    });
    await settled(update, 'agent');
    return this.#written(id, viewer);
  }

  /** Adds the messages that turns noted to the counts of their agents. */
  async addMessageCounts(): Promise<void> {
    return void (await addMessageCounts(this.db));
  }

  /** Whether its organization has approved it as it is now. */
  async isApproved(id: string): Promise<boolean> {
    return (await this.db.prisma.agent.count({ where: { id, isApprovedByOrg: true } })) > 0;
  }

  /** @returns false when the agent was deleted before. */
  async markDeleted(id: string): Promise<boolean> {
    const { count } = await this.db.prisma.agent.updateMany({ where: { id, isDeleted: false }, data: { isDeleted: true } });
    this.signals.publish('agent-changed', id);
    return count > 0;
  }

  async #written(id: string, viewer: AgentViewer): Promise<AgentView> {
    this.signals.publish('agent-changed', id);
    const agent = await this.find(id, everything, viewer);
    if (agent === undefined) throw new DomainError('NOT_FOUND', 'The agent was deleted at the same time');
    return agent;
  }
}

/** A new agent as Prisma writes it, without its editors and groups. */
export function toData({ editorIds: _editors, groupIds: _groups, ...agent }: NewAgent) {
  const { id, createdAt, orgId, userId, name, description, instructions, src } = agent;
  return {
    // Prisma writes null for an absent list, and SQL does not read null as an empty list.
    publicCategories: [],
    orgCategoryIds: [],
    ...toColumns(agent),
    ...{ id, createdAt, orgId, userId, name, description, instructions, src },
    updatedAt: createdAt,
  };
}

type Columns = Omit<AgentChanges, 'editorIds' | 'groupIds'>;

/** Members as Prisma writes them: lists as mutable arrays, JSON in its own columns. */
function toColumns({ enabledTools, options, profile, publicCategories, orgCategoryIds, ...rest }: Columns) {
  return {
    ...rest,
    ...(enabledTools === undefined ? {} : { enabledTools: enabledTools as unknown as Prisma.InputJsonArray }),
    ...(options === undefined ? {} : { options: { ...options } as Prisma.InputJsonObject }),
    ...(profile === undefined ? {} : { profile: profile === null ? Prisma.DbNull : ({ ...profile } as Prisma.InputJsonObject) }),
    ...(publicCategories === undefined ? {} : { publicCategories: [...publicCategories] }),
    ...(orgCategoryIds === undefined ? {} : { orgCategoryIds: [...orgCategoryIds] }),
  };
}
