import type { LanguageModelV4 } from '@ai-sdk/provider';
import { malformed } from '../openai/errors.ts';
import { type Model, type ModelDelta, ModelError, type ModelRequest } from '../port.ts';
import { modelError } from './errors.ts';
import { PartReader } from './part-reader.ts';
import { callOptions, type FittedRequest } from './prompt.ts';
import { unservedOptions } from './warnings.ts';

export interface Timeouts {
  readonly firstByteTimeoutMs: number;
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** A model of a provider, and what the provider needs a request to be changed to. */
export interface AiSdkModel {
  readonly model: LanguageModelV4;
  readonly adapt?: (request: ModelRequest) => FittedRequest;
  /** Whether an error of the adapter, which gives it no type, is a fault of the provider's answer. */
  readonly isUnreadable?: (error: unknown) => boolean;
}

/**
 * Adapts any AI SDK provider to the port. Slower than the lean client; serves every wire format but the common one.
 *
 * @param provider  its id, which errors name.
 */
export function createAiSdkModel(
  provider: string,
  languageModel: (name: string) => AiSdkModel | Promise<AiSdkModel>,
  timeouts: Timeouts,
): Model {
  return {
    async *stream(request, signal) {
      signal.throwIfAborted();
      const watch = new Watch(signal, timeouts);
      let isUnreadable: AiSdkModel['isUnreadable'];
      try {
        const languageModelOfName = await languageModel(request.model);
        const { model, adapt } = languageModelOfName;
        isUnreadable = languageModelOfName.isUnreadable;
        const fit = adapt?.(request) ?? { request, warnings: [] };
        const { stream } = await model.doStream(callOptions(fit, watch.signal));
        const reader = new PartReader([...unservedOptions(request), ...fit.warnings]);
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
        throw modelError(isUnreadable?.(failure) === true ? malformed('it cannot be read') : failure, provider);
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
