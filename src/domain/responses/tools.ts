import type { ModelRequest, ModelTool } from '../../engine/models/port.ts';
import { builtinTools } from '../../engine/tools/builtin.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import { isObject } from '../../lib/json.ts';
import { readWire } from '../../wire/read.ts';
import { functionToolParam, responseToolParam } from '../../wire/responses/tools.ts';
import type { Faults } from '../faults.ts';

/** The valid tools of a request. */
export interface ResponseTools {
  /** The functions for the model. */
  readonly functions: readonly ModelTool[];
  /** The path of each function of the request, also of those that may not be called: `tools[0].name`. */
  readonly places: ReadonlyMap<string, string>;
  /** Names of the service's own tools that the model may call. */
  readonly serverTools: readonly string[];
  readonly choice: ModelRequest['toolChoice'];
  /** The only names whose calls are passed on; undefined: no limit. */
  readonly allowed: readonly string[] | undefined;
  /** The tools as the response repeats them. */
  readonly echo: { readonly tools: readonly WireObject[]; readonly tool_choice: unknown };
}

const noParameters = { type: 'object', properties: {} };

export function readResponseTools(given: unknown, choice: unknown, toolsMax: number, faults: Faults): ResponseTools {
  const tools = readTools(given, toolsMax, faults);
  const names = new Set([...tools.functions.map(({ name }) => name), ...tools.serverTools]);
  const read = readChoice(choice, names, faults);
  const isAllowed = (name: string) => read.allowed === undefined || read.allowed.includes(name);
  return {
    functions: tools.functions.filter(({ name }) => isAllowed(name)),
    places: tools.places,
    serverTools: tools.serverTools.filter(isAllowed),
    choice: read.choice,
    allowed: read.allowed,
    echo: { tools: tools.echo, tool_choice: choiceEcho(choice) },
  };
}

interface ReadTools {
  readonly functions: readonly ModelTool[];
  readonly places: ReadonlyMap<string, string>;
  readonly serverTools: readonly string[];
  readonly echo: readonly WireObject[];
}

function readTools(given: unknown, toolsMax: number, faults: Faults): ReadTools {
  const nothing = { functions: [], places: new Map<string, string>(), serverTools: [], echo: [] };
  if (given === undefined || given === null) return nothing;
  if (!Array.isArray(given)) {
    faults.add('tools', 'tools must be an array', 'INVALID_TYPE');
    return nothing;
  }
  faults.requireCount('tools', given, toolsMax);
  const listed: readonly unknown[] = given.slice(0, toolsMax);
  const serverTools = [...new Set(listed.flatMap((tool) => (isObject(tool) ? builtinNames(tool.type) : [])))];
  const functions: ModelTool[] = [];
  const places = new Map<string, string>();
  const echo: WireObject[] = [];
  for (const [index, tool] of listed.entries()) {
    const at = `tools[${index}]`;
    if (!isObject(tool)) faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
    else if (tool.type === 'function') {
      const read = readWire(functionToolParam, flat(tool), at, faults);
      if (read === undefined) continue;
      const { type, name, description = null, parameters = null, strict = null } = read;
      if (serverTools.includes(name)) {
        const message = `${at}.name: a tool of the service enabled for this request has the name ${name}`;
        faults.add(`${at}.name`, message, 'TOOL_NAME_CONFLICT');
      }
      if (places.has(name)) faults.add(`${at}.name`, `${at}.name: another function has the name ${name}`, 'DUPLICATE_TOOL_NAME');
      functions.push({
        name,
        description: description ?? '',
        parameters: parameters ?? noParameters,
        ...(strict === null ? {} : { strict }),
      });
      places.set(name, isObject(tool.function) ? `${at}.function.name` : `${at}.name`);
      echo.push({ type, name, description, parameters, strict });
    } else if (typeof tool.type === 'string' && Object.hasOwn(builtinTools, tool.type)) {
      readWire(responseToolParam, tool, at, faults);
      const { authorization: _key, headers: _headers, ...shown } = tool;
      // No reply shows what only a tool's server may know, such as its headers.
      echo.push(shown);
    } else {
      const known = ['function', ...Object.keys(builtinTools)].join(', ');
      faults.add(`${at}.type`, `${at}.type must be one of ${known}`, 'UNKNOWN_TOOL_TYPE');
    }
  }
  return { functions, places, serverTools, echo };
}

function builtinNames(type: unknown): readonly string[] {
  return typeof type === 'string' && Object.hasOwn(builtinTools, type) ? (builtinTools[type] ?? []) : [];
}

/** A tool in the format's flat form; the older form has its members under `function`. */
function flat(tool: WireObject): WireObject {
  return isObject(tool.function) ? { ...tool.function, type: 'function' } : tool;
}

/** The choice in the format's current spelling; `mode` is included even if the request leaves it out. */
function choiceEcho(given: unknown): unknown {
  if (given === undefined || given === null) return 'auto';
  if (isObject(given) && given.type === 'function') return { type: 'function', name: nameOf(given) };
  return isObject(given) && given.type === 'allowed_tools' ? { ...given, mode: given.mode ?? 'auto' } : given;
}

interface ReadChoice {
  readonly choice: ModelRequest['toolChoice'];
  readonly allowed: readonly string[] | undefined;
}

function readChoice(given: unknown, names: ReadonlySet<string>, faults: Faults): ReadChoice {
  const none: ReadChoice = { choice: undefined, allowed: undefined };
  if (given === undefined || given === null) return none;
  if (given === 'auto' || given === 'none') return { choice: given, allowed: undefined };
  if (given === 'required') {
    if (names.size === 0) faults.add('toolChoice', 'tool_choice may be "required" only with tools');
    return { choice: given, allowed: undefined };
  }
  if (isObject(given) && given.type === 'allowed_tools') return readAllowed(given, names, faults);
  const name = nameOf(given);
  if (name === undefined) {
    const forms = '"auto", "none", "required", {"type":"function","name":…}, {"type":"allowed_tools","mode":…,"tools":[…]}';
    faults.add('toolChoice', `tool_choice must be ${forms} or the type of a tool of the service`);
    return none;
  }
  if (!names.has(name)) faults.add('toolChoice', `tool_choice names ${name.slice(0, 64)}, which is not among the tools`);
  return { choice: { name }, allowed: undefined };
}

function readAllowed(given: WireObject, names: ReadonlySet<string>, faults: Faults): ReadChoice {
  const { tools } = given;
  const mode = given.mode ?? 'auto';
  if (mode !== 'auto' && mode !== 'required' && mode !== 'none') {
    faults.add('toolChoice.mode', 'tool_choice.mode must be one of auto, required, none');
  }
  if (!Array.isArray(tools)) {
    faults.add('toolChoice.tools', 'tool_choice.tools must be an array of tools', 'INVALID_TYPE');
    return { choice: undefined, allowed: undefined };
  }
  const allowed: string[] = [];
  for (const [index, tool] of tools.entries()) {
    const name = nameOf(tool);
    if (name !== undefined && names.has(name)) allowed.push(name);
    else faults.add(`toolChoice.tools[${index}]`, `tool_choice.tools[${index}] names no tool of this request`);
  }
  const isNone = allowed.length === 0 || mode === 'none';
  return { choice: isNone ? 'none' : mode === 'required' ? 'required' : 'auto', allowed };
}

function nameOf(tool: unknown): string | undefined {
  if (!isObject(tool)) return undefined;
  if (tool.type !== 'function') return builtinNames(tool.type)[0];
  const { name } = flat(tool);
  return typeof name === 'string' ? name : undefined;
}
