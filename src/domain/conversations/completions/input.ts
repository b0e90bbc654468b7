import type { CacheLife, ModelMessage, ModelParameters, ResponseFormat } from '../../../engine/models/port.ts';
import type { OwnTool } from '../../../engine/plan/plan.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import { completionOptions, type ReadCompletionOptions } from '../../../wire/completions/request.ts';
import { readWire } from '../../../wire/ground/read.ts';
import type { Unread } from '../../../wire/ground/schema.ts';
import {
  readUnserved,
  readUnservedPlaces,
  unservedInCompletions,
  unservedPlacesInCompletions,
} from '../../../wire/ground/unserved-members.ts';
import { type RequestTools, readTools } from '../../agents/tools/read.ts';
import { readSecrets } from '../../agents/tools/secrets.ts';
import { Faults } from '../../ground/faults.ts';
import { readOptions } from '../runs/options.ts';
import type { RunRequest } from '../runs/plan.ts';
import { type CompletionMessageInput, type Maybe, type RequestPart, readMessages } from './messages.ts';

/** A request of the chat completions format, as the GraphQL schema accepts it. Absent and null mean the same. */
export interface CompletionInput extends Unread<ReadCompletionOptions> {
  /** The version of the agent that answers; 0: the draft. For those who may edit the agent. */
  readonly version?: number | undefined;
  /** Another model than that of the agent. */
  readonly modelId?: Maybe<string>;
  readonly model: string;
  readonly messages: readonly CompletionMessageInput[];
  readonly tools?: unknown;
  readonly toolChoice?: unknown;
  readonly parallelToolCalls?: Maybe<boolean>;
  readonly generateCitations?: Maybe<boolean>;
  readonly secrets?: unknown;
  /** What only other formats say; the reader of the format has checked it. */
  readonly beyond?: BeyondCompletions;
}

/** What requests of other formats say beyond the completions format. */
export interface BeyondCompletions {
  /** What of the request has no effect. */
  readonly warnings: readonly Warning[];
  readonly thinkingTokens?: number;
  /** The marks of functions for prompt caches, by their names. */
  readonly cachedTools?: ReadonlyMap<string, CacheLife>;
  /** Tools of the run alone. */
  readonly ownTools?: readonly OwnTool[];
}

/** The valid request in the terms of a run. */
export interface CompletionRequest extends RunRequest {
  readonly messages: readonly ModelMessage[];
  readonly secrets: Readonly<Record<string, string>>;
  /** Files and addresses among the messages, which must be read before a model gets them. */
  readonly given: readonly RequestPart[];
  /** Tools of the run alone. */
  readonly ownTools: readonly OwnTool[];
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
  faults.throwIfAny();
  const terms = { registry, toolsMax: limits.TOOLS_MAX, mayBeAgent: isId('agent', input.model), isCamelCase: true };
  const tools = markTools(readTools(input, terms, faults), input.beyond?.cachedTools);
  const read = readWire(completionOptions, withFormerNames(input), '', faults) ?? {};
  const options = readOptions(input.options, faults);
  const { messages, given } = readMessages(input.messages, faults);
  const request: CompletionRequest = {
    chatMode: 'execute',
    options,
    tools,
    messages,
    given,
    hasToolOutputs: input.messages.at(-1)?.role === 'tool',
    secrets: { ...readSecrets(input.secrets, faults), ...tools.secrets },
    parameters: withThinking(readParameters(read), input.beyond?.thinkingTokens),
    responseFormat: readResponseFormat(read),
    parallelToolCalls: input.parallelToolCalls,
    ownTools: input.beyond?.ownTools ?? [],
    warnings: [
      ...readUnserved(input, unservedInCompletions, faults),
      ...readUnservedPlaces(input, unservedPlacesInCompletions, faults),
      ...(input.beyond?.warnings ?? []),
    ],
  };
  faults.throwIfAny();
  return request;
}

function withThinking(parameters: ModelParameters, thinkingTokens: number | undefined): ModelParameters {
  return thinkingTokens === undefined ? parameters : { ...parameters, thinkingTokens };
}

function markTools(tools: RequestTools, marks: BeyondCompletions['cachedTools']): RequestTools {
  if (marks === undefined || marks.size === 0) return tools;
  const functions = tools.functions.map((tool) => {
    const cache = marks.get(tool.name);
    return cache === undefined ? tool : { ...tool, cache };
  });
  return { ...tools, functions };
}

/** Accepts `jsonSchema` for `json_schema`, as GraphQL callers may write it. */
function withFormerNames(input: CompletionInput): CompletionInput {
  const { responseFormat: format } = input;
  return isObject(format) && 'jsonSchema' in format
    ? { ...input, responseFormat: { json_schema: format.jsonSchema, ...format } }
    : input;
}

function readParameters(input: ReadCompletionOptions): ModelParameters {
  const { options: _options, n: _n, responseFormat: _format, ...rest } = input;
  const { maxTokens, maxCompletionTokens, stop, logprobs, topLogprobs, serviceTier: tier, ...plain } = rest;
  const stops = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((one) => one !== '');
  const modelOptions = {
    ...plain,
    maxTokens: maxCompletionTokens ?? maxTokens,
    stop: stops.length === 0 ? undefined : stops,
    logprobs: logprobs === true || (topLogprobs ?? 0) > 0 ? (topLogprobs ?? 0) : undefined,
    // `auto` leaves the choice to the provider.
    serviceTier: tier === 'auto' ? undefined : tier,
  };
  const parameters: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(modelOptions)) {
    if (value !== undefined && value !== null) parameters[name] = value;
  }
  return parameters;
}

function readResponseFormat({ responseFormat: format }: ReadCompletionOptions): ResponseFormat | undefined {
  if (format === undefined || format === null) return undefined;
  if (format.type !== 'json_schema') return format;
  const { name = 'reply', description, schema, strict } = format.json_schema;
  return {
    ...{ type: format.type, name, schema },
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}
