import type { EndedApproval } from '../agents/part.ts';
import type { Omission } from './omission.ts';
import type { SourcePermissions } from './permissions.ts';

/** Kinds whose content a connector reads from another service: each has a record in engine/knowledge/connectors. */
export const connectedTypes = [
  'DRIVE_A', // Google Drive
  'DRIVE_B', // OneDrive
  'WEB_URL',
  'WIKI', // Confluence
  'TRACKER', // Jira
  'REPO_HOST', // GitHub
] as const;
export type ConnectedType = (typeof connectedTypes)[number];
export const dataSourceTypes = ['API', 'FILE_UPLOAD', ...connectedTypes] as const;
export type DataSourceType = (typeof dataSourceTypes)[number];

/** Types are stored as text. @returns API for one that this version does not know. */
export function toSourceType(typeText: string): DataSourceType {
  return dataSourceTypes.find((type) => type === typeText) ?? 'API';
}

export const refreshPeriods = ['NEVER', 'DAILY', 'WEEKLY', 'MONTHLY'] as const;
export type RefreshPeriod = (typeof refreshPeriods)[number];

export const indexStatuses = [
  'INITIALIZED',
  'QUEUED',
  'FETCHING',
  'PARSING',
  'INDEXING',
  'INDEXED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
  'DELETING',
] as const;
export type IndexStatus = (typeof indexStatuses)[number];

export function isConnectedType(type: DataSourceType): type is ConnectedType {
  return (connectedTypes as readonly DataSourceType[]).includes(type);
}

/** File types that a web source reads besides pages. */
export const webUrlFileTypes = ['TEXT', 'CSV', 'PDF', 'MARKDOWN', 'DOC', 'XLS'] as const;
export type WebUrlFileType = (typeof webUrlFileTypes)[number];

/** Limits of a crawl, with defaults. Pages fetched; memory in MB; time of the whole crawl in seconds. */
export const crawlBounds = {
  maxPages: { min: 1, max: 10_000, default: 100 },
  maxMemory: { min: 64, max: 8_192, default: 1_024 },
  timeout: { min: 1, max: 86_400, default: 3_600 },
} as const;

export const repoHostModes = ['repos', 'all'] as const;

/** A connected body of knowledge; its status follows from its items. */
export interface DataSource extends EndedApproval, SourcePermissions {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Null until the first item was indexed. */
  readonly lastIndexedAt: Date | null;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly name: string;
  readonly type: DataSourceType;
  readonly refreshPeriod: RefreshPeriod;
  /** By `type`: the payload (API), `{filename, mimeType, size}` (FILE_UPLOAD), else its configuration. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly cite: boolean;
  readonly orgVisible: boolean;
  readonly isDeleting: boolean;
  /** The run that is going on; null when there is none. */
  readonly activeRun: ActiveRun | null;
  /** Why the source as a whole cannot be read; null when it can. */
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Why the first of its items that failed did; where none is indexed, also of one that was skipped. Null for none. */
  readonly failedItem: SourceError | null;
  /** How many agents it is attached to. */
  readonly usageCount: number;
  readonly counts: ItemCounts;
}

export interface ActiveRun {
  readonly id: string;
  readonly status: 'LISTING' | 'INDEXING';
  /** Documents listed so far. */
  readonly listedCount: number;
  /** What is being read; null when nothing is. */
  readonly currentItem: string | null;
}

export interface SourceError {
  /** For programs. */
  readonly code: string;
  /** For the person who added the source. */
  readonly message: string;
}

/**
 * Why a source is FAILED, or ended with failures: what keeps the whole source from being read, else what the items that failed say. Null
 * while the source is being read again.
 */
export function sourceError(
  source: Pick<DataSource, 'errorCode' | 'errorMessage' | 'counts' | 'failedItem' | 'activeRun'>,
): SourceError | null {
  const { errorCode, errorMessage, counts, failedItem, activeRun } = source;
  const { totalCount, pendingCount, indexingCount } = indexingStatistics(counts);
  // A run whose items are all done is about to end.
  if (activeRun !== null && (activeRun.status === 'LISTING' || pendingCount + indexingCount > 0)) return null;
  if (errorCode !== null) return { code: errorCode, message: errorMessage ?? '' };
  const unindexedCount = counts.failed + (counts.indexed + counts.answering === 0 ? counts.skipped : 0);
  if (failedItem === null || pendingCount + indexingCount > 0) return null;
  if (totalCount === 1) return failedItem;
  return {
    ...failedItem,
    message: `${unindexedCount} of ${totalCount} items could not be indexed. The first: ${failedItem.message}`,
  };
}

/** Items of a source by status; DELETING ones are not counted. */
export interface ItemCounts {
  readonly initialized: number;
  readonly queued: number;
  readonly active: number;
  readonly indexed: number;
  readonly skipped: number;
  /** FAILED and CANCELLED. */
  readonly failed: number;
  /** Of those that failed: the ones that go on answering with what they held before. */
  readonly answering: number;
  /** Of `answering`: the cancelled ones. */
  readonly cancelledAnswering: number;
  /** Sum of the percentages of items that are neither done nor failed. */
  readonly percentSum: number;
}

export interface IndexingStatistics {
  readonly doneCount: number;
  readonly failedCount: number;
  readonly pendingCount: number;
  readonly indexingCount: number;
  /** Always the sum of the other counts. */
  readonly totalCount: number;
}

/** An item that is FAILED counts as failed also while its earlier content answers; a cancelled one with content is done. */
export function indexingStatistics(counts: ItemCounts): IndexingStatistics {
  const { initialized, queued, active, indexed, skipped, failed, cancelledAnswering } = counts;
  return {
    doneCount: indexed + skipped + cancelledAnswering,
    failedCount: failed - cancelledAnswering,
    pendingCount: initialized + queued,
    indexingCount: active,
    totalCount: initialized + queued + active + indexed + skipped + failed,
  };
}

/** The status of a source, from its items and from the run that lists them. */
export function sourceIndexStatus(source: Pick<DataSource, 'isDeleting' | 'counts' | 'errorCode' | 'activeRun'>): IndexStatus {
  const { isDeleting, counts, errorCode, activeRun } = source;
  if (isDeleting) return 'DELETING';
  if (activeRun?.status === 'LISTING') return indexingStatistics(counts).totalCount === 0 ? 'FETCHING' : 'INDEXING';
  const { doneCount, failedCount, pendingCount, indexingCount } = indexingStatistics(counts);
  if (indexingCount > 0 || (pendingCount > 0 && doneCount + failedCount > 0)) return 'INDEXING';
  if (pendingCount > 0) return counts.queued > 0 ? 'QUEUED' : 'INITIALIZED';
  if (counts.indexed + counts.answering > 0) return 'INDEXED';
  return failedCount + counts.skipped > 0 || errorCode !== null ? 'FAILED' : 'INITIALIZED';
}

/** Whole percent, 0 to 100; 100 only when all items are done, and nothing is listed any more. */
export function sourceIndexPercentage({ counts, activeRun }: Pick<DataSource, 'counts' | 'activeRun'>): number {
  const { doneCount, failedCount, totalCount } = indexingStatistics(counts);
  if (totalCount === 0) return 0;
  const endedCount = doneCount + failedCount;
  return endedCount === totalCount && activeRun?.status !== 'LISTING'
    ? 100
    : Math.min(99, Math.floor((100 * endedCount + counts.percentSum) / totalCount));
}

/** One document of a source: a file, a page, a payload. */
export interface KnowledgeItem {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly dataSourceId: string;
  readonly name: string;
  readonly uniqueId: string;
  readonly parentUniqueId: string | null;
  /** The type of the item's source. */
  readonly type: string;
  readonly indexStatus: IndexStatus;
  readonly indexPercentage: number;
  /** Passages of the live generation. */
  readonly documentCount: number;
  readonly tokenCount: number;
  readonly contentBlobKey: string | null;
  readonly filename: string | null;
  readonly mimeType: string | null;
  readonly sizeBytes: number | null;
  readonly contentUrl: string | null;
  readonly isContentStoredExternally: boolean;
  readonly isBlobStorageDeleted: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly cite: boolean;
  /** What the text of the live generation leaves out of the document. */
  readonly omissions: readonly Omission[];
  readonly errorCode: string | null;
  /** Why the item failed or was skipped, for the person who added it. */
  readonly errorMessage: string | null;
  /** Whether a retry with the same content may succeed. */
  readonly isRetryable: boolean;
  readonly lastCheckedAt: Date | null;
  readonly indexedAt: Date | null;
}
