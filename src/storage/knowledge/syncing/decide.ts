import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { SyncedItem } from './lease.ts';

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

export function decide(storedItem: StoredItem | undefined, listedItem: SyncedItem, isForced: boolean): ItemDecision {
  if (listedItem.unread !== null) return listedItem.unread.status === 'SKIPPED' ? 'skipped' : 'failed';
  if (storedItem === undefined || storedItem.indexStatus === 'DELETING') return 'added';
  const isActive = active.includes(storedItem.indexStatus);
  if (isActive || storedItem.indexStatus === 'QUEUED' || storedItem.indexStatus === 'INITIALIZED') {
    const isSame = !isForced && listedItem.listedKey !== null && listedItem.listedKey === storedItem.listedKey;
    if (isActive) return isSame ? 'unchanged' : 'again';
    return isSame ? 'unchanged' : 'changed';
  }
  if (isForced || listedItem.listedKey === null || listedItem.listedKey !== storedItem.changeKey) return 'changed';
  // The same content once more: after a failure of the moment or of rights, or when it was cancelled.
  const { indexStatus, isRetryable, errorCode } = storedItem;
  if (indexStatus === 'CANCELLED') return 'changed';
  if (indexStatus === 'FAILED' && (isRetryable || triedEachRun.includes(errorCode ?? ''))) return 'changed';
  return 'unchanged';
}
