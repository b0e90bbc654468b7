// Raw SQL: Prisma has no access to transaction numbers.
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { openPool } from '../opening/pool.ts';
import type { SignalHub } from './hub.ts';
import type { SignalTopic } from './topics.ts';

export interface LookOptions {
  /** A notification that a look sends, to check that notifications arrive; undefined: this look sends none. */
  beat(): readonly [channel: string, payload: string] | undefined;
  /** Called after each look that the database answered. */
  onLook(): void;
}

const lookEveryMs = 500;
const answerTimeoutMs = 2_000;
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

/** Reads the changes that the triggers wrote, twice a second, whether or not signals arrive, and gives them to the hub. */
export class ChangeFeed {
  /** The connection of the feed, of its own, so that no other work delays a look. */
  readonly pool: Pool;
  readonly #hub: SignalHub;
  readonly #closing = new AbortController();
  #since: string | undefined;
  /** Ids that the last look returned: the next look returns some of them again. */
  #known: ReadonlySet<string> = new Set();
  #lookedMs = Number.NEGATIVE_INFINITY;
  #deletedMs = performance.now();
  #looking: Promise<void> = Promise.resolve();

  /** @param pool  of the database. */
  constructor(pool: Pool, hub: SignalHub) {
    this.#hub = hub;
    const own = {
      application_name: 'parley-signals',
      connectionTimeoutMillis: answerTimeoutMs,
      query_timeout: answerTimeoutMs,
      max: 1,
    };
    this.pool = openPool({ ...pool.options, ...own }, { onLost: () => undefined });
  }

  /** Whether every change that is older than two seconds was announced. */
  get isFresh(): boolean {
    return performance.now() - this.#lookedMs < freshMs;
  }

  /** Changes are announced from now on. @throws Error when the database does not answer. */
  async start(options: LookOptions): Promise<void> {
    await this.#look(options);
    this.#looking = this.#lookOn(options);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looking;
    await this.pool.end();
  }

  async #lookOn(options: LookOptions): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await wait(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      // The database does not answer: the next look finds the missed changes.
      await this.#look(options).catch(() => undefined);
    }
  }

  /** Resets the hub when too many changes came to announce one by one, or when some may be deleted already. */
  async #look({ beat, onLook }: LookOptions): Promise<void> {
    const [channel, payload] = beat() ?? ['', ''];
    const beganMs = performance.now();
    const isFirst = this.#since === undefined;
    // No transaction has a higher number, so the first look finds no changes.
    const { rows } = await this.pool.query<Look>({ ...look, values: [this.#since ?? '18446744073709551615', channel, payload] });
    const [row] = rows;
    if (row === undefined) return;
    const isLate = beganMs - this.#lookedMs > resetAfterMs;
    this.#since = row.since;
    this.#lookedMs = beganMs;
    if (!isFirst && (isLate || row.changes.length === changesMax)) this.#hub.reset();
    else for (const [id, topic, subject] of row.changes) if (!this.#known.has(id)) this.#hub.hearChange(topic, subject);
    this.#known = new Set(row.changes.map(([id]) => id));
    onLook();
    if (beganMs - this.#deletedMs > deleteEveryMs) await this.#deleteOld(beganMs);
  }

  async #deleteOld(nowMs: number): Promise<void> {
    this.#deletedMs = nowMs;
    await this.pool.query(`DELETE FROM cache_invalidations WHERE "createdAt" < now() - interval '${keptMinutes} minutes'`);
  }
}
