import type { ModelInfo } from '../../../engine/models/catalog.ts';
import type { ModelParameters, ResponseFormat } from '../../../engine/models/port.ts';
import type { ProviderRouting } from '../../../engine/models/routing.ts';
import { isForcing } from '../../../engine/plan/choice.ts';
import { flowMode, type StoredRequest } from '../../../engine/runs/stored/request.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import { areOnDemand, skillInstructions } from '../../../engine/tools/skills/skills.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { UserInputValues } from '../../../entities/agents/part.ts';
import { skillFunction } from '../../../entities/agents/skill-offer.ts';
import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import type { ChatMode } from '../../../entities/conversations/runs/response.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { ProjectOfRun } from '../../../storage/conversations/projects/projects.ts';
import { agentForRun, findModelId, type VersionChoice } from '../../agents/agents.ts';
import { missingModel } from '../../agents/models.ts';
import { toModelParameters } from '../../agents/options.ts';
import { fillVariables } from '../../agents/parts/user-input.ts';
import { requireForcedTool } from '../../agents/tools/choice.ts';
import { noTools, type RequestTools } from '../../agents/tools/read.ts';
import { withStandingTools } from '../../agents/tools/service-tools.ts';
import { offeredSkills, withAgentTools } from '../../agents/tools.ts';
import { runWarnings } from '../../agents/warnings.ts';
import type { Deps } from '../../deps.ts';
import { type ChosenFlow, chooseFlow, toFlowPlan, toolsOfFlow } from './flow-choice.ts';
import { missingGrants } from './missing-grants.ts';
import { requireNamedParts } from './named-parts.ts';
import { noOptions, type RunOptions, routingFor, showsOutputs, showsSteps } from './options.ts';
import { askFunctionNames } from './subagents.ts';

/**
 * The one planner of runs. A format (completions, messages of chats, responses) reads its request into the words of `RunRequest`, finds the
 * agent and the model that it names, and asks here whether they may answer it, and with what.
 */
export interface RunRequest {
  readonly chatMode: ChatMode;
  readonly options: RunOptions;
  readonly tools: RequestTools;
  /** The request brings outputs of tools: the model that called them answers. */
  readonly hasToolOutputs: boolean;
  /** These win over the options of the agent. */
  readonly parameters: ModelParameters;
  readonly responseFormat?: ResponseFormat | undefined;
  readonly parallelToolCalls?: boolean | null | undefined;
}

/** A request that names nothing but what it asks. */
export const plainRequest: RunRequest = {
  chatMode: 'execute',
  options: noOptions,
  tools: noTools,
  hasToolOutputs: false,
  parameters: {},
};

/** Who answers a request. */
export interface Answerer {
  /** Undefined: the bare model. */
  readonly agent: RunnableAgent | undefined;
  readonly model: ModelInfo;
  /** The chat's values for the agent's user inputs; empty when the chat is with another agent. */
  readonly userInputs: UserInputValues;
}

/** Who answers a request, once it is sure that they may. */
export interface AdmittedAnswerer extends Answerer {
  /** The flow that answers; undefined: the plain loop. */
  readonly flow: ChosenFlow | undefined;
  readonly routing: { readonly routing?: ProviderRouting };
  /** What of the agent or the request has no effect on the run. */
  readonly warnings: readonly Warning[];
}

/**
 * Makes sure that an agent or a model may answer a request with the tools it names, and chooses the flow.
 *
 * @throws DomainError TOOL_NAME_CONFLICT, FLOW_NOT_FOUND, UNSUPPORTED_VALUE, naming the member; and like `requireNamedParts`.
 */
export async function admitAnswerer(
  deps: Deps,
  caller: Caller,
  request: RunRequest,
  answerer: Answerer,
): Promise<AdmittedAnswerer> {
  const { chatMode, options, tools, hasToolOutputs } = request;
  const { agent, model } = answerer;
  const usable = agentInMode(deps.tools, chatMode, agent);
  if (tools.parts.length > 0) await requireNamedParts(deps, caller, tools, agent);
  requireForcedTool(tools.choice, usable);
  const routing = routingFor(deps, model.id, options);
  if (tools.places.size > 0) await requireFreeNames(deps, caller, tools, agent);
  const turn = { override: options.override, chatMode, hasToolOutputs, isForcing: isForcing(tools.choice.choice) };
  const chosenFlow = chooseFlow(deps, caller, agent, turn);
  const flow = chosenFlow instanceof Promise ? await chosenFlow : chosenFlow;
  const grants = missingGrants(deps, caller, tools.serviceTools, agent);
  const warnings = runWarnings(agent, deps.tools, {
    isFlow: flow !== undefined,
    hasTools: tools.written.length > 0,
    mayReadSkills: mayReadSkills(request, flow),
    missingGrants: grants instanceof Promise ? await grants : grants,
  });
  return { ...answerer, flow, routing, warnings };
}

/** The agent that a request names where it may name a model too. @throws DomainError MODEL_NOT_FOUND, also for one that the caller may not see. */
export async function agentNamed(deps: Deps, caller: Caller, id: string, choice: VersionChoice = {}): Promise<RunnableAgent> {
  try {
    return await agentForRun(deps, caller, id, choice);
  } catch (error) {
    const isMissing = error instanceof DomainError && error.code === 'NOT_FOUND' && error.detail.param !== 'version';
    throw isMissing ? missingModel(id) : error;
  }
}

/**
 * The agent or the model that a request names, else that of its chat, else the default model.
 *
 * @param choice  which version of an agent.
 * @returns no promise for a model that is known: every completion passes here.
 * @throws DomainError MODEL_NOT_FOUND; UNSUPPORTED_VALUE for a version of a model. Thrown or rejected.
 */
export function answererNamed(
  deps: Deps,
  caller: Caller,
  given: string | null | undefined,
  chat?: Pick<Chat, 'agentId' | 'modelId' | 'userInputs'>,
  choice: VersionChoice = {},
): Answerer | Promise<Answerer> {
  const name = given ?? chat?.agentId ?? chat?.modelId ?? deps.models.defaultModelId();
  if (isId('agent', name)) return answeringAgent(deps, caller, name, chat, choice);
  if (choice.version !== undefined && choice.version !== null) {
    throw new DomainError('UNSUPPORTED_VALUE', 'version: a model has no versions; name an AI', { param: 'version' });
  }
  const model = deps.models.find(name);
  return model instanceof Promise ? model.then((foundModel) => bareModel(name, foundModel)) : bareModel(name, model);
}

async function answeringAgent(
  deps: Deps,
  caller: Caller,
  id: string,
  chat: Pick<Chat, 'agentId' | 'userInputs'> | undefined,
  choice: VersionChoice,
): Promise<Answerer> {
  const agent = await agentNamed(deps, caller, id, choice);
  const { model } = bareModel(id, await deps.models.find(findModelId(deps, agent)));
  return { agent, model, userInputs: agent.id === chat?.agentId ? chat.userInputs : {} };
}

function bareModel(name: string, model: ModelInfo | undefined): Answerer {
  if (model === undefined) throw missingModel(name);
  return { agent: undefined, model, userInputs: {} };
}

/** What a run is about, besides its messages. */
export interface RunSubject {
  /** What the user asks: knowledge is searched with it, and a flow works on it. */
  readonly question: string;
  readonly date: Date;
  /** The project of the chat, as far as the caller may see it. */
  readonly project?: ProjectOfRun | undefined;
  /** Instructions of the request, between those of the agent and its skills. */
  readonly instructions?: string | null | undefined;
  /** Instructions that are the same for the whole conversation, behind all others. */
  readonly lastInstructions?: string;
  /** What changes with each run: it stands behind the messages, because prompt caches hold up to it. */
  readonly ending?: string;
  /** Most tokens of the first request; undefined: no limit of the request or the agent. */
  readonly inputTokensMax: number | undefined;
}

/** The plan of a run besides its messages, which any process can start. */
export function planRun(
  { tools: registry }: Pick<Deps, 'tools'>,
  caller: Caller,
  request: RunRequest,
  { agent, flow, userInputs, routing }: Pick<AdmittedAnswerer, 'agent' | 'flow' | 'userInputs' | 'routing'>,
  { question, date, project, instructions, lastInstructions, ending, inputTokensMax }: RunSubject,
): StoredRequest {
  const { chatMode, options, parameters, responseFormat, parallelToolCalls, tools } = request;
  const { choice, forcedTool } = tools.choice;
  const onlyPlans = chatMode === 'plan';
  const skills = agent === undefined ? '' : skillInstructions(agent, mayReadSkills(request, flow));
  const ofAgent = agent === undefined ? '' : fillVariables(agent.instructions, agent.userInputs, userInputs).trim();
  const all = [ofAgent, projectInstructions(project), instructions?.trim(), onlyPlans ? planning : '', skills, lastInstructions];
  const searchText = question.trim();
  return {
    ...(agent === undefined ? {} : { agentVersion: agent.version }),
    instructions: all.filter((part) => part !== undefined && part !== '').join('\n\n'),
    ...(flow === undefined ? offeredTools(registry, request, agent) : toolsOfFlow(flow, agent)),
    parameters: agent === undefined ? parameters : { ...toModelParameters(agent.options), ...parameters },
    knowledge: knowledgeOf(agent, project, searchText),
    generateCitations: agent?.generateCitations ?? false,
    hidesSteps: !showsSteps(caller, agent, options),
    hidesOutputs: !showsOutputs(caller, agent),
    chatName: null,
    ...routing,
    ...(flow === undefined || agent === undefined
      ? { chatMode }
      : { chatMode: flowMode, flow: toFlowPlan(flow, agent, { input: question, date, userInputs }) }),
    ...(forcedTool === undefined ? {} : { forcedTool }),
    ...(choice === undefined || (onlyPlans && choice === 'auto') ? {} : { toolChoice: choice }),
    ...(typeof parallelToolCalls === 'boolean' ? { parallelToolCalls } : {}),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(inputTokensMax === undefined ? {} : { inputTokensMax }),
    ...(ending === undefined ? {} : { ending }),
  };
}

function projectInstructions(project: ProjectOfRun | undefined): string {
  if (project === undefined || project.instructions === '') return '';
  return `Instructions of the project "${project.name}":\n${project.instructions}`;
}

/** The sources of the agent, and those of the project. A search stays in one organization: an agent of another one that has sources is asked about its own. */
function knowledgeOf(
  agent: RunnableAgent | undefined,
  project: ProjectOfRun | undefined,
  question: string,
): StoredRequest['knowledge'] {
  if (agent === undefined && project === undefined) return null;
  const own = agent?.dataSourceIds ?? [];
  const ofProject = project?.dataSourceIds ?? [];
  if (agent !== undefined && own.length > 0 && agent.orgId !== project?.orgId)
    return { orgId: agent.orgId, dataSourceIds: own, question };
  const orgId = project?.orgId ?? agent?.orgId;
  const dataSourceIds = [...new Set([...own, ...ofProject])];
  return orgId === undefined || dataSourceIds.length === 0 ? null : { orgId, dataSourceIds, question };
}

const planning =
  'Do not carry anything out now. Answer with a plan: what you would do, in which order, and what you would need to know first.';

/** Whether the model may call `use_skill`. */
function mayReadSkills({ tools: { choice }, chatMode }: RunRequest, flow: ChosenFlow | undefined): boolean {
  return chatMode !== 'chat' && flow === undefined && choice.allowed === undefined && choice.choice !== 'none';
}

/** The tools of a request with those of its agent, as far as the mode and the request allow them. */
function offeredTools(
  registry: Deps['tools'],
  request: RunRequest,
  agent: RunnableAgent | undefined,
): Pick<StoredRequest, 'tools' | 'serviceTools' | 'offersAgentTools' | 'offersSkills' | 'onlyTools'> {
  const { chatMode, tools } = request;
  const {
    functions,
    choice: { allowed },
  } = tools;
  const modeAgent = agentInMode(registry, chatMode, agent);
  const standing = allowed === undefined ? (modeAgent?.enabledTools ?? []) : [];
  const serviceTools = withStandingTools(toolsInMode(registry, chatMode, tools.serviceTools), standing);
  const only = allowed === undefined ? {} : { onlyTools: allowed.functions };
  if (chatMode === 'plan') {
    return { tools: [], ...(mayReadSkills(request, undefined) ? offeredSkills(modeAgent) : {}), serviceTools, ...only };
  }
  return { ...(allowed === undefined ? withAgentTools(functions, modeAgent) : { tools: functions }), serviceTools, ...only };
}

/**
 * An agent as a run in a chat mode may use it: `execute` all of it; `plan` those of its tools that only read; `chat` none of its tools.
 * Skills only read, so `plan` keeps them. `use_skill` is a call in the service, so `chat` keeps only skills that stand in the instructions.
 */
function agentInMode(registry: ToolRegistry, chatMode: ChatMode, agent: RunnableAgent | undefined): RunnableAgent | undefined {
  if (agent === undefined || chatMode === 'execute') return agent;
  const enabledTools = toolsInMode(registry, chatMode, agent.enabledTools);
  const skills = chatMode === 'chat' && areOnDemand(agent) ? [] : agent.skills;
  return { ...agent, tools: [], enabledTools, skills };
}

/** Mode `execute` offers all tools of the service, `plan` those that only read, `chat` none. */
function toolsInMode(registry: ToolRegistry, chatMode: ChatMode, tools: readonly EnabledTool[]): readonly EnabledTool[] {
  if (chatMode === 'execute') return tools;
  return chatMode === 'plan' ? registry.forPlan(tools) : [];
}

/**
 * Refuses functions of a request that are named like anything of the run which is known before it: a tool or server of the agent, a function of a
 * tool that the agent enables, an agent that may be asked, `use_skill`. What an MCP server lists is known in the run only: it gets `_2` there.
 *
 * The names of the request's own tools of the service are checked where they are read, except those of agents to ask.
 *
 * @throws DomainError TOOL_NAME_CONFLICT.
 *
 * Cost: no statement, except where agents may be asked that are not cached.
 */
async function requireFreeNames(
  deps: Deps,
  caller: Caller,
  { places, serviceTools }: Pick<RequestTools, 'places' | 'serviceTools'>,
  agent: RunnableAgent | undefined,
): Promise<void> {
  const names = agent === undefined ? [] : listToolNames(deps, agent);
  const asked = await askFunctionNames(deps, caller, [...serviceTools, ...(agent?.enabledTools ?? [])]);
  for (const name of [...names, ...asked]) {
    const param = places.get(name);
    if (param === undefined) continue;
    throw new DomainError('TOOL_NAME_CONFLICT', `${param}: the run has a tool of the name ${name.slice(0, 100)}`, { param });
  }
}

function listToolNames({ tools: registry }: Deps, agent: RunnableAgent): readonly string[] {
  const own = agent.tools.map(({ name }) => name);
  const toolNames = agent.enabledTools.flatMap((tool) => registry.namesOf(tool));
  return [...own, ...toolNames, ...(areOnDemand(agent) ? [skillFunction] : [])];
}
