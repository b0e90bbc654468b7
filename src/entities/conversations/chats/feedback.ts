export const feedbackRatings = ['UP', 'DOWN'] as const;
export type FeedbackRating = (typeof feedbackRatings)[number];

/** What the user of a chat thinks of an answer. */
export interface Feedback {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly messageId: string;
  /** The run that said the message; null in the copy of a chat. */
  readonly runId: string | null;
  readonly chatId: string;
  /** Null for a bare model. */
  readonly agentId: string | null;
  /** Of the user, in whose organization the chat is. */
  readonly orgId: string;
  readonly userId: string;
  readonly rating: FeedbackRating;
  readonly tags: readonly string[];
  readonly comment: string | null;
}

/** How the answers of an agent were rated. */
export interface FeedbackCounts {
  readonly up: number;
  readonly down: number;
}
