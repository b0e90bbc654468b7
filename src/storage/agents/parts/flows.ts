import type { AgentFlow, AgentPart, FlowVersion } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { addParts, type NewPart, PartTable, type PartValues } from './part-table.ts';
import { flowShape } from './shapes.ts';

interface FlowRow extends AgentPart {
  readonly name: string;
  readonly enabled: boolean;
}

/** Flows with their versions. Versions are replaced whole. */
export class FlowTable {
  readonly #rows: PartTable<FlowRow>;

  constructor(db: Database, signals: Signals) {
    this.#rows = new PartTable<FlowRow>(db, signals, flowShape);
  }

  async ofAgents(agentIds: readonly string[]): Promise<readonly AgentFlow[]> {
    return (await this.#rows.ofAgents(agentIds)) as readonly AgentFlow[];
  }

  /** The rows of lists have their versions (lists.ts). */
  async findMany(ids: readonly string[]): Promise<readonly AgentFlow[]> {
    return (await this.#rows.findMany(ids)) as readonly AgentFlow[];
  }

  async find(agentId: string | undefined, id: string): Promise<AgentFlow | undefined> {
    const [flow] = await this.findMany([id]);
    return agentId === undefined || flow?.agentId === agentId ? flow : undefined;
  }

  async create({ versions, ...flow }: NewPart<AgentFlow>): Promise<AgentFlow> {
    const add = async (tx: Transaction) => {
      if (flow.enabled) await requireOnlyEnabled(tx, flow);
      await addVersions(tx, flow.id, versions);
    };
    return this.#whole(await this.#rows.create(flow, add));
  }

  async update(agentId: string, id: string, { versions, ...changes }: Partial<PartValues<AgentFlow>>): Promise<AgentFlow> {
    const replace = async (tx: Transaction) => {
      if (changes.enabled === true) await requireOnlyEnabled(tx, { agentId, id });
      if (versions === undefined) return;
      await tx.prisma.agentFlowVersion.deleteMany({ where: { flowId: id } });
      await addVersions(tx, id, versions);
    };
    return this.#whole(await this.#rows.update(agentId, id, changes, replace));
  }

  delete(agentId: string, id: string, also?: (tx: Transaction) => Promise<void>): Promise<boolean> {
    return this.#rows.delete(agentId, id, also);
  }

  async #whole({ id }: FlowRow): Promise<AgentFlow> {
    const [flow] = await this.findMany([id]);
    if (flow === undefined) throw new DomainError('NOT_FOUND', 'The flow was deleted at the same time');
    return flow;
  }
}

/** Runs while the agent is locked, so that two flows cannot be enabled at once. @throws DomainError CONFLICT. */
async function requireOnlyEnabled({ prisma }: Transaction, { agentId, id }: Pick<AgentPart, 'agentId' | 'id'>): Promise<void> {
  const other = await prisma.agentFlow.findFirst({ where: { agentId, enabled: true, id: { not: id } }, select: { name: true } });
  if (other === null) return;
  const message = `One flow of an agent is enabled at a time, and ${JSON.stringify(other.name)} is: disable it first`;
  throw new DomainError('CONFLICT', message, { param: 'enabled' });
}

/** Adds the flows of an imported agent. */
export async function addFlows(tx: Transaction, flows: readonly Omit<AgentFlow, 'updatedAt'>[]): Promise<void> {
  await addParts<FlowRow>(
    tx,
    flowShape,
    flows.map(({ versions: _versions, ...flow }) => flow),
  );
  for (const { id, versions } of flows) await addVersions(tx, id, versions);
}

async function addVersions(tx: Transaction, flowId: string, versions: readonly FlowVersion[]): Promise<void> {
  const data = versions.map((version) => ({ ...version, flowId, data: version.data as Prisma.InputJsonObject }));
  await tx.prisma.agentFlowVersion.createMany({ data });
}
