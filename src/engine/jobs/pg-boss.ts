import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { keyOfOwner, type ShareOwner } from '../../lib/fair-share.ts';
import { Pace } from '../../lib/pace.ts';
import { RecentValue } from '../../lib/recent-value.ts';
import { Tally } from '../../lib/tally.ts';
import type { Pools } from '../sharing/pools.ts';
import { JobLine, ownerOf, type Worker } from './job-line.ts';
import type { EnqueueOptions, JobHandler, JobName, JobPayloads, Jobs, WorkOptions } from './jobs.ts';

/** A connection, a pool, or the client of a transaction. */
interface Queryable {
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PgBossJobsOptions {
  readonly pool: Queryable;
  /** False where this process only queues jobs: `ROLE=web`. */
  readonly isWorker: boolean;
  /** True when no other process can use this database: jobs that count as running at the start were cut off by a crash. */
  readonly isOnlyProcess: boolean;
  readonly pools: Pools;
  /** Runs the work of jobs with the statement limits of jobs. */
  readonly inBackground: <T>(work: () => T) => T;
  readonly logger: Logger;
}

const schema = 'pgboss';
/** A dead worker is noticed after this time; pg-boss accepts no less than 10. */
const heartbeatSeconds = 10;
/** How soon this process sees jobs of other processes, and retries. */
const lookEveryMs = 1_000;
/** SQL condition of a job that may start. */
const isDue = `state < 'active' AND NOT blocked AND start_after <= now()`;
/** Running jobs get at least this long to end. */
const jobsEndMsMin = 1_000;
/** Anybody may ask for the metrics: how often that reaches the database is bounded. */
const waitingCountsMs = 5_000;
const noJob = '00000000-0000-0000-0000-000000000000';
/** Delays the first run of repeated tasks, so that the start and the first requests come first. */
const repeatAfterMs = 250;
/** By then a transaction that queued a job has usually committed. */
const commitDelayMs = 20;

/** Jobs by pg-boss, in a schema of its own beside our tables. */
export function createPgBossJobs(options: PgBossJobsOptions): Jobs {
  return new PgBossJobs(options);
}

class PgBossJobs implements Jobs {
  readonly counts = {
    completed: new Tally<JobName>(),
    failed: new Tally<JobName>(),
    running: 0,
    waiting: () => this.#waitingCounts.read(),
  };
  readonly #waitingCounts = new RecentValue(waitingCountsMs, () => this.#countWaiting());
  readonly #options: PgBossJobsOptions;
  readonly #boss: PgBoss;
  readonly #workers: Worker[] = [];
  readonly #lines = new Map<JobName, JobLine>();
  readonly #looking = new Pace(0);
  readonly #repeated: {
    readonly name: string;
    readonly everyMs: number;
    readonly task: (signal: AbortSignal) => Promise<void>;
  }[] = [];
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(options: PgBossJobsOptions) {
    this.#options = options;
    this.#boss = new PgBoss({
      db: asDatabase(options.pool),
      schema,
      schedule: false,
      superviseIntervalSeconds: 10,
      monitorIntervalSeconds: 10,
      monitorVacuum: false,
      reindex: !options.isOnlyProcess,
    });
    this.#boss.on('error', (error) => options.logger.error({ err: error }, 'the job queue failed'));
  }

  async enqueue<Name extends JobName>(
    name: Name,
    payload: JobPayloads[Name],
    { owner, key, startAfterMs, tx }: EnqueueOptions,
  ): Promise<void> {
    // The queue lets one job of a key wait; a job without a key gets a unique one.
    await this.#boss.send(name, payload, {
      singletonKey: key ?? crypto.randomUUID(),
      group: { id: keyOfOwner(owner) },
      ...(startAfterMs === undefined ? {} : { startAfter: new Date(Date.now() + startAfterMs) }),
      ...(tx === undefined ? {} : { db: asDatabase(tx) }),
    });
    if (tx === undefined) this.#wake(name, owner);
    else setTimeout(() => this.#wake(name, owner), commitDelayMs).unref();
  }

  work<Name extends JobName>(name: Name, options: WorkOptions, handler: JobHandler<Name>): void {
    this.#workers.push({
      name,
      options,
      run: (payload, signal, owner) => this.#options.inBackground(() => handler(payload as JobPayloads[Name], signal, owner)),
    });
  }

  every(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void {
    this.#repeated.push({ name, everyMs, task });
  }

  underWay(): readonly string[] {
    return [...this.#lines.values()].flatMap((line) => line.underWay());
  }

  async start(): Promise<void> {
    await this.#boss.start();
    await this.#prepareQueues();
    if (!this.#options.isWorker) return;
    if (this.#options.isOnlyProcess) await this.#requeueInterrupted();
    for (const worker of this.#workers) this.#lines.set(worker.name, this.#lineOf(worker));
    this.#track(this.#repeat('look for jobs', lookEveryMs, () => this.#look()));
    for (const { name, everyMs, task } of this.#repeated) this.#track(this.#repeat(name, everyMs, task));
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const jobsMs = Math.max(graceMs, jobsEndMsMin);
    const lines = [...this.#lines.values()];
    const ended = Promise.allSettled([...lines.map((line) => line.stop()), ...this.#running]);
    await Promise.race([ended, wait(jobsMs, undefined, { ref: false })]);
    for (const line of lines) await line.giveBack();
    await this.#boss.stop({ graceful: false, close: false });
  }

  async #prepareQueues(): Promise<void> {
    const existing = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
    for (const { name, options } of this.#workers) {
      const settings = {
        retryLimit: options.retriesMax,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: 60,
        expireInSeconds: Math.max(1, Math.ceil(options.timeoutMs / 1000)),
        heartbeatSeconds,
        deleteAfterSeconds: 3_600,
      };
      const queue = existing.get(name);
      // Nothing to change: pg-boss has read all existing queues when it started.
      if (queue !== undefined && isDeepStrictEqual({ ...queue, ...settings }, queue)) continue;
      if (queue === undefined) await this.#boss.createQueue(name, { ...settings, policy: 'short' });
      else await this.#boss.updateQueue(name, settings);
      await this.#remember(name);
    }
  }

  /**
   * Reads the queue once, so that pg-boss has it in memory. Otherwise the first `send` reads it through the pool, also inside a
   * transaction: the embedded database runs one transaction at a time and would wait for itself.
   */
  async #remember(name: JobName): Promise<void> {
    await this.#boss.getJobById(name, noJob);
  }

  /** Queues jobs again that a crash cut off: no other process can hold them. */
  async #requeueInterrupted(): Promise<void> {
    await this.#options.pool.query(
      `UPDATE ${schema}.job SET state = 'retry', start_after = now(), started_on = NULL WHERE state = 'active'`,
    );
  }

  /** One statement for all queues: one for each every second took 2 % of a core. */
  async #look(): Promise<void> {
    if (!this.#looking.isDue()) return;
    const { rows } = await this.#looking.run(() =>
      this.#options.pool.query(`SELECT DISTINCT name, group_id FROM ${schema}.job WHERE ${isDue}`),
    );
    for (const { name, group_id } of rows as { name: JobName; group_id: string | null }[]) this.#wake(name, ownerOf(group_id));
  }

  #lineOf(worker: Worker): JobLine {
    const { pools, logger } = this.#options;
    return new JobLine({
      boss: this.#boss,
      worker,
      turns: pools.turns(`jobs ${worker.name}`, worker.options.concurrency),
      counts: this.counts,
      logger,
      readWaiting: () => this.#waitingIn(worker.name),
    });
  }

  async #waitingIn(name: JobName): Promise<readonly ShareOwner[]> {
    const { rows } = await this.#options.pool.query(`SELECT DISTINCT group_id FROM ${schema}.job WHERE name = $1 AND ${isDue}`, [
      name,
    ]);
    return (rows as { group_id: string | null }[]).map(({ group_id }) => ownerOf(group_id));
  }

  async #countWaiting(): Promise<ReadonlyMap<JobName, number>> {
    const { rows } = await this.#options.pool.query(
      `SELECT name, count(*)::int AS jobs FROM ${schema}.job WHERE state < 'active' GROUP BY name`,
    );
    const counts = new Map(this.#workers.map(({ name }) => [name, 0]));
    for (const { name, jobs } of rows as { name: JobName; jobs: number }[]) if (counts.has(name)) counts.set(name, jobs);
    return counts;
  }

  #wake(name: JobName, owner?: ShareOwner): void {
    if (!this.#stopping.signal.aborted) this.#lines.get(name)?.wake(owner);
  }

  #track(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  async #repeat(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    await wait(Math.min(everyMs, repeatAfterMs), undefined, { signal, ref: false }).catch(() => {});
    while (!signal.aborted) {
      try {
        await this.#options.inBackground(() => task(signal));
      } catch (error) {
        if (!signal.aborted) this.#options.logger.warn({ err: error, task: name }, 'a repeated task failed');
      }
      await wait(everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}

function asDatabase(target: Queryable) {
  return { executeSql: (text: string, values?: unknown[]) => target.query(text, values) };
}
