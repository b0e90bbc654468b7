import type { AgentFlow, AgentSkill, AgentTool, AgentUserInput } from '../entities/agent-part.ts';
import { createFlowTable } from './agent-parts/flows.ts';
import { createPartTable, type PartTable } from './agent-parts/part-table.ts';
import { type AgentSecretStore, createSecretStore } from './agent-parts/secrets.ts';
import { skillShape, toolShape, userInputShape } from './agent-parts/shapes.ts';
import type { Database } from './database.ts';
import type { Signals } from './signals.ts';

/** What agents are made of besides their own members. Every write is told as `agent-changed`. */
export interface AgentPartStore {
  readonly tools: PartTable<AgentTool>;
  readonly userInputs: PartTable<AgentUserInput>;
  readonly skills: PartTable<AgentSkill>;
  readonly flows: PartTable<AgentFlow>;
  readonly secrets: AgentSecretStore;
}

export function createAgentPartStore(db: Database, signals: Signals): AgentPartStore {
  return {
    tools: createPartTable<AgentTool>(db, signals, toolShape),
    userInputs: createPartTable<AgentUserInput>(db, signals, userInputShape),
    skills: createPartTable<AgentSkill>(db, signals, skillShape),
    flows: createFlowTable(db, signals),
    secrets: createSecretStore(db, signals),
  };
}
