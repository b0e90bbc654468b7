import { Counter } from '../../lib/flow/counter.ts';
import { Timing, Timings } from '../../lib/flow/timing.ts';
import type { TokenUsage } from '../models/port.ts';
import type { ModelRouter } from '../models/router.ts';

/** In place of a model that is in no list and no setting: callers may name any, and each name would be a series of its own. */
const otherModel = 'other';

const callBoundsSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const firstTokenBoundsSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const retrievalBoundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Whether a model call gave an answer, failed, or was stopped by its caller. */
export type CallOutcome = 'ok' | 'error' | 'cut';

/** What model calls and searches of this process took since it started. Models are `provider/name`, or `other`. */
export class RunTimings {
  readonly #models: Pick<ModelRouter, 'isConfigured'>;
  readonly calls: Readonly<Record<CallOutcome, Counter>> = { ok: new Counter(), error: new Counter(), cut: new Counter() };
  readonly tokens = { input: new Counter(), output: new Counter() };
  /** From the request to the end of the answer, retries and fallbacks included. */
  readonly callSeconds = new Timings(callBoundsSeconds);
  /** From the request to the first part of the answer. */
  readonly firstTokenSeconds = new Timings(firstTokenBoundsSeconds);
  readonly retrievalSeconds = new Timing(retrievalBoundsSeconds);
  readonly retrievalBoundsSeconds = retrievalBoundsSeconds;

  constructor(models: Pick<ModelRouter, 'isConfigured'>) {
    this.#models = models;
  }

  /** @param startedMs  `performance.now()` when the request was sent. */
  modelCall(modelId: string, outcome: CallOutcome, firstTokenMs: number | null, startedMs: number): void {
    const model = this.#shown(modelId);
    this.calls[outcome].add(model);
    this.callSeconds.add(model, (performance.now() - startedMs) / 1_000);
    if (firstTokenMs !== null) this.firstTokenSeconds.add(model, firstTokenMs / 1_000);
  }

  /** @param usage  what is charged. */
  spent(modelId: string, { inputTokens, outputTokens }: Pick<TokenUsage, 'inputTokens' | 'outputTokens'>): void {
    const model = this.#shown(modelId);
    this.tokens.input.add(model, inputTokens);
    this.tokens.output.add(model, outputTokens);
  }

  /** Measures a search for passages, whether it succeeds or fails. */
  async retrieval<T>(search: Promise<T>): Promise<T> {
    const startedMs = performance.now();
    try {
      return await search;
    } finally {
      this.retrievalSeconds.add((performance.now() - startedMs) / 1_000);
    }
  }

  #shown(modelId: string): string {
    return this.#models.isConfigured(modelId) ? modelId : otherModel;
  }
}
