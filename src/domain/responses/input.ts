import { type ModelParameters, type ResponseFormat, serviceTiers } from '../../engine/models/port.ts';
import type { ThreadMode } from '../../entities/chats/chat.ts';
import { DomainError } from '../../entities/errors.ts';
import { type ChatMode, includableMembers, type WireObject } from '../../entities/runs/response.ts';
import type { Settings } from '../../settings.ts';
import { readSecrets } from '../chats/message-input.ts';
import { Faults } from '../faults.ts';
import { type RunIdentifiers, readIdentifiers } from '../runs/identifiers.ts';
import { readRunOptions } from '../runs/options.ts';
import { type GivenItem, readItems } from './items.ts';
import { readText } from './text-format.ts';
import { type ResponseTools, readResponseTools } from './tools.ts';
import { isObject, readOneOf, requireObject } from './values.ts';

type Maybe<T> = T | null | undefined;

/** A request of the responses format, as the schema lets it through. Absent and null mean the same. */
export interface ResponseInput extends RunIdentifiers {
  readonly model?: Maybe<string>;
  readonly input?: unknown;
  readonly instructions?: Maybe<string>;
  readonly tools?: unknown;
  readonly toolChoice?: unknown;
  readonly parallelToolCalls?: Maybe<boolean>;
  readonly text?: unknown;
  readonly reasoning?: unknown;
  readonly include?: Maybe<readonly string[]>;
  readonly truncation?: Maybe<string>;
  readonly maxOutputTokens?: Maybe<number>;
  readonly maxToolCalls?: Maybe<number>;
  readonly temperature?: Maybe<number>;
  readonly topP?: Maybe<number>;
  readonly topLogprobs?: Maybe<number>;
  readonly presencePenalty?: Maybe<number>;
  readonly frequencyPenalty?: Maybe<number>;
  readonly metadata?: unknown;
  readonly previousResponseId?: Maybe<string>;
  readonly conversation?: unknown;
  readonly store?: Maybe<boolean>;
  readonly background?: Maybe<boolean>;
  readonly stream?: Maybe<boolean>;
  readonly streamOptions?: unknown;
  readonly serviceTier?: Maybe<string>;
  readonly chatMode?: Maybe<ChatMode>;
  readonly threadMode?: Maybe<ThreadMode>;
  readonly userSecrets?: unknown;
  readonly options?: unknown;
}

/** A request that was found right. */
export interface ReadResponse {
  readonly items: readonly GivenItem[];
  readonly tools: ResponseTools;
  readonly parameters: ModelParameters;
  readonly responseFormat: ResponseFormat | undefined;
  readonly conversationId: string | undefined;
  readonly isStored: boolean;
  readonly isBackground: boolean;
  readonly threadMode: ThreadMode;
  readonly chatMode: ChatMode;
  readonly secrets: Readonly<Record<string, string>>;
  /** Members of the response object that repeat the request, whoever answers; `echoOf` has the others. */
  readonly echo: WireObject;
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
const summaries = ['auto', 'concise', 'detailed'];
const metadataMax = { keys: 16, keyLength: 64, valueLength: 512 };
const instructionsMax = 1_000_000;

/** @throws DomainError of the first fault, carrying all of them. */
export function readResponse(input: ResponseInput, limits: Pick<Settings, 'MESSAGES_MAX' | 'TOOLS_MAX'>): ReadResponse {
  const faults = new Faults();
  const { instructions, previousResponseId } = input;
  if (typeof instructions === 'string') faults.requireLength('instructions', instructions, instructionsMax);
  const conversationId = readConversation(input.conversation, faults);
  const isStored = input.store !== false;
  const isBackground = input.background === true;
  if (isBackground && !isStored) faults.add('background', 'background needs store: what is not stored cannot be asked for later');
  const goesOn = typeof previousResponseId === 'string' || conversationId !== undefined;
  const items = readItems(input.input, { itemsMax: limits.MESSAGES_MAX, isRequired: !goesOn }, faults);
  const tools = readResponseTools(input.tools, input.toolChoice, limits.TOOLS_MAX, faults);
  const { format, verbosity, echo: text } = readText(input.text, faults);
  const reasoning = readReasoning(input.reasoning, faults);
  const parameters = readParameters(input, { reasoningEffort: reasoning.effort, verbosity }, faults);
  const metadata = readMetadata(input.metadata, faults);
  for (const [index, name] of (input.include ?? []).entries()) {
    if (!includableMembers.includes(name))
      faults.add(`include[${index}]`, `include[${index}] must be one of ${includableMembers.join(', ')}`);
  }
  const truncation = readOneOf('truncation', input.truncation, ['auto', 'disabled'], faults) ?? 'disabled';
  requireFlags('streamOptions', input.streamOptions, ['include_obfuscation', 'include_extensions'], faults);
  readRunOptions('options', input.options, faults);
  const secrets = readSecrets(input.userSecrets, faults, 'userSecrets');
  const { chatMode = 'execute', threadMode = 'collect' } = input;
  if (threadMode === 'steer' && items.some(({ item }) => item.type === 'function_call_output')) {
    faults.add('input', 'input must not hold a function_call_output with thread_mode "steer": nothing waits for it');
  }
  faults.throwIfAny();
  if (typeof previousResponseId === 'string' && conversationId !== undefined) {
    const message = 'previous_response_id and conversation exclude each other: both say where the request goes on';
    throw new DomainError('MUTUALLY_EXCLUSIVE_PARAMETERS', message, { param: 'previousResponseId' });
  }
  return {
    ...{ items, tools, parameters, conversationId, isStored, isBackground, secrets },
    responseFormat: format,
    threadMode: threadMode ?? 'collect',
    chatMode: chatMode ?? 'execute',
    echo: {
      instructions: instructions ?? null,
      max_tool_calls: input.maxToolCalls ?? null,
      parallel_tool_calls: input.parallelToolCalls ?? true,
      previous_response_id: previousResponseId ?? null,
      reasoning: reasoning.echo,
      store: isStored,
      background: isBackground,
      top_logprobs: input.topLogprobs ?? 0,
      text,
      ...{ tool_choice: tools.echo.tool_choice, tools: tools.echo.tools },
      truncation,
      metadata,
      user: input.user ?? null,
      safety_identifier: input.safetyIdentifier ?? null,
      prompt_cache_key: input.promptCacheKey ?? null,
    },
  };
}

/** A string, or an object with the id. */
function readConversation(given: unknown, faults: Faults): string | undefined {
  if (given === undefined || given === null) return undefined;
  const id = isObject(given) ? given.id : given;
  if (typeof id === 'string') return id;
  faults.add('conversation', 'conversation must be an id or an object with an id', 'INVALID_TYPE');
  return undefined;
}

function readReasoning(given: unknown, faults: Faults): { effort: ModelParameters['reasoningEffort']; echo: WireObject } {
  if (!requireObject('reasoning', given, faults)) return { effort: undefined, echo: { effort: null, summary: null } };
  const effort = readOneOf('reasoning.effort', given.effort, efforts, faults);
  const summary = readOneOf('reasoning.summary', given.summary ?? given.generate_summary, summaries, faults);
  return { effort, echo: { effort: effort ?? null, summary: summary ?? null } };
}

function readParameters(
  input: ResponseInput,
  nested: { readonly [K in 'reasoningEffort' | 'verbosity']: ModelParameters[K] | undefined },
  faults: Faults,
): ModelParameters {
  const inRange = (param: keyof ResponseInput & string, min: number, max: number, isInteger = false) => {
    const value = input[param];
    if (typeof value !== 'number') return undefined;
    const isFit = value >= min && value <= max && (!isInteger || Number.isInteger(value));
    if (!isFit) faults.add(param, `${param} must be ${isInteger ? 'an integer ' : ''}from ${min} to ${max}`);
    return value;
  };
  inRange('maxToolCalls', 1, 10_000, true);
  const tier = readOneOf('serviceTier', input.serviceTier, serviceTiers, faults);
  inRange('topLogprobs', 0, 20, true);
  const given = {
    temperature: inRange('temperature', 0, 2),
    topP: inRange('topP', 0, 1),
    maxTokens: inRange('maxOutputTokens', 1, 2_147_483_647, true),
    frequencyPenalty: inRange('frequencyPenalty', -2, 2),
    presencePenalty: inRange('presencePenalty', -2, 2),
    logprobs: logprobsOf(input),
    // Said or not, `auto` is the provider's own choice.
    serviceTier: tier === 'auto' ? undefined : tier,
    ...nested,
    ...readIdentifiers(input, faults),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** How likely tokens were: told for `include`, and for any number of alternatives. */
function logprobsOf({ include, topLogprobs }: ResponseInput): number | undefined {
  const isAsked = include?.includes('message.output_text.logprobs') === true || (topLogprobs ?? 0) > 0;
  return isAsked ? (topLogprobs ?? 0) : undefined;
}

function readMetadata(given: unknown, faults: Faults): WireObject {
  if (!requireObject('metadata', given, faults)) return {};
  const entries = Object.entries(given);
  if (entries.length > metadataMax.keys) faults.add('metadata', `metadata must have at most ${metadataMax.keys} members`);
  for (const [name, value] of entries.slice(0, metadataMax.keys)) {
    if (name.length > metadataMax.keyLength) {
      faults.add('metadata', `names in metadata must have at most ${metadataMax.keyLength} characters`);
    } else if (typeof value !== 'string') faults.add('metadata', 'values in metadata must be strings', 'INVALID_TYPE');
    else faults.requireLength('metadata', value, metadataMax.valueLength);
  }
  return given;
}

function requireFlags(param: string, given: unknown, names: readonly string[], faults: Faults): void {
  if (!requireObject(param, given, faults)) return;
  for (const name of names) {
    const value = given[name];
    if (value !== undefined && value !== null && typeof value !== 'boolean') {
      faults.add(`${param}.${name}`, `${name} must be true or false`, 'INVALID_TYPE');
    }
  }
}
