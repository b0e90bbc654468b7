import { DomainError } from '../../entities/ground/errors.ts';
import { Counter } from '../../lib/flow/counter.ts';
import { FairQueue } from '../../lib/flow/fair-queue.ts';
import { FairShare, type ShareOptions, type ShareOwner, type ShareRefusal } from '../../lib/flow/fair-share.ts';

/** The shares of every pool: see `FairShare`. */
export interface SharePercents {
  readonly tenantPercent: number;
  readonly organizationPercent: number;
}

export interface AdmissionOptions {
  /** Places in all. */
  readonly max: number;
  /** The places in words, for an error message: `concurrent runs`. */
  readonly what: string;
  /** Most places of one organization, even while others are free; absent: no limit. */
  readonly organizationMax?: number;
  /** Most places of one person in it; absent: no limit. */
  readonly personMax?: number;
}

/** `Retry-After` of a refusal. */
const retryAfterSeconds = 1;

/**
 * Every pool of this process that callers of several tenants share. Only this class makes a `FairShare` or a `FairQueue`, so a test
 * finds every pool here and shows that no tenant can take all of it.
 */
export class Pools {
  /** Refused requests by pool. */
  readonly refused = new Counter<string>();
  readonly #percents: SharePercents;
  readonly #shares = new Map<string, FairShare>();
  readonly #queues = new Map<string, FairQueue>();

  constructor(percents: SharePercents) {
    this.#percents = percents;
  }

  get names(): readonly string[] {
    return [...this.#shares.keys()];
  }

  /** How many wait for a place, by pool; only of pools whose callers wait in memory. */
  *waiting(): Generator<readonly [string, number]> {
    for (const [name, queue] of this.#queues) yield [name, queue.waitingCount];
  }

  /** How many places of a pool are taken. */
  countOf(name: string): number {
    return this.#shares.get(name)?.count ?? 0;
  }

  /** A pool that refuses callers when it has no place for them. */
  admission(name: string, { what, ...bounds }: AdmissionOptions): AdmissionPool {
    const share = this.#added(name, new FairShare({ ...this.#percents, ...bounds }));
    return new AdmissionPool(name, what, share, this.refused);
  }

  /**
   * A pool whose callers wait for their turn. One place beyond `max` is for a tenant that has none: one tenant alone works with
   * `max` places, and the next tenant does not wait.
   *
   * @param bounds  of one organization or tenant, besides its share.
   */
  queue(name: string, max: number, bounds: Pick<ShareOptions, 'organizationMax' | 'contendedMax'> = {}): FairQueue {
    const queue = new FairQueue({ ...this.#queueOptions(max), ...bounds });
    this.#added(name, queue.share);
    this.#queues.set(name, queue);
    return queue;
  }

  #queueOptions(max: number): ShareOptions {
    return { max: max + 1, tenantPercent: this.#percents.tenantPercent };
  }

  #added(name: string, share: FairShare): FairShare {
    if (this.#shares.has(name)) throw new Error(`there are two pools ${name}`);
    this.#shares.set(name, share);
    return share;
  }
}

/** Places that are taken at once or refused. */
export class AdmissionPool {
  readonly share: FairShare;
  readonly #name: string;
  readonly #what: string;
  readonly #refused: Counter<string>;

  constructor(name: string, what: string, share: FairShare, refusals: Counter<string>) {
    this.share = share;
    this.#name = name;
    this.#what = what;
    this.#refused = refusals;
  }

  /** Counts a refusal. @returns undefined while the owner may take a place. */
  refusal(owner: ShareOwner): ShareRefusal | undefined {
    const refusal = this.share.refusal(owner);
    if (refusal !== undefined) this.#refused.add(this.#name);
    return refusal;
  }

  /** The error of a refusal: 503 when all places are taken, 429 when the person, organization or tenant holds its share. */
  errorOf(refusal: ShareRefusal): DomainError {
    const what = this.#what;
    switch (refusal) {
      case 'full':
        return new DomainError('OVERLOADED', `The service has as many ${what} as it may; try again shortly`, {
          retryAfterSeconds,
        });
      case 'tenant':
        return new DomainError(
          'RATE_LIMIT_EXCEEDED',
          `The organizations of this tenant have their share of ${what}; let some end first`,
          { retryAfterSeconds },
        );
      case 'person':
        return new DomainError('RATE_LIMIT_EXCEEDED', `One person has as many ${what} here as it may; let some end first`, {
          retryAfterSeconds,
        });
      case 'organization':
        return new DomainError('RATE_LIMIT_EXCEEDED', `This organization has its share of ${what}; let some end first`, {
          retryAfterSeconds,
        });
    }
  }

  /** @throws DomainError like `errorOf`, when the owner may not take a place. */
  require(owner: ShareOwner): void {
    const refusal = this.refusal(owner);
    if (refusal !== undefined) throw this.errorOf(refusal);
  }

  /** Takes a place. @throws DomainError like `require`. */
  enter(owner: ShareOwner): void {
    this.require(owner);
    this.share.take(owner);
  }

  /** Gives a place back. */
  leave(owner: ShareOwner): void {
    this.share.give(owner);
  }
}
