import type { AgentView } from '../../entities/agents/agent.ts';
import type { AgentFlow } from '../../entities/agents/part.ts';
import type { Deps } from '../deps.ts';
import type { Faults } from '../ground/faults.ts';
import { noteApprovals } from './parts/flow-approvals.ts';
import { type FlowVersionInput, readFlowVersions } from './parts/flow-data.ts';
import { createPartOperations, refuseNull } from './parts/operations.ts';

type Optional<T> = T | null | undefined;

export interface CreateFlowInput {
  readonly name: string;
  readonly enabled?: Optional<boolean>;
  readonly versions?: Optional<readonly FlowVersionInput[]>;
}
/** Absent members are kept; `versions` are replaced as a whole. */
export type UpdateFlowInput = { readonly [Name in keyof CreateFlowInput]?: CreateFlowInput[Name] | null | undefined };

const nameLengthMax = 200;

/** The flows of an agent by name, one of which is enabled at most; without their versions for callers who may not edit it. */
export const flowOperations = createPartOperations(
  {
    kind: 'flows',
    hide: (flow) => ({ ...flow, versions: [] }),
    async readNew(input: CreateFlowInput, { deps, agent, faults }) {
      const values = readFlow('', input, faults, await userInputNames(deps, agent.id));
      await refuseApprovals(deps, agent, values.versions, faults);
      return { values };
    },
    async readChanges(input: UpdateFlowInput, before, { deps, agent, faults }) {
      refuseNull(input, ['name', 'enabled'], faults);
      const flowInput = {
        name: input.name ?? before.name,
        enabled: input.enabled ?? before.enabled,
        versions: input.versions === undefined ? before.versions : input.versions,
      };
      const names = input.versions === undefined ? undefined : await userInputNames(deps, agent.id);
      const { enabled, ...values } = readFlow('', flowInput, faults, names);
      if (input.versions !== undefined) await refuseApprovals(deps, agent, values.versions, faults);
      return { values: enabled === before.enabled ? values : { ...values, enabled } };
    },
  },
  ({ flows }) => flows,
);

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
