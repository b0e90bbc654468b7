// Raw SQL: Prisma has no access to transaction numbers.
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { SignalTopic } from './signals.ts';

export interface ChangeFeedOptions {
  /** A connection of its own, so that no other work delays a look. */
  readonly pool: Pool;
  /** A notification that a look sends, to check that notifications arrive; undefined: this look sends none. */
  readonly beat: () => readonly [channel: string, payload: string] | undefined;
  readonly onChange: (topic: SignalTopic, subject: string) => void;
  /** Called when too many changes came to announce one by one, or a look took so long that some may be deleted already. */
  readonly onReset: () => void;
  /** Called after each look that the database answered. */
  readonly onLook: () => void;
}

const lookEveryMs = 500;
/** Without an answer for this long, the feed is not fresh: changes may be late. */
const freshMs = 2_000;
const changesMax = 1_000;
const keptMinutes = 60;
const deleteEveryMs = 600_000;
/** Well before unread changes are deleted. */
const resetAfterMs = (keptMinutes / 2) * 60_000;

interface Look {
  readonly since: string;
  readonly changes: readonly (readonly [id: string, topic: SignalTopic, subject: string])[];
}

/**
 * Reads the rows of transactions that were not over at the last look, by the transaction's number: ids are given before the commit, so a row with a
 * lower id may appear later. The heartbeat needs no durability.
 */
const look = {
  text: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS since,
    coalesce((SELECT json_agg(json_build_array(c.id::text, c.topic, c.subject) ORDER BY c.id)
      FROM (SELECT id, topic, subject FROM cache_invalidations WHERE xid >= $1::xid8 ORDER BY id LIMIT ${changesMax}) c), '[]') AS changes,
    set_config('synchronous_commit', 'off', true), CASE WHEN $2::text <> '' THEN pg_notify($2, $3::text) END`,
};

/** Reads the changes that the triggers wrote, twice a second, whether or not notifications arrive. */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #closing = new AbortController();
  #since: string | undefined;
  /** Ids that the last look returned: the next look returns some of them again. */
  #known: ReadonlySet<string> = new Set();
  #lookedMs = Number.NEGATIVE_INFINITY;
  #deletedMs = performance.now();
  #looking: Promise<void> = Promise.resolve();

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /** Whether every change that is older than two seconds was announced. */
  get isFresh(): boolean {
    return performance.now() - this.#lookedMs < freshMs;
  }

  /** Changes are announced from now on. @throws Error when the database does not answer. */
  async start(): Promise<void> {
    await this.#look();
    this.#looking = this.#lookOn();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looking;
  }

  async #lookOn(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await wait(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      // The database does not answer: the next look finds the missed changes.
      await this.#look().catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { pool, beat, onChange, onReset, onLook } = this.#options;
    const [channel, payload] = beat() ?? ['', ''];
    const beganMs = performance.now();
    const isFirst = this.#since === undefined;
    // No transaction has a higher number, so the first look finds no changes.
    const { rows } = await pool.query<Look>({ ...look, values: [this.#since ?? '18446744073709551615', channel, payload] });
    const [row] = rows;
    if (row === undefined) return;
    const isLate = beganMs - this.#lookedMs > resetAfterMs;
    this.#since = row.since;
    this.#lookedMs = beganMs;
    if (!isFirst && (isLate || row.changes.length === changesMax)) onReset();
    else for (const [id, topic, subject] of row.changes) if (!this.#known.has(id)) onChange(topic, subject);
    this.#known = new Set(row.changes.map(([id]) => id));
    onLook();
    if (beganMs - this.#deletedMs > deleteEveryMs) await this.#deleteOld(beganMs);
  }

  async #deleteOld(nowMs: number): Promise<void> {
    this.#deletedMs = nowMs;
    await this.#options.pool.query(
      `DELETE FROM cache_invalidations WHERE "createdAt" < now() - interval '${keptMinutes} minutes'`,
    );
  }
}
