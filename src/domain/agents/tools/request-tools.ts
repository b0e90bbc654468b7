import type { ModelTool } from '../../../engine/models/port.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { type EnabledTool, toolTypeNames } from '../../../entities/conversations/runs/tool.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Faults } from '../../ground/faults.ts';
import { checkFunctionMembers } from './members.ts';
import {
  isServiceTool,
  noteLabel,
  readServiceTool,
  readToolSecrets,
  secretMembers,
  unknownToolType,
  withoutRepeats,
} from './service-tools.ts';

/** A function of the caller, or a tool of the service with its members in camelCase. */
export interface ToolInput {
  readonly type: string;
  readonly function?:
    | undefined
    | null
    | {
        readonly name: string;
        readonly description?: string | null | undefined;
        readonly parameters?: unknown;
        readonly strict?: boolean | null | undefined;
      };
  readonly [member: string]: unknown;
}

const toolNamePattern = /^[A-Za-z0-9_-]{1,64}$/;
const noParameters = { type: 'object', properties: {} };

export interface ReadTools {
  /** The caller's. */
  readonly functions: readonly ModelTool[];
  readonly serviceTools: readonly EnabledTool[];
  /** Given with them. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Reads the tools of a request, noting every fault. */
export function readTools(input: readonly ToolInput[], registry: ToolRegistry, faults: Faults): ReadTools {
  const enabled: EnabledTool[] = [];
  const secrets: Record<string, string> = {};
  const labels = new Set<unknown>();
  for (const [index, tool] of input.entries()) {
    const at = `tools[${index}]`;
    if (tool.type === 'function') continue;
    const wire = isServiceTool(tool.type) ? wireForm(tool) : undefined;
    const read = wire === undefined ? undefined : readServiceTool(wire, at, registry, inCamelCase(faults));
    if (wire !== undefined) Object.assign(secrets, readToolSecrets(wire, at, faults));
    noteLabel(read, at, labels, inCamelCase(faults));
    if (read !== undefined) enabled.push(read);
    else faults.add(`${at}.type`, unknownToolType(at), 'UNKNOWN_TOOL_TYPE', { enum: ['function', ...toolTypeNames] });
  }
  const serviceTools = withoutRepeats(enabled);
  const reserved = new Set(serviceTools.flatMap((tool) => registry.namesOf(tool)));
  return { functions: readFunctions(input, reserved, faults), serviceTools, secrets };
}

/** Reads the standing tools of an agent: of the service only, available or not, without secrets. */
export function readStandingTools(
  input: readonly ToolInput[],
  member: string,
  registry: ToolRegistry,
  faults: Faults,
): readonly EnabledTool[] {
  const enabled = input.flatMap((tool, index) => {
    const at = `${member}[${index}]`;
    if (!isServiceTool(tool.type)) {
      const message = `${at}.type must be one of ${toolTypeNames.join(', ')}`;
      faults.add(`${at}.type`, message, 'UNKNOWN_TOOL_TYPE', { enum: toolTypeNames });
      return [];
    }
    for (const name of secretMembers) {
      if (tool[name] !== undefined && tool[name] !== null)
        faults.add(
          `${at}.${name}`,
          `${at}.${name}: secrets are not kept with an agent; use an MCP_SERVER tool or a secret of the agent`,
        );
    }
    const form = wireForm(tool);
    if (typeof form.input_image === 'string') {
      const message = `${at}.inputImage: a file of one user is not kept with an agent; a request may name one of its own`;
      faults.add(`${at}.inputImage`, message, 'UNSUPPORTED_VALUE');
    }
    return readServiceTool(form, at, registry, inCamelCase(faults), true) ?? [];
  });
  return withoutRepeats(enabled);
}

function readFunctions(input: readonly ToolInput[], reserved: ReadonlySet<string>, faults: Faults): readonly ModelTool[] {
  const names = new Set<string>();
  const tools: ModelTool[] = [];
  for (const [index, tool] of input.entries()) {
    const { type, function: own } = tool;
    const at = `tools[${index}]`;
    if (type !== 'function') continue;
    checkFunctionMembers(tool, at, faults);
    if (own === undefined || own === null) {
      faults.add(`${at}.function`, `${at}.function is required for the type function`, 'MISSING_REQUIRED_PARAMETER');
      continue;
    }
    const { name, description, parameters, strict } = own;
    const param = `${at}.function.name`;
    if (!toolNamePattern.test(name)) faults.add(param, `${param} must be 1 to 64 letters, digits, _ or -`);
    if (reserved.has(name)) {
      faults.add(param, `${param}: a tool of the service enabled for this request has the name ${name}`, 'TOOL_NAME_CONFLICT');
    }
    if (names.has(name)) faults.add(param, `${param}: another function has the name ${name}`, 'DUPLICATE_TOOL_NAME');
    names.add(name);
    if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
      faults.add(`${at}.function.parameters`, `${at}.function.parameters must be a JSON Schema object`, 'INVALID_TYPE');
    }
    tools.push({
      name,
      description: description ?? '',
      parameters: isObject(parameters) ? parameters : noParameters,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    });
  }
  return tools;
}

/** A tool as the responses format writes it. The parameters of a function are the caller's own. */
export function toolInFormat(tool: ToolInput): WireObject {
  return tool.type === 'function' ? tool : wireForm(tool);
}

function wireForm(tool: ToolInput): WireObject {
  return inSnakeCase(tool) as WireObject;
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
    add(param, message, code, allowed) {
      const place = param.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
      faults.add(place, message.startsWith(param) ? place + message.slice(param.length) : message, code, allowed);
    },
  };
}
