// Raw SQL: the versions of an agent are those that its own columns name, which Prisma cannot say.
import type { AgentContent } from '../../entities/agents/version.ts';
import type { Transaction } from '../ground/database.ts';
import { PublishingStore } from '../ground/store.ts';

/** Things of one person in one organization. */
export interface OwnedThings {
  readonly agentIds: readonly string[];
  readonly dataSourceIds: readonly string[];
  readonly groupIds: readonly string[];
  readonly scheduleIds: readonly string[];
  readonly projectIds: readonly string[];
}
/** What belongs to another person now, and the runs that schedules began for the person before. */
export interface MovedThings extends OwnedThings {
  readonly activeRunIds: readonly string[];
}
export interface Owner {
  readonly orgId: string;
  readonly userId: string;
}

/** What an agent names as its standing configuration. */
export interface AgentConfiguration {
  readonly id: string;
  readonly name: string;
  readonly enabledTools: unknown;
  /** The data of its tools and of the versions of its flows. */
  readonly parts: readonly unknown[];
}

export class OwnershipStore extends PublishingStore {
  /** What the person owns, oldest first, at most `limit` of each kind. */
  async owned({ orgId, userId }: Owner, limit: number): Promise<OwnedThings> {
    const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
    const page = { select: { id: true }, orderBy, take: limit } as const;
    const sources = { orgId, ownerUserId: userId, deletingAt: null };
    return {
      agentIds: listIds(await this.db.prisma.agent.findMany({ where: { orgId, userId, isDeleted: false }, ...page })),
      dataSourceIds: listIds(await this.db.prisma.dataSource.findMany({ where: sources, ...page })),
      groupIds: listIds(await this.db.prisma.group.findMany({ where: { orgId, ownerUserId: userId }, ...page })),
      scheduleIds: listIds(await this.db.prisma.schedule.findMany({ where: { orgId, userId }, ...page })),
      projectIds: listIds(await this.db.prisma.project.findMany({ where: { orgId, userId, groups: { some: {} } }, ...page })),
    };
  }

  /** Of the drafts of agents, and of the versions that people get besides. */
  async configurations(agentIds: readonly string[]): Promise<readonly AgentConfiguration[]> {
    const contents = await this.db.query<{ readonly agentId: string; readonly content: AgentContent }>(
      `select v."agentId", v.content from agents a join agent_versions v on v."agentId" = a.id and v.number in (a."publishedVersion", a."canaryVersion")
       where a.id = any($1::text[]) and (a."isDraftChanged" or a."canaryVersion" is not null)`,
      [agentIds],
    );
    const byAgent = Map.groupBy(contents, ({ agentId }) => agentId);
    const held = (id: string) => (byAgent.get(id) ?? []).map(({ content }) => content);
    const agents = await this.db.prisma.agent.findMany({
      where: { id: { in: [...agentIds] } },
      select: {
        ...{ id: true, name: true, enabledTools: true, tools: { select: { data: true } } },
        flows: { select: { versions: { select: { data: true } } } },
      },
    });
    return agents.map(({ tools, flows, ...agent }) => {
      const drafts = [...tools, ...flows.flatMap(({ versions }) => versions)];
      const others = held(agent.id).flatMap((content) => [
        ...content.tools,
        ...content.flows.flatMap(({ versions }) => versions),
      ]);
      return {
        ...agent,
        enabledTools: [agent.enabledTools, ...held(agent.id).map(({ enabledTools }) => enabledTools)].flat(),
        parts: [...drafts, ...others].map(({ data }) => data),
      };
    });
  }

  /**
   * Schedules are paused: they would run with the rights of a person who has not seen them.
   *
   * @returns the ids of what still belonged to `from` and belongs to the other person now.
   */
  async transfer(
    { orgId, userId }: Owner,
    { agentIds, dataSourceIds, groupIds, scheduleIds, projectIds }: OwnedThings,
    toUserId: string,
  ): Promise<MovedThings> {
    const ownership = { orgId, ownerUserId: userId };
    const moved = await this.db.transaction(async ({ prisma }) => {
      const agents = listIds(
        await prisma.agent.updateManyAndReturn({
          where: { id: { in: [...agentIds] }, orgId, userId, isDeleted: false },
          data: { userId: toUserId },
          select: { id: true },
        }),
      );
      // An owner is no editor besides.
      await prisma.agentEditor.deleteMany({ where: { agentId: { in: agents }, userId: toUserId } });
      return {
        agentIds: agents,
        dataSourceIds: listIds(
          await prisma.dataSource.updateManyAndReturn({
            where: { id: { in: [...dataSourceIds] }, ...ownership, deletingAt: null },
            data: { ownerUserId: toUserId, updatedAt: new Date() },
            select: { id: true },
          }),
        ),
        groupIds: listIds(
          await prisma.group.updateManyAndReturn({
            where: { id: { in: [...groupIds] }, ...ownership },
            data: { ownerUserId: toUserId },
            select: { id: true },
          }),
        ),
        projectIds: listIds(
          await prisma.project.updateManyAndReturn({
            where: { id: { in: [...projectIds] }, orgId, userId },
            data: { userId: toUserId, updatedAt: new Date() },
            select: { id: true },
          }),
        ),
        ...(await transferSchedules(prisma, { orgId, userId }, scheduleIds, toUserId)),
      };
    });
    for (const id of moved.agentIds) this.signals.publish('agent-changed', id);
    for (const id of moved.dataSourceIds) this.signals.publish('data-source-changed', id);
    for (const id of moved.groupIds) this.signals.publish('group-changed', id);
    return moved;
  }
}

async function transferSchedules(
  { schedule, scheduleRun }: Transaction['prisma'],
  { orgId, userId }: Owner,
  scheduleIds: readonly string[],
  toUserId: string,
): Promise<Pick<MovedThings, 'scheduleIds' | 'activeRunIds'>> {
  const pausedReason = 'It was handed over: its new owner switches it on';
  const ids = listIds(
    await schedule.updateManyAndReturn({
      where: { id: { in: [...scheduleIds] }, orgId, userId },
      // Its chat stays with the person before.
      data: { userId: toUserId, chatId: null, failures: 0, isEnabled: false, pausedReason, nextRunAt: null },
      select: { id: true },
    }),
  );
  const ofMoved = { scheduleId: { in: ids } };
  const end = { status: 'FAILED', errorMessage: 'The schedule was handed over', endedAt: new Date() };
  await scheduleRun.updateMany({ where: { ...ofMoved, status: 'PENDING' }, data: end });
  const running = await scheduleRun.findMany({ where: { ...ofMoved, status: 'RUNNING' }, select: { runId: true } });
  return { scheduleIds: ids, activeRunIds: running.flatMap(({ runId }) => runId ?? []) };
}

function listIds(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
