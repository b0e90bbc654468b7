import { DomainError } from '../../entities/errors.ts';
import { FairShare } from '../../lib/fair-share.ts';

/** Counts what runs in this process, keeps it below a bound of which every organization has its share, and lets a stop wait until nothing runs. */
export class ActiveRuns {
  private readonly share: FairShare;
  private readonly waiting: (() => void)[] = [];

  constructor(max: number) {
    this.share = new FairShare(max);
  }

  /** @throws DomainError OVERLOADED */
  requireRoom(): void {
    if (!this.share.isFull) return;
    throw new DomainError('OVERLOADED', 'Too many runs at one time; try again shortly', { retryAfterSeconds: 1 });
  }

  /**
   * For runs that outlive the request that began them: those are not among the requests that the door counts for each key.
   *
   * @throws DomainError OVERLOADED; RATE_LIMIT_EXCEEDED when the organization has more than its share of a busy process.
   */
  requireShare(orgId: string): void {
    this.requireRoom();
    if (this.share.refusal(orgId) === undefined) return;
    const message = 'This organization has more than its share of concurrent runs; let some end first';
    throw new DomainError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 1 });
  }

  enter(orgId: string): void {
    this.share.take(orgId);
  }

  leave(orgId: string): void {
    this.share.give(orgId);
    if (this.share.count > 0) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** For a run whose organization is known only now. */
  move(from: string, to: string): void {
    this.share.take(to);
    this.share.give(from);
  }

  /** Resolves once nothing runs, or after `graceMs`. */
  async idle(graceMs: number): Promise<void> {
    if (this.share.count === 0) return;
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
      setTimeout(resolve, graceMs);
    });
  }
}
