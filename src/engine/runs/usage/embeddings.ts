import type { Charge, ChargedEmbeddings, EmbeddingCall } from '../run-engine.ts';
import type { UsageLedger } from './ledger.ts';
import type { UsageLimits } from './limits.ts';

/** As RunEngine.embed says. */
export async function chargedEmbeddings(
  { limits, ledger }: { readonly limits: UsageLimits; readonly ledger: Pick<UsageLedger, 'note'> },
  charge: Charge,
  { model, request, inputTokens }: EmbeddingCall,
  signal: AbortSignal,
): Promise<ChargedEmbeddings> {
  const hold = await limits.reserve(charge.orgId, 'data', () => ({ input: inputTokens, outputMax: 0 }));
  try {
    const { vectors, tokens = inputTokens } = await model.embed({ ...request, model: model.name }, signal);
    ledger.note(charge, 'embedding', model.id, { inputTokens: tokens, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 });
    return { vectors, tokens };
  } finally {
    hold.release();
  }
}
