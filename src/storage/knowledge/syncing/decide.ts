import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { SyncedItem } from './lease.ts';

/** What is stored of a document that a listing names again. */
export interface StoredItem {
  readonly indexStatus: IndexStatus;
  readonly changeKey: string | null;
  readonly listedKey: string | null;
  readonly liveGeneration: number | null;
  readonly isRetryable: boolean;
}

/**
 * What a listing means for a document. `unchanged` leaves its content alone; `changed` has it fetched and indexed; `again` notes that it changed once
 * more while it is being indexed; `skipped` leaves it out, with a reason.
 */
export type ItemDecision = 'added' | 'changed' | 'again' | 'unchanged' | 'skipped';

const active: readonly IndexStatus[] = ['FETCHING', 'PARSING', 'INDEXING'];

export function decide(stored: StoredItem | undefined, listed: SyncedItem, isForced: boolean): ItemDecision {
  if (listed.skipped !== null) return 'skipped';
  if (stored === undefined || stored.indexStatus === 'DELETING') return 'added';
  const isActive = active.includes(stored.indexStatus);
  if (isActive || stored.indexStatus === 'QUEUED' || stored.indexStatus === 'INITIALIZED') {
    const isSame = !isForced && listed.listedKey !== null && listed.listedKey === stored.listedKey;
    if (isActive) return isSame ? 'unchanged' : 'again';
    return isSame ? 'unchanged' : 'changed';
  }
  if (isForced || listed.listedKey === null || listed.listedKey !== stored.changeKey) return 'changed';
  // The same content once more: after a failure of the moment, or when it was cancelled.
  if (stored.indexStatus === 'CANCELLED' || (stored.indexStatus === 'FAILED' && stored.isRetryable)) return 'changed';
  return 'unchanged';
}
