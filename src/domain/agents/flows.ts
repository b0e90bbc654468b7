import type { AgentView } from '../../entities/agents/agent.ts';
import type { AgentFlow, PartView } from '../../entities/agents/part.ts';
import type { Caller } from '../../entities/people/caller.ts';
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
import { noteApprovals } from './parts/flow-approvals.ts';
import { type FlowVersionInput, readFlowVersions } from './parts/flow-data.ts';

type Optional<T> = T | null | undefined;

export interface CreateFlowInput {
  readonly name: string;
  readonly enabled?: Optional<boolean>;
  readonly versions?: Optional<readonly FlowVersionInput[]>;
}
/** Absent members are kept; `versions` are replaced as a whole. */
export type UpdateFlowInput = { readonly [Name in keyof CreateFlowInput]?: CreateFlowInput[Name] | null | undefined };

const nameLengthMax = 200;

/** The flows of an agent by name; without their versions for callers who may not edit it. @throws DomainError NOT_FOUND. */
export function listFlows(deps: Deps, caller: Caller, agentId: string): Promise<readonly PartView<AgentFlow>[]> {
  return listParts(deps, caller, agentId, deps.storage.agents.parts.flows, hiddenFlow);
}

/** @throws DomainError NOT_FOUND. */
export async function getFlow(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<AgentFlow>> {
  const { agent, part } = await getPart(deps, caller, 'flows', place);
  return toView(caller, agent, part, hiddenFlow);
}

/** The flows with these ids, as far as the caller may see their agents. */
export function getFlows(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly PartView<AgentFlow>[]> {
  return getParts(deps, caller, ids, deps.storage.agents.parts.flows, hiddenFlow);
}

/**
 * @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT for a taken name or when another flow of the agent is enabled, or with every fault of the input.
 */
export async function createFlow(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: CreateFlowInput,
): Promise<PartView<AgentFlow>> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const values = readFlow('', input, faults, await userInputNames(deps, agent.id));
  await refuseApprovals(deps, agent, values.versions, faults);
  faults.throwIfAny();
  const part = { ...values, id: deps.newId('agentFlow'), createdAt: deps.now(), agentId: agent.id };
  const storedFlow = await deps.audit.change(caller, () => deps.storage.agents.parts.flows.create(part));
  return changedPart(deps, agent, storedFlow);
}

/** @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT, or with every fault of the input. */
export async function updateFlow(
  deps: Deps,
  caller: Caller,
  place: PartPlace,
  input: UpdateFlowInput,
): Promise<PartView<AgentFlow>> {
  const { agent, part: before } = await editablePart(deps, caller, 'flows', place);
  const faults = new Faults();
  for (const name of ['name', 'enabled'] as const) if (input[name] === null) faults.add(name, `${name} cannot be null`);
  const flowInput = {
    name: input.name ?? before.name,
    enabled: input.enabled ?? before.enabled,
    versions: input.versions === undefined ? before.versions : input.versions,
  };
  const names = input.versions === undefined ? undefined : await userInputNames(deps, agent.id);
  const { enabled, ...values } = readFlow('', flowInput, faults, names);
  if (input.versions !== undefined) await refuseApprovals(deps, agent, values.versions, faults);
  faults.throwIfAny();
  const changes = { ...values, ...(enabled === before.enabled ? {} : { enabled }) };
  const storedFlow = await deps.audit.change(caller, () => deps.storage.agents.parts.flows.update(agent.id, before.id, changes));
  return changedPart(deps, agent, storedFlow);
}

/** @returns the former flow. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function deleteFlow(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<AgentFlow>> {
  const { agent, part } = await editablePart(deps, caller, 'flows', place);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.agents.parts.flows.delete(agent.id, part.id))) throw missingPart('flowId');
  });
  return { ...part, isWhole: true, ...(await endedApproval(deps, agent)) };
}

/**
 * @param prefix  prefix of member names in faults.
 * @param userInputs  names of the agent's user inputs; undefined: the texts of the versions are not checked.
 */
export function readFlow(
  prefix: string,
  { name, enabled, versions }: CreateFlowInput,
  faults: Faults,
  userInputs: ReadonlySet<string> | undefined,
): Pick<AgentFlow, 'name' | 'enabled' | 'versions'> {
  faults.requireName(`${prefix}name`, name, nameLengthMax);
  const read = readFlowVersions(`${prefix}versions`, versions ?? [], faults, userInputs);
  return { name: name.trim().toWellFormed(), enabled: enabled ?? true, versions: read };
}

async function refuseApprovals(
  { storage, tools: registry }: Deps,
  { id, enabledTools }: Pick<AgentView, 'id' | 'enabledTools'>,
  versions: AgentFlow['versions'],
  faults: Faults,
): Promise<void> {
  const tools = await storage.agents.parts.tools.ofAgents([id]);
  noteApprovals('versions', versions, { tools, enabledTools }, registry, faults);
}

async function userInputNames({ storage }: Deps, agentId: string): Promise<ReadonlySet<string>> {
  const userInputs = await storage.agents.parts.userInputs.ofAgents([agentId]);
  return new Set(userInputs.map(({ variableName }) => variableName));
}

/** What callers see who may not edit the agent. */
export function hiddenFlow(flow: AgentFlow): AgentFlow {
  return { ...flow, versions: [] };
}
