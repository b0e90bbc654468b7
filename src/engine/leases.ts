import { performance } from 'node:perf_hooks';
import { type Lease, type LeaseKind, LeaseLostError, type Leases } from '../storage/ground/leases.ts';

export { type Lease, LeaseLostError };

/** What a process still does while it holds a lease. */
export interface LeaseHold {
  /** Fires when the lease is lost: nothing that is written afterwards counts. */
  readonly lost: AbortSignal;
  /** Ends the renewals; the lease itself is ended by the holder's last write. */
  stop(): void;
}

/** How often in its time a lease is looked at that must be certain: a process that was stopped and goes on soon sees that its lease is over. */
const checksPerLease = 30;

/**
 * Renews a lease three times in its time until `stop`. A renewal that the database does not answer is tried again with the next.
 *
 * @param asked  `LeaseClock.now()` before the lease was taken: the lease also counts as lost when it is not certain that it still runs, because the process
 *   was stopped or the database does not answer.
 */
export function holdLease(
  leases: Pick<Leases, 'renew'>,
  kind: LeaseKind,
  lease: Lease,
  leaseMs: number,
  requestMoment?: Moment,
): LeaseHold {
  const lossController = new AbortController();
  const clock = new LeaseClock(leaseMs);
  if (requestMoment !== undefined) clock.renewed(requestMoment);
  const check = () => {
    if (!clock.isFresh) lossController.abort(new LeaseLostError(`the lease of ${lease.id} is over`));
  };
  const renewals = setInterval(() => {
    const renewing = LeaseClock.now();
    leases.renew(kind, lease, leaseMs).then(
      () => clock.renewed(renewing),
      (error: unknown) => {
        if (error instanceof LeaseLostError) lossController.abort(error);
      },
    );
  }, leaseMs / 3);
  const checks = requestMoment === undefined ? undefined : setInterval(check, leaseMs / checksPerLease);
  const stop = () => {
    clearInterval(renewals);
    clearInterval(checks);
  };
  return { lost: lossController.signal, stop };
}

/** Whether an error only says that another process goes on with the work. */
export function isLost(error: unknown, hold: LeaseHold): boolean {
  return error instanceof LeaseLostError || hold.lost.aborted;
}

/**
 * Tells how long a lease certainly runs. It asks two clocks: the monotonic one, and the wall clock, which goes on while the machine
 * sleeps. A lease counts from before its statement was sent, so the database never ends it earlier.
 */
export class LeaseClock {
  readonly #leaseMs: number;
  #from: Moment | undefined;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** @param asked  `LeaseClock.now()` before the statement was sent. */
  renewed(requestMoment: Moment): void {
    if (this.#from === undefined || requestMoment.steadyMs > this.#from.steadyMs) this.#from = requestMoment;
  }

  get isFresh(): boolean {
    if (this.#from === undefined) return false;
    const { steadyMs, dayMs } = LeaseClock.now();
    return Math.max(steadyMs - this.#from.steadyMs, dayMs - this.#from.dayMs) < this.#leaseMs;
  }

  static now(): Moment {
    return { steadyMs: performance.now(), dayMs: Date.now() };
  }
}

export interface Moment {
  readonly steadyMs: number;
  readonly dayMs: number;
}
