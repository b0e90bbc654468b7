export const promptVisibilities = ['PRIVATE', 'GROUP', 'ORGANIZATION'] as const;
export type PromptVisibility = (typeof promptVisibilities)[number];

/** A text that somebody keeps for the box of a chat. */
export interface Prompt {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly name: string;
  /** What is typed behind `/`: lower-case letters, digits and hyphens. */
  readonly command: string;
  /** With variables: see lib/text/prompt-variables.ts. */
  readonly text: string;
  readonly visibility: PromptVisibility;
  readonly groupIds: readonly string[];
}
