import type { PoolClient } from 'pg';
import type { AgentFlow, AgentPart, FlowVersion } from '../../../entities/agents/part.ts';
import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import { readWhole } from '../../database/sql/bounded-rows.ts';
import { createPartTable, insertPart, type PartTable } from './part-table.ts';
import { flowShape } from './shapes.ts';

interface FlowRow extends AgentPart {
  readonly name: string;
  readonly enabled: boolean;
}

/** Flows with their versions. Versions are replaced whole. */
export function createFlowTable(db: Database, signals: Signals): PartTable<AgentFlow> {
  const rows = createPartTable<FlowRow>(db, signals, flowShape);

  async function whole(flows: readonly FlowRow[]): Promise<readonly AgentFlow[]> {
    const text = `select "flowId", version, active, description, data from agent_flow_versions
      where "flowId" = any($1::text[]) order by "flowId", version`;
    const values = [flows.map(({ id }) => id)];
    const versions = await readWhole<FlowVersion & { flowId: string }>(db, { text, values }, ['description', 'data']);
    const byFlow = Map.groupBy(versions, ({ flowId }) => flowId);
    return flows.map((flow) => ({
      ...flow,
      versions: (byFlow.get(flow.id) ?? []).map(({ version, active, description, data }) => ({
        version,
        active,
        description,
        data,
      })),
    }));
  }
  async function one(flow: FlowRow): Promise<AgentFlow> {
    const [found] = await whole([flow]);
    if (found === undefined) throw new Error('a flow is gone from its own list');
    return found;
  }

  return {
    ofAgents: async (agentIds) => whole(await rows.ofAgents(agentIds)),
    async find(agentId, id) {
      const flow = await rows.find(agentId, id);
      return flow === undefined ? undefined : one(flow);
    },
    create: async ({ versions, ...flow }) => one(await rows.create(flow, (client) => insertVersions(client, flow.id, versions))),
    async update(agentId, id, { versions, ...changes }) {
      const replace = async (client: PoolClient) => {
        if (versions === undefined) return;
        await client.query('delete from agent_flow_versions where "flowId" = $1', [id]);
        await insertVersions(client, id, versions);
      };
      return one(await rows.update(agentId, id, changes, replace));
    },
    delete: rows.delete,
  };
}

/** Also for flows that come in with a whole agent. */
export async function insertFlow(client: PoolClient, { versions, ...flow }: Omit<AgentFlow, 'updatedAt'>): Promise<void> {
  await insertPart<FlowRow>(client, flowShape, flow);
  await insertVersions(client, flow.id, versions);
}

async function insertVersions(client: PoolClient, flowId: string, versions: readonly FlowVersion[]): Promise<void> {
  await client.query(
    `insert into agent_flow_versions ("flowId", version, active, description, data)
     select $1, v.version, v.active, v.description, v.data
     from json_to_recordset($2::json) as v(version int, active boolean, description text, data json)`,
    [flowId, JSON.stringify(versions)],
  );
}
