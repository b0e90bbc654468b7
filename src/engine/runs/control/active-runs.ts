import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { AdmissionPool } from '../../sharing/pools.ts';

/** Counts the runs of this process, limits the share of each tenant and organization, and lets a stop wait until no run is left. */
export class ActiveRuns {
  readonly #pool: AdmissionPool;
  readonly #waiting: (() => void)[] = [];

  constructor(pool: AdmissionPool) {
    this.#pool = pool;
  }

  /** @throws DomainError OVERLOADED; RATE_LIMIT_EXCEEDED when the organization or its tenant holds its share already. */
  requireShare(owner: ShareOwner): void {
    this.#pool.require(owner);
  }

  /** Takes a place even when none is free: a stored run that is due must be worked on. */
  enter(owner: ShareOwner): void {
    this.#pool.share.take(owner);
  }

  leave(owner: ShareOwner): void {
    const { share } = this.#pool;
    share.give(owner);
    if (share.count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** For a run whose organization becomes known after `enter`. */
  move(from: ShareOwner, to: ShareOwner): void {
    this.#pool.share.take(to);
    this.#pool.share.give(from);
  }

  /** Resolves once no run is left, or after `graceMs`. */
  async idle(graceMs: number): Promise<void> {
    if (this.#pool.share.count === 0) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      setTimeout(resolve, graceMs);
    });
  }
}
