import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Pool } from 'pg';
import { fromPrisma, type Job, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { Counter } from '../../lib/flow/counter.ts';
import { RecentValue } from '../../lib/recent-value.ts';
import type { Database } from '../../storage/ground/database.ts';
import { isAhead } from '../../storage/ground/sql/clock.ts';
import type {
  EnqueueOptions,
  JobHandler,
  JobName,
  JobPayloads,
  JobQueue,
  NewJob,
  QueueOptions,
  RunningJob,
  WorkOptions,
} from './job.ts';
import { type JobData, JobRows } from './job-rows.ts';
import { queues } from './queues.ts';
import { RepeatedTasks } from './repeated-tasks.ts';

export interface JobsOptions {
  readonly db: Database;
  /** False where this process only queues jobs: `ROLE=web`. */
  readonly isWorker: boolean;
  /** The first run of repeated tasks comes so long after the start. */
  readonly firstAfterMs: number;
  readonly logger: Logger;
}

/** The worker of one queue. */
interface QueueWorker {
  readonly name: JobName;
  readonly options: WorkOptions & QueueOptions;
  run(payload: unknown, signal: AbortSignal, job: RunningJob): Promise<void>;
}

const schema = 'pgboss';
/** A dead worker is noticed after this time; pg-boss accepts no less than 10. */
const heartbeatSeconds = 10;
/**
 * How soon this process looks for jobs of other processes, and for retries: one statement for all queues, which wakes workers. Jobs that this process
 * queues wake a worker at once, so the one process of an embedded database looks seldom.
 */
const lookForJobsMs = { onlyProcess: 5_000, oneOfSeveral: 2_000 };
/** How soon a worker that nothing wakes looks for itself. There may be some forty workers: together they would ask fifteen times as often. */
const workerLooksSeconds = 60;
/** Of jobs that go on until they succeed, and of jobs that wait: as good as no limit. */
const untilItSucceeds = 1_000_000;
/** One job of a key waits. */
const queuePolicy = 'short';
const retentionSeconds = 10 * 365 * 86_400;
/** How soon a job is tried again. */
const defaultRetryDelay = { seconds: 1, maxSeconds: 10 };
/** Running jobs get at least this long to end. */
const jobsEndMsMin = 1_000;
/** Anybody may ask for the metrics: how often that reaches the database is bounded. */
const waitingCountsMs = 5_000;

/** Queues in which a job is due, by the index that fetching a job uses, too. */
const dueQueuesSql = `select queue.name from unnest($1::text[]) as queue (name)
  where exists (select from ${schema}.job where job.name = queue.name and job.state < 'active' and not job.blocked and job.start_after <= now())`;

/** Queues in which a job counts as running. */
const activeQueuesSql = `select queue.name from unnest($1::text[]) as queue (name)
  where exists (select from ${schema}.job where job.name = queue.name and job.state = 'active')`;

/**
 * Jobs that were queued, or that failed, before the clock of the database was set back wait no longer than they were meant to: their times are taken from
 * the clock as it is now.
 */
const startAheadJobsSql = `update ${schema}.job
  set start_after = now() + case when state = 'retry' then interval '0' else start_after - created_on end, created_on = least(created_on, now())
  where name = any($1::text[]) and state < 'active'
    and (${isAhead('created_on')} or (state = 'retry' and ${isAhead('start_after', "interval '1 minute' + retry_delay_max * interval '1 second'")}))`;
const startAheadJobsMs = 60_000;

/** Durable background work: pg-boss on the same database, in a schema of its own, so a row and its job can commit together. */
export class Jobs {
  /** Totals of this process since it started; failed attempts count, a job may have several. */
  readonly counts = {
    completed: new Counter<JobName>(),
    failed: new Counter<JobName>(),
    running: 0,
    /**
     * Jobs of all processes that wait, by name; retries included. Asks the database at most once in five seconds; pg-boss counts every ten. Undefined
     * when the database does not answer.
     */
    waiting: (): Promise<Iterable<readonly [JobName, number]> | undefined> => this.#waitingCounts.read(),
  };
  readonly #waitingCounts = new RecentValue(waitingCountsMs, () => this.#countWaiting());
  readonly #options: JobsOptions;
  readonly #boss: PgBoss;
  readonly #workers: QueueWorker[] = [];
  readonly #running = new Set<Job<JobData>>();
  readonly #rows = new JobRows();
  readonly #repeatedTasks: RepeatedTasks;
  /** Queues whose workers were started: those that had a job. */
  readonly #startedQueues = new Map<JobName, Promise<void>>();
  #isWorking = false;
  #isStopping = false;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#repeatedTasks = new RepeatedTasks(options.db, options.logger, options.firstAfterMs);
    this.#boss = new PgBoss({
      db: { executeSql: (text, values) => options.db.pool.query(text, values) },
      schema,
      schedule: false,
      superviseIntervalSeconds: 10,
      monitorIntervalSeconds: 10,
      monitorVacuum: false,
      reindex: options.db.kind === 'server',
    });
    this.#boss.on('error', (error) => options.logger.error({ err: error }, 'the job queue failed'));
  }

  /**
   * Queues a job. With `key`, at most one job of that name and key waits. Organizations take turns. `tx`: the transaction that the job must commit with.
   */
  enqueue<Name extends JobName>(
    name: Name,
    payload: JobPayloads[Name],
    { owner, key, startAfterMs, tx }: EnqueueOptions,
  ): Promise<void> {
    return this.enqueueAll(name, [{ payload, owner, key }], { startAfterMs, tx });
  }

  /** The same for several jobs, in one statement. */
  async enqueueAll<Name extends JobName>(
    name: Name,
    jobs: readonly NewJob<Name>[],
    { startAfterMs = 0, tx }: Pick<EnqueueOptions, 'startAfterMs' | 'tx'>,
  ): Promise<void> {
    if (jobs.length === 0) return;
    const startAfter = startAfterMs === 0 ? {} : { startAfter: new Date(Date.now() + startAfterMs) };
    const rows = jobs.map((job) => ({ ...this.#rows.make(name, job), ...startAfter }));
    await this.#boss.insert(name, rows, tx === undefined ? {} : { db: fromPrisma(tx.prisma) });
    const wake = () => void setTimeout(() => this.#wake(name), startAfterMs).unref();
    if (tx === undefined) wake();
    else tx.afterCommit(wake);
  }

  /**
   * Registers the worker of a job; call it before `start`. What `options` leave out is as the table of queues has it. The signal fires when the process
   * stops or the job exceeds its time limit.
   */
  work<Name extends JobName>(name: Name, options: WorkOptions, handler: JobHandler<Name>): void {
    this.#workers.push({
      name,
      options: { ...queues[name], ...options },
      run: (payload, signal, job) =>
        this.#options.db.runAs('background', () => handler(payload as JobPayloads[Name], signal, job)),
    });
  }

  /**
   * Runs `task` in this process every `everyMs`, if the process works on jobs. For work that several processes share out, row by row: the more look for
   * it, the sooner it is done.
   */
  every(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void {
    this.#repeatedTasks.every({ name, everyMs, task });
  }

  /**
   * Runs `task` in one of all processes that work on jobs, `everyMs` after it last ended. When the process dies, another begins the task again within 40
   * seconds. The signal fires when the process stops, or has lost the task to another.
   */
  lead(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void {
    this.#repeatedTasks.lead({ name, everyMs, task });
  }

  /** The next times of a cron expression after a moment, in UTC. @throws Error for an expression that cannot be read. */
  timesOf(cron: string, after: Date, count: number): readonly Date[] {
    return this.#boss.previewSchedule(cron, { tz: 'UTC', from: after, count });
  }

  /** The jobs of all processes, by name. pg-boss counts every ten seconds. @throws Error when the database does not answer. */
  async queues(): Promise<readonly JobQueue[]> {
    const queues = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
    return this.#workers.map(({ name }) => {
      const { queuedCount = 0, activeCount = 0, failedCount = 0 } = queues.get(name) ?? {};
      return { name, waitingCount: queuedCount, activeCount, failedCount };
    });
  }

  /** The jobs that run in this process, by name and payload. */
  underWay(): readonly string[] {
    return [...this.#running].map((job) => `job ${job.name} ${JSON.stringify(this.#rows.read(job).payload)}`);
  }

  async start(): Promise<void> {
    await this.#boss.start();
    await this.#prepareQueues();
    if (!this.#options.isWorker) return;
    if (this.#isOnlyProcess) await this.#requeueInterrupted();
    this.#isWorking = true;
    const lookMs = this.#isOnlyProcess ? lookForJobsMs.onlyProcess : lookForJobsMs.oneOfSeveral;
    this.every('jobs.look', lookMs, () => this.#lookForJobs());
    this.lead('jobs.start-ahead', startAheadJobsMs, () => this.#startAheadJobs());
    this.#repeatedTasks.start();
  }

  /** Takes no further jobs and waits at most `graceMs` for running ones; unfinished jobs are queued again. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const jobsMs = Math.max(graceMs, jobsEndMsMin);
    await Promise.all(this.#startedQueues.values());
    const workersEnd = this.#workers.map(({ name }) => this.#boss.offWork(name));
    const tasksEnd = this.#repeatedTasks.stop();
    await Promise.race([Promise.allSettled([...workersEnd, tasksEnd]), wait(jobsMs, undefined, { ref: false })]);
    // Jobs that still run are queued again, and then aborted.
    await this.#boss.stop({ graceful: false, close: false });
  }

  async #prepareQueues(): Promise<void> {
    const existing = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
    for (const { name, options } of this.#workers) {
      const settings = queueSettings(options);
      const queue = existing.get(name);
      // Nothing to change: pg-boss has read all existing queues when it started.
      if (queue !== undefined && isDeepStrictEqual({ ...queue, ...settings }, queue)) continue;
      if (queue === undefined) await this.#boss.createQueue(name, { ...settings, policy: queuePolicy });
      else await this.#boss.updateQueue(name, settings);
      // Reads the queue into memory. Otherwise the first `send` reads it through the pool, also inside a transaction: the embedded
      // database runs one transaction at a time and would wait for itself.
      await this.#boss.findJobs(name, { key: '' });
    }
  }

  /** Queues jobs again that a crash cut off: no other process can hold them. Where that fails, they are tried again when their heartbeat runs out. */
  async #requeueInterrupted(): Promise<void> {
    const { db, logger } = this.#options;
    for (const name of await this.#findQueues(activeQueuesSql)) {
      for (const { id, state } of await this.#boss.findJobs(name)) {
        if (state !== 'active') continue;
        const requeueWork = db.transaction(async ({ prisma }) => {
          await this.#boss.cancel(name, id, { db: fromPrisma(prisma) });
          await this.#boss.resume(name, id, { db: fromPrisma(prisma) });
        });
        await requeueWork.catch((error: unknown) =>
          logger.info({ err: error, job: name, jobId: id }, 'a job waits for its heartbeat'),
        );
      }
    }
  }

  /** The workers of a queue look for jobs at once. Most queues are empty at a start, and each look of each worker would be a statement. */
  #startWorkers(worker: QueueWorker): void {
    const starting = this.#work(worker).catch((error: unknown) => {
      this.#startedQueues.delete(worker.name);
      this.#options.logger.error({ err: error, job: worker.name }, 'the workers of a queue did not start');
    });
    this.#startedQueues.set(worker.name, starting);
  }

  /** One tenant works with `concurrency` places; one more is for the first job of another. */
  async #work(worker: QueueWorker): Promise<void> {
    const { name, options } = worker;
    await this.#boss.work<JobData>(
      name,
      {
        pollingIntervalSeconds: workerLooksSeconds,
        localConcurrency: options.concurrency + 1,
        localGroupConcurrency: options.concurrency,
      },
      async ([job]) => {
        if (job === undefined) return;
        // There may be more. Where the tenant has no place left, only a job of another one could begin.
        const tenantJobs = [...this.#running].filter((running) => running.name === name && running.groupId === job.groupId);
        this.#wake(name, tenantJobs.length + 1 < options.concurrency);
        await this.#run(worker, job);
      },
    );
  }

  async #lookForJobs(): Promise<void> {
    for (const name of await this.#findQueues(dueQueuesSql)) this.#wake(name);
  }

  async #startAheadJobs(): Promise<void> {
    await this.#options.db.pool.query(startAheadJobsSql, [this.#workers.map(({ name }) => name)]);
  }

  async #findQueues(sql: string): Promise<readonly JobName[]> {
    const names = this.#workers.map(({ name }) => name);
    const { rows } = await this.#options.db.pool.query<{ name: JobName }>(sql, [names]);
    return rows.map(({ name }) => name);
  }

  async #run(worker: QueueWorker, job: Job<JobData>): Promise<void> {
    const { name } = worker;
    const { payload, owner } = this.#rows.read(job);
    this.#running.add(job);
    this.counts.running += 1;
    try {
      await worker.run(payload, job.signal, { id: job.id, attempt: job.retryCount + 1, owner });
      this.counts.completed.add(name);
    } catch (error) {
      this.counts.failed.add(name);
      this.#options.logger.warn({ err: error, job: name, jobId: job.id, attempt: job.retryCount }, 'a job failed');
      setTimeout(() => this.#wake(name), defaultRetryDelay.seconds * 1_500).unref();
      throw error;
    } finally {
      this.counts.running -= 1;
      this.#running.delete(job);
    }
  }

  /**
   * A job may wait: one idle worker looks at once, the busy ones as soon as their job ends. A worker that gets a job wakes the next in the same way.
   *
   * @param wakesIdle  false where only a job of another tenant could begin, whose own queueing wakes an idle worker.
   */
  #wake(name: JobName, wakesIdle = true): void {
    if (!this.#isWorking || this.#isStopping) return;
    const queueWorker = this.#workers.find((candidate) => candidate.name === name);
    if (queueWorker !== undefined && !this.#startedQueues.has(name)) {
      this.#startWorkers(queueWorker);
      return;
    }
    const workers = this.#boss.getWipData().filter((worker) => worker.name === name);
    const idle = wakesIdle ? workers.find(({ count }) => count === 0) : undefined;
    for (const worker of workers) if (worker === idle || worker.count > 0) this.#boss.notifyWorker(worker.id);
  }

  async #countWaiting(): Promise<ReadonlyMap<JobName, number>> {
    return new Map((await this.queues()).map(({ name, waitingCount }) => [name, waitingCount]));
  }

  /** Jobs that count as running at the start of the only process were cut off by a crash. */
  get #isOnlyProcess(): boolean {
    return this.#options.db.isOfOneProcess;
  }
}

/** As pg-boss keeps them. */
function queueSettings({ timeoutMs, retriesMax = untilItSucceeds, retryDelay = defaultRetryDelay }: QueueOptions) {
  return {
    retryLimit: retriesMax,
    retentionSeconds,
    retryDelay: retryDelay.seconds,
    retryBackoff: true,
    retryDelayMax: retryDelay.maxSeconds,
    expireInSeconds: Math.max(1, Math.ceil(timeoutMs / 1000)),
    heartbeatSeconds,
    deleteAfterSeconds: 3_600,
  };
}

/** Makes the tables of the job queue, or brings them to the newest version. Works on no job. @param withQueues  makes all queues too. */
export async function prepareJobTables(pool: Pool, withQueues = false): Promise<void> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    schema,
    schedule: false,
    supervise: false,
  });
  await boss.start();
  if (withQueues)
    for (const [name, options] of Object.entries(queues))
      await boss.createQueue(name, { ...queueSettings(options), policy: queuePolicy });
  await boss.stop({ graceful: false, close: false });
}
