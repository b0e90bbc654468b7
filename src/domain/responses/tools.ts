import type { ModelTool } from '../../engine/models/port.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import { isObject } from '../../lib/json.ts';
import { readWire } from '../../wire/read.ts';
import { functionToolParam } from '../../wire/responses/tools.ts';
import { checkServiceTool, isServiceTool, serviceToolNames, unknownToolType } from '../completions/service-tools.ts';
import { type ReadChoice, readToolChoice, toolNameOf } from '../completions/tool-choice.ts';
import type { Faults } from '../faults.ts';

/** The valid tools of a request. */
export interface ResponseTools {
  /** The functions for the model. */
  readonly functions: readonly ModelTool[];
  /** The path of each function of the request, also of those that may not be called: `tools[0].name`. */
  readonly places: ReadonlyMap<string, string>;
  /** Names of the service's own tools that the model may call. */
  readonly serverTools: readonly string[];
  readonly choice: ReadChoice;
  /** As the response repeats them. */
  readonly echo: { readonly tools: readonly WireObject[]; readonly tool_choice: unknown };
}

const noParameters = { type: 'object', properties: {} };

/** @param mayBeAgent  whether an agent may answer, whose tools a choice may name. */
export function readResponseTools(
  given: unknown,
  choice: unknown,
  { toolsMax, mayBeAgent }: { readonly toolsMax: number; readonly mayBeAgent: boolean },
  faults: Faults,
): ResponseTools {
  const tools = readTools(given, toolsMax, faults);
  const names = new Set([...tools.functions.map(({ name }) => name), ...tools.serverTools]);
  const read = readToolChoice(choice, names, mayBeAgent, faults);
  const isAllowed = (name: string) => read.allowed === undefined || read.allowed.includes(name);
  return {
    functions: tools.functions.filter(({ name }) => isAllowed(name)),
    places: tools.places,
    serverTools: tools.serverTools.filter(isAllowed),
    choice: read,
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
  const serverTools = [...new Set(listed.flatMap((tool) => (isObject(tool) ? serviceToolNames(tool.type) : [])))];
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
    } else if (isServiceTool(tool.type)) {
      checkServiceTool(tool, at, faults);
      const { authorization: _key, headers: _headers, ...shown } = tool;
      // No reply shows what only a tool's server may know, such as its headers.
      echo.push(shown);
    } else faults.add(`${at}.type`, unknownToolType(at), 'UNKNOWN_TOOL_TYPE');
  }
  return { functions, places, serverTools, echo };
}

/** Flat, as the format has it; nested under `function`, as the older one had it. */
function flat(tool: WireObject): WireObject {
  return isObject(tool.function) ? { ...tool.function, type: 'function' } : tool;
}

/** The choice in the format's current spelling; `mode` is included even if the request leaves it out. */
function choiceEcho(given: unknown): unknown {
  if (given === undefined || given === null) return 'auto';
  if (isObject(given) && given.type === 'function') return { type: 'function', name: toolNameOf(given) };
  return isObject(given) && given.type === 'allowed_tools' ? { ...given, mode: given.mode ?? 'auto' } : given;
}
