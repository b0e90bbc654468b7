import { Store } from '../ground/store.ts';

export interface WantedToolName {
  readonly agentId: string;
  /** Made from the name of the agent. */
  readonly slug: string;
}

export class ToolNameStore extends Store {
  /**
   * The names of agents of one organization for MCP clients. An agent without a name gets its slug, or the slug with a piece of its id when another
   * agent has it. The name stays until the agent is renamed or deleted.
   *
   * @param wanted  the agents, those first that go first when two of them have one slug.
   * @returns by the id of the agent. Cost: one statement, and four when an agent is new or renamed.
   */
  async assign(orgId: string, wanted: readonly WantedToolName[]): Promise<ReadonlyMap<string, string>> {
    const ids = wanted.map(({ agentId }) => agentId);
    let known = await this.#find(ids);
    const renamedAgents = wanted.filter(({ agentId, slug }) => known.has(agentId) && known.get(agentId)?.slug !== slug);
    if (renamedAgents.length > 0) {
      const former = renamedAgents.map(({ agentId, slug }) => ({ agentId, slug: { not: slug } }));
      await this.db.prisma.agentToolName.deleteMany({ where: { OR: former } });
      known = await this.#find(ids);
    }
    const isNew = ({ agentId }: WantedToolName) => !known.has(agentId);
    if (wanted.some(isNew)) {
      // A deleted agent stays as a row, and so would its name.
      const slugs = wanted.filter(isNew).map(({ slug }) => slug);
      await this.db.prisma.agentToolName.deleteMany({ where: { orgId, slug: { in: slugs }, agent: { isDeleted: true } } });
      await this.#add(orgId, wanted.filter(isNew), ({ slug }) => slug);
      known = await this.#find(ids);
      await this.#add(orgId, wanted.filter(isNew), withPiece);
      known = await this.#find(ids);
    }
    return new Map(wanted.map((one) => [one.agentId, known.get(one.agentId)?.name ?? withPiece(one)]));
  }

  async #find(ids: readonly string[]) {
    const rows = await this.db.prisma.agentToolName.findMany({ where: { agentId: { in: [...ids] } } });
    return new Map(rows.map((row) => [row.agentId, row]));
  }

  /** The constraint on names decides between agents of one slug. */
  #add(orgId: string, wanted: readonly WantedToolName[], nameOf: (one: WantedToolName) => string) {
    const data = wanted.map((one) => ({ ...one, orgId, name: nameOf(one) }));
    return this.db.prisma.agentToolName.createMany({ data, skipDuplicates: true });
  }
}

/** The end of an id is random. */
export function withPiece({ agentId, slug }: WantedToolName): string {
  return `${slug}_${agentId.slice(-6)}`;
}
