import type { ModelMessage, ModelParameters, ModelTool, ResponseFormat } from '../../engine/models/port.ts';
import type { ToolRegistry } from '../../engine/tools/registry.ts';
import { DomainError } from '../../entities/errors.ts';
import type { FaultNotes } from '../../entities/fault-notes.ts';
import { isId } from '../../entities/ids.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import { type EnabledTool, toolTypeNames } from '../../entities/runs/tool.ts';
import { isObject } from '../../lib/json.ts';
import type { Settings } from '../../settings.ts';
import { completionInput, type ReadCompletionInput } from '../../wire/completions.ts';
import { readWire } from '../../wire/read.ts';
import type { Unread } from '../../wire/schema.ts';
import { type RunOptions, readOptions } from '../chats/options.ts';
import { readSecrets } from '../chats/secrets.ts';
import { Faults } from '../faults.ts';
import { type CompletionMessageInput, type Maybe, type RequestPart, readMessages } from './messages.ts';
import {
  isServiceTool,
  noteLabel,
  readServiceTool,
  readToolSecrets,
  secretMembers,
  unknownToolType,
  withoutRepeats,
} from './service-tools.ts';
import { type ReadChoice, readToolChoice } from './tool-choice.ts';
import { checkFunctionMembers } from './tool-members.ts';

/** A request of the chat completions format, as the GraphQL schema accepts it. Absent and null mean the same. */
export interface CompletionInput extends Unread<ReadCompletionInput> {
  readonly model: string;
  readonly messages: readonly CompletionMessageInput[];
  readonly stream?: Maybe<boolean>;
  readonly streamOptions?: Maybe<{ readonly includeUsage?: Maybe<boolean>; readonly includeExtensions?: Maybe<boolean> }>;
  readonly tools?: Maybe<readonly CompletionToolInput[]>;
  readonly toolChoice?: unknown;
  readonly parallelToolCalls?: Maybe<boolean>;
  readonly generateCitations?: Maybe<boolean>;
  readonly secrets?: unknown;
}

/** A function of the caller, or a tool of the service with its members in camelCase. */
export interface CompletionToolInput {
  readonly type: string;
  readonly function?: Maybe<{
    readonly name: string;
    readonly description?: Maybe<string>;
    readonly parameters?: unknown;
    readonly strict?: Maybe<boolean>;
  }>;
  readonly [member: string]: unknown;
}

/** The valid request in the terms of a run. */
export interface CompletionRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** The tools of the service that the model may call. */
  readonly serviceTools: readonly EnabledTool[];
  readonly toolChoice: ReadChoice;
  readonly secrets: Readonly<Record<string, string>>;
  /** Files and addresses among the messages, which must be read before a model gets them. */
  readonly given: readonly RequestPart[];
  readonly parameters: ModelParameters;
  readonly responseFormat: ResponseFormat | undefined;
  readonly options: RunOptions;
}

const toolNamePattern = /^[A-Za-z0-9_-]{1,64}$/;
const noParameters = { type: 'object', properties: {} };

/** @throws DomainError of the first fault, carrying all of them. */
export function readCompletion(
  input: CompletionInput,
  limits: Pick<Settings, 'MESSAGES_MAX' | 'TOOLS_MAX'>,
  registry: ToolRegistry,
): CompletionRequest {
  if (input.messages.length === 0) {
    throw new DomainError('EMPTY_ARRAY', 'messages must hold at least one message', { param: 'messages' });
  }
  const faults = new Faults();
  faults.requireCount('messages', input.messages, limits.MESSAGES_MAX);
  const given = input.tools ?? [];
  faults.requireCount('tools', given, limits.TOOLS_MAX);
  faults.throwIfAny();
  const { functions: tools, serviceTools, secrets } = readTools(given, registry, faults);
  const read = readWire(completionInput, withFormerNames(input), '', faults) ?? {};
  const options = readOptions(input.options, faults);
  const functions = new Set(tools.map(({ name }) => name));
  const toolChoice = readToolChoice(input.toolChoice, { functions, serviceTools, registry }, isId('agent', input.model), faults);
  const { allowed } = toolChoice;
  const said = readMessages(input.messages, faults);
  const request = {
    ...said,
    tools: allowed === undefined ? tools : tools.filter(({ name }) => allowed.functions.includes(name)),
    serviceTools: allowed === undefined ? serviceTools : allowed.serviceTools,
    toolChoice,
    secrets: { ...readSecrets(input.secrets, faults), ...secrets },
    parameters: parametersOf(read),
    responseFormat: responseFormatOf(read),
    options,
  };
  faults.throwIfAny();
  return request;
}

export interface ReadTools {
  /** The caller's. */
  readonly functions: readonly ModelTool[];
  readonly serviceTools: readonly EnabledTool[];
  /** Given with them. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Reads the tools of a request, noting every fault. */
export function readTools(given: readonly CompletionToolInput[], registry: ToolRegistry, faults: Faults): ReadTools {
  const enabled: EnabledTool[] = [];
  const secrets: Record<string, string> = {};
  const labels = new Set<unknown>();
  for (const [index, tool] of given.entries()) {
    const at = `tools[${index}]`;
    if (tool.type === 'function') continue;
    const wire = isServiceTool(tool.type) ? wireForm(tool) : undefined;
    const read = wire === undefined ? undefined : readServiceTool(wire, at, registry, inCamelCase(faults));
    if (wire !== undefined) Object.assign(secrets, readToolSecrets(wire, at, faults));
    noteLabel(read, at, labels, inCamelCase(faults));
    if (read !== undefined) enabled.push(read);
    else faults.add(`${at}.type`, unknownToolType(at), 'UNKNOWN_TOOL_TYPE');
  }
  const serviceTools = withoutRepeats(enabled);
  const reserved = new Set(serviceTools.flatMap((tool) => registry.namesOf(tool)));
  return { functions: readFunctions(given, reserved, faults), serviceTools, secrets };
}

/** Reads the standing tools of an agent: of the service only, available or not, without secrets. */
export function readStandingTools(
  given: readonly CompletionToolInput[],
  member: string,
  registry: ToolRegistry,
  faults: Faults,
): readonly EnabledTool[] {
  const enabled = given.flatMap((tool, index) => {
    const at = `${member}[${index}]`;
    if (!isServiceTool(tool.type)) {
      faults.add(`${at}.type`, `${at}.type must be one of ${toolTypeNames.join(', ')}`, 'UNKNOWN_TOOL_TYPE');
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

function readFunctions(
  given: readonly CompletionToolInput[],
  reserved: ReadonlySet<string>,
  faults: Faults,
): readonly ModelTool[] {
  const names = new Set<string>();
  const tools: ModelTool[] = [];
  for (const [index, tool] of given.entries()) {
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

/** A tool of the service as the responses format writes it. */
function wireForm(tool: CompletionToolInput): WireObject {
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
    add(param, message, code) {
      const place = param.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
      faults.add(place, message.startsWith(param) ? place + message.slice(param.length) : message, code);
    },
  };
}

/** Accepts `jsonSchema` for `json_schema`, as GraphQL callers may write it. */
function withFormerNames(input: CompletionInput): CompletionInput {
  const { responseFormat: format } = input;
  return isObject(format) && 'jsonSchema' in format
    ? { ...input, responseFormat: { json_schema: format.jsonSchema, ...format } }
    : input;
}

function parametersOf(input: ReadCompletionInput): ModelParameters {
  const { maxTokens, maxCompletionTokens, stop, options: _options, n: _n, responseFormat: _format, ...plain } = input;
  const stops = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((one) => one !== '');
  const given = { ...plain, maxTokens: maxCompletionTokens ?? maxTokens, stop: stops.length === 0 ? undefined : stops };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
}

function responseFormatOf({ responseFormat: format }: ReadCompletionInput): ResponseFormat | undefined {
  if (format === undefined || format === null) return undefined;
  if (format.type !== 'json_schema') return format;
  const { name = 'reply', schema, strict } = format.json_schema;
  return { type: format.type, name, schema, ...(typeof strict === 'boolean' ? { strict } : {}) };
}
