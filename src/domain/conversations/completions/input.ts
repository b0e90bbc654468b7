import type { ModelMessage, ModelParameters, ModelTool, ResponseFormat } from '../../../engine/models/port.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import { completionInput, type ReadCompletionInput } from '../../../wire/completions/request.ts';
import { readWire } from '../../../wire/ground/read.ts';
import type { Unread } from '../../../wire/ground/schema.ts';
import { readUnserved, unservedInCompletions } from '../../../wire/ground/unserved-members.ts';
import { type ReadChoice, readToolChoice } from '../../agents/tools/choice.ts';
import { readTools, type ToolInput } from '../../agents/tools/request-tools.ts';
import { readSecrets } from '../../agents/tools/secrets.ts';
import { Faults } from '../../ground/faults.ts';
import { type RunOptions, readOptions } from '../runs/options.ts';
import { type CompletionMessageInput, type Maybe, type RequestPart, readMessages } from './messages.ts';

/** A request of the chat completions format, as the GraphQL schema accepts it. Absent and null mean the same. */
export interface CompletionInput extends Unread<ReadCompletionInput> {
  readonly model: string;
  readonly messages: readonly CompletionMessageInput[];
  readonly tools?: Maybe<readonly ToolInput[]>;
  readonly toolChoice?: unknown;
  readonly parallelToolCalls?: Maybe<boolean>;
  readonly generateCitations?: Maybe<boolean>;
  readonly secrets?: unknown;
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
  /** What of the request has no effect. */
  readonly warnings: readonly Warning[];
}

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
    warnings: readUnserved(input, unservedInCompletions, faults),
  };
  faults.throwIfAny();
  return request;
}

/** Accepts `jsonSchema` for `json_schema`, as GraphQL callers may write it. */
function withFormerNames(input: CompletionInput): CompletionInput {
  const { responseFormat: format } = input;
  return isObject(format) && 'jsonSchema' in format
    ? { ...input, responseFormat: { json_schema: format.jsonSchema, ...format } }
    : input;
}

function parametersOf(input: ReadCompletionInput): ModelParameters {
  const { options: _options, n: _n, responseFormat: _format, ...rest } = input;
  const { maxTokens, maxCompletionTokens, stop, logprobs, topLogprobs, serviceTier: tier, ...plain } = rest;
  const stops = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((one) => one !== '');
  const given = {
    ...plain,
    maxTokens: maxCompletionTokens ?? maxTokens,
    stop: stops.length === 0 ? undefined : stops,
    logprobs: logprobs === true || (topLogprobs ?? 0) > 0 ? (topLogprobs ?? 0) : undefined,
    // `auto` leaves the choice to the provider.
    serviceTier: tier === 'auto' ? undefined : tier,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
}

function responseFormatOf({ responseFormat: format }: ReadCompletionInput): ResponseFormat | undefined {
  if (format === undefined || format === null) return undefined;
  if (format.type !== 'json_schema') return format;
  const { name = 'reply', schema, strict } = format.json_schema;
  return { type: format.type, name, schema, ...(typeof strict === 'boolean' ? { strict } : {}) };
}
