import { APICallError, type LanguageModelV4, type LanguageModelV4StreamPart, type LanguageModelV4Usage } from '@ai-sdk/provider';
import { malformed, refusal, refusalInStream } from '../openai/errors.ts';
import { type FinishReason, type Model, type ModelDelta, ModelError, type TokenUsage } from '../port.ts';
import { callOptions } from './prompt.ts';

export interface Timeouts {
  readonly firstByteTimeoutMs: number;
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/**
 * Adapts any AI SDK provider to the port. Slower than the lean client; serves every wire format but the common one.
 *
 * @param provider  its id, which errors name.
 */
export function createAiSdkModel(
  provider: string,
  languageModel: (name: string) => LanguageModelV4 | Promise<LanguageModelV4>,
  timeouts: Timeouts,
): Model {
  return {
    async *stream(request, signal) {
      signal.throwIfAborted();
      const watch = new Watch(signal, timeouts);
      try {
        const model = await languageModel(request.model);
        const { stream } = await model.doStream(callOptions(request, watch.signal));
        const reader = new PartReader();
        for await (const part of stream) {
          watch.isAnswered = true;
          const out: ModelDelta[] = [];
          reader.read(part, out);
          if (out.length > 0) {
            watch.heard();
            yield out;
          }
          if (reader.isOver) return;
        }
        throw malformed('it ended without a finish reason');
      } catch (error) {
        signal.throwIfAborted();
        const failure = watch.hasTimedOut ? new ModelError('UPSTREAM_TIMEOUT', 'The model provider fell silent', false) : error;
        throw modelError(failure).of(provider);
      } finally {
        watch.end();
      }
    },
  };
}

/** Aborts the call when the caller aborts, when the provider is silent for too long, or when the reader leaves early. */
class Watch {
  hasTimedOut = false;
  /** Whether anything came, also what holds no token. */
  isAnswered = false;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #idleTimeoutMs: number;
  #heardAt = 0;
  readonly #onAbort = () => this.#controller.abort(this.#caller.reason);

  constructor(caller: AbortSignal, { firstByteTimeoutMs, firstTokenTimeoutMs, idleTimeoutMs }: Timeouts) {
    this.#caller = caller;
    this.#idleTimeoutMs = idleTimeoutMs;
    caller.addEventListener('abort', this.#onAbort, { once: true });
    const startedAt = performance.now();
    const check = () => {
      const now = performance.now();
      const firstMs = this.isAnswered ? firstTokenTimeoutMs : Math.min(firstByteTimeoutMs, firstTokenTimeoutMs);
      const isLate = this.#heardAt === 0 ? now - startedAt > firstMs : now - this.#heardAt > this.#idleTimeoutMs;
      if (!isLate) return;
      this.hasTimedOut = true;
      this.#controller.abort(new Error('timed out'));
    };
    this.#timer = setInterval(
      check,
      Math.max(20, Math.min(1_000, firstByteTimeoutMs / 4, firstTokenTimeoutMs / 4, idleTimeoutMs / 4)),
    ).unref();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.#heardAt = performance.now();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#caller.removeEventListener('abort', this.#onAbort);
    this.#controller.abort();
  }
}

class PartReader {
  isOver = false;
  readonly #calls = new Map<string, { readonly index: number; hasArguments: boolean }>();

  read(part: LanguageModelV4StreamPart, out: ModelDelta[]): void {
    switch (part.type) {
      case 'text-delta':
        if (part.delta !== '') out.push({ type: 'text', json: JSON.stringify(part.delta) });
        break;
      case 'reasoning-delta':
        if (part.delta !== '') out.push({ type: 'reasoning', json: JSON.stringify(part.delta) });
        break;
      case 'tool-input-start':
        if (part.providerExecuted !== true) this.#begin(part.id, part.toolName, out);
        break;
      case 'tool-input-delta':
        this.#addArguments(part.id, part.delta, out);
        break;
      case 'tool-call':
        if (part.providerExecuted === true) break;
        // Some providers send a whole call at once, without its deltas.
        if (!this.#calls.has(part.toolCallId)) this.#begin(part.toolCallId, part.toolName, out);
        if (this.#calls.get(part.toolCallId)?.hasArguments === false) {
          this.#addArguments(part.toolCallId, part.input.trim() === '' ? '{}' : part.input, out);
        }
        break;
      case 'error':
        throw part.error;
      case 'finish':
        this.isOver = true;
        if (part.finishReason.unified === 'error' || part.finishReason.unified === 'interrupted') {
          throw malformed('it broke off');
        }
        out.push({ type: 'usage', usage: usageOf(part.usage) });
        out.push({ type: 'finish', reason: finishOf(part.finishReason.unified, this.#calls.size > 0) });
        break;
      default:
        break;
    }
  }

  #begin(id: string, name: string, out: ModelDelta[]): void {
    const index = this.#calls.size;
    this.#calls.set(id, { index, hasArguments: false });
    out.push({ type: 'tool.start', index, id, name });
  }

  #addArguments(id: string, piece: string, out: ModelDelta[]): void {
    const call = this.#calls.get(id);
    if (call === undefined || piece === '') return;
    call.hasArguments = true;
    out.push({ type: 'tool.arguments', index: call.index, json: JSON.stringify(piece) });
  }
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenUsage {
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    cachedTokens: inputTokens.cacheRead ?? 0,
    reasoningTokens: outputTokens.reasoning ?? 0,
  };
}

function finishOf(unified: string, hasCalls: boolean): FinishReason {
  if (unified === 'length') return 'length';
  if (unified === 'content-filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}

/** The error of a call of an AI SDK model in the terms of the port. */
export function modelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  if (APICallError.isInstance(error)) {
    if (error.statusCode !== undefined && error.statusCode >= 400) {
      return refusal(error.statusCode, error.responseBody ?? '', error.responseHeaders?.['retry-after']);
    }
    if (error.statusCode === undefined) return new ModelError('UPSTREAM_ERROR', 'The model provider cannot be reached', true);
    return malformed('it cannot be read');
  }
  if (typeof error === 'object' && error !== null && !(error instanceof Error)) return refusalInStream(error);
  return new ModelError('UPSTREAM_ERROR', 'The connection to the model provider broke off', true);
}
