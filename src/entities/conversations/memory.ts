export const memoryScopes = ['user', 'agent'] as const;
/** `user`: what is remembered with every agent of a user; `agent`: what is remembered with one agent only. */
export type MemoryScope = (typeof memoryScopes)[number];

/** Something that is remembered of a user. Only that user sees it, in that organization. */
export interface Memory {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly userId: string;
  /** The agent it is remembered with; null: all of them. */
  readonly agentId: string | null;
  /** Names it: another memory with the same key replaces it. Null for none. */
  readonly key: string | null;
  readonly text: string;
}

export const memoryKeyMaxChars = 100;
