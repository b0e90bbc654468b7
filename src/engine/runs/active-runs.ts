import { DomainError } from '../../entities/errors.ts';

/** Counts what runs in this process, keeps it below a bound, and lets a stop wait until nothing runs. */
export class ActiveRuns {
  private readonly max: number;
  private count = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(max: number) {
    this.max = max;
  }

  /** @throws DomainError OVERLOADED */
  requireRoom(): void {
    if (this.count < this.max) return;
    throw new DomainError('OVERLOADED', 'Too many runs at one time; try again shortly', { retryAfterSeconds: 1 });
  }

  enter(): void {
    this.count += 1;
  }

  leave(): void {
    this.count -= 1;
    if (this.count > 0) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Resolves once nothing runs, or after `graceMs`. */
  async idle(graceMs: number): Promise<void> {
    if (this.count === 0) return;
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
      setTimeout(resolve, graceMs);
    });
  }
}
