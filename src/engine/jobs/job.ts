import type { RunTrigger } from '../../entities/knowledge/source-run.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { Transaction } from '../../storage/ground/database.ts';

/** All job names with their payloads. */
export interface JobPayloads {
  'accounts.purge-organization': { readonly orgId: string };
  'accounts.purge-user': { readonly userId: string };
  /** `attempt`: of a job that an earlier version queued. */
  'accounts.mail-invitation': { readonly invitationId: string; readonly attempt?: number };
  /** Gives back the tokens of MCP servers that a person had who left the organization. */
  'accounts.give-back-tokens': { readonly orgId: string; readonly userId: string };
  'chats.import': { readonly importId: string };
  'chats.undo-import': { readonly importId: string; readonly includesContinued: boolean };
  'evaluation.run-experiment': { readonly experimentId: string };
  'data.export': { readonly exportId: string };
  'data.erase': { readonly erasureId: string };
  'knowledge.index-item': { readonly itemId: string };
  /** Small new items of one request. */
  'knowledge.index-items': { readonly itemIds: readonly string[] };
  /** Reads a source: its connector lists the documents; what was given is queued once more. */
  'knowledge.sync-source': { readonly dataSourceId: string; readonly trigger: RunTrigger };
  /** Reads who may open the items of a MIRRORED source. */
  'knowledge.sync-permissions': { readonly dataSourceId: string };
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

export interface JobQueue {
  readonly name: JobName;
  /** Retries included. */
  readonly waitingCount: number;
  readonly activeCount: number;
  /** Given up, and not deleted yet: within the last hour. */
  readonly failedCount: number;
}
export type JobHandler<Name extends JobName> = (
  payload: JobPayloads[Name],
  signal: AbortSignal,
  job: RunningJob,
) => Promise<void>;
export interface RunningJob {
  /** The same for all attempts. */
  readonly id: string;
  /** 1 is the first. */
  readonly attempt: number;
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
export interface WorkOptions extends Partial<QueueOptions> {
  /** Most concurrent jobs of one tenant in this process; one more place is for other tenants. */
  readonly concurrency: number;
}
export interface QueueOptions {
  /** Further attempts of a job. Default: it is tried until it succeeds. */
  readonly retriesMax?: number;
  /** About the time before the second attempt. It doubles with each, up to `maxSeconds`. Default: from one second to ten. */
  readonly retryDelay?: { readonly seconds: number; readonly maxSeconds: number };
  readonly timeoutMs: number;
}
