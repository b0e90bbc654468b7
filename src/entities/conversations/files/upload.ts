import type { FilePurpose, StoredFile } from './file.ts';

export const uploadStatuses = ['pending', 'completed', 'cancelled', 'expired'] as const;
export type UploadStatus = (typeof uploadStatuses)[number];

/** A file of a user that comes in parts. */
export interface FileUpload {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly filename: string;
  /** As declared: untrusted. */
  readonly mimeType: string;
  readonly purpose: FilePurpose;
  /** The size that its parts must have together. */
  readonly sizeBytes: number;
  /** A pending one has expired once `expiresAt` is past. */
  readonly status: Exclude<UploadStatus, 'expired'>;
  readonly expiresAt: Date;
  /** After how many seconds the file expires; null: it is kept until it is deleted. */
  readonly fileExpirySeconds: number | null;
  /** The file that it became. */
  readonly fileId: string | null;
}

export interface FileUploadPart {
  readonly id: string;
  readonly createdAt: Date;
  readonly uploadId: string;
  readonly sizeBytes: number;
  readonly blobKey: string;
}

/** An upload, with the file that it became just now. */
export interface UploadState {
  readonly id: string;
  readonly upload: FileUpload;
  readonly status: UploadStatus;
  readonly file: StoredFile | null;
}
