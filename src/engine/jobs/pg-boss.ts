import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Pool } from 'pg';
import { fromPrisma, type Job, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { Counter } from '../../lib/flow/counter.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import { RecentValue } from '../../lib/recent-value.ts';
import type { Database } from '../../storage/ground/database.ts';
import { Leases } from '../../storage/ground/leases.ts';
import { TaskStore } from '../../storage/ground/tasks.ts';
import type {
  EnqueueOptions,
  JobHandler,
  JobName,
  JobPayloads,
  JobQueue,
  Jobs,
  NewJob,
  RunningJob,
  WorkOptions,
} from './jobs.ts';
import { lookEveryMs, type RepeatedTask, TaskLeader } from './task-leader.ts';

export interface PgBossJobsOptions {
  readonly db: Database;
  /** False where this process only queues jobs: `ROLE=web`. */
  readonly isWorker: boolean;
  readonly logger: Logger;
}

/** The worker of one queue. */
interface QueueWorker {
  readonly name: JobName;
  readonly options: WorkOptions;
  run(payload: unknown, signal: AbortSignal, job: RunningJob): Promise<void>;
}

/** What a job holds: its payload, and whose it is. */
type JobData = { readonly owner?: ShareOwner } & Readonly<Record<string, unknown>>;

const schema = 'pgboss';
/** A dead worker is noticed after this time; pg-boss accepts no less than 10. */
const heartbeatSeconds = 10;
/**
 * How soon this process looks for jobs of other processes, and for retries: one statement for all queues, which wakes workers. Jobs that this process
 * queues wake a worker at once, so the one process of an embedded database looks seldom.
 */
const lookForJobsMs = { onlyProcess: 5_000, oneOfSeveral: 2_000 };
/** How soon a worker that nothing wakes looks for itself. There are some thirty workers: together they would ask fifteen times as often. */
const workerLooksSeconds = 60;
/** Of jobs that go on until they succeed, and of jobs that wait: as good as no limit. */
const retriesMax = 1_000_000;
const retentionSeconds = 10 * 365 * 86_400;
/** How soon a job is tried again after its first failure. */
const retryDelaySeconds = 1;
/** Running jobs get at least this long to end. */
const jobsEndMsMin = 1_000;
/** Anybody may ask for the metrics: how often that reaches the database is bounded. */
const waitingCountsMs = 5_000;
/** Delays the first run of repeated tasks, so that the start and the first requests come first. */
const repeatAfterMs = 250;
/** Most organizations and queues whose last turn is remembered. */
const turnsMax = 10_000;
/** How far apart the turns of one organization are: longer than most jobs take. */
const turnSeconds = 60;
/** Priorities count from here, so that they fit into 32 bits. */
const turnsFromMs = Date.UTC(2026, 0);

/** Queues in which a job is due, by the index that fetching a job uses, too. */
const dueQueuesSql = `select queue.name from unnest($1::text[]) as queue (name)
  where exists (select from ${schema}.job where job.name = queue.name and job.state < 'active' and not job.blocked and job.start_after <= now())`;

/** Jobs by pg-boss, in a schema of its own beside our tables. */
export function createPgBossJobs(options: PgBossJobsOptions): Jobs {
  return new PgBossJobs(options);
}

/** Makes the tables of the job queue, or brings them to the newest version. Works on no job. */
export async function prepareJobTables(pool: Pool): Promise<void> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    schema,
    schedule: false,
    supervise: false,
  });
  await boss.start();
  await boss.stop({ graceful: false, close: false });
}

class PgBossJobs implements Jobs {
  readonly counts = {
    completed: new Counter<JobName>(),
    failed: new Counter<JobName>(),
    running: 0,
    waiting: () => this.#waitingCounts.read(),
  };
  readonly #waitingCounts = new RecentValue(waitingCountsMs, () => this.#countWaiting());
  readonly #options: PgBossJobsOptions;
  readonly #boss: PgBoss;
  readonly #workers: QueueWorker[] = [];
  readonly #running = new Set<Job<JobData>>();
  readonly #lastTurns = new BoundedMap<string, number>(turnsMax);
  readonly #repeated: RepeatedTask[] = [];
  readonly #led: RepeatedTask[] = [];
  readonly #stopping = new AbortController();
  readonly #tasks = new Set<Promise<void>>();

  constructor(options: PgBossJobsOptions) {
    this.#options = options;
    this.#boss = new PgBoss({
      db: { executeSql: (text, values) => options.db.pool.query(text, values) },
      schema,
      schedule: false,
      superviseIntervalSeconds: 10,
      monitorIntervalSeconds: 10,
      monitorVacuum: false,
      reindex: !this.#isOnlyProcess,
    });
    this.#boss.on('error', (error) => options.logger.error({ err: error }, 'the job queue failed'));
  }

  enqueue<Name extends JobName>(
    name: Name,
    payload: JobPayloads[Name],
    { owner, key, startAfterMs, tx }: EnqueueOptions,
  ): Promise<void> {
    return this.enqueueAll(name, [{ payload, owner, key }], { startAfterMs, tx });
  }

  async enqueueAll<Name extends JobName>(
    name: Name,
    jobs: readonly NewJob<Name>[],
    { startAfterMs = 0, tx }: Pick<EnqueueOptions, 'startAfterMs' | 'tx'>,
  ): Promise<void> {
    if (jobs.length === 0) return;
    const startAfter = startAfterMs === 0 ? {} : { startAfter: new Date(Date.now() + startAfterMs) };
    const rows = jobs.map(({ payload, owner: { tenantId, orgId }, key }) => ({
      data: { ...payload, owner: { tenantId, orgId } },
      // The queue lets one job of a key wait; a job without a key gets a unique one.
      singletonKey: key ?? crypto.randomUUID(),
      group: { id: toGroup(tenantId) },
      priority: -this.#nextTurn(name, orgId),
      ...startAfter,
    }));
    await this.#boss.insert(name, rows, tx === undefined ? {} : { db: fromPrisma(tx.prisma) });
    const wake = () => void setTimeout(() => this.#wake(name), startAfterMs).unref();
    if (tx === undefined) wake();
    else tx.afterCommit(wake);
  }

  work<Name extends JobName>(name: Name, options: WorkOptions, handler: JobHandler<Name>): void {
    this.#workers.push({
      name,
      options,
      run: (payload, signal, job) => this.#inBackground(() => handler(payload as JobPayloads[Name], signal, job)),
    });
  }

  every(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void {
    this.#repeated.push({ name, everyMs, task });
  }

  lead(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void {
    this.#led.push({ name, everyMs, task });
  }

  timesOf(cron: string, after: Date, count: number): readonly Date[] {
    return this.#boss.previewSchedule(cron, { tz: 'UTC', from: after, count });
  }

  async queues(): Promise<readonly JobQueue[]> {
    const queues = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
    return this.#workers.map(({ name }) => {
      const { queuedCount = 0, activeCount = 0, failedCount = 0 } = queues.get(name) ?? {};
      return { name, waitingCount: queuedCount, activeCount, failedCount };
    });
  }

  underWay(): readonly string[] {
    return [...this.#running].map(({ name, data: { owner: _owner, ...payload } }) => `job ${name} ${JSON.stringify(payload)}`);
  }

  async start(): Promise<void> {
    await this.#boss.start();
    await this.#prepareQueues();
    if (!this.#options.isWorker) return;
    if (this.#isOnlyProcess) await this.#requeueInterrupted();
    for (const worker of this.#workers) await this.#startWorkers(worker);
    const lookMs = this.#isOnlyProcess ? lookForJobsMs.onlyProcess : lookForJobsMs.oneOfSeveral;
    this.#track(this.#repeat('jobs.look', lookMs, () => this.#lookForJobs()));
    const ownTasks = this.#isOnlyProcess ? [...this.#repeated, ...this.#led] : this.#repeated;
    for (const { name, everyMs, task } of ownTasks) this.#track(this.#repeat(name, everyMs, task));
    if (!this.#isOnlyProcess && this.#led.length > 0) this.#track(this.#lead());
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const jobsMs = Math.max(graceMs, jobsEndMsMin);
    const workersEnd = this.#workers.map(({ name }) => this.#boss.offWork(name));
    await Promise.race([Promise.allSettled([...workersEnd, ...this.#tasks]), wait(jobsMs, undefined, { ref: false })]);
    // Jobs that still run are queued again, and then aborted.
    await this.#boss.stop({ graceful: false, close: false });
  }

  async #prepareQueues(): Promise<void> {
    const existing = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
    for (const { name, options } of this.#workers) {
      const settings = {
        retryLimit: options.retriesMax ?? retriesMax,
        retentionSeconds,
        retryDelay: retryDelaySeconds,
        retryBackoff: true,
        retryDelayMax: 10,
        expireInSeconds: Math.max(1, Math.ceil(options.timeoutMs / 1000)),
        heartbeatSeconds,
        deleteAfterSeconds: 3_600,
      };
      const queue = existing.get(name);
      // Nothing to change: pg-boss has read all existing queues when it started.
      if (queue !== undefined && isDeepStrictEqual({ ...queue, ...settings }, queue)) continue;
      if (queue === undefined) await this.#boss.createQueue(name, { ...settings, policy: 'short' });
      else await this.#boss.updateQueue(name, settings);
      // Reads the queue into memory. Otherwise the first `send` reads it through the pool, also inside a transaction: the embedded
      // database runs one transaction at a time and would wait for itself.
      await this.#boss.findJobs(name, { key: '' });
    }
  }

  /** Queues jobs again that a crash cut off: no other process can hold them. Where that fails, they are tried again when their heartbeat runs out. */
  async #requeueInterrupted(): Promise<void> {
    const { db, logger } = this.#options;
    for (const { name } of this.#workers) {
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

  /** One tenant works with `concurrency` places; one more is for the first job of another. */
  async #startWorkers(worker: QueueWorker): Promise<void> {
    const { name, options } = worker;
    await this.#boss.work<JobData>(
      name,
      {
        pollingIntervalSeconds: workerLooksSeconds,
        localConcurrency: options.concurrency + 1,
        localGroupConcurrency: options.concurrency,
      },
      async ([job]) => {
        // There may be more.
        this.#wake(name);
        if (job !== undefined) await this.#run(worker, job);
      },
    );
  }

  async #lookForJobs(): Promise<void> {
    const names = this.#workers.map(({ name }) => name);
    const { rows } = await this.#options.db.pool.query<{ name: JobName }>(dueQueuesSql, [names]);
    for (const { name } of rows) this.#wake(name);
  }

  async #run(worker: QueueWorker, job: Job<JobData>): Promise<void> {
    const { name } = worker;
    const { owner = ownerOfGroup(job.groupId), ...payload } = job.data;
    this.#running.add(job);
    this.counts.running += 1;
    try {
      await worker.run(payload, job.signal, { id: job.id, owner });
      this.counts.completed.add(name);
    } catch (error) {
      this.counts.failed.add(name);
      this.#options.logger.warn({ err: error, job: name, jobId: job.id, attempt: job.retryCount }, 'a job failed');
      setTimeout(() => this.#wake(name), retryDelaySeconds * 1_500).unref();
      throw error;
    } finally {
      this.counts.running -= 1;
      this.#running.delete(job);
    }
  }

  /**
   * When it is an organization's turn, in seconds. Each job of an organization takes its turn a while after the one before, so thousands of
   * them do not delay the first job of another. Start-time fair queueing (Goyal, 1996), by the clock, so that processes agree without asking.
   */
  #nextTurn(name: JobName, orgId: string): number {
    const key = `${name} ${orgId}`;
    const now = Math.floor((Date.now() - turnsFromMs) / 1_000);
    const turn = Math.max(now, (this.#lastTurns.get(key) ?? 0) + turnSeconds);
    this.#lastTurns.set(key, turn);
    return turn;
  }

  /**
   * A job may wait: one idle worker looks at once, the busy ones as soon as their job ends. A worker that gets a job wakes the next in the same way.
   */
  #wake(name: JobName): void {
    if (this.#stopping.signal.aborted) return;
    const workers = this.#boss.getWipData().filter((worker) => worker.name === name);
    const idle = workers.find(({ count }) => count === 0);
    for (const worker of workers) if (worker === idle || worker.count > 0) this.#boss.notifyWorker(worker.id);
  }

  async #countWaiting(): Promise<ReadonlyMap<JobName, number>> {
    return new Map((await this.queues()).map(({ name, waitingCount }) => [name, waitingCount]));
  }

  /** One process uses an embedded database: jobs that count as running at its start were cut off by a crash. */
  get #isOnlyProcess(): boolean {
    return this.#options.db.kind === 'embedded';
  }

  #inBackground<T>(work: () => T): T {
    return this.#options.db.runAs('background', work);
  }

  /** Takes tasks that are due, whenever no other process has them. */
  async #lead(): Promise<void> {
    const { db, logger } = this.#options;
    const { signal } = this.#stopping;
    const leader = new TaskLeader(new TaskStore(db), new Leases(db), this.#led, {
      run: (task, ending) => this.#inBackground(() => task(ending)),
      onError: (error, task) => logger.warn({ err: error, task }, 'a repeated task failed'),
    });
    await wait(repeatAfterMs, undefined, { signal, ref: false }).catch(() => {});
    while (!signal.aborted) {
      await leader.look(signal).catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ err: error }, 'repeated tasks could not be taken');
      });
      await wait(lookEveryMs, undefined, { signal, ref: false }).catch(() => {});
    }
    await leader.end();
  }

  #track(work: Promise<void>): void {
    this.#tasks.add(work);
    void work.finally(() => this.#tasks.delete(work));
  }

  async #repeat(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    await wait(Math.min(everyMs, repeatAfterMs), undefined, { signal, ref: false }).catch(() => {});
    while (!signal.aborted) {
      try {
        await this.#inBackground(() => task(signal));
      } catch (error) {
        if (!signal.aborted) this.#options.logger.warn({ err: error, task: name }, 'a repeated task failed');
      }
      await wait(everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}

/** The group that shares the places of a queue: a tenant. Jobs without one share a group of their own. */
function toGroup(tenantId: string): string {
  return tenantId === '' ? 'nobody' : tenantId;
}

/** The owner of a job that an earlier version queued: its group was `<tenant> <organization>`. */
function ownerOfGroup(group: string | null | undefined): ShareOwner {
  const [tenantId = '', orgId = ''] = (group ?? '').split(' ');
  return { tenantId, orgId };
}
