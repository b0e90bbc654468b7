/** What a file may be for: those of the common format that the service has a use for. */
export const filePurposes = ['assistants', 'user_data', 'vision'] as const;
export type FilePurpose = (typeof filePurposes)[number];

/** A file of a user: one in no chat, one of a chat, or the file that a data source was made of. */
export interface StoredFile {
  /** That of a chat file; of the file of a data source, the id of its knowledge item. */
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly filename: string;
  readonly sizeBytes: number;
  /** As declared: untrusted. */
  readonly mimeType: string;
  readonly purpose: FilePurpose;
  readonly blobKey: string;
  /** Null: kept until it is deleted. */
  readonly expiresAt: Date | null;
  /** Null for a file in no chat. */
  readonly chatId: string | null;
  /** Null for a file that is no data source. */
  readonly dataSourceId: string | null;
}
