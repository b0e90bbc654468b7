import { DomainError, type ErrorCode, publicError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { missingModel } from '../../agents/models.ts';
import { createCompletion } from '../../conversations/completions/completions.ts';
import type { Deps } from '../../deps.ts';
import { requireInstallation } from './installation.ts';

/** How a model answered one short question. */
export interface ModelTest {
  /** Until the first part of its answer; null when there was none. */
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
  /** Undefined when it answered. */
  readonly error: { readonly code: ErrorCode; readonly message: string } | undefined;
}

const question = 'Answer with one word: are you there?';
/** Most tokens of the answer. Some providers refuse fewer. */
const answerTokensMax = 16;
const testTimeoutMs = 30_000;

/**
 * Asks a model one short question, as any completion: with the retries and fallbacks of the models file, in the ledger and in the run history of
 * the caller.
 *
 * @throws DomainError FORBIDDEN for all callers but those of level INSTANCE; MODEL_NOT_FOUND.
 *
 * Cost: one model call of at most 16 tokens and 30 seconds.
 */
export async function testModel(deps: Deps, caller: Caller, id: string, signal: AbortSignal): Promise<ModelTest> {
  requireInstallation(caller);
  const model = await deps.models.find(id);
  if (model === undefined) throw missingModel(id, 'id');
  const startedAtMs = performance.now();
  const outcome = (firstTokenMs: number | null, error: ModelTest['error']): ModelTest => {
    return { firstTokenMs, durationMs: Math.round(performance.now() - startedAtMs), error };
  };
  const late = AbortSignal.timeout(testTimeoutMs);
  const input = { model: model.id, messages: [{ role: 'user', content: question }], maxTokens: answerTokensMax };
  try {
    const run = await createCompletion(deps, caller, input, true, AbortSignal.any([signal, late]));
    return outcome(run.selection?.latencyHints.firstTokenMs ?? null, undefined);
  } catch (error) {
    if (signal.aborted) throw error;
    if (late.aborted) {
      return outcome(null, {
        code: 'UPSTREAM_TIMEOUT',
        message: `The model gave no whole answer within ${testTimeoutMs / 1_000} s`,
      });
    }
    const { code, message } = publicError(error);
    // A fault of ours is an error of the call: it is logged, and says nothing about the model.
    if (!(error instanceof DomainError) && code === 'SERVER_ERROR') throw error;
    return outcome(null, { code, message });
  }
}
