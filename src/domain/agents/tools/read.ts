import type { ModelTool } from '../../../engine/models/port.ts';
import { serverNameIn } from '../../../engine/tools/mcp/request-secrets.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { type EnabledTool, findToolType, toolTypeNames } from '../../../entities/conversations/runs/tool.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import { isObject, readElements } from '../../../lib/json/json.ts';
import { readWire } from '../../../wire/ground/read.ts';
import { camelName } from '../../../wire/ground/unserved-members.ts';
import { functionToolParam } from '../../../wire/responses/tools.ts';
import type { Faults } from '../../ground/faults.ts';
import { noChoice, type ReadChoice, readToolChoice } from './choice.ts';
import { checkFunctionMembers } from './members.ts';
import { readServiceTool, readToolSecrets, secretMembers, withoutRepeats } from './service-tools.ts';

/** All that the `tools` and the `tool_choice` of a request say. */
export interface RequestTools {
  /** The functions of the client that the model may call. */
  readonly functions: readonly ModelTool[];
  /** The place of the name of each function, also of those that may not be called: `tools[0].function.name`. */
  readonly places: ReadonlyMap<string, string>;
  /** The tools of the service that the model may call. */
  readonly serviceTools: readonly EnabledTool[];
  readonly choice: ReadChoice;
  /** Given with the tools; never repeated. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The things of the caller that the tools name by themselves. */
  readonly parts: readonly NamedPart[];
  /** The tools in the responses format, without secrets. */
  readonly written: readonly WireObject[];
}

/** A thing that a tool names. `at`: the tool's place in the request; `param`: the member's. */
export type NamedPart = { readonly tool: EnabledTool; readonly at: string } & (
  | { readonly kind: 'agent' | 'image'; readonly id: string; readonly param: string }
  /** Without `param`, the run finds out whether there is such a server. */
  | { readonly kind: 'server'; readonly id: string; readonly param: string | undefined }
  | { readonly kind: 'search'; readonly stores: NamedSources; readonly sources: NamedSources }
);

export interface NamedSources {
  readonly param: string;
  readonly ids: readonly string[];
}

/** A request or an agent without tools. */
export const noTools: RequestTools = {
  functions: [],
  places: new Map(),
  serviceTools: [],
  choice: noChoice,
  secrets: {},
  parts: [],
  written: [],
};

export interface ToolTerms {
  readonly registry: ToolRegistry;
  readonly toolsMax: number;
  /** An agent may answer, whose tools a choice may name. */
  readonly mayBeAgent: boolean;
  /** Chats and completions: functions stand under `function`, other members are in camelCase. Otherwise: the responses format. */
  readonly isCamelCase: boolean;
}

/** Reads the tools of a request and the choice among them in one pass, noting every fault. */
export function readTools(
  { tools: given, toolChoice }: { readonly tools?: unknown; readonly toolChoice?: unknown },
  terms: ToolTerms,
  faults: Faults,
): RequestTools {
  if (given !== undefined && given !== null && !Array.isArray(given)) {
    faults.add('tools', 'tools must be an array', 'INVALID_TYPE');
  }
  const list = readElements(given);
  const tools = list.length === 0 ? noTools : readList(list, terms, faults);
  const choice = readToolChoice(toolChoice, tools, terms, faults);
  const { allowed } = choice;
  if (allowed === undefined) return choice === noChoice ? tools : { ...tools, choice };
  const functions = tools.functions.filter(({ name }) => allowed.functions.includes(name));
  return { ...tools, choice, functions, serviceTools: allowed.serviceTools };
}

function readList(list: readonly unknown[], terms: ToolTerms, faults: Faults): RequestTools {
  const { registry, toolsMax, isCamelCase } = terms;
  faults.requireCount('tools', list, toolsMax);
  const notes = isCamelCase ? inCamelCase(faults) : faults;
  const functions: ModelTool[] = [];
  const places = new Map<string, string>();
  const names: (readonly [name: string, param: string])[] = [];
  const enabledTools: EnabledTool[] = [];
  const labels = new Set<unknown>();
  const secrets: Record<string, string> = {};
  const parts: NamedPart[] = [];
  const written: WireObject[] = [];
  for (const [index, tool] of list.slice(0, toolsMax).entries()) {
    const at = `tools[${index}]`;
    if (!isObject(tool)) {
      faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
      continue;
    }
    if (tool.type === 'function') {
      const read = readFunction(tool, at, isCamelCase, faults);
      if (read === undefined) continue;
      const { name, description, parameters, strict } = read;
      const param = isCamelCase ? `${at}.function.name` : `${at}.name`;
      if (places.has(name)) faults.add(param, `${param}: another function has the name ${name}`, 'DUPLICATE_TOOL_NAME');
      names.push([name, param]);
      places.set(name, isObject(tool.function) ? `${at}.function.name` : param);
      const own = { name, description: description ?? '', parameters: parameters ?? noParameters };
      functions.push(typeof strict === 'boolean' ? { ...own, strict } : own);
      written.push(read);
      continue;
    }
    const type = findToolType(tool.type);
    if (type === undefined) {
      const allowed = ['function', ...toolTypeNames];
      faults.add(`${at}.type`, `${at}.type must be one of ${allowed.join(', ')}`, 'UNKNOWN_TOOL_TYPE', { enum: allowed });
      continue;
    }
    const wire = isCamelCase ? toolInFormat(tool) : tool;
    const service = readServiceTool(type, wire, at, registry, notes);
    if (type === 'mcp') {
      const label = `${at}.server_label`;
      if (labels.has(wire.server_label)) notes.add(label, `${label}: another tool has this label; each server has its own`);
      labels.add(wire.server_label);
    }
    Object.assign(secrets, readToolSecrets(wire, at, faults));
    enabledTools.push(service);
    parts.push(...namedParts(service, tool, at));
    // No reply shows what only a tool's server may know, such as its headers.
    written.push(Object.fromEntries(Object.entries(wire).filter(([name]) => !secretMembers.includes(name))));
  }
  const serviceTools = withoutRepeats(enabledTools);
  refuseReserved(names, serviceTools, registry, faults);
  return { functions, places, serviceTools, choice: noChoice, secrets, parts, written };
}

const noParameters = { type: 'object', properties: {} };

/** A function of the responses format is flat. It may be nested as in the older format; errors name its members as if it were flat. */
function readFunction(tool: WireObject, at: string, isNested: boolean, faults: Faults) {
  checkFunctionMembers(tool, at, faults);
  const flat = isObject(tool.function) ? { ...tool.function, type: 'function' } : tool;
  if (!isNested) return readWire(functionToolParam, flat, at, faults);
  if (flat !== tool) return readWire(functionToolParam, flat, `${at}.function`, faults);
  faults.add(`${at}.function`, `${at}.function is required for the type function`, 'MISSING_REQUIRED_PARAMETER');
  return undefined;
}

function refuseReserved(
  names: readonly (readonly [name: string, param: string])[],
  serviceTools: readonly EnabledTool[],
  registry: ToolRegistry,
  faults: Faults,
): void {
  if (names.length === 0 || serviceTools.length === 0) return;
  const reservedNames = new Set(serviceTools.flatMap((tool) => registry.namesOf(tool)));
  for (const [name, param] of names) {
    if (!reservedNames.has(name)) continue;
    faults.add(param, `${param}: a tool of the service enabled for this request has the name ${name}`, 'TOOL_NAME_CONFLICT');
  }
}

/** @param written  the tool as the request wrote it: errors spell its members in the same way. */
function namedParts(tool: EnabledTool, written: WireObject, at: string): readonly NamedPart[] {
  const { type, options } = tool;
  const place = (member: string) => `${at}.${camelName(member) in written ? camelName(member) : member}`;
  switch (type) {
    case 'subagent':
      return textsIn(options.agents).map((id, index) => ({ tool, at, kind: 'agent', id, param: `${at}.agents[${index}]` }));
    case 'mcp_server': {
      const id = serverNameIn(options);
      const member = ['server', 'server_id', 'id', 'name', 'server_label'].find((one) => written[one] === id);
      const param = id === '' || member === undefined ? undefined : `${at}.${member}`;
      return [{ tool, at, kind: 'server', id, param }];
    }
    case 'image_generation': {
      const { input_image: id } = options;
      return typeof id === 'string' ? [{ tool, at, kind: 'image', id, param: place('input_image') }] : [];
    }
    case 'file_search': {
      const sourcesOf = (member: string) => ({ param: place(member), ids: textsIn(options[member]) });
      return [{ tool, at, kind: 'search', stores: sourcesOf('vector_store_ids'), sources: sourcesOf('data_source_ids') }];
    }
    default:
      return [];
  }
}

function textsIn(value: unknown): readonly string[] {
  return readElements(value).filter((item) => typeof item === 'string');
}

/** Reads the standing tools of an agent: of the service only, available or not, without secrets. @param member  that holds them. */
export function readStandingTools(
  list: readonly WireObject[],
  member: string,
  registry: ToolRegistry,
  faults: Faults,
): readonly EnabledTool[] {
  const notes = inCamelCase(faults);
  const enabled = list.flatMap((tool, index) => {
    const at = `${member}[${index}]`;
    const type = findToolType(tool.type);
    if (type === undefined) {
      const message = `${at}.type must be one of ${toolTypeNames.join(', ')}`;
      faults.add(`${at}.type`, message, 'UNKNOWN_TOOL_TYPE', { enum: toolTypeNames });
      return [];
    }
    for (const name of secretMembers) {
      if (tool[name] === undefined || tool[name] === null) continue;
      const reason = 'secrets are not kept with an agent; use an MCP_SERVER tool or a secret of the agent';
      faults.add(`${at}.${name}`, `${at}.${name}: ${reason}`);
    }
    const wire = toolInFormat(tool);
    if (typeof wire.input_image === 'string') {
      const message = `${at}.inputImage: a file of one user is not kept with an agent; a request may name one of its own`;
      faults.add(`${at}.inputImage`, message, 'UNSUPPORTED_VALUE');
    }
    return [readServiceTool(type, wire, at, registry, notes, true)];
  });
  return withoutRepeats(enabled);
}

/** A tool of the service as the responses format writes it. The parameters of a function are the caller's own. */
export function toolInFormat(tool: WireObject): WireObject {
  return tool.type === 'function' ? tool : (inSnakeCase(tool) as WireObject);
}

/** The members of typed inputs; what is JSON to GraphQL has no camelCase names. */
function inSnakeCase(value: unknown): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  // The names in headers and secrets are the caller's own.
  const isOwn = (name: string) => name === 'headers' || name === 'secrets';
  return Object.fromEntries(members.map(([name, member]) => [snakeCase(name), isOwn(name) ? member : inSnakeCase(member)]));
}

function snakeCase(name: string): string {
  return name === 'includeXSearch' ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Names places as GraphQL has them; REST renames them for its callers. */
function inCamelCase(faults: Faults): FaultNotes {
  return {
    get isFull() {
      return faults.isFull;
    },
    add(param, message, code, allowedValues) {
      const place = camelName(param);
      faults.add(place, message.startsWith(param) ? place + message.slice(param.length) : message, code, allowedValues);
    },
  };
}
