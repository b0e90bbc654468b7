// Raw SQL: Prisma has no access to transaction numbers.
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { openPool } from '../opening/pool.ts';
import type { SignalTopic } from './signals.ts';

export interface ChangeFeedOptions {
  /** Of the database. The feed has a connection of its own, so that no other work delays a look. */
  readonly pool: Pool;
  /** A notification that a look sends, to check that notifications arrive; undefined: this look sends none. */
  readonly beat: () => readonly [channel: string, payload: string] | undefined;
  /** @param isRepeat  the change was heard of a moment ago; see `noteHeard`. */
  readonly onChange: (topic: SignalTopic, subject: string, isRepeat: boolean) => void;
  /** Called when too many changes came to announce one by one, or a look took so long that some may be deleted already. */
  readonly onReset: () => void;
  /** Called after each look that the database answered. */
  readonly onLook: () => void;
}

const lookEveryMs = 500;
const answerTimeoutMs = 2_000;
/** A healthy database is read twice a second: a row that comes later is not taken for the one that was heard of. */
const heardMs = 2_000;
const heardMax = 10_000;
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
  /** The connection of the feed. */
  readonly pool: Pool;
  readonly #options: ChangeFeedOptions;
  readonly #closing = new AbortController();
  #since: string | undefined;
  /** Ids that the last look returned: the next look returns some of them again. */
  #known: ReadonlySet<string> = new Set();
  /** When a change was heard of last in another way. */
  readonly #heard = new BoundedMap<string, number>(heardMax);
  #lookedMs = Number.NEGATIVE_INFINITY;
  #deletedMs = performance.now();
  #looking: Promise<void> = Promise.resolve();

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    const own = {
      application_name: 'parley-signals',
      connectionTimeoutMillis: answerTimeoutMs,
      query_timeout: answerTimeoutMs,
      max: 1,
    };
    this.pool = openPool({ ...options.pool.options, ...own }, { onLost: () => undefined });
  }

  /** Whether every change that is older than two seconds was announced. */
  get isFresh(): boolean {
    return performance.now() - this.#lookedMs < freshMs;
  }

  /** A change that came faster in another way: its row, which the feed reads soon, repeats it. */
  noteHeard(topic: string, subject: string): void {
    this.#heard.set(`${topic} ${subject}`, performance.now());
  }

  /** What was heard of may not have been all. */
  forgetHeard(): void {
    this.#heard.clear();
  }

  /** Changes are announced from now on. @throws Error when the database does not answer. */
  async start(): Promise<void> {
    await this.#look();
    this.#looking = this.#lookOn();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looking;
    await this.pool.end();
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
    const { beat, onChange, onReset, onLook } = this.#options;
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
    if (!isFirst && (isLate || row.changes.length === changesMax)) onReset();
    else
      for (const [id, topic, subject] of row.changes)
        if (!this.#known.has(id)) onChange(topic, subject, this.#wasHeard(topic, subject));
    this.#known = new Set(row.changes.map(([id]) => id));
    onLook();
    if (beganMs - this.#deletedMs > deleteEveryMs) await this.#deleteOld(beganMs);
  }

  #wasHeard(topic: string, subject: string): boolean {
    return performance.now() - (this.#heard.get(`${topic} ${subject}`) ?? Number.NEGATIVE_INFINITY) < heardMs;
  }

  async #deleteOld(nowMs: number): Promise<void> {
    this.#deletedMs = nowMs;
    await this.pool.query(`DELETE FROM cache_invalidations WHERE "createdAt" < now() - interval '${keptMinutes} minutes'`);
  }
}
