import type { AgentGrants, GrantedThing, MemoryGrant } from '../../entities/agents/grant.ts';
import { Store } from '../ground/store.ts';

/** The person who grants, in one organization. Every statement has both. */
export interface Granter {
  readonly orgId: string;
  readonly userId: string;
}

/** What replaces the grants of a person to an agent. */
export type NewGrants = Omit<AgentGrants, 'things'>;

interface GrantRow {
  readonly createdAt: Date;
  readonly agentId: string;
  readonly connectionId: string | null;
  readonly askedAgentId: string | null;
  readonly memories: string | null;
}

const select = { createdAt: true, agentId: true, connectionId: true, askedAgentId: true, memories: true } as const;

export class GrantStore extends Store {
  readonly #orderBy = [{ agentId: 'asc' }, { createdAt: 'asc' }, { id: 'asc' }] as const;

  /** The grants of one person to some agents. An agent without any is missing. */
  async find({ orgId, userId }: Granter, agentIds: readonly string[]): Promise<readonly AgentGrants[]> {
    const where = { orgId, userId, agentId: { in: [...agentIds] } };
    return listGrants(await this.db.prisma.agentGrant.findMany({ where, select, orderBy: [...this.#orderBy] }));
  }

  /** All grants of one person, one entry an agent, by the id of the agent. Deleted agents are left out. */
  async list({ orgId, userId }: Granter): Promise<readonly AgentGrants[]> {
    const where = { orgId, userId, agent: { isDeleted: false } };
    return listGrants(await this.db.prisma.agentGrant.findMany({ where, select, orderBy: [...this.#orderBy] }));
  }

  /** Replaces what a person grants to an agent. What was granted before and stays keeps its time. */
  put({ orgId, userId }: Granter, { agentId, connectionIds, memories, agentIds }: NewGrants): Promise<void> {
    return this.db.transaction(async (tx) => {
      const granter = { orgId, userId, agentId };
      const nothing = { connectionId: null, memories: null, askedAgentId: null };
      const wanted = new Map(
        [
          ...connectionIds.map((connectionId) => ({ ...nothing, connectionId })),
          ...(memories === 'none' ? [] : [{ ...nothing, memories }]),
          ...agentIds.map((askedAgentId) => ({ ...nothing, askedAgentId })),
        ].map((thing) => [keyOf(thing), thing]),
      );
      const ended: string[] = [];
      for (const { id, ...row } of await tx.prisma.agentGrant.findMany({ where: granter, select: { ...select, id: true } }))
        if (!wanted.delete(keyOf(row))) ended.push(id);
      if (ended.length > 0) await tx.prisma.agentGrant.deleteMany({ where: { ...granter, id: { in: ended } } });
      const data = [...wanted.values()].map((thing) => ({ ...granter, ...thing }));
      if (data.length > 0) await tx.prisma.agentGrant.createMany({ data });
    });
  }

  /** Ends what a person grants to an agent. @returns false when there was nothing. */
  async delete({ orgId, userId }: Granter, agentId: string): Promise<boolean> {
    return (await this.db.prisma.agentGrant.deleteMany({ where: { orgId, userId, agentId } })).count > 0;
  }
}

/** The same for rows that grant the same. */
function keyOf({ connectionId, memories, askedAgentId }: Omit<GrantRow, 'createdAt' | 'agentId'>): string {
  return [connectionId, memories, askedAgentId].join();
}

function listGrants(rows: readonly GrantRow[]): readonly AgentGrants[] {
  return [...Map.groupBy(rows, ({ agentId }) => agentId)].map(([agentId, own]) => ({
    agentId,
    connectionIds: own.flatMap(({ connectionId }) => connectionId ?? []),
    memories: (own.find(({ memories }) => memories !== null)?.memories ?? 'none') as MemoryGrant,
    agentIds: own.flatMap(({ askedAgentId }) => askedAgentId ?? []),
    things: own.map(toThing),
  }));
}

function toThing({ createdAt, connectionId, memories, askedAgentId }: GrantRow): GrantedThing {
  return { grantedAt: createdAt, connectionId, memories: memories as MemoryGrant | null, agentId: askedAgentId };
}
