/** Texts by name that a caller keeps with a thing. */
export type Metadata = Readonly<Record<string, string>>;
/** What searches may filter the files of a vector store by. */
export type FileAttributes = Readonly<Record<string, AttributeValue>>;

export type AttributeValue = string | number | boolean;
/** Which files may be found. No file without the attribute fits, except to `ne` and `nin`. Values of different types are never equal, less or greater. */
export type AttributeFilter =
  | { readonly type: 'and' | 'or'; readonly filters: readonly AttributeFilter[] }
  | { readonly type: 'in' | 'nin'; readonly key: string; readonly values: readonly AttributeValue[] }
  | {
      readonly type: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte';
      readonly key: string;
      readonly value: AttributeValue;
    };

/** Files of a vector store by what became of them. */
export interface StoreFileCounts {
  readonly inProgress: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** A data source that was made for no agent and holds any number of files. */
export interface VectorStore extends StoreFileCounts {
  /** That of the data source. */
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly orgVisible: boolean;
  readonly name: string;
  readonly description: string;
  readonly metadata: Metadata;
  /** Null: it does not expire. */
  readonly expiresAfterDays: number | null;
  readonly lastActiveAt: Date;
  readonly expiresAt: Date | null;
  readonly usageBytes: number;
}

export const storeStatuses = ['in_progress', 'completed', 'expired'] as const;
export type StoreStatus = (typeof storeStatuses)[number];

export function statusOfStore({ inProgress, expiresAt }: Pick<VectorStore, 'inProgress' | 'expiresAt'>, now: Date): StoreStatus {
  if (expiresAt !== null && expiresAt.getTime() <= now.getTime()) return 'expired';
  return inProgress > 0 ? 'in_progress' : 'completed';
}

export const storeFileStatuses = ['in_progress', 'completed', 'failed', 'cancelled'] as const;
export type StoreFileStatus = (typeof storeFileStatuses)[number];

/** A file of a vector store: a knowledge item with a copy of the bytes. */
export interface VectorStoreFile {
  /** Its own: that of the item, as another kind. */
  readonly id: string;
  /** The file it was made of. */
  readonly fileId: string;
  readonly itemId: string;
  readonly createdAt: Date;
  readonly dataSourceId: string;
  readonly filename: string;
  readonly sizeBytes: number;
  readonly status: StoreFileStatus;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly attributes: FileAttributes;
}

/** Files that were attached to a vector store by one request, by their states now. Files that were taken out since are in it no more. */
export interface StoreFileBatch extends StoreFileCounts {
  readonly id: string;
  readonly createdAt: Date;
  /** Its vector store. */
  readonly dataSourceId: string;
  readonly cancelledAt: Date | null;
}

/** `failed`: not one file could be read. */
export function statusOfBatch({ cancelledAt, inProgress, completed, failed, cancelled }: StoreFileBatch): StoreFileStatus {
  if (cancelledAt !== null) return 'cancelled';
  if (inProgress > 0) return 'in_progress';
  return failed > 0 && completed === 0 && cancelled === 0 ? 'failed' : 'completed';
}

/** A passage that a search of a store found. */
export interface StoreHit {
  readonly file: VectorStoreFile;
  /** Above 0 and below 1, higher for a better fit. */
  readonly score: number;
  readonly text: string;
}

export interface StoreSearchResults {
  readonly queries: readonly string[];
  readonly hits: readonly StoreHit[];
}

/** A part of the text of a file, as its readers get it. */
export interface FileText {
  /** Its place within the file, from 0. */
  readonly place: number;
  /** With the white space before it. */
  readonly text: string;
}

export interface FileContent {
  /** Joined they are the text that was read from the file; none before it is indexed. */
  readonly passages: readonly FileText[];
  /** Null: there is no more. */
  readonly nextPage: string | null;
}

/** A part of the text that was read from a file. */
export interface StorePassage {
  /** Its place within the file, from 0. */
  readonly ordinal: number;
  readonly text: string;
  /** White space between the passage before and this one. */
  readonly gapBefore: string;
  /** Start and end within the text of the file, in UTF-16 code units. Neighbours may overlap. */
  readonly charStart: number;
  readonly charEnd: number;
}
