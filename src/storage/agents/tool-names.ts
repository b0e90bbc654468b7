// Raw SQL: one statement gives names to all agents that have none; the constraint on names decides between them.
import type { Database } from '../database/database.ts';

export interface WantedToolName {
  readonly agentId: string;
  /** Made from the name of the agent. */
  readonly slug: string;
}

export interface ToolNameStore {
  /**
   * The names of agents of one organization for MCP clients. An agent without a name gets its slug, or the slug with a piece of its id when another
   * agent has it. The name stays until the agent is renamed.
   *
   * @param wanted  the agents, those first that go first when two of them have one slug.
   * @returns by the id of the agent. Cost: one statement, and three when an agent is new or renamed.
   */
  assign(orgId: string, wanted: readonly WantedToolName[]): Promise<ReadonlyMap<string, string>>;
}

interface Row {
  readonly agentId: string;
  readonly slug: string;
  readonly name: string;
}

export function createToolNameStore(db: Database): ToolNameStore {
  const find = async (ids: readonly string[]) => {
    const text = 'select "agentId", slug, name from agent_tool_names where "agentId" = any($1)';
    return new Map((await db.query<Row>(text, [ids])).map((row) => [row.agentId, row]));
  };
  const add = async (orgId: string, wanted: readonly WantedToolName[], nameOf: (one: WantedToolName) => string) => {
    if (wanted.length === 0) return;
    await db.execute(
      `insert into agent_tool_names ("agentId", "orgId", slug, name)
       select given.id, $1, given.slug, given.name
       from unnest($2::text[], $3::text[], $4::text[]) with ordinality as given(id, slug, name, place)
       join agents a on a.id = given.id order by given.place
       on conflict do nothing`,
      [orgId, wanted.map(({ agentId }) => agentId), wanted.map(({ slug }) => slug), wanted.map(nameOf)],
    );
  };
  return {
    async assign(orgId, wanted) {
      const ids = wanted.map(({ agentId }) => agentId);
      let known = await find(ids);
      const renamed = wanted.filter(({ agentId, slug }) => known.has(agentId) && known.get(agentId)?.slug !== slug);
      if (renamed.length > 0) {
        await db.execute(
          `delete from agent_tool_names n using unnest($1::text[], $2::text[]) as given(id, slug)
           where n."agentId" = given.id and n.slug <> given.slug`,
          [renamed.map(({ agentId }) => agentId), renamed.map(({ slug }) => slug)],
        );
        known = await find(ids);
      }
      const isNew = ({ agentId }: WantedToolName) => !known.has(agentId);
      if (wanted.some(isNew)) {
        await add(orgId, wanted.filter(isNew), ({ slug }) => slug);
        known = await find(ids);
        await add(orgId, wanted.filter(isNew), withPiece);
        known = await find(ids);
      }
      return new Map(wanted.map((one) => [one.agentId, known.get(one.agentId)?.name ?? withPiece(one)]));
    },
  };
}

/** The end of an id is random. */
export function withPiece({ agentId, slug }: WantedToolName): string {
  return `${slug}_${agentId.slice(-6)}`;
}
