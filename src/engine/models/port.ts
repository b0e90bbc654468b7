import type { SamplingOptions } from '../../entities/agents/options.ts';
import type { TokenLogprob } from '../../entities/conversations/runs/event.ts';
import type { CallOrigin, OpaquePart, Thought } from '../../entities/conversations/runs/thought.ts';
import type { ErrorCode } from '../../entities/ground/errors.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import type { ProviderRouting } from './routing.ts';

/** A request to a model of any provider. Messages are in the order of the common chat format. */
export interface ModelRequest {
  /** The upstream's name of the model, without the provider prefix. */
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  /**
   * What changes with each request: the passages that were found, the time. It stands in the last message of a user or a tool, behind everything
   * that the next request of the conversation repeats, so that the provider's prompt cache serves that.
   */
  readonly ending?: string;
  /** The same for all requests of a conversation, for providers whose prompt caches take a key. Not an id of ours. */
  readonly cacheKey?: string;
  readonly tools: readonly ModelTool[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly parallelToolCalls?: boolean;
  readonly parameters: ModelParameters;
  readonly responseFormat?: ResponseFormat;
  /** True when the upstream may answer in one piece; the client still yields the same deltas. */
  readonly isStreaming: boolean;
  /** The header of that name, for providers over HTTP: continues the trace of the call. */
  readonly traceparent?: string;
  /** For the router only. */
  readonly routing?: ProviderRouting;
  /**
   * For the router only: nobody reads the answer before its end. So an attempt that breaks off is dropped, and what it said with it, where
   * another one can be made.
   */
  readonly isWhole?: true;
}

/** Sampling, length, and options for the provider; absent members are left to the provider. */
export interface ModelParameters extends SamplingOptions {
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** Asks for the log probability of each token, with this many alternatives (0 to 20). Left out on wires without log probabilities. */
  readonly logprobs?: number;
  /** The service tier to ask for. Left out on wires without tiers. */
  readonly serviceTier?: Exclude<ServiceTier, 'auto'>;
  /** How much likelier tokens are, by their ids. Left out on wires without it. */
  readonly logitBias?: Readonly<Record<string, number>>;
  /** How long answers are, where the model takes such an option. */
  readonly verbosity?: 'low' | 'medium' | 'high';
  readonly reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** How many of the answer's tokens a model may think with, for wires that take a number. It comes with the effort that says about the same. */
  readonly thinkingTokens?: number;
  /** Identifiers that the caller chose, for its end users and caches; never ids of ours. */
  readonly user?: string;
  readonly safetyIdentifier?: string;
  readonly promptCacheKey?: string;
}

export const serviceTiers = ['auto', 'default', 'flex', 'scale', 'priority'] as const;
export type ServiceTier = (typeof serviceTiers)[number];

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      /** What the answer is for; the model reads it. */
      readonly description?: string;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict?: boolean;
    };

/** How long a provider keeps what stands before a mark in its prompt cache. */
export type CacheLife = '5m' | '1h';

/** A mark of the caller for the prompt cache of providers that take marks. Others do not get it. */
export interface CacheMark {
  readonly cache?: CacheLife;
}

/** Tells apart who speaks in the same role. Wires without names do not get it. */
export interface SpeakerName {
  readonly name?: string;
}

export type ModelMessage =
  | ({ readonly role: 'system'; readonly content: string } & CacheMark & SpeakerName)
  | ({ readonly role: 'user'; readonly content: string | readonly ModelPart[] } & SpeakerName)
  | AssistantMessage
  | ({
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly content: string;
      /** The content says why the call failed, for wires that tell it apart. */
      readonly isError?: true;
    } & CacheMark);

/** Its thoughts come before its text, and its text before its calls. An answer in another order is several messages in a row. */
export interface AssistantMessage extends CacheMark, SpeakerName {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly toolCalls?: readonly ModelToolCall[];
  /** A provider gets its own thoughts only: the router leaves out the others. */
  readonly thoughts?: readonly Thought[];
}

export type ModelPart = CacheMark &
  (
    | { readonly type: 'text'; readonly text: string }
    /** `url` is a data URL: a model gets no address to fetch. */
    | { readonly type: 'image'; readonly url: string; readonly detail?: 'auto' | 'low' | 'high' }
  );

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text; never empty. */
  readonly arguments: string;
  /** Absent where nobody knows. Providers do not get it. */
  readonly origin?: CallOrigin;
}

export interface ModelTool extends CacheMark {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
}

/**
 * One step of an answer. Text is a JSON string literal (`"Hel\n"`, with quotes), because upstreams send it so and streams are
 * written so: the hot path never decodes it. `JSON.parse` gives the text.
 */
export type ModelDelta =
  | { readonly type: 'text'; readonly json: string }
  /** The model's words when it declines to answer. */
  | { readonly type: 'refusal'; readonly json: string }
  | { readonly type: 'reasoning'; readonly json: string }
  /**
   * Ends the thought before with what its provider demands to see again; a thought of its own where none is open. With `callIndex` it belongs to
   * that call of the answer, which begins next.
   */
  | { readonly type: 'thought'; readonly opaque: OpaquePart; readonly callIndex?: number }
  | { readonly type: 'tool.start'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: 'tool.arguments'; readonly index: number; readonly json: string }
  /** Log probabilities of the text before. */
  | { readonly type: 'logprobs'; readonly tokens: readonly TokenLogprob[] }
  /** The service tier in which the provider answered. */
  | { readonly type: 'service.tier'; readonly tier: string }
  /** What of the request has no effect at the provider. */
  | { readonly type: 'warnings'; readonly warnings: readonly Warning[] }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  /** `stopSequence`: which of the texts in `stop` ended the answer, where the provider says. */
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly stopSequence?: string };

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input that the provider read from its cache. */
  readonly cachedTokens: number;
  /** Input that it wrote to its cache; absent: none. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens: number;
  /** Images that were made; absent: none. */
  readonly images?: number;
  /** Searches of a reranker; absent: none. */
  readonly searches?: number;
  /** Estimated by the service. */
  readonly isEstimated?: true;
}

/**
 * A model, behind any wire format. `stream` yields one array of deltas for each upstream read, so that deltas that arrived together
 * can leave together; exactly one `finish` ends a complete answer.
 *
 * @throws ModelError before the first array for a refused request, or in mid-stream; otherwise only the signal's reason.
 */
export interface Model {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelDelta[]>;
}

/** Texts, or lists of tokens, to be made into vectors. */
export type EmbeddingInput = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

export interface EmbeddingRequest {
  /** The upstream's name of the model. */
  readonly model: string;
  readonly input: EmbeddingInput;
  readonly dimensions?: number;
  readonly user?: string;
  /** As in ModelRequest. */
  readonly traceparent?: string;
}
export interface EmbeddingReply {
  /** One for each input, in order. */
  readonly vectors: readonly (readonly number[])[];
  /** As the provider counted them; undefined when it did not. */
  readonly tokens: number | undefined;
}

/** Makes vectors of texts. @throws ModelError; otherwise only the signal's reason. */
export type Embed = (request: EmbeddingRequest, signal: AbortSignal) => Promise<EmbeddingReply>;

/** A request to make images, or with `images` to change some. Absent members are left to the provider. */
export interface ImageRequest {
  /** The upstream's name of the model. */
  readonly model: string;
  readonly prompt: string;
  readonly n: number;
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly outputFormat?: string;
  /** Further options of the common format, in its names. */
  readonly more?: Readonly<Record<string, string | number>>;
  readonly images: readonly InputImage[];
  /** Where the image may be changed. */
  readonly mask?: InputImage;
  readonly idempotencyKey: string;
}
export interface InputImage {
  readonly filename: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
}
export interface ImageReply {
  /** Bytes, unchecked, or the address where they are. */
  readonly images: readonly (Buffer | { readonly url: string })[];
  /** Undefined when the provider counted no tokens. */
  readonly usage: TokenUsage | undefined;
}

/** What a provider's models for images take of a request beside the prompt and images to change. Absent: everything. */
export interface ImageBounds {
  /** Why the provider cannot make images with a model of this name; undefined when it can. */
  unfit(name: string): string | undefined;
  /** Why it cannot honour an option of a request; undefined when it can. `auto` leaves the choice to it. @param value  of a request or of a call. */
  refuses(option: string, value: unknown): string | undefined;
}

/** Makes images. Never repeated by itself: each request costs. @throws ModelError; otherwise only the signal's reason. */
export type MakeImages = (request: ImageRequest, signal: AbortSignal) => Promise<ImageReply>;

/** An upstream refused, failed or was cut off. `isRetryable`: the same request may be sent again, here or to a fallback. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ErrorCode;
  readonly isRetryable: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, isRetryable: boolean, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.isRetryable = isRetryable;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** The same of a provider with this id. Only the id is told: addresses and keys are the operator's. */
  of(provider: string): ModelError {
    const message = this.message.replace(/\bmodel provider\b(?! ")/, `model provider "${provider}"`);
    return new ModelError(this.code, message, this.isRetryable, this.retryAfterSeconds);
  }
}
