import type { PoolClient, PoolConfig } from 'pg';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { jobsOwner, type OtherCallers, type PoolSharing, SharedPool } from '../opening/shared-pool.ts';

/** A job may begin when no caller had a connection for this long: longer than the pauses between the statements of most requests. */
const quietMs = 10;
/** Callers are gone, so that jobs may do more at once, when none asked for this long. */
const goneMs = 1_000;
/** While callers are there, jobs have the database for a third of the time. */
const waitPerHeldMs = 2;
const waitMs = { min: 4, max: 1_000 } as const;

/**
 * Connections to the embedded database, which does one thing at a time. Work of jobs begins when no caller has asked anything for a moment or, where
 * callers ask all the time, when the last work of a job is twice as long ago as it lasted: so a caller waits for the work of one job at most, and jobs go on.
 */
export class YieldingPool extends SharedPool {
  readonly #interactive = new Set<PoolClient>();
  /** Callers that wait for a connection. */
  #asked = 0;
  #quietSince = Number.NEGATIVE_INFINITY;
  /** Jobs wait for each other here. */
  #turns: Promise<void> = Promise.resolve();
  /** When each job got its connection. */
  readonly #held = new Map<PoolClient, number>();
  /** Until when the next job waits for callers. */
  #waitUntil = 0;
  /** Ends the wait of a job early: callers may be gone, or a job gave its connection back. */
  #look: (() => void) | undefined;

  readonly #others: OtherCallers | undefined;

  constructor(config: PoolConfig, sharing: PoolSharing) {
    super(config, sharing);
    this.#others = sharing.otherCallers;
    this.on('release', (_error, client) => this.#note(client));
    this.on('remove', (client) => this.#note(client));
  }

  /** Whether callers ask, or asked a moment ago: what a job does at once is then to be short. */
  get hasCallers(): boolean {
    return this.#areCallersThere || performance.now() - this.#quietSince < goneMs;
  }

  get #areCallersThere(): boolean {
    return this.#asked > 0 || this.#interactive.size > 0 || this.#others?.areAsking() === true;
  }

  override take(owner: ShareOwner): Promise<PoolClient> {
    return owner === jobsOwner ? this.#takeInQuiet(owner) : this.#takeNow(owner);
  }

  async #takeNow(owner: ShareOwner): Promise<PoolClient> {
    this.#asked += 1;
    this.#others?.note();
    try {
      const client = await super.take(owner);
      this.#interactive.add(client);
      return client;
    } finally {
      this.#asked -= 1;
      this.#quietSince = performance.now();
    }
  }

  async #takeInQuiet(owner: ShareOwner): Promise<PoolClient> {
    const turn = this.#turns.then(() => this.#untilTurn());
    this.#turns = turn;
    await turn;
    const client = await super.take(owner);
    this.#held.set(client, performance.now());
    return client;
  }

  async #untilTurn(): Promise<void> {
    for (;;) {
      const now = performance.now();
      const leftMs = Math.min(
        Math.max(0, this.#waitUntil - now),
        this.#areCallersThere ? waitMs.max : Math.max(0, this.#quietSince + quietMs - now),
      );
      if (leftMs <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#look = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #note(client: PoolClient): void {
    const now = performance.now();
    if (this.#interactive.delete(client)) this.#quietSince = now;
    const heldSince = this.#held.get(client);
    if (heldSince !== undefined) {
      this.#held.delete(client);
      const wait = Math.min(Math.max((now - heldSince) * waitPerHeldMs, waitMs.min), waitMs.max);
      this.#waitUntil = Math.max(this.#waitUntil, now + wait);
    }
    this.#look?.();
  }
}
