import type { RunHold } from '../hold.ts';
import type { LeaseClock } from './lease-clock.ts';

/** The hold of a stored run, by its lease. `extend` throws when another process has the run, or when the run was told to stop. */
export function leaseHold(of: {
  readonly written: RunHold['written'];
  readonly clock: LeaseClock;
  extend(): Promise<void>;
}): RunHold {
  return {
    written: of.written,
    isFresh: () => of.clock.isFresh,
    renew: () => (of.clock.isFresh ? Promise.resolve() : of.extend()),
  };
}
