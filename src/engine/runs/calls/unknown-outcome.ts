import { DomainError } from '../../../entities/ground/errors.ts';
import type { CallError } from './open-call.ts';

/** The error of a call that may have been carried out, and whose process died before its outcome was stored. */
export const unknownOutcome: CallError = {
  code: 'tool_outcome_unknown',
  message: 'The service stopped during this call: whether it was carried out is not known',
};

/** Why the run of such a call fails. */
export function makeUnknownOutcome(name: string): DomainError {
  return new DomainError(
    'TOOL_OUTCOME_UNKNOWN',
    `The service stopped while ${quoted(name)} was called: the outcome is not known`,
  );
}

/** The note about such a call in the transcript. */
export function unknownOutcomeText(name: string): string {
  return `The service stopped while it called the tool ${quoted(name)}. Whether the call was carried out is not known; it was not repeated.`;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
