import type { ModelTool } from '../../engine/models/port.ts';
import { areOnDemand } from '../../engine/tools/skills/skills.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import {
  type AgentTool,
  type AgentToolType,
  type PartView,
  readDescription,
  readParameters,
} from '../../entities/agents/part.ts';
import { skillFunction } from '../../entities/agents/skill-offer.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { bindSecrets, putDerivedSecrets } from '../../storage/agents/parts/derived-secrets.ts';
import type { Transaction } from '../../storage/ground/database.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../ground/faults.ts';
import {
  changedPart,
  editableAgent,
  editablePart,
  endedApproval,
  getPart,
  getParts,
  listParts,
  missingPart,
  type PartPlace,
  toView,
} from './parts/access.ts';
import { derivedSecrets } from './parts/derived-secrets.ts';
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

/** The tools of an agent by name; without their inner data for callers who may not edit it. @throws DomainError NOT_FOUND. */
export function listAgentTools(deps: Deps, caller: Caller, agentId: string): Promise<readonly PartView<AgentTool>[]> {
  return listParts(deps, caller, agentId, deps.storage.agents.parts.tools, hiddenTool);
}

/** @throws DomainError NOT_FOUND. */
export async function getAgentTool(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<AgentTool>> {
  const { agent, part } = await getPart(deps, caller, 'tools', place);
  return toView(caller, agent, part, hiddenTool);
}

/** The tools with these ids, as far as the caller may see their agents. */
export function getAgentTools(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly PartView<AgentTool>[]> {
  return getParts(deps, caller, ids, deps.storage.agents.parts.tools, hiddenTool);
}

/**
 * Adds a tool to an agent. Secrets anywhere in its data are moved into the vault, bound to the tool's origin, and replaced by references.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT for a taken name, or with every fault of the input, such as a reference to a stored secret of
 * another origin.
 */
export async function createAgentTool(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: CreateAgentToolInput,
): Promise<PartView<AgentTool>> {
  const agent = await editableAgent(deps, caller, agentId);
  const tools = await deps.storage.agents.parts.tools.ofAgents([agent.id]);
  const faults = new Faults();
  readToolName('name', input.name, faults);
  noteServerOfTool(deps, caller, agent, { given: input.data, before: undefined }, faults);
  const { name, type } = input;
  const declaration = { name, type, data: input.data, before: undefined, userId: caller.userId };
  const { data, ...derivation } = await derivedSecrets(deps, agent, tools, declaration, faults);
  faults.throwIfAny();
  const tool = { id: deps.newId('agentTool'), createdAt: deps.now(), agentId: agent.id, name, type, data };
  const storedTool = await deps.audit.change(caller, () =>
    deps.storage.agents.parts.tools.create(tool, (tx) => putSecrets(tx, agent.id, derivation)),
  );
  return changedPart(deps, agent, storedTool);
}

type Derived = Pick<Awaited<ReturnType<typeof derivedSecrets>>, 'secrets' | 'firstUse'>;

async function putSecrets(tx: Transaction, agentId: string, { secrets, firstUse }: Derived): Promise<void> {
  await putDerivedSecrets(tx, agentId, secrets);
  await bindSecrets(tx, agentId, firstUse);
}

/** @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT, or with every fault of the input, like `createAgentTool`. */
export async function updateAgentTool(
  deps: Deps,
  caller: Caller,
  place: PartPlace,
  input: UpdateAgentToolInput,
): Promise<PartView<AgentTool>> {
  const { agent, part: before } = await editablePart(deps, caller, 'tools', place);
  const faults = new Faults();
  if (input.type !== undefined && input.type !== before.type) {
    faults.add('type', `type does not fit: the tool is of the type ${before.type}`);
    faults.throwIfAny();
  }
  const tools = await deps.storage.agents.parts.tools.ofAgents([agent.id]);
  const name = input.name ?? before.name;
  readToolName('name', name, faults);
  if (input.name === null) faults.add('name', 'name cannot be null');
  if (input.data === null) faults.add('data', 'data cannot be null');
  noteServerOfTool(deps, caller, agent, { given: input.data, before: before.data }, faults);
  const others = tools.filter(({ id }) => id !== before.id);
  const declaration = { name, type: before.type, data: input.data ?? before.data, before, userId: caller.userId };
  const { data, ...derivation } = await derivedSecrets(deps, agent, others, declaration, faults);
  faults.throwIfAny();
  const storedTool = await deps.audit.change(caller, () =>
    deps.storage.agents.parts.tools.update(agent.id, before.id, { name, data }, (tx) => putSecrets(tx, agent.id, derivation)),
  );
  return changedPart(deps, agent, storedTool);
}

/** Deletes a tool, with the secrets that were found in its data. @returns the former tool. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function deleteAgentTool(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<AgentTool>> {
  const { agent, part } = await editablePart(deps, caller, 'tools', place);
  await deps.audit.change(caller, async () => {
    const wasThere = await deps.storage.agents.parts.tools.delete(agent.id, part.id, (tx) => putDerivedSecrets(tx, agent.id, []));
    if (!wasThere) throw missingPart('toolId');
  });
  return { ...part, isWhole: true, ...(await endedApproval(deps, agent)) };
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

/** What callers see who may not edit the agent. */
export function hiddenTool(tool: AgentTool): AgentTool {
  return { ...tool, data: { description: readDescription(tool.data) } };
}
