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
}
