import type { Job, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { type FairShare, keyOfOwner, type ShareOwner } from '../../lib/fair-share.ts';
import { Pace } from '../../lib/pace.ts';
import type { Tally } from '../../lib/tally.ts';
import type { JobName, WorkOptions } from './jobs.ts';

/** The worker of one queue. */
export interface Worker {
  readonly name: JobName;
  readonly options: WorkOptions;
  run(payload: unknown, signal: AbortSignal, owner: ShareOwner): Promise<void>;
}

export interface JobLineOptions {
  readonly boss: PgBoss;
  readonly worker: Worker;
  /** Shares the places of this process between tenants and organizations. */
  readonly turns: FairShare;
  readonly counts: { readonly completed: Tally<JobName>; readonly failed: Tally<JobName>; running: number };
  readonly logger: Logger;
  /** Reads from the database whose jobs wait in the queue. */
  readonly readWaiting: () => Promise<readonly ShareOwner[]>;
}

/** A silent job counts as dead after twice this time. */
const touchEveryMs = 5_000;
/** How long the list of waiting owners is used at least. */
const knownMs = 250;

/**
 * One queue in this process. Picks the next job of the organization whose turn it is: thousands of jobs of one organization do not
 * delay the first job of another, and one place is always free for a tenant without any.
 */
export class JobLine {
  readonly #options: JobLineOptions;
  readonly #stopping = new AbortController();
  readonly #running = new Map<Promise<void>, { readonly job: Job<unknown>; readonly ending: AbortController }>();
  #waiting = new Map<string, ShareOwner>();
  readonly #reading = new Pace(knownMs);
  #isPicking = false;
  #isWoken = false;

  constructor(options: JobLineOptions) {
    this.#options = options;
  }

  /** A job may wait. @param owner  of the queued job, where known. */
  wake(owner?: ShareOwner): void {
    if (owner !== undefined) this.#waiting.set(keyOfOwner(owner), owner);
    if (this.#isPicking) this.#isWoken = true;
    else void this.#pick();
  }

  /** Takes no further job. Resolves when no job runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running.keys());
  }

  /** Returns running jobs to the queue and then aborts them, so that a late result does not complete them. */
  async giveBack(): Promise<void> {
    const { boss, worker } = this.#options;
    for (const { job, ending } of [...this.#running.values()]) {
      await boss.fail(worker.name, job, new Error('the process stopped')).catch((error: unknown) => this.#complain(error));
      ending.abort(new Error('the process stops'));
    }
  }

  async #pick(): Promise<void> {
    this.#isPicking = true;
    try {
      do {
        this.#isWoken = false;
        while (await this.#takeNext());
      } while (this.#isWoken && !this.#stopping.signal.aborted);
    } catch (error) {
      this.#complain(error);
    }
    this.#isPicking = false;
  }

  /** @returns whether there may be more jobs. */
  async #takeNext(): Promise<boolean> {
    const { boss, worker, turns } = this.#options;
    if (this.#stopping.signal.aborted || turns.count >= turns.max) return false;
    const isFresh = await this.#refresh();
    const owner = turns.choose(this.#waiting.values());
    if (owner === undefined) return false;
    const group = keyOfOwner(owner);
    const others = [...this.#waiting.keys()].filter((known) => known !== group && known !== noGroup);
    const [job] = await boss.fetch<unknown>(worker.name, { batchSize: 1, ignoreGroups: others });
    if (job === undefined) {
      this.#waiting.delete(group);
      if (!isFresh) this.#reading.reset();
      return true;
    }
    this.#begin(job);
    return true;
  }

  async #refresh(): Promise<boolean> {
    if (!this.#reading.isDue()) return false;
    const owners = await this.#reading.run(this.#options.readWaiting);
    this.#waiting = new Map(owners.map((owner) => [keyOfOwner(owner), owner]));
    return true;
  }

  underWay(): readonly string[] {
    return [...this.#running.values()].map(({ job }) => `job ${job.name} ${JSON.stringify(job.data)}`);
  }

  #begin(job: Job<unknown>): void {
    const owner = ownerOf(job.groupId);
    const ending = new AbortController();
    const { turns, counts } = this.#options;
    turns.take(owner);
    counts.running += 1;
    const work = this.#work(job, owner, ending).finally(() => {
      turns.give(owner);
      counts.running -= 1;
      this.#running.delete(work);
      this.wake();
    });
    this.#running.set(work, { job, ending });
  }

  async #work(job: Job<unknown>, owner: ShareOwner, ending: AbortController): Promise<void> {
    const { boss, worker, counts, logger } = this.#options;
    const { name, options } = worker;
    const touching = setInterval(() => void this.#touch(job, ending), touchEveryMs).unref();
    const clock = setTimeout(() => ending.abort(new Error('the job ran out of time')), options.timeoutMs).unref();
    try {
      await orAborted(worker.run(job.data, ending.signal, owner), ending.signal);
      counts.completed.add(name);
      await boss.complete(name, job);
    } catch (error) {
      counts.failed.add(name);
      logger.warn({ err: error, job: name, jobId: job.id, attempt: job.retryCount }, 'a job failed');
      await boss.fail(name, job, error instanceof Error ? error : new Error(String(error))).catch((failure: unknown) => {
        this.#complain(failure);
      });
    } finally {
      clearInterval(touching);
      clearTimeout(clock);
    }
  }

  /** Tells the queue that the job is alive; aborts it when another process has it. */
  async #touch(job: Job<unknown>, ending: AbortController): Promise<void> {
    try {
      const touched: { readonly affected?: number } = await this.#options.boss.touch(this.#options.worker.name, job);
      if (touched.affected === 0) ending.abort(new Error('the job is no longer of this process'));
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    this.#options.logger.error({ err: error, job: this.#options.worker.name }, 'the job queue failed');
  }
}

/** Group of jobs without an organization. */
const noGroup = ' ';

/** Parses the group of a job, which is the `keyOfOwner` of its organization. */
export function ownerOf(group: string | null | undefined): ShareOwner {
  const [tenantId = '', orgId = ''] = (group ?? noGroup).split(' ');
  return { tenantId, orgId };
}

/** The work, or the signal's reason once it fires: a handler that ignores the signal must not hold a place. */
function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
