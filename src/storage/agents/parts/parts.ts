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
import { Store } from '../../ground/store.ts';
import { FlowTable } from './flows.ts';
import { readPartLists } from './lists.ts';
import { PartTable } from './part-table.ts';
import { AgentSecretStore, type SecretRow, shown } from './secrets.ts';
import { flowShape, type PartShape, secretShape, skillShape, toolShape, userInputShape } from './shapes.ts';

const shapes: readonly PartShape[] = [toolShape, userInputShape, skillShape, flowShape, secretShape];

/** The parts of agents: tools, user inputs, skills, flows, secrets. Every write announces `agent-changed`. */
export class AgentPartStore extends Store {
  readonly tools: PartTable<AgentTool>;
  readonly userInputs: PartTable<AgentUserInput>;
  readonly skills: PartTable<AgentSkill>;
  readonly flows: FlowTable;
  readonly secrets: AgentSecretStore;

  constructor(db: Database, signals: Signals) {
    super(db);
    this.tools = new PartTable<AgentTool>(db, signals, toolShape);
    this.userInputs = new PartTable<AgentUserInput>(db, signals, userInputShape);
    this.skills = new PartTable<AgentSkill>(db, signals, skillShape);
    this.flows = new FlowTable(db, signals);
    this.secrets = new AgentSecretStore(db, signals);
  }

  /**
   * The parts of many agents, each agent's parts of a kind in their order.
   *
   * @param wanted  the agents whose parts of a kind are read; no parts of kinds that are absent.
   * @throws DomainError REPLY_TOO_LARGE when all of them are too long together.
   *
   * Cost: one statement.
   */
  async ofAgents(wanted: Readonly<Partial<Record<AgentPartKind, readonly string[]>>>): Promise<AgentParts> {
    const selections = shapes.map((shape) => ({ shape, by: 'agentId' as const, ids: wanted[shape.kind] ?? [] }));
    const lists = await readPartLists(this.db, selections);
    return {
      tools: (lists.get('tools') ?? []) as readonly AgentTool[],
      userInputs: (lists.get('userInputs') ?? []) as readonly AgentUserInput[],
      skills: (lists.get('skills') ?? []) as readonly AgentSkill[],
      flows: (lists.get('flows') ?? []) as readonly AgentFlow[],
      secrets: ((lists.get('secrets') ?? []) as readonly SecretRow[]).map(shown),
    };
  }
}
