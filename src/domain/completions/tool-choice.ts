import type { ModelRequest } from '../../engine/models/port.ts';
import type { AgentRunParts } from '../../entities/agents/part.ts';
import { DomainError } from '../../entities/errors.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import { isObject } from '../../lib/json.ts';
import type { Faults } from '../faults.ts';
import { serviceToolNames } from './service-tools.ts';

export interface ReadChoice {
  readonly choice: ModelRequest['toolChoice'];
  /** Names outside of which no call is passed on; undefined: no limit. */
  readonly allowed: readonly string[] | undefined;
  /** The choice forces a call for which the request itself has no tool: only a tool of the agent can satisfy it. */
  readonly isUnmet?: true;
}

const forms =
  '"auto", "none", "required", a function ({"type":"function","name":…}), {"type":"allowed_tools","mode":…,"tools":[…]} or the type of a tool of the service';

/**
 * Reads a `tool_choice` of completions and of responses: a function may be named flat or under `function`, the members of `allowed_tools`
 * too. A choice that forces a call is kept or refused, never dropped.
 *
 * @param names       of the tools of the request.
 * @param mayBeAgent  whether an agent may answer, whose tools are not known yet: see `requireForcedTool`.
 */
export function readToolChoice(given: unknown, names: ReadonlySet<string>, mayBeAgent: boolean, faults: Faults): ReadChoice {
  const none: ReadChoice = { choice: undefined, allowed: undefined };
  if (given === undefined || given === null) return none;
  if (given === 'auto' || given === 'none') return { choice: given, allowed: undefined };
  if (given === 'required') {
    const isUnmet = names.size === 0;
    if (isUnmet && !mayBeAgent) faults.add('toolChoice', 'tool_choice may be "required" only with tools');
    return { choice: given, allowed: undefined, ...(isUnmet ? { isUnmet } : {}) };
  }
  if (isObject(given) && given.type === 'allowed_tools') return readAllowed(given, names, faults);
  const name = toolNameOf(given);
  if (name === undefined) {
    faults.add('toolChoice', `tool_choice must be ${forms}`);
    return none;
  }
  const isUnmet = !names.has(name);
  if (isUnmet && !(mayBeAgent && isFunctionChoice(given))) faults.add('toolChoice', missing(name));
  return { choice: { name }, allowed: undefined, ...(isUnmet ? { isUnmet } : {}) };
}

/** Refuses a forced call that no tool of the request and none of the agent can satisfy. @throws DomainError INVALID_VALUE. */
export function requireForcedTool({ choice, isUnmet }: ReadChoice, agent: AgentRunParts | undefined): void {
  if (isUnmet !== true) return;
  const names = (agent?.tools ?? []).flatMap(({ type, name }) => (type === 'MCP_SERVER' ? [] : [name]));
  if (typeof choice === 'object' && !names.includes(choice.name)) {
    throw new DomainError('INVALID_VALUE', missing(choice.name), { param: 'toolChoice' });
  }
  if (names.length > 0) return;
  throw new DomainError('INVALID_VALUE', 'tool_choice may be "required" only with tools, of the request or of the agent', {
    param: 'toolChoice',
  });
}

/** The name by which the model calls the tool that a choice names; undefined for what names no tool. */
export function toolNameOf(tool: unknown): string | undefined {
  if (!isObject(tool)) return undefined;
  if (!isFunctionChoice(tool)) return serviceToolNames(tool.type)[0];
  const { name } = isObject(tool.function) ? tool.function : tool;
  return typeof name === 'string' ? name : undefined;
}

function isFunctionChoice(tool: unknown): boolean {
  return isObject(tool) && (tool.type === undefined || tool.type === 'function');
}

function missing(name: string): string {
  return `tool_choice names ${name.slice(0, 64)}, which is not among the tools`;
}

/** The members stand beside `type` in responses, and under `allowed_tools` in completions. */
function readAllowed(given: WireObject, names: ReadonlySet<string>, faults: Faults): ReadChoice {
  const isNested = isObject(given.allowed_tools);
  const { tools, mode = 'auto' } = isObject(given.allowed_tools) ? given.allowed_tools : given;
  const at = isNested ? 'toolChoice.allowed_tools' : 'toolChoice';
  const shown = isNested ? 'tool_choice.allowed_tools' : 'tool_choice';
  if (mode !== null && mode !== 'auto' && mode !== 'required' && mode !== 'none') {
    faults.add(`${at}.mode`, `${shown}.mode must be one of auto, required, none`);
  }
  if (!Array.isArray(tools)) {
    faults.add(`${at}.tools`, `${shown}.tools must be an array of tools`, 'INVALID_TYPE');
    return { choice: undefined, allowed: undefined };
  }
  const allowed: string[] = [];
  for (const [index, tool] of tools.entries()) {
    const name = toolNameOf(tool);
    if (name !== undefined && names.has(name)) allowed.push(name);
    else faults.add(`${at}.tools[${index}]`, `${shown}.tools[${index}] names no tool of this request`);
  }
  if (mode === 'required' && tools.length === 0) {
    faults.add(`${at}.tools`, `${shown}.tools must name a tool where the mode is "required"`);
  }
  const isNone = allowed.length === 0 || mode === 'none';
  return { choice: isNone ? 'none' : mode === 'required' ? 'required' : 'auto', allowed };
}
