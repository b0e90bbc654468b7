import { DomainError } from '../entities/ground/errors.ts';
import type { FairQueue } from '../lib/flow/fair-queue.ts';
import type { ShareOwner } from '../lib/flow/fair-share.ts';

export interface RequestTurnOptions {
  /** Requests of one organization that may wait. */
  readonly waitingMax: number;
  /** A request that has waited this long is refused. */
  readonly timeoutMs: number;
}

const retryAfterSeconds = 1;

/**
 * The turns of requests without a run. Such a request mostly uses the database, which has few connections, or only one. Without turns, the
 * first request of one organization would wait for the many of another.
 */
export class RequestTurns {
  readonly #queue: FairQueue;
  readonly #options: RequestTurnOptions;

  constructor(queue: FairQueue, options: RequestTurnOptions) {
    this.#queue = queue;
    this.#options = options;
  }

  /**
   * Runs `work` when it is the owner's turn; at once while there is a place for it.
   *
   * @param signal  called when the request has to wait; the signal fires when the client leaves.
   * @throws DomainError RATE_LIMIT_EXCEEDED when too many requests of the organization wait, OVERLOADED when this one waited too long; the
   *   signal's reason.
   */
  async run<T>(owner: ShareOwner, signal: () => AbortSignal, work: () => Promise<T>): Promise<T> {
    if (!this.#queue.tryTake(owner)) await this.#wait(owner, signal());
    try {
      return await work();
    } finally {
      this.#queue.give(owner);
    }
  }

  async #wait(owner: ShareOwner, clientLeft: AbortSignal): Promise<void> {
    const { waitingMax, timeoutMs } = this.#options;
    if (this.#queue.waitingCountOf(owner) >= waitingMax) {
      const message = `This organization has ${waitingMax} requests waiting for their turn; let some end first`;
      throw new DomainError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });
    }
    const timeout = AbortSignal.timeout(timeoutMs);
    await this.#queue.take(owner, AbortSignal.any([clientLeft, timeout])).catch((error: unknown) => {
      if (!timeout.aborted || clientLeft.aborted) throw error;
      const message = `The service is busy: the request waited ${timeoutMs} ms for its turn; try again shortly`;
      throw new DomainError('OVERLOADED', message, { retryAfterSeconds });
    });
  }
}
