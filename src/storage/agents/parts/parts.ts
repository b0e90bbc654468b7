import type {
  AgentFlow,
  AgentPartKind,
  AgentParts,
  AgentSkill,
  AgentTool,
  AgentUserInput,
} from '../../../entities/agents/part.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { createFlowTable } from './flows.ts';
import { readPartLists } from './lists.ts';
import { createPartTable, type PartTable } from './part-table.ts';
import { type AgentSecretStore, createSecretStore, type SecretRow, shown } from './secrets.ts';
import { flowShape, type PartShape, secretShape, skillShape, toolShape, userInputShape } from './shapes.ts';

/** The parts of agents: tools, user inputs, skills, flows, secrets. Every write announces `agent-changed`. */
export interface AgentPartStore {
  readonly tools: PartTable<AgentTool>;
  readonly userInputs: PartTable<AgentUserInput>;
  readonly skills: PartTable<AgentSkill>;
  readonly flows: PartTable<AgentFlow>;
  readonly secrets: AgentSecretStore;
  /**
   * The parts of many agents, each agent's parts of a kind in their order.
   *
   * @param wanted  the agents whose parts of a kind are read; no parts of kinds that are absent.
   * @throws DomainError REPLY_TOO_LARGE when all of them are too long together.
   *
   * Cost: one statement.
   */
  ofAgents(wanted: Readonly<Partial<Record<AgentPartKind, readonly string[]>>>): Promise<AgentParts>;
}

const shapes: readonly PartShape[] = [toolShape, userInputShape, skillShape, flowShape, secretShape];

export function createAgentPartStore(db: Database, signals: Signals): AgentPartStore {
  return {
    tools: createPartTable<AgentTool>(db, signals, toolShape),
    userInputs: createPartTable<AgentUserInput>(db, signals, userInputShape),
    skills: createPartTable<AgentSkill>(db, signals, skillShape),
    flows: createFlowTable(db, signals),
    secrets: createSecretStore(db, signals),
    async ofAgents(wanted) {
      const selections = shapes.map((shape) => ({ shape, by: 'agentId' as const, ids: wanted[shape.kind] ?? [] }));
      const lists = await readPartLists(db, selections);
      return {
        tools: (lists.get('tools') ?? []) as readonly AgentTool[],
        userInputs: (lists.get('userInputs') ?? []) as readonly AgentUserInput[],
        skills: (lists.get('skills') ?? []) as readonly AgentSkill[],
        flows: (lists.get('flows') ?? []) as readonly AgentFlow[],
        secrets: ((lists.get('secrets') ?? []) as readonly SecretRow[]).map(shown),
      };
    },
  };
}
