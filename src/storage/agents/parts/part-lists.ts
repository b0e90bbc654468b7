// Raw SQL: lists are bounded in bytes, and ordered by code point whatever the collation of the database.
import type { AgentPart, FlowVersion } from '../../../entities/agents/part.ts';
import type { Database } from '../../database/database.ts';
import { readWhole } from '../../database/sql/bounded-rows.ts';
import type { PartShape } from './shapes.ts';

/** The parts of one kind of many agents, in one statement, each agent's parts in their order. */
export function listParts<Part extends AgentPart>(
  db: Database,
  { table, orderBy, longColumns }: PartShape,
  agentIds: readonly string[],
): Promise<readonly Part[]> {
  const text = `select * from ${table} where "agentId" = any($1::text[]) order by ${orderBy}`;
  return readWhole(db, { text, values: [agentIds] }, longColumns);
}

/** By version, the lowest first. */
export function listVersions(
  db: Database,
  flowIds: readonly string[],
): Promise<readonly (FlowVersion & { readonly flowId: string })[]> {
  const text = 'select * from agent_flow_versions where "flowId" = any($1::text[]) order by "flowId", version';
  return readWhole(db, { text, values: [flowIds] }, ['description', 'data']);
}
