export const chatFileSources = ['USER', 'SYSTEM'] as const;
export type ChatFileSource = (typeof chatFileSources)[number];

export const chatFileStatuses = ['PENDING', 'UPLOADED', 'FAILED', 'DELETED'] as const;
export type ChatFileStatus = (typeof chatFileStatuses)[number];

/** A file of a chat; its bytes are a blob. */
export interface ChatFile {
  readonly id: string;
  readonly createdAt: Date;
  readonly chatId: string;
  readonly source: ChatFileSource;
  readonly filename: string;
  /** Declared while it is PENDING, counted afterwards. */
  readonly sizeBytes: number;
  /** As it was declared: untrusted. */
  readonly mimeType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: ChatFileStatus;
  /** Null until there are bytes, and once they are gone. */
  readonly blobKey: string | null;
  readonly deletedAt: Date | null;
}
