import type { AgentFlow, AgentSkill, AgentTool, AgentUserInput } from '../../../entities/agents/part.ts';
import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import { createFlowTable } from './flows.ts';
import { createPartTable, type PartTable } from './part-table.ts';
import { type AgentSecretStore, createSecretStore } from './secrets.ts';
import { skillShape, toolShape, userInputShape } from './shapes.ts';

/** The parts of agents: tools, user inputs, skills, flows, secrets. Every write announces `agent-changed`. */
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
