import type { IdKind } from '../../../entities/ground/ids.ts';
import { ModelError } from '../../models/port.ts';
import type { Charge, ChargedEmbeddings, EmbeddingCall } from '../../plan/plan.ts';
import { asSpan, type Tracing, toTraceparent } from '../../tracing/tracing.ts';
import type { UsageLedger } from '../../usage/ledger.ts';
import type { UsageLimits } from '../../usage/limits.ts';
import { type RecorderDeps, RunRecorder } from '../record/recorder.ts';
import { type UnstoredEnd, type UnstoredFrame, unstoredRow } from './unstored-row.ts';

export type RecordedRun = Omit<UnstoredFrame, 'id'>;

interface RecordedWorkDeps extends RecorderDeps {
  readonly limits: Pick<UsageLimits, 'reserve'>;
  readonly ledger: Pick<UsageLedger, 'note' | 'noteRun'>;
  /** Undefined while tracing is off. */
  readonly tracing?: Tracing | undefined;
  newId(kind: IdKind): string;
}

/** Work that is a run without a log, such as a search, and the embeddings that are a part of it. */
export class RecordedWork {
  readonly #deps: RecordedWorkDeps;
  /** Of the work under way, by the ids of its runs. */
  readonly #recorders = new Map<string, RunRecorder>();

  constructor(deps: RecordedWorkDeps) {
    this.#deps = deps;
  }

  /** As RunEngine.recorded says. */
  async run<T>({ kind, charge, modelId }: RecordedRun, work: (charge: Charge, recorder: RunRecorder) => Promise<T>): Promise<T> {
    const id = charge.runId ?? this.#deps.newId('run');
    const recorder = new RunRecorder(this.#deps);
    this.#recorders.set(id, recorder);
    let end: UnstoredEnd = 'done';
    try {
      return await work({ ...charge, runId: id }, recorder);
    } catch (failure) {
      end = { failure };
      throw failure;
    } finally {
      this.#recorders.delete(id);
      this.#deps.ledger.noteRun(unstoredRow({ id, kind, charge, modelId }, recorder, end));
    }
  }

  /** As RunEngine.embed says. */
  async embed(charge: Charge, { model, request, inputTokens }: EmbeddingCall, signal: AbortSignal): Promise<ChargedEmbeddings> {
    const { limits, ledger, tracing } = this.#deps;
    const recorder = charge.runId === null ? undefined : this.#recorders.get(charge.runId);
    const hold = await limits.reserve({ charge, kind: 'data', modelId: model.id }, () => ({ input: inputTokens, outputMax: 0 }));
    const call = { modelId: model.id, startedMs: performance.now(), firstTokenMs: null };
    try {
      const ask = (traceparent?: string) =>
        model.embed({ ...request, model: model.name, ...(traceparent === undefined ? {} : { traceparent }) }, signal);
      const { vectors, tokens = inputTokens } = await (tracing === undefined ? ask() : traced(tracing, model.id, ask));
      const usage = { inputTokens: tokens, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
      ledger.note(charge, 'embedding', model.id, usage);
      recorder?.modelCall({ ...call, usage, errorCode: null });
      return { vectors, tokens };
    } catch (error) {
      recorder?.modelCall({ ...call, usage: undefined, errorCode: error instanceof ModelError ? error.code : 'SERVER_ERROR' });
      throw error;
    } finally {
      hold.release();
    }
  }

  /** As RunEngine.search says. */
  async search<T>(charge: Charge, modelId: string, search: () => Promise<T>): Promise<T> {
    const { limits, ledger, models } = this.#deps;
    const hold = await limits.reserve({ charge, kind: 'data', modelId }, () => ({ input: 0, outputMax: 0, searches: 1 }));
    try {
      const result = await search();
      const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, searches: 1 };
      if (models.priceOf(modelId) !== null) ledger.note(charge, 'embedding', modelId, usage);
      return result;
    } finally {
      hold.release();
    }
  }
}

function traced<T extends { readonly tokens: number | undefined }>(
  tracing: Tracing,
  modelId: string,
  ask: (traceparent: string) => Promise<T>,
): Promise<T> {
  const attributes = { 'gen_ai.operation.name': 'embeddings', 'gen_ai.request.model': modelId };
  const span = tracing.begin(`embeddings ${modelId}`, 'client', attributes);
  return asSpan(tracing, span, async () => {
    const reply = await ask(toTraceparent(span));
    if (reply.tokens !== undefined) span.setAttribute('gen_ai.usage.input_tokens', reply.tokens);
    return reply;
  });
}
