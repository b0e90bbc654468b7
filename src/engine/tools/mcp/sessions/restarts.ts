import { DomainError } from '../../../../entities/ground/errors.ts';

/** A program that ran longer than this before it crashed counts as sound. */
const soundMs = 60_000;
const firstWaitMs = 500;
const waitMaxMs = 60_000;

interface Crashes {
  readonly count: number;
  readonly notBeforeMs: number;
}

/** How soon a program that crashed is started again: after half a second, then twice as long each time, a minute at most. */
export class Restarts {
  readonly #crashes = new Map<string, Crashes>();
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @throws DomainError OVERLOADED while the program must wait. */
  require(name: string): void {
    const leftMs = (this.#crashes.get(name)?.notBeforeMs ?? 0) - this.#now().getTime();
    if (leftMs <= 0) return;
    const seconds = Math.ceil(leftMs / 1_000);
    throw new DomainError(
      'OVERLOADED',
      `The MCP server ${name} ended unexpectedly; it is started again in ${seconds} s at the earliest`,
    );
  }

  crashed(name: string, startedAt: Date): void {
    const nowMs = this.#now().getTime();
    const before = nowMs - startedAt.getTime() > soundMs ? 0 : (this.#crashes.get(name)?.count ?? 0);
    const waitMs = Math.min(waitMaxMs, firstWaitMs * 2 ** before);
    this.#crashes.set(name, { count: before + 1, notBeforeMs: nowMs + waitMs });
  }
}
