import type { ModelTool } from '../../engine/models/port.ts';
import { areOnDemand } from '../../engine/tools/skills/skills.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import { type AgentTool, type AgentToolType, readDescription, readParameters } from '../../entities/agents/part.ts';
import { skillFunction } from '../../entities/agents/skill-offer.ts';
import { bindSecrets, putDerivedSecrets } from '../../storage/agents/parts/derived-secrets.ts';
import type { Transaction } from '../../storage/ground/database.ts';
import type { Faults } from '../ground/faults.ts';
import { derivedSecrets, type ToolDeclaration } from './parts/derived-secrets.ts';
import { createPartOperations, type PartWrite, refuseNull } from './parts/operations.ts';
import { noteServerOfTool } from './parts/standing-servers.ts';
import { toolNamePattern } from './parts/tool-data.ts';

type Optional<T> = T | null | undefined;

export interface CreateAgentToolInput {
  readonly name: string;
  readonly type: AgentToolType;
  readonly data?: unknown;
}
/** Absent members are kept; `data` is replaced as a whole. */
export interface UpdateAgentToolInput {
  readonly name?: Optional<string>;
  /** The type that `data` is for: another one than that of the tool is refused. */
  readonly type?: AgentToolType;
  readonly data?: unknown;
}

/**
 * The tools of an agent by name; without their inner data for callers who may not edit it. Secrets anywhere in the data are moved into the vault,
 * bound to the tool's origin, and replaced by references. A reference to a stored secret of another origin is a fault. Secrets that were found in a
 * tool are deleted with it.
 */
export const toolOperations = createPartOperations(
  {
    kind: 'tools',
    hide: (tool) => ({ ...tool, data: { description: readDescription(tool.data) } }),
    async readNew({ name, type, data: dataInput }: CreateAgentToolInput, write) {
      const { deps, caller, agent, faults } = write;
      const tools = await deps.storage.agents.parts.tools.ofAgents([agent.id]);
      readToolName('name', name, faults);
      noteServerOfTool(deps, caller, agent, { given: dataInput, before: undefined }, faults);
      const { data, also } = await readData(write, tools, { name, type, data: dataInput, before: undefined });
      return { values: { name, type, data }, also };
    },
    async readChanges(input: UpdateAgentToolInput, before, write) {
      const { deps, caller, agent, faults } = write;
      if (input.type !== undefined && input.type !== before.type) {
        faults.add('type', `type does not fit: the tool is of the type ${before.type}`);
        faults.throwIfAny();
      }
      const tools = await deps.storage.agents.parts.tools.ofAgents([agent.id]);
      const name = input.name ?? before.name;
      readToolName('name', name, faults);
      refuseNull(input, ['name', 'data'], faults);
      noteServerOfTool(deps, caller, agent, { given: input.data, before: before.data }, faults);
      const others = tools.filter(({ id }) => id !== before.id);
      const { data, also } = await readData(write, others, { name, type: before.type, data: input.data ?? before.data, before });
      return { values: { name, data }, also };
    },
    alsoDelete: (tx, agentId) => putDerivedSecrets(tx, agentId, []),
  },
  ({ tools }) => tools,
);

async function readData(
  { deps, caller, agent, faults }: PartWrite,
  others: readonly AgentTool[],
  tool: Omit<ToolDeclaration, 'userId'>,
): Promise<{ readonly data: AgentTool['data']; readonly also: (tx: Transaction) => Promise<void> }> {
  const declaration = { ...tool, userId: caller.userId };
  const { data, secrets, firstUse } = await derivedSecrets(deps, agent, others, declaration, faults);
  const also = async (tx: Transaction) => {
    await putDerivedSecrets(tx, agent.id, secrets);
    await bindSecrets(tx, agent.id, firstUse);
  };
  return { data, also };
}

export function readToolName(param: string, name: string, faults: Faults): void {
  if (!toolNamePattern.test(name)) {
    faults.add(param, `${param} must be a function name: a letter or _, then at most 63 letters, digits, _ or -`);
  } else if (name === skillFunction) {
    faults.add(param, `${param} must not be ${skillFunction}: that function reads the skills of an AI`, 'TOOL_NAME_CONFLICT');
  }
}

type AgentOfTools = Pick<RunnableAgent, 'tools' | 'skills'>;

/** What of an agent the model may call in the service. */
export interface OfferedParts {
  readonly offersAgentTools?: true;
  readonly offersSkills?: true;
}

/** Skills only read: they stay where nothing may be carried out. */
export function offeredSkills(agent: AgentOfTools | undefined): Pick<OfferedParts, 'offersSkills'> {
  return agent !== undefined && areOnDemand(agent) ? { offersSkills: true } : {};
}

/** What an agent's tools and skills add to its runs: functions for the caller, and the permission to call those that run in the service. */
export function withAgentTools(
  own: readonly ModelTool[],
  agent: AgentOfTools | undefined,
): { readonly tools: readonly ModelTool[] } & OfferedParts {
  if (agent === undefined) return { tools: own };
  const client = agent.tools.flatMap(({ type, name, data }) =>
    type === 'CLIENT_FUNCTION' ? [{ name, description: readDescription(data), parameters: readParameters(data) }] : [],
  );
  const runsHere = agent.tools.some(({ type }) => type !== 'CLIENT_FUNCTION');
  return { tools: [...own, ...client], ...(runsHere ? { offersAgentTools: true } : {}), ...offeredSkills(agent) };
}
