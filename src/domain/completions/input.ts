import type { ModelMessage, ModelParameters, ModelRequest, ModelTool, ResponseFormat } from '../../engine/models/port.ts';
import { builtinTools } from '../../engine/tools/builtin.ts';
import { DomainError } from '../../entities/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { Settings } from '../../settings.ts';
import { completionInput, type ReadCompletionInput } from '../../wire/completions.ts';
import { readWire } from '../../wire/read.ts';
import type { Unread } from '../../wire/schema.ts';
import { Faults } from '../faults.ts';
import { type CompletionMessageInput, type Maybe, readMessages } from './messages.ts';

/** A request of the chat completions format, as the GraphQL schema accepts it. Absent and null mean the same. */
export interface CompletionInput extends Unread<ReadCompletionInput> {
  readonly model: string;
  readonly messages: readonly CompletionMessageInput[];
  readonly stream?: Maybe<boolean>;
  readonly streamOptions?: Maybe<{ readonly includeUsage?: Maybe<boolean> }>;
  readonly tools?: Maybe<readonly CompletionToolInput[]>;
  readonly toolChoice?: unknown;
  readonly parallelToolCalls?: Maybe<boolean>;
  readonly generateCitations?: Maybe<boolean>;
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

/** The valid request in the terms of a run. */
export interface CompletionRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly toolChoice: ModelRequest['toolChoice'];
  readonly parameters: ModelParameters;
  readonly responseFormat: ResponseFormat | undefined;
}

const toolNamePattern = /^[A-Za-z0-9_-]{1,64}$/;
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
  const read = readWire(completionInput, withFormerNames(input), '', faults) ?? {};
  const request = {
    messages: readMessages(input.messages, faults),
    tools,
    toolChoice: readToolChoice(input.toolChoice, tools, faults),
    parameters: parametersOf(read),
    responseFormat: responseFormatOf(read),
  };
  faults.throwIfAny();
  return request;
}

/** Names of the service's own tools that a request enables. */
export function serverToolNames(given: readonly CompletionToolInput[]): readonly string[] {
  return [...new Set(given.flatMap(({ type }) => (Object.hasOwn(builtinTools, type) ? (builtinTools[type] ?? []) : [])))];
}

/** Reads the tools of a request, noting every fault. Returns the caller's functions; the service's own tools have no definition here. */
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
