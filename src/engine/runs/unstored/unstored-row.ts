import type { RunSnapshot, RunStatus } from '../../../entities/conversations/runs/event.ts';
import type { RunKind } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { UnstoredRun } from '../../../storage/ground/ledger/unstored.ts';
import type { Charge } from '../../plan/plan.ts';
import { isCancel, toDomainError } from '../control/ending.ts';
import { awaitedSteps } from '../record/log-steps.ts';
import type { RunRecorder } from '../record/recorder.ts';
import { sumUsage, toRunFacts } from '../record/run-facts.ts';

/** What is known of a run that is not stored, besides what it did and when. */
export interface UnstoredFrame {
  readonly id: string;
  readonly kind: RunKind;
  readonly charge: Charge;
  /** '' for none. */
  readonly modelId: string;
}

/** How a run ended: with its last event, with an error, because its reader left, or well without any event. */
export type UnstoredEnd = { readonly run: RunSnapshot } | { readonly failure: unknown } | 'left' | 'done';

/** The row of a run that is not stored. It holds no content: neither questions, answers and arguments, nor what a provider quotes of them. */
export function unstoredRow(
  { id, kind, charge, modelId }: UnstoredFrame,
  { startedAtMs, durationMs, steps }: Pick<RunRecorder, 'startedAtMs' | 'durationMs' | 'steps'>,
  end: UnstoredEnd,
): UnstoredRun {
  const { orgId, userId, keyId, agentId, agentVersion = null } = charge;
  const pendingCalls = typeof end === 'object' && 'run' in end ? awaitedSteps(end.run.output) : [];
  return {
    ...{ id, kind, startedAt: new Date(startedAtMs), endedAt: new Date(startedAtMs + durationMs) },
    ...{ orgId, userId, keyId: keyId ?? '', agentId, agentVersion, modelId, durationMs, ...toOutcome(end) },
    ...toRunFacts([...steps, ...pendingCalls], startedAtMs),
    usage: sumUsage(steps),
  };
}

type Outcome = Pick<UnstoredRun, 'status' | 'incompleteReason' | 'errorCode' | 'errorMessage'>;

function toOutcome(end: UnstoredEnd): Outcome {
  if (end === 'left' || end === 'done') return { status: end === 'left' ? 'cancelled' : 'completed' };
  if ('failure' in end) return toFailedOutcome(end.failure);
  const { status, incompleteReason, error } = end.run;
  return {
    status,
    ...(incompleteReason === null ? {} : { incompleteReason }),
    ...(error === null ? {} : { errorCode: error.code, errorMessage: plainMessage(error.message) }),
  };
}

function toFailedOutcome(failure: unknown): Outcome {
  if (isCancel(failure)) return { status: 'cancelled' };
  const domainError = toDomainError(failure);
  if (!(domainError instanceof DomainError))
    return { status: 'failed', errorCode: 'SERVER_ERROR', errorMessage: 'Something went wrong on our side' };
  const status: RunStatus = domainError.code === 'CLIENT_CLOSED_REQUEST' ? 'cancelled' : 'failed';
  return status === 'cancelled'
    ? { status }
    : { status, errorCode: domainError.code, errorMessage: plainMessage(domainError.message) };
}

const messageCharsMax = 200;

/** A message without what it may quote: that stands behind its first colon. */
function plainMessage(message: string): string {
  const [plain = ''] = message.split(':');
  return storableText(plain.slice(0, messageCharsMax));
}
