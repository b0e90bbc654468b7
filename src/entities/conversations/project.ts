/** What chats have in common. Its owner changes it; members of its groups see it, and have chats of their own in it. */
export interface Project {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  /** The owner. */
  readonly userId: string;
  readonly name: string;
  /** Told to models in each chat of it, behind the instructions of the agent; '' for none. */
  readonly instructions: string;
}

/** What a project is shared with, and what it offers; each id once. */
export interface ProjectParts {
  readonly groupIds: readonly string[];
  readonly dataSourceIds: readonly string[];
  /** In the order in which they are offered. */
  readonly agentIds: readonly string[];
}

export const projectInstructionCharsMax = 20_000;
export const projectPartsMax = 50;
