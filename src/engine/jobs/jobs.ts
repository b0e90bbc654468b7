import type { RunTrigger } from '../../entities/knowledge/source-run.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { Transaction } from '../../storage/ground/database.ts';

/** All job names with their payloads. */
export interface JobPayloads {
  'accounts.purge-organization': { readonly orgId: string };
  'accounts.purge-user': { readonly userId: string };
  /** `attempt`: 1 is the first. */
  'accounts.mail-invitation': { readonly invitationId: string; readonly attempt: number };
  'data.export': { readonly exportId: string };
  'data.erase': { readonly erasureId: string };
  'knowledge.index-item': { readonly itemId: string };
  /** Reads a source: its connector lists the documents; what was given is queued once more. */
  'knowledge.sync-source': { readonly dataSourceId: string; readonly trigger: RunTrigger };
  /** Makes the vectors that passages of a source lack. */
  'knowledge.embed-source': { readonly dataSourceId: string };
  'knowledge.delete-source': { readonly dataSourceId: string };
  /** Begins a run for a time of a schedule. */
  'schedules.run': { readonly scheduleRunId: string };
  /** Deletes the chat of a run whose answer goes to a webhook only. */
  'schedules.delete-chat': { readonly chatId: string };
  /** Removes a file that was taken out of a vector store. */
  'knowledge.delete-item': { readonly itemId: string };
}
export type JobName = keyof JobPayloads;

/** Durable background work: pg-boss on the same database, so a row and its job can commit together. */
export interface Jobs {
  /** Totals of this process since it started. */
  readonly counts: JobCounts;
  /**
   * Queues a job. With `key`, at most one job of that name and key waits. Organizations take turns.
   *
   * @param tx  the transaction that the job must commit with.
   */
  enqueue<Name extends JobName>(name: Name, payload: JobPayloads[Name], options: EnqueueOptions): Promise<void>;
  /** The same for several jobs, in one statement. */
  enqueueAll<Name extends JobName>(
    name: Name,
    jobs: readonly NewJob<Name>[],
    options: Pick<EnqueueOptions, 'startAfterMs' | 'tx'>,
  ): Promise<void>;
  /** Registers the worker of a job; call it before `start`. The signal fires when the process stops or the job exceeds its time limit. */
  work<Name extends JobName>(name: Name, options: WorkOptions, handler: JobHandler<Name>): void;
  /**
   * Runs `task` in this process every `everyMs`, if the process works on jobs. For work that several processes share out, row by row: the more look for
   * it, the sooner it is done.
   */
  every(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void;
  /**
   * Runs `task` in one of all processes that work on jobs, `everyMs` after it last ended. When the process dies, another begins the task again within 40
   * seconds. The signal fires when the process stops, or has lost the task to another.
   */
  lead(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void;
  /**
   * The next times of a cron expression after a moment, in UTC.
   *
   * @throws Error for an expression that cannot be read.
   */
  timesOf(cron: string, after: Date, count: number): readonly Date[];
  /** The jobs of all processes, by name. pg-boss counts every ten seconds. @throws Error when the database does not answer. */
  queues(): Promise<readonly JobQueue[]>;
  /** The jobs that run in this process, by name and payload. */
  underWay(): readonly string[];
  start(): Promise<void>;
  /** Takes no further jobs and waits at most `graceMs` for running ones; unfinished jobs are queued again. */
  stop(graceMs: number): Promise<void>;
}
export interface JobQueue {
  readonly name: JobName;
  /** Retries included. */
  readonly waitingCount: number;
  readonly activeCount: number;
  /** Given up, and not deleted yet: within the last hour. */
  readonly failedCount: number;
}
export interface JobCounts {
  readonly completed: Iterable<readonly [JobName, number]>;
  /** Failed attempts; a job may have several. */
  readonly failed: Iterable<readonly [JobName, number]>;
  readonly running: number;
  /**
   * Jobs of all processes that wait, by name; retries included. Asks the database at most once in five seconds; pg-boss counts every ten.
   *
   * @returns undefined when the database does not answer.
   */
  waiting(): Promise<Iterable<readonly [JobName, number]> | undefined>;
}
export type JobHandler<Name extends JobName> = (
  payload: JobPayloads[Name],
  signal: AbortSignal,
  job: RunningJob,
) => Promise<void>;
export interface RunningJob {
  /** The same for all attempts. */
  readonly id: string;
  readonly owner: ShareOwner;
}
export interface NewJob<Name extends JobName> extends Pick<EnqueueOptions, 'owner' | 'key'> {
  readonly payload: JobPayloads[Name];
}
export interface EnqueueOptions {
  /** The organization whose turn the job takes. */
  readonly owner: ShareOwner;
  readonly key?: string | undefined;
  readonly startAfterMs?: number | undefined;
  readonly tx?: Pick<Transaction, 'prisma' | 'afterCommit'> | undefined;
}
export interface WorkOptions {
  /** Most concurrent jobs of one tenant in this process; one more place is for other tenants. */
  readonly concurrency: number;
  /** Further attempts of a job, at most ten seconds apart. Default: it is tried until it succeeds. */
  readonly retriesMax?: number;
  readonly timeoutMs: number;
}
