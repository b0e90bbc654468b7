import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import type { Warning } from '../../../entities/ground/warning.ts';
import { providerIdentifier } from '../identifiers.ts';
import type { AssistantMessage, CacheLife, ModelMessage, ModelParameters, ModelPart, ModelRequest } from '../port.ts';
import { findEndingPlace } from '../prompts/ending.ts';
import { samplingMembers } from '../sampling.ts';

type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];
type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type Metadata = NonNullable<AssistantPart['providerOptions']>;

/** A request, changed to what a provider takes. */
export interface FittedRequest {
  readonly request: ModelRequest;
  /** Tokens to think with, beside those of the answer. */
  readonly thinkingTokens?: number;
  /** How long the provider keeps the instructions and the conversation in its prompt cache; undefined: they are not marked. */
  readonly cacheLife?: CacheLife | undefined;
  /** What of the request has no effect. */
  readonly warnings: readonly Warning[];
}

/** A request in the form that every AI SDK provider takes. */
export function callOptions(
  { request, thinkingTokens, cacheLife }: FittedRequest,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  const { parameters, tools, toolChoice, responseFormat } = request;
  return {
    prompt: toPrompt(request, cacheLife),
    abortSignal: signal,
    ...given('headers', request.traceparent === undefined ? undefined : { traceparent: request.traceparent }),
    ...samplingMembers(parameters, 'aiSdk'),
    ...given('stopSequences', parameters.stop === undefined ? undefined : [...parameters.stop]),
    ...given('seed', parameters.seed),
    ...given('reasoning', parameters.reasoningEffort),
    ...given('providerOptions', toProviderOptions(parameters, thinkingTokens)),
    ...(responseFormat === undefined || responseFormat.type === 'text' ? {} : { responseFormat: toFormat(responseFormat) }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((tool) => ({
            type: 'function' as const,
            name: tool.name,
            description: tool.description,
            inputSchema: tool.parameters as JSONSchema7,
            ...given('strict', tool.strict),
            ...markedForCache(tool.cache),
          })),
          toolChoice: toChoice(toolChoice),
        }),
  };
}

/** Each provider reads its own member. Google has none of these options; a cache key exists at OpenAI only. */
function toProviderOptions(
  { safetyIdentifier, user }: ModelParameters,
  thinkingTokens: number | undefined,
): LanguageModelV4CallOptions['providerOptions'] {
  const userId = providerIdentifier(safetyIdentifier ?? user);
  if (userId === undefined && thinkingTokens === undefined) return undefined;
  const thinking = thinkingTokens === undefined ? undefined : { type: 'enabled', budgetTokens: thinkingTokens };
  return {
    anthropic: {
      ...given('metadata', userId === undefined ? undefined : { userId }),
      ...given('thinking', thinking),
    },
    ...given('amazonBedrock', thinking === undefined ? undefined : { reasoningConfig: thinking }),
  };
}

/**
 * These providers take instructions before the first turn only. Later ones of the conversation follow the first: they stay instructions, which they
 * would not as text of a user.
 */
function toPrompt(
  { messages, ending }: Pick<ModelRequest, 'messages' | 'ending'>,
  cacheLife: CacheLife | undefined,
): LanguageModelV4Message[] {
  const turns = messages.filter((message) => message.role !== 'system');
  const place = findEndingPlace(turns);
  const prompt: LanguageModelV4Message[] = messages.flatMap((message) =>
    message.role === 'system' ? [{ role: 'system' as const, content: message.content, ...markedForCache(message.cache) }] : [],
  );
  prompt.push(...toTurns(turns.slice(0, place + 1)));
  // A provider takes few marks: those of the caller stand instead of ours.
  if (cacheLife !== undefined && !messages.some(isMarked)) markForCache(prompt, cacheLife);
  if (ending !== undefined) addEnding(prompt, ending);
  return [...prompt, ...toTurns(turns.slice(place + 1))];
}

function toTurns(messages: readonly Exclude<ModelMessage, { readonly role: 'system' }>[]): LanguageModelV4Message[] {
  const names = new Map<string, string>();
  const prompt: LanguageModelV4Message[] = [];
  for (const message of messages) {
    if (message.role === 'user') prompt.push({ role: 'user', content: userParts(message.content) });
    else if (message.role === 'assistant') {
      for (const call of message.toolCalls ?? []) names.set(call.id, call.name);
      const content = assistantParts(message);
      const last = prompt.at(-1);
      // Thoughts must come back in the message with the calls that follow them.
      if (last?.role === 'assistant') last.content.push(...content);
      else if (content.length > 0) prompt.push({ role: 'assistant', content });
    } else {
      const part: LanguageModelV4ToolResultPart = {
        type: 'tool-result',
        toolCallId: message.toolCallId,
        toolName: names.get(message.toolCallId) ?? 'unknown',
        output: { type: message.isError === true ? 'error-text' : 'text', value: message.content },
        ...markedForCache(message.cache),
      };
      // Providers want the results of one turn in one message.
      const last = prompt.at(-1);
      if (last?.role === 'tool') last.content.push(part);
      else prompt.push({ role: 'tool', content: [part] });
    }
  }
  return prompt;
}

/** Marks the end of the instructions, behind the tools, and the end of the conversation. A provider reads up to a mark from its cache. */
function markForCache(prompt: LanguageModelV4Message[], ttl: CacheLife): void {
  const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral', ttl } } };
  const instructions = prompt.findLastIndex(({ role }) => role === 'system');
  const system = prompt[instructions];
  if (system !== undefined) prompt[instructions] = { ...system, providerOptions };
  const last = prompt.at(-1);
  const part = last?.role === 'user' || last?.role === 'tool' ? last.content.at(-1) : undefined;
  if (part !== undefined) Object.assign(part, { providerOptions });
}

function isMarked(message: ModelMessage): boolean {
  if (message.role !== 'user') return message.cache !== undefined;
  return typeof message.content !== 'string' && message.content.some(({ cache }) => cache !== undefined);
}

function markedForCache(ttl: CacheLife | undefined): { readonly providerOptions?: Metadata } {
  return ttl === undefined ? {} : { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl } } } };
}

/** Results of tools take no text beside them: the wire puts the next message of the user behind them. */
function addEnding(prompt: LanguageModelV4Message[], text: string): void {
  const last = prompt.at(-1);
  if (last?.role === 'user') last.content.push({ type: 'text', text });
  else prompt.push({ role: 'user', content: [{ type: 'text', text }] });
}

function userParts(content: string | readonly ModelPart[]): UserPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part) => {
    const mark = markedForCache(part.cache);
    if (part.type === 'text') return { type: 'text', text: part.text, ...mark };
    const data = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.-]+)*;base64,(.*)$/is.exec(part.url);
    if (data?.[1] === undefined || data[2] === undefined) throw new Error('an image must be a data URL in base64');
    return { type: 'file', mediaType: data[1], data: { type: 'data', data: data[2] }, ...mark };
  });
}

function assistantParts({ content, toolCalls = [], thoughts = [], cache }: AssistantMessage): AssistantPart[] {
  const own = thoughts.flatMap(({ text, opaque, callIndex }): AssistantPart[] =>
    opaque === undefined || callIndex !== undefined ? [] : [{ type: 'reasoning', text, providerOptions: opaque as Metadata }],
  );
  const calls = toolCalls.map((call, index): AssistantPart => {
    const place = call.origin?.index ?? index;
    const { opaque } = thoughts.find(({ callIndex }) => callIndex === place) ?? {};
    return {
      ...{ type: 'tool-call', toolCallId: call.id, toolName: call.name, input: parseInput(call.arguments) },
      ...given('providerOptions', opaque as Metadata | undefined),
    };
  });
  const parts = [...own, ...(content === null || content === '' ? [] : [{ type: 'text' as const, text: content }]), ...calls];
  const last = parts.at(-1);
  if (last !== undefined && last.type !== 'reasoning') Object.assign(last, markedForCache(cache));
  return parts;
}

function parseInput(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function toFormat(
  format: Exclude<NonNullable<ModelRequest['responseFormat']>, { type: 'text' }>,
): NonNullable<LanguageModelV4CallOptions['responseFormat']> {
  if (format.type === 'json_object') return { type: 'json' };
  const { name, description, schema } = format;
  return { type: 'json', name, schema: schema as JSONSchema7, ...given('description', description) };
}

function toChoice(choice: ModelRequest['toolChoice']): NonNullable<LanguageModelV4CallOptions['toolChoice']> {
  return typeof choice === 'object' ? { type: 'tool', toolName: choice.name } : { type: choice ?? 'auto' };
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [K in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [K in Name]?: Value });
}
