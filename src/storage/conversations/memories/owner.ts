/** Whose memories: those of one user in one organization. Every statement has both. */
export interface MemoryOwner {
  readonly orgId: string;
  readonly userId: string;
}

/** Memories with one agent; null: those with every agent; `any`: those with a single agent, whichever; absent: all. */
export interface MemoryFilter extends MemoryOwner {
  readonly agentId?: string | null;
}
