import { DomainError } from '../../ground/errors.ts';
import type { Warning } from '../../ground/warning.ts';
import type { Citation } from '../../knowledge/citation.ts';
import type { RunEvent, RunItem, RunSnapshot } from './event.ts';

/** What a run answered, read from its output. */

/** The text of all its messages. */
export function readAnswerText(output: readonly RunItem[]): string {
  return messagesIn(output)
    .map(({ text }) => text)
    .join('');
}

/** The words with which the model declined to answer; undefined when it did not. */
export function findRefusal(output: readonly RunItem[]): string | undefined {
  const refusals = messagesIn(output).filter(({ isRefusal }) => isRefusal === true);
  return refusals.length === 0 ? undefined : readAnswerText(refusals);
}

/** The thinking of the model; undefined when it reported none. */
export function readReasoning(output: readonly RunItem[]): string | undefined {
  const thoughts = output.flatMap((item) => (item.type === 'reasoning' && item.text !== '' ? [item.text] : []));
  return thoughts.length === 0 ? undefined : thoughts.join('\n');
}

/** The passages that its messages cite, with places in the text of all of them. */
export function listCitations(output: readonly RunItem[]): readonly Citation[] {
  let offset = 0;
  return messagesIn(output).flatMap(({ text, citations }) => {
    const start = offset;
    offset += text.length;
    return citations.map((citation) => ({
      ...citation,
      answerStart: citation.answerStart + start,
      answerEnd: citation.answerEnd + start,
    }));
  });
}

function messagesIn(output: readonly RunItem[]): readonly Extract<RunItem, { readonly type: 'message' }>[] {
  return output.filter((item) => item.type === 'message');
}

const none: readonly Warning[] = [];

/** The warnings in a batch: the first event of a run has them, and its last. */
export function warningsIn(events: readonly RunEvent[]): readonly Warning[] {
  let warnings = none;
  for (const event of events) {
    if ('run' in event && event.run.warnings !== undefined) warnings = [...warnings, ...event.run.warnings];
  }
  return warnings;
}

/** Why a run has no answer; undefined when it has one, which may be cut. */
export function findFailure({ status, error }: RunSnapshot): DomainError | undefined {
  if (status === 'failed') return new DomainError(error?.code ?? 'SERVER_ERROR', error?.message ?? 'The run failed');
  if (status === 'cancelled') return new DomainError('CLIENT_CLOSED_REQUEST', error?.message ?? 'The run was cancelled');
  return undefined;
}

/** @throws DomainError for a run that failed or was cancelled. */
export function requireAnswer(run: RunSnapshot): RunSnapshot {
  const failure = findFailure(run);
  if (failure !== undefined) throw failure;
  return run;
}
