import { DomainError } from '../entities/errors.ts';

/**
 * Admission of runs: so many at one time in this process, and none of the callers may crowd out the others. The last fifth of the
 * limit is for keys that have less than an equal share. A refusal costs next to nothing.
 */
export class RunAdmission {
  readonly #activeMax: number;
  readonly #activeByKey = new Map<string, number>();
  #active = 0;

  constructor(activeMax: number) {
    this.#activeMax = activeMax;
  }

  get activeCount(): number {
    return this.#active;
  }

  /**
   * Counts one run of a key in; `leave` counts it out.
   *
   * @throws DomainError OVERLOADED when the process is full, RATE_LIMIT_EXCEEDED when this key has more than its share of a busy process.
   */
  enter(keyId: string): void {
    const own = this.#activeByKey.get(keyId) ?? 0;
    if (this.#active >= this.#activeMax) {
      throw new DomainError('OVERLOADED', 'The service is at its limit of concurrent runs; try again shortly', {
        retryAfterSeconds: 1,
      });
    }
    if (own > 0 && this.#active >= this.#activeMax * 0.8) {
      const keys = this.#activeByKey.size + 1;
      if (own >= Math.ceil(this.#activeMax / keys)) {
        throw new DomainError('RATE_LIMIT_EXCEEDED', 'This key has more than its share of concurrent runs; let some end first', {
          retryAfterSeconds: 1,
        });
      }
    }
    this.#active += 1;
    this.#activeByKey.set(keyId, own + 1);
  }

  leave(keyId: string): void {
    const own = this.#activeByKey.get(keyId);
    if (own === undefined) return;
    this.#active -= 1;
    if (own === 1) this.#activeByKey.delete(keyId);
    else this.#activeByKey.set(keyId, own - 1);
  }
}
