/** Products whose exported chats can be imported. */
export const chatImportFormats = ['CHATGPT', 'CLAUDE', 'LIBRECHAT', 'OPEN_WEBUI', 'PARLEY'] as const;
export type ChatImportFormat = (typeof chatImportFormats)[number];

/** UNDOING and UNDONE: the chats that it brought are being deleted, or are. */
export const chatImportStatuses = ['WAITING', 'READING', 'DONE', 'FAILED', 'CANCELLED', 'UNDOING', 'UNDONE'] as const;
export type ChatImportStatus = (typeof chatImportStatuses)[number];

/** Why something of a file was not brought. The last five count chats, the others parts of messages and messages. */
export const chatImportOmissionKinds = [
  'IMAGES',
  'FILES',
  'TOOL_CALLS',
  'THOUGHTS',
  'INSTRUCTIONS',
  'SOURCES',
  'FAILED_ANSWERS',
  'UNKNOWN_PARTS',
  'CUT_MESSAGES',
  'EMPTY_CHATS',
  'UNREADABLE_CHATS',
  'LONG_CHATS',
  'OLD_CHATS',
  'FURTHER_CHATS',
] as const;
export type ChatImportOmissionKind = (typeof chatImportOmissionKinds)[number];

export interface ChatImportOmission {
  readonly kind: ChatImportOmissionKind;
  readonly count: number;
  /** Names of the first chats that it concerns. */
  readonly chatNames: readonly string[];
}

/** What became of a file of chats. */
export interface ChatImport {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly userId: string;
  /** Who answers in the chats that it brings; null when the agent is gone. */
  readonly agentId: string | null;
  readonly filename: string;
  readonly sizeBytes: number;
  readonly status: ChatImportStatus;
  /** Null until a chat was read. */
  readonly format: ChatImportFormat | null;
  /** Chats in the file; null until it was read once. */
  readonly totalCount: number | null;
  /** How many of them were read. */
  readonly readCount: number;
  readonly importedCount: number;
  /** Chats that were here before, from an earlier import. */
  readonly existingCount: number;
  readonly messageCount: number;
  /** After it was undone: chats that stay, because somebody went on with them. */
  readonly retainedCount: number;
  readonly omissions: readonly ChatImportOmission[];
  /** Why it failed, in a sentence for its person. */
  readonly error: string | null;
  /** The bytes, until it has ended. */
  readonly blobKey: string | null;
  readonly endedAt: Date | null;
}
