import { ModelError } from '../../models/port.ts';
import type { Charge, ChargedEmbeddings, EmbeddingCall } from '../../plan/plan.ts';
import { asSpan, type Tracing, toTraceparent } from '../../tracing/tracing.ts';
import type { UsageLedger } from '../../usage/ledger.ts';
import type { UsageLimits } from '../../usage/limits.ts';
import type { RunRecorder } from './recorder.ts';

interface EmbeddingParts {
  readonly limits: Pick<UsageLimits, 'reserve'>;
  readonly ledger: Pick<UsageLedger, 'note'>;
  /** Undefined while tracing is off. */
  readonly tracing?: Tracing | undefined;
  /** Of the run that the embeddings are a step of. */
  readonly recorder?: RunRecorder | undefined;
}

/** As RunEngine.embed says. */
export async function chargedEmbeddings(
  { limits, ledger, tracing, recorder }: EmbeddingParts,
  charge: Charge,
  { model, request, inputTokens }: EmbeddingCall,
  signal: AbortSignal,
): Promise<ChargedEmbeddings> {
  const hold = await limits.reserve(charge.orgId, 'data', () => ({ input: inputTokens, outputMax: 0 }));
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
