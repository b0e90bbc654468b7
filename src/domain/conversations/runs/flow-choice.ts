import type { RunPlan } from '../../../engine/plan/plan.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { type FlowPlan, type FlowStep, readFlowSteps } from '../../../entities/agents/flow.ts';
import type { AgentFlow, UserInputValues } from '../../../entities/agents/part.ts';
import type { ChatMode } from '../../../entities/conversations/runs/response.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { withAgentTools } from '../../agents/tools.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import type { FlowOverride } from './options.ts';

/** The version of a flow that answers a turn. */
export interface ChosenFlow {
  readonly flowId: string;
  readonly version: number;
  readonly steps: readonly FlowStep[];
}

/** What decides whether a flow answers. */
export interface FlowTurn {
  readonly override: FlowOverride | undefined;
  /** Other modes than `execute` carry nothing out, so the plain loop answers them. */
  readonly chatMode: ChatMode;
  /** The turn goes on with outputs of tools: the model that called them continues. */
  readonly hasToolOutputs: boolean;
  /** The request forces a call, which a flow cannot promise. */
  readonly isForcing: boolean;
}

const at = 'options.flow.override';
const flowCache = new WeakMap<RunnableAgent, ChosenFlow>();

/**
 * The flow that answers a turn: the one that the request names, else the active version of the agent's enabled flow.
 *
 * @returns a promise only for a request that names a flow.
 * @throws DomainError FLOW_NOT_FOUND; UNSUPPORTED_VALUE for a turn that a flow cannot answer.
 */
export function chooseFlow(
  deps: Deps,
  caller: Caller,
  agent: RunnableAgent | undefined,
  turn: FlowTurn,
): ChosenFlow | undefined | Promise<ChosenFlow> {
  const { override, chatMode, hasToolOutputs, isForcing } = turn;
  if (override === undefined) {
    if (agent === undefined || agent.flow === null || chatMode !== 'execute' || hasToolOutputs) return undefined;
    if (isForcing) throw cannotForce();
    return enabledFlow(agent, agent.flow);
  }
  if (agent === undefined) throw missing(at, `${at}: a model has no flows; name an AI`);
  if (chatMode !== 'execute') throw unsupported(`${at} needs chat_mode "execute": a flow carries its steps out`);
  if (hasToolOutputs) throw unsupported(`${at} cannot be kept to: the outputs of tools go to the model that called them`);
  if (isForcing) throw cannotForce();
  return overridden(deps, caller, agent, override);
}

/** The flow as a run carries it. */
export function toFlowPlan(
  flowChoice: ChosenFlow,
  { userInputs: inputSpecs }: RunnableAgent,
  subject: { readonly input: string; readonly date: Date; readonly userInputs: UserInputValues },
): FlowPlan {
  const values = inputSpecs.map(({ variableName, configuration }) => {
    const value = Object.hasOwn(subject.userInputs, variableName) ? subject.userInputs[variableName] : configuration.default;
    return [variableName, String(value ?? '')] as const;
  });
  return {
    ...flowChoice,
    input: subject.input.trim(),
    date: subject.date.toISOString().slice(0, 10),
    userInputs: Object.fromEntries(values),
  };
}

/** The tools of the agent, for a flow that calls any: those of the request are not called. */
export function toolsOfFlow(
  { steps }: ChosenFlow,
  agent: RunnableAgent | undefined,
): Pick<RunPlan, 'tools' | 'serviceTools' | 'offersAgentTools'> {
  if (!steps.some(({ type }) => type === 'tool')) return { tools: [], serviceTools: [] };
  const { tools, offersAgentTools } = withAgentTools([], agent);
  const own = offersAgentTools === true ? { offersAgentTools } : {};
  return { tools, ...own, serviceTools: agent?.enabledTools ?? [] };
}

function enabledFlow(agent: RunnableAgent, { flowId, version, data }: NonNullable<RunnableAgent['flow']>): ChosenFlow {
  const cachedFlow = flowCache.get(agent);
  if (cachedFlow !== undefined) return cachedFlow;
  const flow = { flowId, version, steps: readFlowSteps(data) };
  flowCache.set(agent, flow);
  return flow;
}

async function overridden(
  { storage }: Deps,
  caller: Caller,
  agent: RunnableAgent,
  { force, id, version }: FlowOverride,
): Promise<ChosenFlow> {
  const flow = await namedFlow(storage.agents.parts.flows, agent, id);
  if (flow === undefined) throw missing(`${at}.id`, noFlow(id));
  const isWhole = canEditAgent(caller, agent);
  // Disabled flows and inactive versions are drafts of the editors.
  const mayForce = force === true && isWhole;
  if (!flow.enabled && !mayForce) throw missing(`${at}.id`, `${at}.id names a flow that is not enabled; ${howToForce}`);
  const active = flow.versions.find((one) => one.active);
  const flowVersion =
    version === undefined ? (active ?? (mayForce ? flow.versions.at(-1) : undefined)) : findVersion(flow, version);
  if (flowVersion === undefined) {
    const reason = version === undefined ? `the flow has no active version; ${howToForce}` : `the flow has no version ${version}`;
    throw missing(`${at}.version`, `${at}.version: ${reason}`);
  }
  if (!flowVersion.active && !mayForce)
    throw missing(`${at}.version`, `${at}.version names a version that is not active; ${howToForce}`);
  return { flowId: flow.id, version: flowVersion.version, steps: readFlowSteps(flowVersion.data) };
}

const howToForce = 'only who may edit the AI may run it, with "force": true';

type NamedFlow = Pick<AgentFlow, 'id' | 'name' | 'enabled' | 'versions'>;

/** Without an id: the enabled flow, else the only one. */
async function namedFlow(
  flows: Deps['storage']['agents']['parts']['flows'],
  agent: RunnableAgent,
  id: string | undefined,
): Promise<NamedFlow | undefined> {
  if (id !== undefined) {
    if (agent.versionFlows !== undefined) return agent.versionFlows.find((flow) => flow.id === id);
    return isId('agentFlow', id) ? flows.find(agent.id, id) : undefined;
  }
  const all = agent.versionFlows ?? (await flows.ofAgents([agent.id]));
  return (
    all.find(({ id: one }) => one === agent.flow?.flowId) ??
    all.find(({ enabled }) => enabled) ??
    (all.length === 1 ? all[0] : undefined)
  );
}

function findVersion({ versions }: NamedFlow, version: number): AgentFlow['versions'][number] | undefined {
  return versions.find((one) => one.version === version);
}

function noFlow(id: string | undefined): string {
  return id === undefined ? `${at}.id is needed: the AI has no enabled flow` : `${at}.id names no flow of this AI`;
}

function missing(param: string, message: string): DomainError {
  return new DomainError('FLOW_NOT_FOUND', message, { param });
}

function unsupported(message: string): DomainError {
  return new DomainError('UNSUPPORTED_VALUE', message, { param: at });
}

function cannotForce(): DomainError {
  const message = 'tool_choice forces a call, and a flow answers here, whose steps say what is called';
  return new DomainError('UNSUPPORTED_VALUE', message, { param: 'toolChoice' });
}
