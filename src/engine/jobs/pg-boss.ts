import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Job, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { Tally } from '../../lib/tally.ts';
import type { EnqueueOptions, JobName, JobPayloads, Jobs, WorkOptions } from './jobs.ts';

/** A connection, a pool or a client inside a transaction. */
interface Queryable {
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PgBossJobsOptions {
  readonly pool: Queryable;
  /** False where this process only queues jobs: `ROLE=web`. */
  readonly isWorker: boolean;
  /** True when no other process can be on this database: whatever counts as running at the start was cut off by a crash. */
  readonly isOnlyProcess: boolean;
  readonly logger: Logger;
}

interface Worker {
  readonly name: JobName;
  readonly options: WorkOptions;
  run(payload: unknown, signal: AbortSignal): Promise<void>;
}

const schema = 'pgboss';
/** A worker that dies is noticed after this; pg-boss takes no less than 10. */
const heartbeatSeconds = 10;
/** How soon a job is seen that was queued by another process, or is to be tried again. */
const lookEveryMs = 1_000;
/** Every look wakes the workers of the queues where something waits, so each of them looks by itself only in case. */
const pollingSeconds = 30;
/** Jobs at work have this long to end, however little of the grace is left. */
const jobsEndMsMin = 1_000;
const noJob = '00000000-0000-0000-0000-000000000000';
/** Repeated tasks look for what was left over. The start of the process comes before that, and its first requests. */
const repeatAfterMs = 250;
/** A transaction that queued a job has mostly committed by then. */
const commitDelayMs = 20;

/** Jobs by pg-boss, in a schema of its own next to our tables. */
export function createPgBossJobs(options: PgBossJobsOptions): Jobs {
  return new PgBossJobs(options);
}

class PgBossJobs implements Jobs {
  readonly counts = { completed: new Tally<JobName>(), failed: new Tally<JobName>(), running: 0 };
  readonly #options: PgBossJobsOptions;
  readonly #boss: PgBoss;
  readonly #workers: Worker[] = [];
  /** As many of each queue as may work at one time. */
  readonly #workerIds = new Map<JobName, readonly string[]>();
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
    { key, startAfterMs, tx }: EnqueueOptions = {},
  ): Promise<void> {
    // The queue lets one job of a key wait; a job without one gets a key that nobody else has.
    await this.#boss.send(name, payload, {
      singletonKey: key ?? crypto.randomUUID(),
      ...(startAfterMs === undefined ? {} : { startAfter: new Date(Date.now() + startAfterMs) }),
      ...(tx === undefined ? {} : { db: asDatabase(tx) }),
    });
    if (tx === undefined) this.#wake(name);
    else setTimeout(() => this.#wake(name), commitDelayMs).unref();
  }

  work<Name extends JobName>(
    name: Name,
    options: WorkOptions,
    handler: (payload: JobPayloads[Name], signal: AbortSignal) => Promise<void>,
  ): void {
    this.#workers.push({ name, options, run: (payload, signal) => handler(payload as JobPayloads[Name], signal) });
  }

  every(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void {
    this.#repeated.push({ name, everyMs, task });
  }

  async start(): Promise<void> {
    await this.#boss.start();
    await this.#prepareQueues();
    if (!this.#options.isWorker) return;
    if (this.#options.isOnlyProcess) await this.#requeueInterrupted();
    for (const worker of this.#workers) {
      const ids = Array.from({ length: worker.options.concurrency }, () => this.#startWorker(worker));
      this.#workerIds.set(worker.name, await Promise.all(ids));
    }
    this.#track(this.#repeat('look for jobs', lookEveryMs, () => this.#look()));
    for (const { name, everyMs, task } of this.#repeated) this.#track(this.#repeat(name, everyMs, task));
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const jobsMs = Math.max(graceMs, jobsEndMsMin);
    // pg-boss would look only every half second whether they are done.
    const working = [...this.#workerIds.keys()].map((name) => this.#boss.offWork(name, { wait: true }));
    await Promise.race([Promise.allSettled([...working, ...this.#running]), wait(jobsMs, undefined, { ref: false })]);
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
      // A start that finds its queues as they should be has nothing to ask: pg-boss remembers all that were there when it started.
      if (queue !== undefined && isDeepStrictEqual({ ...queue, ...settings }, queue)) continue;
      if (queue === undefined) await this.#boss.createQueue(name, { ...settings, policy: 'short' });
      else await this.#boss.updateQueue(name, settings);
      await this.#remember(name);
    }
  }

  /**
   * Any look into a queue makes pg-boss remember it. Else the first `send` would read it by the pool, also from within a transaction: the
   * embedded database, which runs one transaction at a time, would then wait for itself.
   */
  async #remember(name: JobName): Promise<void> {
    await this.#boss.getJobById(name, noJob);
  }

  /** Jobs that a crash cut off wait for nothing: there is no other process that could still hold them. */
  async #requeueInterrupted(): Promise<void> {
    await this.#options.pool.query(
      `UPDATE ${schema}.job SET state = 'retry', start_after = now(), started_on = NULL WHERE state = 'active'`,
    );
  }

  /** One statement for all queues: each worker asking for its own every second was a fiftieth of a core, for nothing. */
  async #look(): Promise<void> {
    const { rows } = await this.#options.pool.query(
      `SELECT DISTINCT name FROM ${schema}.job WHERE state < 'active' AND NOT blocked AND start_after <= now()`,
    );
    for (const { name } of rows as { name: JobName }[]) this.#wake(name);
  }

  #startWorker({ name, run }: Worker): Promise<string> {
    return this.#boss.work<unknown>(
      name,
      { pollingIntervalSeconds: pollingSeconds, burstWhenBatchFull: true, batchSize: 1 },
      async (jobs: Job<unknown>[]) => {
        for (const job of jobs) {
          this.counts.running += 1;
          try {
            await run(job.data, job.signal);
            this.counts.completed.add(name);
          } catch (error) {
            this.counts.failed.add(name);
            this.#options.logger.warn({ err: error, job: name, jobId: job.id, attempt: job.retryCount }, 'a job failed');
            throw error;
          } finally {
            this.counts.running -= 1;
          }
        }
      },
    );
  }

  #wake(name: JobName): void {
    if (this.#stopping.signal.aborted) return;
    for (const id of this.#workerIds.get(name) ?? []) this.#boss.notifyWorker(id);
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
        await task(signal);
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
