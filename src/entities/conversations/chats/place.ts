/** Where a chat stands among those of its user. Nothing here is told to models. */

/** Which chats a list or a search has: those that are not archived, only archived ones, or both. */
export const archiveChoices = ['without', 'only', 'with'] as const;
export type ArchiveChoice = (typeof archiveChoices)[number];

export const tagsMax = 20;
export const tagCharsMax = 50;
/** Chats of one change of several. */
export const changedChatsMax = 100;

/** What becomes of the place of each of some chats. Absent members are kept. */
export interface ChatPlaceChanges {
  readonly archivedAt?: Date | null;
  /** Null: out of its project. */
  readonly projectId?: string | null;
  /** In place of all tags before. */
  readonly tags?: readonly string[];
  readonly addedTags?: readonly string[];
  readonly removedTags?: readonly string[];
}

/** A label of the caller's chats. */
export interface ChatTag {
  readonly name: string;
  /** The chats that have it. */
  readonly chatCount: number;
}
