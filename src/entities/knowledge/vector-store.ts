/** Texts by name that a caller keeps with a thing. */
export type Metadata = Readonly<Record<string, string>>;
/** What searches may filter the files of a vector store by. */
export type FileAttributes = Readonly<Record<string, string | number | boolean>>;

/** A data source that was made for no agent and holds any number of files, in the form of the common format. */
export interface VectorStore {
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
  readonly inProgress: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

export const storeFileStatuses = ['in_progress', 'completed', 'failed', 'cancelled'] as const;
export type StoreFileStatus = (typeof storeFileStatuses)[number];

/** A file of a vector store: a knowledge item with a copy of the bytes. */
export interface VectorStoreFile {
  /** That of the file it was made of. */
  readonly id: string;
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
