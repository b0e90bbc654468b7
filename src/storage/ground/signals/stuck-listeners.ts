// Raw SQL: the state of PostgreSQL's sessions.
import type { Pool } from 'pg';

/** The queue holds 8 GB. A listener that reads is never behind by this part of it. */
const usageMax = 0.01;
export const listenerName = 'parley-signals-listener';

/**
 * A notification stays in the queue of the server until every listener has read it. A process that is stopped, or whose network is gone, does not
 * read: its session waits to write to it, the queue grows, and when it is full every NOTIFY fails. So when the queue grows, sessions of listeners of
 * Parley that waited to write at two looks in a row are ended; a process whose session was ended opens another.
 */
export class StuckListeners {
  readonly #pool: Pool;
  readonly #usageMax: number;
  #waiting: ReadonlySet<number> = new Set();
  /** The filled part of the queue at the last look, 0 to 1. */
  usage = 0;
  ended = 0;

  constructor(pool: Pool, queueUsageMax = usageMax) {
    this.#pool = pool;
    this.#usageMax = queueUsageMax;
  }

  /** Called every few seconds. */
  async look(): Promise<void> {
    const { rows } = await this.#pool.query<{ usage: number; waiting: number[] }>(
      `SELECT pg_notification_queue_usage() AS usage, coalesce((SELECT array_agg(pid) FROM pg_stat_activity
         WHERE application_name = $1 AND datname = current_database() AND wait_event = 'ClientWrite'), '{}') AS waiting`,
      [listenerName],
    );
    const { usage = 0, waiting = [] } = rows[0] ?? {};
    this.usage = usage;
    const stuck = usage > this.#usageMax ? waiting.filter((pid) => this.#waiting.has(pid)) : [];
    this.#waiting = new Set(waiting);
    if (stuck.length === 0) return;
    const { rowCount } = await this.#pool.query(
      `WITH stuck AS MATERIALIZED (
         SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1) AND application_name = $2 AND wait_event = 'ClientWrite')
       SELECT pg_terminate_backend(pid) FROM stuck`,
      [stuck, listenerName],
    );
    this.ended += rowCount ?? 0;
  }
}
