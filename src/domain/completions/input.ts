import type { ModelMessage, ModelParameters, ModelRequest, ModelTool, ResponseFormat } from '../../engine/models/port.ts';
import { builtinTools } from '../../engine/tools/builtin.ts';
import { DomainError } from '../../entities/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { Settings } from '../../settings.ts';
import { Faults } from '../faults.ts';
import { type RunIdentifiers, readIdentifiers } from '../runs/identifiers.ts';
import { readRunOptions } from '../runs/options.ts';
import { type CompletionMessageInput, type Maybe, readMessages } from './messages.ts';

/** A request of the common completions format, as the schema lets it through. Absent and null mean the same. */
export interface CompletionInput extends RunIdentifiers {
  readonly model: string;
  readonly messages: readonly CompletionMessageInput[];
  readonly stream?: Maybe<boolean>;
  readonly streamOptions?: Maybe<{ readonly includeUsage?: Maybe<boolean> }>;
  readonly options?: unknown;
  readonly tools?: Maybe<readonly CompletionToolInput[]>;
  readonly toolChoice?: unknown;
  readonly parallelToolCalls?: Maybe<boolean>;
  readonly generateCitations?: Maybe<boolean>;
  readonly maxTokens?: Maybe<number>;
  readonly maxCompletionTokens?: Maybe<number>;
  readonly temperature?: Maybe<number>;
  readonly topP?: Maybe<number>;
  readonly topK?: Maybe<number>;
  readonly frequencyPenalty?: Maybe<number>;
  readonly presencePenalty?: Maybe<number>;
  readonly stop?: unknown;
  readonly seed?: Maybe<number>;
  readonly n?: Maybe<number>;
  readonly responseFormat?: unknown;
  readonly reasoningEffort?: Maybe<string>;
}

export interface CompletionToolInput {
  readonly type: string;
  readonly function?: Maybe<{
    readonly name: string;
    readonly description?: Maybe<string>;
    readonly parameters?: unknown;
    readonly strict?: Maybe<boolean>;
  }>;
}

/** What the request asks of a model. */
export interface CompletionRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly toolChoice: ModelRequest['toolChoice'];
  readonly parameters: ModelParameters;
  readonly responseFormat: ResponseFormat | undefined;
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
const toolNamePattern = /^[A-Za-z0-9_-]{1,64}$/;
const stopsMax = 16;
const noParameters = { type: 'object', properties: {} };

/** @throws DomainError of the first fault, carrying all of them. */
export function readCompletion(input: CompletionInput, limits: Pick<Settings, 'MESSAGES_MAX' | 'TOOLS_MAX'>): CompletionRequest {
  if (input.messages.length === 0) {
    throw new DomainError('EMPTY_ARRAY', 'messages must hold at least one message', { param: 'messages' });
  }
  const faults = new Faults();
  faults.requireCount('messages', input.messages, limits.MESSAGES_MAX);
  const given = input.tools ?? [];
  faults.requireCount('tools', given, limits.TOOLS_MAX);
  faults.throwIfAny();
  const tools = readTools(given, faults);
  readRunOptions('options', input.options, faults);
  const request = {
    messages: readMessages(input.messages, faults),
    tools,
    toolChoice: readToolChoice(input.toolChoice, tools, faults),
    parameters: readParameters(input, faults),
    responseFormat: readResponseFormat(input.responseFormat, faults),
  };
  faults.throwIfAny();
  return request;
}

/** Names of the tools of the service that a request switches on. */
export function serverToolNames(given: readonly CompletionToolInput[]): readonly string[] {
  return [...new Set(given.flatMap(({ type }) => (Object.hasOwn(builtinTools, type) ? (builtinTools[type] ?? []) : [])))];
}

/** Reads the tools of a request, noting every fault. Those of the service have no definition here: only functions of the caller come out. */
export function readTools(given: readonly CompletionToolInput[], faults: Faults): readonly ModelTool[] {
  const reserved = new Set(
    given.flatMap((tool) => (Object.hasOwn(builtinTools, tool.type) ? (builtinTools[tool.type] ?? []) : [])),
  );
  const names = new Set<string>();
  const tools: ModelTool[] = [];
  for (const [index, { type, function: own }] of given.entries()) {
    const at = `tools[${index}]`;
    if (type !== 'function') {
      if (Object.hasOwn(builtinTools, type)) continue;
      const known = ['function', ...Object.keys(builtinTools)].join(', ');
      faults.add(`${at}.type`, `${at}.type must be one of ${known}`, 'UNKNOWN_TOOL_TYPE');
      continue;
    }
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

function readToolChoice(choice: unknown, tools: readonly ModelTool[], faults: Faults): ModelRequest['toolChoice'] {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none') return choice;
  if (choice === 'required') {
    if (tools.length === 0) faults.add('toolChoice', 'tool_choice may be "required" only with function tools');
    return choice;
  }
  const inner = isObject(choice) && isObject(choice.function) ? choice.function : choice;
  const name = isObject(inner) ? inner.name : undefined;
  const isFunction = !isObject(choice) || choice.type === undefined || choice.type === 'function';
  if (typeof name !== 'string' || !isFunction) {
    faults.add('toolChoice', 'tool_choice must be "auto", "none", "required" or {"type":"function","function":{"name":…}}');
    return undefined;
  }
  if (!tools.some((tool) => tool.name === name))
    faults.add('toolChoice', 'tool_choice names a function that is not among the tools');
  return { name };
}

function readParameters(input: CompletionInput, faults: Faults): ModelParameters {
  const inRange = (param: string, value: Maybe<number>, min: number, max: number, isInteger = false) => {
    if (value === undefined || value === null) return undefined;
    const isFit = value >= min && value <= max && (!isInteger || Number.isInteger(value));
    if (!isFit) faults.add(param, `${snake(param)} must be ${isInteger ? 'an integer ' : ''}from ${min} to ${max}`);
    return value;
  };
  inRange('n', input.n, 1, 1, true);
  const maxTokens = inRange('maxTokens', input.maxTokens, 1, Number.MAX_SAFE_INTEGER, true);
  const parameters: { -readonly [K in keyof ModelParameters]: ModelParameters[K] | undefined } = {
    temperature: inRange('temperature', input.temperature, 0, 2),
    topP: inRange('topP', input.topP, 0, 1),
    topK: inRange('topK', input.topK, 1, 1_000, true),
    maxTokens: inRange('maxCompletionTokens', input.maxCompletionTokens, 1, Number.MAX_SAFE_INTEGER, true) ?? maxTokens,
    frequencyPenalty: inRange('frequencyPenalty', input.frequencyPenalty, -2, 2),
    presencePenalty: inRange('presencePenalty', input.presencePenalty, -2, 2),
    seed: inRange('seed', input.seed, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, true),
    stop: readStop(input.stop, faults),
    reasoningEffort: readEffort(input.reasoningEffort, faults),
    ...readIdentifiers(input, faults),
  };
  return withoutUndefined(parameters);
}

function readStop(stop: unknown, faults: Faults): readonly string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const stops: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  if (stops.length <= stopsMax && stops.every((one) => typeof one === 'string')) {
    const real = stops.filter((one) => one !== '');
    return real.length === 0 ? undefined : real;
  }
  faults.add('stop', `stop must be a string or an array of at most ${stopsMax} strings`);
  return undefined;
}

function readEffort(effort: Maybe<string>, faults: Faults): ModelParameters['reasoningEffort'] {
  if (effort === undefined || effort === null) return undefined;
  const known = efforts.find((name) => name === effort);
  if (known === undefined) faults.add('reasoningEffort', `reasoning_effort must be one of ${efforts.join(', ')}`);
  return known;
}

function readResponseFormat(format: unknown, faults: Faults): ResponseFormat | undefined {
  if (format === undefined || format === null) return undefined;
  const type = isObject(format) ? format.type : undefined;
  if (type === 'text' || type === 'json_object') return { type };
  if (!isObject(format) || type !== 'json_schema') {
    faults.add('responseFormat.type', 'response_format.type must be one of text, json_object, json_schema');
    return undefined;
  }
  const own = format.json_schema ?? format.jsonSchema;
  if (!isObject(own) || !isObject(own.schema)) {
    faults.add('responseFormat.jsonSchema', 'response_format.json_schema must hold a name and a schema');
    return undefined;
  }
  const name = typeof own.name === 'string' ? own.name : 'reply';
  return { type, name, schema: own.schema, ...(typeof own.strict === 'boolean' ? { strict: own.strict } : {}) };
}

/** As these members are called on the wire, in whose words all callers think. */
function snake(param: string): string {
  return param.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function withoutUndefined(
  parameters: { readonly [K in keyof ModelParameters]: ModelParameters[K] | undefined },
): ModelParameters {
  const given: Record<string, unknown> = {};
  for (const name in parameters) {
    const value = parameters[name as keyof ModelParameters];
    if (value !== undefined) given[name] = value;
  }
  return given;
}
