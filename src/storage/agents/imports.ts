import type { PoolClient } from 'pg';
import type { AgentFlow, AgentSkill, AgentTool, AgentUserInput } from '../../entities/agents/part.ts';
import type { DataSourceType, RefreshPeriod } from '../../entities/knowledge/data-source.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import type { NewAgent } from './agents.ts';
import { insertFlow } from './parts/flows.ts';
import { insertPart, type NewPart } from './parts/part-table.ts';
import type { NewSecret } from './parts/secrets.ts';
import { secretShape, skillShape, toolShape, userInputShape } from './parts/shapes.ts';

/** An agent that comes in whole, with everything that belongs to it. */
export interface ImportedAgent {
  readonly agent: NewAgent;
  readonly tools: readonly NewPart<AgentTool>[];
  readonly userInputs: readonly NewPart<AgentUserInput>[];
  readonly skills: readonly NewPart<AgentSkill>[];
  readonly flows: readonly NewPart<AgentFlow>[];
  readonly secrets: readonly NewSecret[];
  readonly dataSources: readonly ImportedDataSource[];
}
export interface ImportedDataSource {
  readonly id: string;
  readonly name: string;
  readonly type: DataSourceType;
  readonly refreshPeriod: RefreshPeriod;
  readonly data: Readonly<Record<string, unknown>>;
  readonly items: readonly ImportedItem[];
}
export interface ImportedItem {
  readonly id: string;
  readonly name: string;
  readonly uniqueId: string;
  readonly filename: string | null;
  readonly mimeType: string | null;
  /** Null: the bundle did not carry the content, and the item says so. */
  readonly contentBlobKey: string | null;
  readonly sizeBytes: number | null;
}

export interface AgentImportStore {
  /** Writes all of it or nothing, together with whatever `also` does in the same transaction. */
  create(imported: ImportedAgent, also: (client: PoolClient) => Promise<void>): Promise<void>;
}

const missingContent = {
  code: 'CONTENT_MISSING',
  message: 'The bundle that this was imported from did not carry the content; add the document again',
};

export function createAgentImportStore(db: Database, signals: Signals): AgentImportStore {
  return {
    async create(imported, also) {
      const { agent, tools, userInputs, skills, flows, secrets, dataSources } = imported;
      await db.transaction(async (client) => {
        await insertAgent(client, agent);
        for (const tool of tools) await insertPart<AgentTool>(client, toolShape, tool);
        for (const input of userInputs) await insertPart<AgentUserInput>(client, userInputShape, input);
        for (const skill of skills) await insertPart<AgentSkill>(client, skillShape, skill);
        for (const flow of flows) await insertFlow(client, flow);
        for (const secret of secrets) await insertPart<NewSecret & { readonly updatedAt: Date }>(client, secretShape, secret);
        for (const source of dataSources) await insertDataSource(client, agent, source);
        await also(client);
      });
      signals.publish('agent-changed', agent.id);
    },
  };
}

async function insertAgent(client: PoolClient, agent: NewAgent): Promise<void> {
  const { options = {}, profile = null, editorIds: _editors, groupIds: _groups, ...plain } = agent;
  const columns = {
    ...plain,
    updatedAt: agent.createdAt,
    options: JSON.stringify(options),
    profile: profile === null ? null : JSON.stringify(profile),
  };
  const entries = Object.entries({ publicCategories: [], orgCategoryIds: [], ...columns });
  const names = entries.map(([name]) => {
    if (!/^[A-Za-z]+$/.test(name)) throw new Error(`agents have no column ${name}`);
    return `"${name}"`;
  });
  await client.query(
    `insert into agents (${names.join(', ')}) values (${entries.map((_entry, index) => `$${index + 1}`).join(', ')})`,
    entries.map(([, value]) => value),
  );
}

async function insertDataSource(client: PoolClient, agent: NewAgent, source: ImportedDataSource): Promise<void> {
  const { id, name, type, refreshPeriod, data, items } = source;
  const { orgId, createdAt, userId } = agent;
  await client.query(
    `insert into data_sources (id, "createdAt", "updatedAt", "orgId", "ownerUserId", name, type, "refreshPeriod", data)
     values ($1, $2, $2, $3, $4, $5, $6, $7, $8)`,
    [id, createdAt, orgId, userId, name, type, refreshPeriod, JSON.stringify(data)],
  );
  await client.query('insert into agent_data_sources ("agentId", "dataSourceId", "createdAt") values ($1, $2, $3)', [
    agent.id,
    id,
    createdAt,
  ]);
  await client.query(
    `insert into knowledge_items (id, "createdAt", "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, "indexStatus",
       "contentBlobKey", filename, "mimeType", "sizeBytes", "errorCode", "errorMessage")
     select i.id, $1, $1, $2, $3, i.name, i."uniqueId", $4, case when i."contentBlobKey" is null then 'FAILED' else 'QUEUED' end,
       i."contentBlobKey", i.filename, i."mimeType", i."sizeBytes",
       case when i."contentBlobKey" is null then $6 end, case when i."contentBlobKey" is null then $7 end
     from jsonb_to_recordset($5::jsonb) as i(id text, name text, "uniqueId" text, filename text, "mimeType" text,
       "contentBlobKey" text, "sizeBytes" bigint)`,
    [createdAt, orgId, id, type, JSON.stringify(items), missingContent.code, missingContent.message],
  );
}
