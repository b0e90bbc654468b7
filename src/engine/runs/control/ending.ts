import type {
  IncompleteReason,
  RunError,
  RunEventBody,
  RunItem,
  RunSnapshot,
  SelectionMetadata,
} from '../../../entities/conversations/runs/event.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { type FinishReason, ModelError } from '../../models/port.ts';
import type { Selection } from '../../models/route-stream.ts';
import { RunStop } from './stop.ts';

type Ending = Extract<RunEventBody, { readonly type: 'response.completed' | 'response.failed' | 'response.incomplete' }>;

/**
 * The terminal event, from what stopped the run and why the model finished.
 *
 * @param isBounded  whether the model asked for more than the run may do.
 */
export function terminalBody(base: RunSnapshot, failure: unknown, finish: FinishReason | undefined, isBounded: boolean): Ending {
  if (isCancel(failure)) return { type: 'response.incomplete', run: { ...base, status: 'cancelled' } };
  const reason = findIncompleteReason(failure, finish, isBounded);
  if (reason !== undefined) {
    return { type: 'response.incomplete', run: { ...base, status: 'incomplete', incompleteReason: reason } };
  }
  if (failure !== undefined) return { type: 'response.failed', run: { ...base, status: 'failed', error: toRunError(failure) } };
  return { type: 'response.completed', run: base };
}

function findIncompleteReason(
  failure: unknown,
  finish: FinishReason | undefined,
  isBounded: boolean,
): IncompleteReason | undefined {
  if (failure instanceof RunStop && (failure.kind === 'paused' || failure.kind === 'timeout')) return failure.kind;
  if (failure !== undefined) return undefined;
  if (isBounded) return 'max_tool_calls';
  if (finish === 'length') return 'max_output_tokens';
  return finish === 'content_filter' ? 'content_filter' : undefined;
}

export function snapshot(runId: string, status: RunSnapshot['status'], output: readonly RunItem[]): RunSnapshot {
  return { runId, status, incompleteReason: null, error: null, usage: null, selection: null, output };
}

/**
 * Why a run was stopped; the error itself when nothing stopped it. A run that is cancelled while it pauses is cancelled. A shutdown lets it pause.
 */
export function toFailure(error: unknown, signal: AbortSignal, pause: AbortSignal | undefined): unknown {
  const { reason } = signal;
  const maySayPaused = !signal.aborted || (reason instanceof RunStop && reason.kind === 'shutdown');
  if (pause?.aborted === true && maySayPaused) return pause.reason;
  return signal.aborted ? reason : error;
}

const stopCodes = {
  cancelled: 'CLIENT_CLOSED_REQUEST',
  timeout: 'UPSTREAM_TIMEOUT',
  shutdown: 'OVERLOADED',
  lost: 'SERVER_ERROR',
  paused: 'SERVER_ERROR',
  revoked: 'INVALID_API_KEY',
} as const;

export function isCancel(failure: unknown): boolean {
  return failure instanceof RunStop
    ? failure.kind === 'cancelled'
    : failure instanceof DOMException && failure.name === 'AbortError';
}

/** What an API answers for a run that failed before its first token. */
export function toDomainError(failure: unknown): unknown {
  if (failure instanceof RunStop) {
    return new DomainError(stopCodes[failure.kind], failure.message, failure.kind === 'shutdown' ? { retryAfterSeconds: 1 } : {});
  }
  if (!(failure instanceof ModelError)) return failure;
  const { retryAfterSeconds } = failure;
  return new DomainError(failure.code, failure.message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}

function toRunError(failure: unknown): RunError {
  const domainError = toDomainError(failure);
  if (domainError instanceof DomainError) return { code: domainError.code, message: domainError.message };
  return { code: 'SERVER_ERROR', message: 'Something went wrong on our side while this run was worked on' };
}

export function toSelectionMetadata(selection: Selection | undefined): SelectionMetadata | null {
  if (selection === undefined) return null;
  const { provider, model, fallbackChain, queueMs, firstTokenMs } = selection;
  return { provider, model, fallbackChain: [...fallbackChain], latencyHints: { queueMs, firstTokenMs } };
}
