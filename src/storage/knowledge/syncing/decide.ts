import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { SyncedItem } from './store.ts';

/** What is stored of a document that a listing names again. */
export interface StoredItem {
  readonly indexStatus: IndexStatus;
  readonly changeKey: string | null;
  readonly listedKey: string | null;
  readonly liveGeneration: number | null;
  readonly isRetryable: boolean;
  readonly errorCode: string | null;
}

/**
 * What a listing means for a document. `unchanged` leaves its content alone; `changed` has it fetched and indexed; `again` notes that it changed once
 * more while it is being indexed; `skipped` leaves it out, with a reason; `failed` notes why the service does not give it.
 */
export type ItemDecision = 'added' | 'changed' | 'again' | 'unchanged' | 'skipped' | 'failed';

/** Failures that are not repeated within a run, and that only a new look can end: each run tries such a document once. */
export const triedEachRun: readonly string[] = ['FORBIDDEN', 'NOT_FOUND', 'UNREACHABLE'];

const active: readonly IndexStatus[] = ['FETCHING', 'PARSING', 'INDEXING'];

export function decide(stored: StoredItem | undefined, listed: SyncedItem, isForced: boolean): ItemDecision {
  if (listed.unread !== null) return listed.unread.status === 'SKIPPED' ? 'skipped' : 'failed';
  if (stored === undefined || stored.indexStatus === 'DELETING') return 'added';
  const isActive = active.includes(stored.indexStatus);
  if (isActive || stored.indexStatus === 'QUEUED' || stored.indexStatus === 'INITIALIZED') {
    const isSame = !isForced && listed.listedKey !== null && listed.listedKey === stored.listedKey;
    if (isActive) return isSame ? 'unchanged' : 'again';
    return isSame ? 'unchanged' : 'changed';
  }
  if (isForced || listed.listedKey === null || listed.listedKey !== stored.changeKey) return 'changed';
  // The same content once more: after a failure of the moment or of rights, or when it was cancelled.
  const { indexStatus, isRetryable, errorCode } = stored;
  if (indexStatus === 'CANCELLED') return 'changed';
  if (indexStatus === 'FAILED' && (isRetryable || triedEachRun.includes(errorCode ?? ''))) return 'changed';
  return 'unchanged';
}
