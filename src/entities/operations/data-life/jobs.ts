/** READY: it can be downloaded. FAILED: it could not be written within two days. */
export const exportStatuses = ['PENDING', 'RUNNING', 'READY', 'FAILED'] as const;
export type ExportStatus = (typeof exportStatuses)[number];

/** STOPPED: a legal hold was set before the end; what was erased until then is in the report. */
export const erasureStatuses = ['PENDING', 'RUNNING', 'DONE', 'STOPPED'] as const;
export type ErasureStatus = (typeof erasureStatuses)[number];

export interface DataExport {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  /** Null: the whole organization. */
  readonly userId: string | null;
  readonly requestedByUserId: string;
  readonly status: ExportStatus;
  readonly counts: Readonly<Record<string, number>>;
  readonly sizeBytes: number | null;
  readonly blobKey: string | null;
  readonly endedAt: Date | null;
  readonly expiresAt: Date | null;
}

export const erasureActions = ['ERASED', 'TRANSFERRED', 'PSEUDONYMISED', 'STAYS'] as const;
export type ErasureAction = (typeof erasureActions)[number];

export interface ErasureLine {
  /** The table, as in an export. */
  readonly table: string;
  readonly action: ErasureAction;
  readonly count: number;
  /** Why it stays, or is not simply erased. */
  readonly reason?: string;
}

export interface Erasure {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly requestedByUserId: string;
  readonly transferToUserId: string;
  readonly status: ErasureStatus;
  readonly report: readonly ErasureLine[];
  readonly endedAt: Date | null;
}
