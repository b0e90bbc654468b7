import { randomBytes } from 'node:crypto';
import type { TokenLogprob } from '../../../entities/conversations/runs/event.ts';
import { writeCacheWrites } from '../../../entities/conversations/runs/usage.ts';
import { hasMembers, type JsonObject, membersOf, readElements, readString } from '../../../lib/json/json.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { FinishReason, ModelDelta, TokenUsage } from '../port.ts';
import { malformed, refusalInStream } from './errors.ts';

interface OpenCall {
  readonly index: number;
  id: string;
  name: string | undefined;
  /** What came of the arguments so far; watched for completeness where ids and indexes contradict each other. */
  arguments: string;
}

/** Where the one text of a chunk stands, when the chunk holds nothing else. */
export type PlainKind = 'content' | 'reasoning_content' | 'reasoning' | 'arguments';

/**
 * Turns parsed chunks into deltas and forgives what servers get wrong: missing or wandering indexes, an id per delta, `stop` with
 * tool calls, `tool_calls` without any, usage without choices. The finish is held back to the end, behind the usage.
 */
export class ChunkReader {
  readonly #calls: OpenCall[] = [];
  readonly #byUpstreamIndex = new Map<number, OpenCall>();
  #current: OpenCall | undefined;
  #usage: TokenUsage | undefined;
  #tier: string | undefined;
  #finish: string | undefined;
  #stopSequence: string | undefined;

  get hasFinish(): boolean {
    return this.#finish !== undefined;
  }

  /** The index of the call that arguments without one belong to. */
  get currentCall(): number {
    return this.#current?.index ?? 0;
  }

  /** @returns what the chunk plainly was, for the learning of shapes; undefined for anything but one piece of text. */
  read(chunk: JsonObject, out: ModelDelta[]): PlainKind | undefined {
    if (chunk.error !== undefined && chunk.error !== null && chunk.error !== false) throw refusalInStream(chunk.error);
    const choice = membersOf(readElements(chunk.choices)[0]);
    // Moonshot tells the usage of a stream within the choice.
    const usage = readUsage(chunk.usage) ?? readUsage(choice.usage);
    if (usage !== undefined) this.#usage = usage;
    const tier = readString(chunk.service_tier);
    if (tier !== undefined && tierPattern.test(tier)) this.#tier = tier;
    const finish = readString(choice.finish_reason);
    if (finish !== undefined && finish !== '') {
      this.#finish = finish;
      // Several servers of the format say here which text of `stop` it was.
      if (finish === 'stop') this.#stopSequence = readString(choice.stop_reason);
    }
    const tokens = readElements(membersOf(choice.logprobs).content).flatMap(readTokens);
    // A chunk that tells more than its text has no shape to learn.
    const isQuiet = usage === undefined && finish === undefined && tokens.length === 0;
    const kind = this.#readDelta(membersOf(choice.delta ?? choice.message), isQuiet, out);
    if (tokens.length > 0) out.push({ type: 'logprobs', tokens });
    return kind;
  }

  /** Closes the answer: usage, then the finish. @throws ModelError when the upstream never finished. */
  end(out: ModelDelta[]): void {
    if (this.#finish === undefined) throw malformed('it ended without a finish reason');
    if (failedFinishes.has(this.#finish.toLowerCase())) throw malformed(`it ended with ${this.#finish}`);
    for (const call of this.#calls) {
      if (call.name === undefined) throw malformed('a tool call has no name');
      if (call.arguments === '') out.push({ type: 'tool.arguments', index: call.index, json: '"{}"' });
    }
    if (this.#tier !== undefined) out.push({ type: 'service.tier', tier: this.#tier });
    if (this.#usage !== undefined) out.push({ type: 'usage', usage: this.#usage });
    const reason = finishReason(this.#finish, this.#calls.length > 0);
    out.push({ type: 'finish', reason, ...(this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }) });
  }

  /** Keeps count of arguments that took the fast path. */
  addArguments(json: string): void {
    // Only emptiness matters from here on: what took the fast path had an index or id that fits.
    if (this.#current !== undefined && this.#current.arguments === '') this.#current.arguments = json;
  }

  #readDelta(delta: JsonObject, isQuiet: boolean, out: ModelDelta[]): PlainKind | undefined {
    let kind: PlainKind | undefined;
    let pieces = 0;
    for (const name of ['reasoning_content', 'reasoning'] as const) {
      const reasoning = readString(delta[name]);
      if (reasoning === undefined) continue;
      pieces += 1;
      kind = name;
      if (reasoning !== '') out.push({ type: 'reasoning', json: JSON.stringify(reasoning) });
      break;
    }
    for (const name of ['content', 'refusal'] as const) {
      const content = readString(delta[name]);
      if (content === undefined) continue;
      pieces += 1;
      if (name === 'content') kind = name;
      if (content !== '') out.push({ type: name === 'content' ? 'text' : 'refusal', json: JSON.stringify(content) });
    }
    if (Array.isArray(delta.content)) {
      pieces += 1;
      kind = undefined;
      for (const part of delta.content) readContentPart(membersOf(part), out);
    }
    const calls = readElements(delta.tool_calls);
    for (const call of calls) {
      const before = this.#calls.length;
      const hasNamed = this.#readCall(membersOf(call), out);
      pieces += 1;
      kind = this.#calls.length === before && hasNamed ? 'arguments' : undefined;
    }
    return pieces === 1 && isQuiet ? kind : undefined;
  }

  /** @returns whether the call goes on with arguments alone. */
  #readCall(raw: JsonObject, out: ModelDelta[]): boolean {
    const part = membersOf(raw.function);
    const name = readString(part.name) || undefined;
    const id = readString(raw.id) || undefined;
    const args =
      typeof part.arguments === 'object' && part.arguments !== null ? JSON.stringify(part.arguments) : readString(part.arguments);
    const call = this.#callFor(typeof raw.index === 'number' ? raw.index : undefined, id, name);
    const wasStarted = call.name !== undefined;
    if (!wasStarted && name !== undefined) {
      call.name = name;
      out.push({ type: 'tool.start', index: call.index, id: call.id, name });
      if (call.arguments !== '') out.push({ type: 'tool.arguments', index: call.index, json: JSON.stringify(call.arguments) });
    }
    if (args !== undefined && args !== '') {
      call.arguments += args;
      if (call.name !== undefined) out.push({ type: 'tool.arguments', index: call.index, json: JSON.stringify(args) });
    }
    return wasStarted && args !== undefined && id === undefined && name === undefined;
  }

  /**
   * The call that a delta belongs to. A known index goes on with its call, unless a new id and a name come after arguments that are
   * already whole (servers that give every call index 0). Without an index, a new id begins a call and no id goes on with the last.
   */
  #callFor(upstreamIndex: number | undefined, id: string | undefined, name: string | undefined): OpenCall {
    if (upstreamIndex !== undefined) {
      const openCall = this.#byUpstreamIndex.get(upstreamIndex);
      const isOther =
        openCall !== undefined && id !== undefined && name !== undefined && id !== openCall.id && isWhole(openCall.arguments);
      if (openCall !== undefined && !isOther) return this.#turnTo(openCall);
      if (openCall === undefined && id === undefined && name === undefined && this.#current !== undefined) return this.#current;
      return this.#begin(upstreamIndex, id);
    }
    const matchingCall = id === undefined ? this.#current : this.#calls.find((call) => call.id === id);
    if (matchingCall !== undefined && (id !== undefined || name === undefined || matchingCall.name === undefined))
      return this.#turnTo(matchingCall);
    // A server without indexes that makes up a new id for each delta repeats no name.
    if (id !== undefined && name === undefined && this.#current !== undefined) return this.#current;
    return this.#begin(undefined, id);
  }

  #turnTo(call: OpenCall): OpenCall {
    this.#current = call;
    return call;
  }

  #begin(upstreamIndex: number | undefined, id: string | undefined): OpenCall {
    const isTaken = id !== undefined && this.#calls.some((call) => call.id === id);
    const call: OpenCall = {
      index: this.#calls.length,
      id: id === undefined || isTaken ? `call_${randomBytes(12).toString('hex')}` : id,
      name: undefined,
      arguments: '',
    };
    this.#calls.push(call);
    if (upstreamIndex !== undefined) this.#byUpstreamIndex.set(upstreamIndex, call);
    return this.#turnTo(call);
  }
}

/** Models of Mistral that think write lists of parts in place of texts: `{type: 'thinking', thinking: [parts]}` and `{type: 'text', text}`. */
function readContentPart({ type, text, thinking }: JsonObject, out: ModelDelta[]): void {
  const thoughts = type === 'thinking' ? readElements(thinking).flatMap((part) => readString(membersOf(part).text) || []) : [];
  for (const thought of thoughts) out.push({ type: 'reasoning', json: JSON.stringify(thought) });
  const words = type === 'text' ? readString(text) || undefined : undefined;
  if (words !== undefined) out.push({ type: 'text', json: JSON.stringify(words) });
}

/** What stands elsewhere in its place is no class of service. */
const tierPattern = /^[\w-]{1,32}$/;

function readTokens(entry: unknown): readonly TokenLogprob[] {
  const { top_logprobs: top, ...one } = membersOf(entry);
  const token = readLikelihood(one);
  return token === undefined
    ? []
    : [{ ...token, top_logprobs: readElements(top).flatMap((other) => readLikelihood(membersOf(other)) ?? []) }];
}

function readLikelihood({ token, logprob, bytes }: JsonObject): Omit<TokenLogprob, 'top_logprobs'> | undefined {
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined;
  return { token: storableText(token), logprob, bytes: readElements(bytes).filter(isByte) };
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

/** What servers and gateways say of an answer that they could not finish. */
const failedFinishes: ReadonlySet<string> = new Set([
  ...['error', 'abort', 'aborted', 'network_error', 'insufficient_system_resource'],
  ...[
    'malformed_function_call',
    'unexpected_tool_call',
    'missing_thought_signature',
    'too_many_tool_calls',
    'malformed_response',
  ],
]);

function finishReason(reasonText: string, hasCalls: boolean): FinishReason {
  if (reasonText === 'length' || reasonText === 'max_tokens') return 'length';
  if (reasonText === 'content_filter') return 'content_filter';
  // Some say `stop` with calls, some `tool_calls` with none, which sends clients in circles.
  return hasCalls ? 'tool_calls' : 'stop';
}

/** Usage in the OpenAI-compatible format; undefined when there is none. */
function readUsage(value: unknown): TokenUsage | undefined {
  if (!hasMembers(value)) return undefined;
  const details = membersOf(value.prompt_tokens_details);
  const inputTokens = count(value.prompt_tokens ?? value.input_tokens);
  const completionTokens = count(value.completion_tokens ?? value.output_tokens);
  const reasoningTokens = count(membersOf(value.completion_tokens_details).reasoning_tokens);
  // xAI, and gateways in front of Gemini, count thoughts beside the completion: only their total says so. They are paid for as output.
  const isReasoningApart =
    reasoningTokens > completionTokens || count(value.total_tokens) === inputTokens + completionTokens + reasoningTokens;
  return {
    inputTokens,
    outputTokens: isReasoningApart ? completionTokens + reasoningTokens : completionTokens,
    // DeepSeek names what it read beside its details; OpenRouter and LiteLLM tell what Anthropic wrote.
    cachedTokens: count(details.cached_tokens ?? value.prompt_cache_hit_tokens),
    ...writeCacheWrites(count(details.cache_write_tokens ?? value.cache_creation_input_tokens)),
    reasoningTokens,
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
}
