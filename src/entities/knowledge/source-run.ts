/** Why a source was read. */
export const runTriggers = ['ADDED', 'REFRESH', 'SCHEDULE', 'RECONNECTED'] as const;
export type RunTrigger = (typeof runTriggers)[number];

/**
 * LISTING: the documents are listed. INDEXING: those that changed are indexed. COMPLETED: it ended; items may have failed. FAILED: the source could
 * not be listed. CANCELLED: a person ended it.
 */
export const runStatuses = ['LISTING', 'INDEXING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type SourceRunStatus = (typeof runStatuses)[number];

/** One reading of a source. */
export interface SourceRun {
  readonly id: string;
  readonly dataSourceId: string;
  readonly trigger: RunTrigger;
  readonly isForced: boolean;
  readonly status: SourceRunStatus;
  readonly startedAt: Date;
  /** When the listing ended; null before. */
  readonly listedAt: Date | null;
  readonly endedAt: Date | null;
  readonly listedCount: number;
  readonly addedCount: number;
  readonly changedCount: number;
  readonly unchangedCount: number;
  /** Listed and not read, each with its reason. */
  readonly skippedCount: number;
  readonly removedCount: number;
  /** Items that were missing and wait for the next run to agree, because they were more than half. */
  readonly heldCount: number;
  /** Of the items that the run queued. */
  readonly failedCount: number;
  /** Whether everything that the source covers was listed. */
  readonly isComplete: boolean;
  /** A limit of the source that ended the listing early, in words. */
  readonly bound: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** What is being read; null when nothing is. */
  readonly currentItem: string | null;
}

/** The limits of a source that end a listing early. */
export const runBounds = ['maxPages', 'maxMemory', 'timeout'] as const;
export type RunBound = (typeof runBounds)[number];

/** The limit that `bound` of a run begins with: `maxPages (100 pages)`. */
export function toRunBound({ bound }: Pick<SourceRun, 'bound'>): RunBound | null {
  return runBounds.find((name) => bound?.startsWith(name) === true) ?? null;
}
