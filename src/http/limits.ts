import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError, type PublicError } from '../entities/errors.ts';
import { FairShare } from '../lib/fair-share.ts';
import { type MadeError, makeError } from './errors.ts';
import { sendJson } from './reply.ts';

const refusals = {
  full: () =>
    new DomainError('OVERLOADED', 'The service is at its limit of concurrent runs; try again shortly', { retryAfterSeconds: 1 }),
  share: () =>
    new DomainError('RATE_LIMIT_EXCEEDED', 'This key has more than its share of concurrent runs; let some end first', {
      retryAfterSeconds: 1,
    }),
} as const;

/** Refusals that were made before anybody is refused. */
export type MadeRefusals = Readonly<Record<keyof typeof refusals, MadeError>>;

/** @param form  how the callers of a row have their errors, where that is another way. */
export function makeRefusals(form?: (shown: PublicError) => PublicError): MadeRefusals {
  return { full: makeError(refusals.full(), form), share: makeError(refusals.share(), form) };
}

/** Admission of requests that hold a run: so many at one time in this process, and no key may crowd out the others. */
export class RunAdmission {
  readonly #share: FairShare;

  constructor(activeMax: number) {
    this.#share = new FairShare(activeMax);
  }

  get activeCount(): number {
    return this.#share.count;
  }

  /**
   * Answers a request as `enter` would have it refused, before anything of its body is read. What may have been answered before, which the
   * header idempotency-key asks for, is looked up all the same.
   *
   * @returns false while there is a place for this key.
   */
  isRefused(req: IncomingMessage, res: ServerResponse, keyId: string, requestId: string, made: MadeRefusals): boolean {
    const refusal = this.#share.refusal(keyId);
    if (refusal === undefined || req.headers['idempotency-key'] !== undefined) return false;
    const { status, text, headers } = made[refusal];
    sendJson(res, status, text, requestId, headers);
    return true;
  }

  /**
   * Counts one run of a key in; `leave` counts it out.
   *
   * @throws DomainError OVERLOADED when the process is full, RATE_LIMIT_EXCEEDED when this key has more than its share of a busy process.
   */
  enter(keyId: string): void {
    const refusal = this.#share.refusal(keyId);
    if (refusal !== undefined) throw refusals[refusal]();
    this.#share.take(keyId);
  }

  leave(keyId: string): void {
    this.#share.give(keyId);
  }
}
