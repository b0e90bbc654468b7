import type { ErrorCode } from '../../entities/errors.ts';
import type { TokenLogprob } from '../../entities/runs/event.ts';

/** A request to a model, whatever the provider. Messages are in the common chat format's order. */
export interface ModelRequest {
  /** The upstream's own name of the model, without the provider prefix. */
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly parallelToolCalls?: boolean;
  readonly parameters: ModelParameters;
  readonly responseFormat?: ResponseFormat;
  /** True when the upstream may answer in one piece; the client still yields the same deltas. */
  readonly isStreaming: boolean;
}

/** Sampling, size, and what the caller tells the provider; absent members are left to the provider. */
export interface ModelParameters {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxTokens?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** Asks how likely each token was, with so many of the likeliest in its place (0 to 20). Wires that cannot tell leave it out. */
  readonly logprobs?: number;
  /** How urgently the provider is to answer, where it has such classes. Wires that know none leave it out. */
  readonly serviceTier?: Exclude<ServiceTier, 'auto'>;
  /** How much is said, where the model can be told. */
  readonly verbosity?: 'low' | 'medium' | 'high';
  readonly reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  /** Names of the caller's own making, for its end users and its caches; never an id of ours. */
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
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict?: boolean;
    };

export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ModelPart[] }
  | { readonly role: 'assistant'; readonly content: string | null; readonly toolCalls?: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  /** `url` is a data URL: no model is given an address to fetch. */
  | { readonly type: 'image'; readonly url: string; readonly detail?: 'auto' | 'low' | 'high' };

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text; never empty. */
  readonly arguments: string;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
}

/**
 * One step of an answer. Text travels as a JSON string literal (`"Hel\n"`, quotes included), because upstreams send it so and
 * streams are written so: the hot path never decodes it. `JSON.parse` gives the text.
 */
export type ModelDelta =
  | { readonly type: 'text'; readonly json: string }
  /** What a model says in place of an answer that it will not give. */
  | { readonly type: 'refusal'; readonly json: string }
  | { readonly type: 'reasoning'; readonly json: string }
  | { readonly type: 'tool.start'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: 'tool.arguments'; readonly index: number; readonly json: string }
  /** How likely the tokens of the text before it were. */
  | { readonly type: 'logprobs'; readonly tokens: readonly TokenLogprob[] }
  /** The class in which the provider says it answered. */
  | { readonly type: 'service.tier'; readonly tier: string }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'finish'; readonly reason: FinishReason };

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}

/**
 * A model behind whatever wire. `stream` yields the deltas of one upstream read as one array, so that what arrived together can
 * leave together; exactly one `finish` ends a good answer.
 *
 * @throws ModelError before the first array for a refused request, or in mid-stream; never anything else but the signal's reason.
 */
export interface Model {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelDelta[]>;
}

/** An upstream that refused, failed or was cut. `isRetryable` is about another try of the same request, here or at a fallback. */
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
}
