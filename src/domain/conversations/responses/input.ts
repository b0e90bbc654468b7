import type { ModelParameters, ResponseFormat } from '../../../engine/models/port.ts';
import { readSchema, SchemaError } from '../../../engine/tools/json-schema/read-schema.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { ThreadMode } from '../../../entities/conversations/chats/chat.ts';
import {
  includableMembers,
  itemIncludes,
  servedIncludes,
  type WireObject,
} from '../../../entities/conversations/runs/response.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import { readWire } from '../../../wire/ground/read.ts';
import {
  readUnserved,
  readUnservedPlaces,
  unservedInResponses,
  unservedPlacesInResponses,
} from '../../../wire/ground/unserved-members.ts';
import type { EchoParts } from '../../../wire/responses/reply.ts';
import { type ReadInput, responseBody, type ResponseInput as WireInput } from '../../../wire/responses/request.ts';
import { readFunctionName, requireOffered } from '../../agents/tools/choice.ts';
import { readTools } from '../../agents/tools/read.ts';
import { readSecrets } from '../../agents/tools/secrets.ts';
import { Faults } from '../../ground/faults.ts';
import { readMetadata } from '../../ground/metadata.ts';
import { readOptions } from '../runs/options.ts';
import type { RunRequest } from '../runs/plan.ts';
import { type RequestItem, readItems } from './items.ts';

/** A request, and how its client reads the answer. */
export interface ResponseInput extends WireInput {
  /** The version of the agent that answers; 0: the draft. For those who may edit the agent. */
  readonly version?: number | undefined;
  /** The client reads the answer while it is made; false: in one piece. Absent where nobody reads an answer. */
  readonly stream?: boolean | undefined;
}

/** A valid request. */
export interface ReadResponse extends RunRequest {
  readonly items: readonly RequestItem[];
  readonly conversationId: string | undefined;
  readonly isStored: boolean;
  readonly isBackground: boolean;
  readonly threadMode: ThreadMode;
  readonly secrets: Readonly<Record<string, string>>;
  /** Optional members of items that the request wants to see. */
  readonly includes: readonly string[];
  /** What of the request has no effect. */
  readonly warnings: readonly Warning[];
  /** The plain members. */
  readonly input: ReadInput;
  /** What the response repeats of the request besides its plain members and the sampling. */
  readonly echo: Omit<EchoParts, 'model' | 'sampling'>;
}

const answerTypes = ['function_call_output', 'mcp_approval_response'];

/** @throws DomainError of the first fault, carrying all of them. */
export function readResponse(
  responseInput: ResponseInput,
  limits: Pick<Settings, 'MESSAGES_MAX' | 'TOOLS_MAX'>,
  registry: ToolRegistry,
): ReadResponse {
  const faults = new Faults();
  const input: ReadInput = readWire(responseBody, withFormerNames(responseInput), '', faults) ?? {};
  const { previousResponseId, conversation } = input;
  const conversationId = typeof conversation === 'string' ? conversation : conversation?.id;
  const isStored = input.store !== false;
  const isBackground = input.background === true;
  if (isBackground && !isStored) faults.add('background', 'background needs store: what is not stored cannot be asked for later');
  const goesOn = (responseInput.previousResponseId ?? responseInput.conversation ?? null) !== null;
  const items = readItems(responseInput.input, { itemsMax: limits.MESSAGES_MAX, isRequired: !goesOn }, faults);
  // A request that goes on may go on with the agent of its thread.
  const mayBeAgent = typeof responseInput.model === 'string' ? isId('agent', responseInput.model) : goesOn;
  const tools = readTools(responseInput, { toolsMax: limits.TOOLS_MAX, mayBeAgent, registry, isCamelCase: false }, faults);
  const { format, echo: formatEcho } = readFormat(input.text?.format, faults);
  const metadata = readMetadata(responseInput.metadata, faults);
  const warnings = [
    ...readUnserved(responseInput, unservedInResponses, faults),
    ...readUnservedPlaces(responseInput, unservedPlacesInResponses, faults),
  ];
  const includes = readIncludes(input.include ?? [], faults);
  const secrets = { ...readSecrets(responseInput.userSecrets, faults, 'userSecrets'), ...tools.secrets };
  const { chatMode, threadMode } = { chatMode: input.chatMode ?? 'execute', threadMode: input.threadMode ?? 'collect' };
  requireOffered(tools, chatMode, registry, faults);
  const options = readOptions(responseInput.options, faults);
  const answer = items.find(({ item }) => answerTypes.includes(String(item.type)))?.item.type;
  if (threadMode === 'steer' && answer !== undefined) {
    faults.add('input', `input must not hold a ${answer} with thread_mode "steer": nothing waits for it`);
  }
  faults.throwIfAny();
  if (typeof previousResponseId === 'string' && conversationId !== undefined) {
    const message = 'previous_response_id and conversation exclude each other: both say where the request goes on';
    throw new DomainError('MUTUALLY_EXCLUSIVE_PARAMETERS', message, { param: 'previousResponseId' });
  }
  return {
    ...{ items, tools, conversationId, isStored, isBackground, secrets, options, warnings },
    includes,
    parameters: readParameters(input),
    responseFormat: format,
    parallelToolCalls: responseInput.parallelToolCalls,
    hasToolOutputs: answerTypes.includes(String(items.at(-1)?.item.type)),
    threadMode,
    chatMode,
    input,
    echo: {
      format: formatEcho,
      tools: tools.written.map(shownTool),
      toolChoice: shownChoice(responseInput.toolChoice),
      metadata,
    },
  };
}

/** @returns those that items have only when a request asks for them. */
export function readIncludes(names: readonly string[], faults: Faults): readonly string[] {
  for (const [index, name] of names.entries()) {
    const at = `include[${index}]`;
    if (!includableMembers.includes(name)) faults.requireOneOf(at, name, servedIncludes);
    else if (!servedIncludes.includes(name)) {
      const message = `${at}: this version of Parley has no ${name.split('.')[0]}; it serves ${servedIncludes.join(', ')}`;
      faults.add(at, message, 'UNSUPPORTED_VALUE');
    }
  }
  return names.filter((name) => itemIncludes.includes(name));
}

/** Of a function, the format shows every member. */
function shownTool(tool: WireObject): WireObject {
  if (tool.type !== 'function') return tool;
  const { type, name, description = null, parameters = null, strict = null } = tool;
  return { type, name, description, parameters, strict };
}

/** The choice in the format's current spelling; `mode` is included even if the request leaves it out. */
function shownChoice(choice: unknown): unknown {
  if (choice === undefined || choice === null) return 'auto';
  if (isObject(choice) && choice.type === 'function') return { type: 'function', name: readFunctionName(choice) };
  return isObject(choice) && choice.type === 'allowed_tools' ? { ...choice, mode: choice.mode ?? 'auto' } : choice;
}

/** `generate_summary` is what `summary` was called before. */
function withFormerNames(input: ResponseInput): ResponseInput {
  const { reasoning } = input;
  return isObject(reasoning)
    ? { ...input, reasoning: { ...reasoning, summary: reasoning.summary ?? reasoning.generate_summary } }
    : input;
}

function readParameters(input: ReadInput): ModelParameters {
  const { serviceTier: tier } = input;
  const modelOptions = {
    temperature: input.temperature,
    topP: input.topP,
    maxTokens: input.maxOutputTokens,
    frequencyPenalty: input.frequencyPenalty,
    presencePenalty: input.presencePenalty,
    logprobs: readLogprobs(input),
    // `auto`, also as the default, leaves the choice to the provider.
    serviceTier: tier === 'auto' ? undefined : tier,
    reasoningEffort: input.reasoning?.effort,
    verbosity: input.text?.verbosity,
    logitBias: input.logitBias,
    user: input.user,
    safetyIdentifier: input.safetyIdentifier,
    promptCacheKey: input.promptCacheKey,
  };
  return Object.fromEntries(Object.entries(modelOptions).filter(([, value]) => value !== undefined && value !== null));
}

/** The number of alternatives of each token, for `include` and for `topLogprobs`; undefined when the request asks for none. */
function readLogprobs({ include, topLogprobs }: ReadInput): number | undefined {
  const isAsked = include?.includes('message.output_text.logprobs') === true || (topLogprobs ?? 0) > 0;
  return isAsked ? (topLogprobs ?? 0) : undefined;
}

/** The longest schema for answers, in characters of JSON. */
const schemaLengthMax = 500_000;

interface ReadFormat {
  readonly format: ResponseFormat | undefined;
  /** The format as the response repeats it. */
  readonly echo: WireObject;
}

/** Reads `text.format` of a request: the format of the answer. */
function readFormat(given: NonNullable<ReadInput['text']>['format'], faults: Faults): ReadFormat {
  if (given?.type === 'json_object') return { format: given, echo: given };
  if (given?.type !== 'json_schema') return { format: undefined, echo: { type: 'text' } };
  const { type, name, description = null, schema, strict } = given;
  const problem = schemaProblem(schema);
  if (problem !== undefined) faults.add('text.format.schema', `text.format.schema is no JSON Schema: ${problem}`);
  const format = {
    ...{ type, name, schema },
    ...(description === null ? {} : { description }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
  return { format, echo: { type, name, description, schema, strict: strict ?? false } };
}

function schemaProblem(schema: WireObject): string | undefined {
  try {
    if (JSON.stringify(schema).length > schemaLengthMax) return `it has more than ${schemaLengthMax} characters as JSON`;
    readSchema(schema, 'answer');
    return undefined;
  } catch (error) {
    return error instanceof SchemaError ? `${error.path} ${error.message}`.trim() : 'it cannot be read';
  }
}
