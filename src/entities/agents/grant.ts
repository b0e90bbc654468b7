/** What an agent may do with the memories of a person who asks it. */
export const memoryGrants = ['none', 'read', 'write'] as const;
export type MemoryGrant = (typeof memoryGrants)[number];

/** What of a person an agent may open when that person asks it. */
export interface AgentGrants {
  readonly agentId: string;
  /** The person's MCP connections. */
  readonly connectionIds: readonly string[];
  readonly memories: MemoryGrant;
  /** Agents that the agent may ask for the person. */
  readonly agentIds: readonly string[];
  /** Each of these things, in the order in which they were granted. */
  readonly things: readonly GrantedThing[];
}

/** One thing that an agent may open: exactly one of the three members is not null. */
export interface GrantedThing {
  readonly grantedAt: Date;
  readonly connectionId: string | null;
  readonly memories: MemoryGrant | null;
  readonly agentId: string | null;
}
