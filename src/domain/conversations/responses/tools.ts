import type { ModelTool } from '../../../engine/models/port.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject } from '../../../lib/json/json.ts';
import { readWire } from '../../../wire/ground/read.ts';
import { functionToolParam } from '../../../wire/responses/tools.ts';
import { functionNameOf, type ReadChoice, readToolChoice } from '../../agents/tools/choice.ts';
import { checkFunctionMembers } from '../../agents/tools/members.ts';
import {
  isServiceTool,
  noteLabel,
  readServiceTool,
  readToolSecrets,
  secretMembers,
  unknownToolType,
  withoutRepeats,
} from '../../agents/tools/service-tools.ts';
import type { Faults } from '../../ground/faults.ts';

/** The valid tools of a request. */
export interface ResponseTools {
  /** The functions for the model. */
  readonly functions: readonly ModelTool[];
  /** The path of each function of the request, also of those that may not be called: `tools[0].name`. */
  readonly places: ReadonlyMap<string, string>;
  /** The tools of the service that the model may call. */
  readonly serviceTools: readonly EnabledTool[];
  readonly choice: ReadChoice;
  /** Given with the tools; never repeated. */
  readonly secrets: Readonly<Record<string, string>>;
  /** As the response repeats them. */
  readonly echo: { readonly tools: readonly WireObject[]; readonly tool_choice: unknown };
}

const noParameters = { type: 'object', properties: {} };

interface ToolTerms {
  readonly toolsMax: number;
  readonly mayBeAgent: boolean;
  readonly registry: ToolRegistry;
}

/** @param mayBeAgent  whether an agent may answer, whose tools a choice may name. */
export function readResponseTools(
  given: unknown,
  choice: unknown,
  { toolsMax, mayBeAgent, registry }: ToolTerms,
  faults: Faults,
): ResponseTools {
  const tools = readTools(given, toolsMax, registry, faults);
  const { serviceTools } = tools;
  const names = new Set(tools.functions.map(({ name }) => name));
  const read = readToolChoice(choice, { functions: names, serviceTools, registry }, mayBeAgent, faults);
  const { allowed } = read;
  return {
    functions: allowed === undefined ? tools.functions : tools.functions.filter(({ name }) => allowed.functions.includes(name)),
    places: tools.places,
    serviceTools: allowed === undefined ? serviceTools : allowed.serviceTools,
    choice: read,
    secrets: tools.secrets,
    echo: { tools: tools.echo, tool_choice: choiceEcho(choice) },
  };
}

interface ReadTools {
  readonly functions: readonly ModelTool[];
  readonly places: ReadonlyMap<string, string>;
  readonly serviceTools: readonly EnabledTool[];
  readonly secrets: Readonly<Record<string, string>>;
  readonly echo: readonly WireObject[];
}

function readTools(given: unknown, toolsMax: number, registry: ToolRegistry, faults: Faults): ReadTools {
  const nothing = { functions: [], places: new Map<string, string>(), serviceTools: [], secrets: {}, echo: [] };
  if (given === undefined || given === null) return nothing;
  if (!Array.isArray(given)) {
    faults.add('tools', 'tools must be an array', 'INVALID_TYPE');
    return nothing;
  }
  faults.requireCount('tools', given, toolsMax);
  const listed: readonly unknown[] = given.slice(0, toolsMax);
  const labels = new Set<unknown>();
  const enabled = new Map(
    listed.flatMap((tool, index) => {
      const read =
        isObject(tool) && isServiceTool(tool.type) ? readServiceTool(tool, `tools[${index}]`, registry, faults) : undefined;
      noteLabel(read, `tools[${index}]`, labels, faults);
      return read === undefined ? [] : [[tool, read] as const];
    }),
  );
  const serviceTools = withoutRepeats([...enabled.values()]);
  const reserved = new Set(serviceTools.flatMap((tool) => registry.namesOf(tool)));
  const functions: ModelTool[] = [];
  const places = new Map<string, string>();
  const echo: WireObject[] = [];
  const secrets: Record<string, string> = {};
  for (const [index, tool] of listed.entries()) {
    const at = `tools[${index}]`;
    if (!isObject(tool)) faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
    else if (tool.type === 'function') {
      const read = readWire(functionToolParam, flat(tool), at, faults);
      checkFunctionMembers(tool, at, faults);
      if (read === undefined) continue;
      const { type, name, description = null, parameters = null, strict = null } = read;
      if (reserved.has(name)) {
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
      Object.assign(secrets, readToolSecrets(tool, at, faults));
      // No reply shows what only a tool's server may know, such as its headers.
      echo.push(Object.fromEntries(Object.entries(tool).filter(([name]) => !secretMembers.includes(name))));
    } else faults.add(`${at}.type`, unknownToolType(at), 'UNKNOWN_TOOL_TYPE');
  }
  return { functions, places, serviceTools, secrets, echo };
}

/** Flat, as the format has it; nested under `function`, as the older one had it. */
function flat(tool: WireObject): WireObject {
  return isObject(tool.function) ? { ...tool.function, type: 'function' } : tool;
}

/** The choice in the format's current spelling; `mode` is included even if the request leaves it out. */
function choiceEcho(given: unknown): unknown {
  if (given === undefined || given === null) return 'auto';
  if (isObject(given) && given.type === 'function') return { type: 'function', name: functionNameOf(given) };
  return isObject(given) && given.type === 'allowed_tools' ? { ...given, mode: given.mode ?? 'auto' } : given;
}
