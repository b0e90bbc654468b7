import type { ShareOwner } from '../../lib/fair-share.ts';

/** The names of all jobs and what each carries. */
export interface JobPayloads {
  'accounts.purge-organization': { readonly orgId: string };
  'accounts.purge-user': { readonly userId: string };
  'knowledge.index-item': { readonly itemId: string };
  'knowledge.refresh-source': { readonly dataSourceId: string; readonly isForced: boolean };
  /** Has the connector of a source list and fetch what stands at the other end. */
  'knowledge.sync-source': { readonly dataSourceId: string; readonly isForced: boolean };
  'knowledge.delete-source': { readonly dataSourceId: string };
}
export type JobName = keyof JobPayloads;

/** Durable work behind a reply: pg-boss on the same database, so a row and its job can commit together. */
export interface Jobs {
  /** What this process has done since it began. */
  readonly counts: JobCounts;
  /**
   * Queues a job. With `key`, one job of that name and key waits at most. Organizations take turns: see job-line.ts.
   *
   * @param tx  a client inside a transaction, when the job must commit with a row.
   */
  enqueue<Name extends JobName>(name: Name, payload: JobPayloads[Name], options: EnqueueOptions): Promise<void>;
  /** Registers the worker of a job; call before `start`. The signal fires when the process stops or the job runs out of time. */
  work<Name extends JobName>(name: Name, options: WorkOptions, handler: JobHandler<Name>): void;
  /** Runs `task` in this process every `everyMs` while the process works through jobs. */
  every(name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): void;
  start(): Promise<void>;
  /** Stops taking jobs and waits for the running ones, at most `graceMs`; unfinished ones are queued again. */
  stop(graceMs: number): Promise<void>;
}
export interface JobCounts {
  readonly completed: Iterable<readonly [JobName, number]>;
  /** Tries; a job may have several. */
  readonly failed: Iterable<readonly [JobName, number]>;
  readonly running: number;
}
export type JobHandler<Name extends JobName> = (
  payload: JobPayloads[Name],
  signal: AbortSignal,
  owner: ShareOwner,
) => Promise<void>;
export interface EnqueueOptions {
  /** Whose job it is: its turn is that of this organization. */
  readonly owner: ShareOwner;
  readonly key?: string;
  readonly startAfterMs?: number;
  readonly tx?: { query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }> };
}
export interface WorkOptions {
  /** Jobs of one tenant at one time in this process; one more may be of another. */
  readonly concurrency: number;
  readonly retriesMax: number;
  readonly timeoutMs: number;
}
