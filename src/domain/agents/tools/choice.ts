import type { ModelRequest } from '../../../engine/models/port.ts';
import { isForcing } from '../../../engine/plan/choice.ts';
import type { ForcedTool } from '../../../engine/plan/plan.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { ChatMode, WireObject } from '../../../entities/conversations/runs/response.ts';
import { type EnabledTool, findToolType } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Faults } from '../../ground/faults.ts';

export interface ReadChoice {
  readonly choice: ModelRequest['toolChoice'];
  /** A tool of the service of which a function must be called; `choice` is then `required`. */
  readonly forcedTool?: ForcedTool;
  /** What may be called; undefined: no limit. */
  readonly allowed: AllowedTools | undefined;
  /** The choice forces a call for which the request itself has no tool: only a tool of the agent can satisfy it. */
  readonly isUnmet?: true;
}

export interface AllowedTools {
  /** Names of the caller's functions. */
  readonly functions: readonly string[];
  readonly serviceTools: readonly EnabledTool[];
}

/** A request that says nothing of its choice. */
export const noChoice: ReadChoice = { choice: undefined, allowed: undefined };

/** The tools of a request, among which it chooses. */
interface ChoosableTools {
  /** By the names of the caller's functions. */
  readonly places: ReadonlyMap<string, string>;
  readonly serviceTools: readonly EnabledTool[];
}

interface ChoiceTerms {
  readonly registry: ToolRegistry;
  /** An agent may answer, whose tools are not known yet: see `requireForcedTool`. */
  readonly mayBeAgent: boolean;
}

const forms =
  '"auto", "none", "required", a function ({"type":"function","name":…}), {"type":"allowed_tools","mode":…,"tools":[…]} or the type of a tool of the service';

/**
 * Reads a `tool_choice` of completions and of responses: a function may be named flat or under `function`, the members of `allowed_tools`
 * too. A choice that forces a call is kept or refused, never dropped.
 *
 * @param tools  of the request.
 */
export function readToolChoice(
  input: unknown,
  tools: ChoosableTools,
  { registry, mayBeAgent }: ChoiceTerms,
  faults: Faults,
): ReadChoice {
  if (input === undefined || input === null) return noChoice;
  if (input === 'auto' || input === 'none') return { choice: input, allowed: undefined };
  if (input === 'required') {
    const isUnmet = tools.places.size === 0 && tools.serviceTools.length === 0;
    if (isUnmet && !mayBeAgent) faults.add('toolChoice', 'tool_choice may be "required" only with tools');
    return { choice: input, allowed: undefined, ...(isUnmet ? { isUnmet } : {}) };
  }
  if (isObject(input) && input.type === 'allowed_tools') return readAllowed(input, tools, faults);
  if (isObject(input) && !isFunctionChoice(input)) {
    return readServiceChoice(input, tools.serviceTools, { registry, mayBeAgent }, faults) ?? noChoice;
  }
  const name = readFunctionName(input);
  if (name === undefined) {
    faults.add('toolChoice', `tool_choice must be ${forms}`);
    return noChoice;
  }
  const isService = tools.serviceTools.some((tool) => registry.namesOf(tool).includes(name));
  const isUnmet = !tools.places.has(name) && !isService;
  if (isUnmet && !mayBeAgent) faults.add('toolChoice', missing(name));
  return { choice: { name }, allowed: undefined, ...(isUnmet ? { isUnmet } : {}) };
}

/** A choice that names a tool of the service by its type. */
function readServiceChoice(
  input: WireObject,
  serviceTools: readonly EnabledTool[],
  { registry, mayBeAgent }: ChoiceTerms,
  faults: Faults,
): ReadChoice | undefined {
  const type = findToolType(input.type);
  if (type === undefined) {
    faults.add('toolChoice', `tool_choice must be ${forms}`);
    return undefined;
  }
  const serviceTool = chosenTool(input, serviceTools);
  if (serviceTool === undefined && !mayBeAgent) faults.add('toolChoice', missing(type));
  const [only, ...others] = serviceTool === undefined ? [] : registry.namesOf(serviceTool);
  if (only !== undefined && others.length === 0) return { choice: { name: only }, allowed: undefined };
  const label = input.server_label ?? input.server;
  const forcedTool: ForcedTool = {
    type,
    ...(typeof label === 'string' ? { label } : {}),
    ...(typeof input.name === 'string' ? { tool: input.name } : {}),
  };
  return { choice: 'required', forcedTool, allowed: undefined, ...(serviceTool === undefined ? { isUnmet: true } : {}) };
}

/** Refuses a forced call that no tool of the request and none of the agent can satisfy. @throws DomainError INVALID_VALUE. */
export function requireForcedTool({ choice, forcedTool, isUnmet }: ReadChoice, agent: RunnableAgent | undefined): void {
  if (isUnmet !== true) return;
  const standing = agent?.enabledTools ?? [];
  if (forcedTool !== undefined) {
    if (standing.some(({ type }) => type === forcedTool.type)) return;
    throw new DomainError('INVALID_VALUE', missing(forcedTool.type), { param: 'toolChoice' });
  }
  // The names of the functions of an MCP server are known in the run only.
  const hasServer = agent?.tools.some(({ type }) => type === 'MCP_SERVER') === true || standing.length > 0;
  const names = (agent?.tools ?? []).flatMap(({ type, name }) => (type === 'MCP_SERVER' ? [] : [name]));
  if (typeof choice === 'object' && !names.includes(choice.name) && !hasServer) {
    throw new DomainError('INVALID_VALUE', missing(choice.name), { param: 'toolChoice' });
  }
  if (names.length > 0 || hasServer) return;
  throw new DomainError('INVALID_VALUE', 'tool_choice may be "required" only with tools, of the request or of the agent', {
    param: 'toolChoice',
  });
}

interface OfferedTools {
  readonly functions: readonly unknown[];
  readonly serviceTools: readonly EnabledTool[];
  readonly choice: ReadChoice;
}

/** Refuses a forced call of a tool that the mode does not offer: `chat` offers no tools of the service, `plan` only those that read. */
export function requireOffered(
  { choice: { choice, forcedTool, isUnmet }, functions, serviceTools }: OfferedTools,
  chatMode: ChatMode,
  registry: ToolRegistry,
  faults: Faults,
): void {
  // What only a tool of the agent can satisfy is checked once the agent is known: see `requireForcedTool`.
  if (chatMode === 'execute' || !isForcing(choice) || isUnmet === true) return;
  const isNamed = (tool: EnabledTool) =>
    forcedTool === undefined
      ? choice === 'required' || registry.namesOf(tool).includes(choice.name)
      : tool.type === forcedTool.type;
  if (chatMode === 'chat') {
    const isFree = choice === 'required' && forcedTool === undefined && functions.length > 0;
    const isOut = !isFree && (forcedTool !== undefined || serviceTools.some(isNamed));
    if (isOut) faults.add('toolChoice', 'tool_choice forces a tool of the service, and chat_mode "chat" offers none');
    return;
  }
  if (!registry.forPlan(serviceTools).some(isNamed)) {
    faults.add('toolChoice', 'tool_choice forces a tool that chat_mode "plan" does not offer: it offers those that only read');
  }
}

/** The name of the function that a choice names; undefined for what names none. */
export function readFunctionName(tool: unknown): string | undefined {
  if (!isObject(tool) || !isFunctionChoice(tool)) return undefined;
  const { name } = isObject(tool.function) ? tool.function : tool;
  return typeof name === 'string' ? name : undefined;
}

/** The tool of the service that a choice names, among those enabled; undefined when it names none. */
function chosenTool(choice: unknown, enabled: readonly EnabledTool[]): EnabledTool | undefined {
  if (!isObject(choice)) return undefined;
  const type = findToolType(choice.type);
  const label = choice.server_label ?? choice.server;
  return enabled.find(
    (tool) => tool.type === type && (label === undefined || label === (tool.options.server_label ?? tool.options.server)),
  );
}

function isFunctionChoice(tool: unknown): boolean {
  return isObject(tool) && (tool.type === undefined || tool.type === 'function');
}

function missing(name: string): string {
  return `tool_choice names ${name.slice(0, 64)}, which is not among the tools`;
}

/** The members stand beside `type` in responses, and under `allowed_tools` in completions. */
function readAllowed(input: WireObject, { places, serviceTools }: ChoosableTools, faults: Faults): ReadChoice {
  const isNested = isObject(input.allowed_tools);
  const { tools, mode = 'auto' } = isObject(input.allowed_tools) ? input.allowed_tools : input;
  const at = isNested ? 'toolChoice.allowed_tools' : 'toolChoice';
  const paramName = isNested ? 'tool_choice.allowed_tools' : 'tool_choice';
  if (mode !== null && mode !== 'auto' && mode !== 'required' && mode !== 'none') {
    faults.add(`${at}.mode`, `${paramName}.mode must be one of auto, required, none`);
  }
  if (!Array.isArray(tools)) {
    faults.add(`${at}.tools`, `${paramName}.tools must be an array of tools`, 'INVALID_TYPE');
    return { choice: undefined, allowed: undefined };
  }
  const names: string[] = [];
  const selectedTools: EnabledTool[] = [];
  for (const [index, tool] of tools.entries()) {
    const name = readFunctionName(tool);
    const ofService = chosenTool(tool, serviceTools);
    if (name !== undefined && places.has(name)) names.push(name);
    else if (ofService !== undefined) selectedTools.push(ofService);
    else faults.add(`${at}.tools[${index}]`, `${paramName}.tools[${index}] names no tool of this request`);
  }
  if (mode === 'required' && tools.length === 0) {
    faults.add(`${at}.tools`, `${paramName}.tools must name a tool where the mode is "required"`);
  }
  const isNone = names.length + selectedTools.length === 0 || mode === 'none';
  const allowedChoice = { functions: names, serviceTools: selectedTools };
  return { choice: isNone ? 'none' : mode === 'required' ? 'required' : 'auto', allowed: allowedChoice };
}
