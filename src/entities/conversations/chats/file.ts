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
  /** As declared while PENDING, counted afterwards. */
  readonly sizeBytes: number;
  /** As declared: untrusted. */
  readonly mimeType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: ChatFileStatus;
  /** Null before the upload and after deletion. */
  readonly blobKey: string | null;
  readonly deletedAt: Date | null;
}
