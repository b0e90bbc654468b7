/** A document of GraphQL that an organization has saved: a tool of MCP clients, and a route of REST. */
export interface SavedDocument {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  /** Unique in the organization; also of its tool and its route. */
  readonly name: string;
  readonly description: string;
  /** One query or mutation, with its fragments. */
  readonly document: string;
  /** The SHA-256 of `document`, in hexadecimal. */
  readonly hash: string;
}

/** What a name of a document must be: also that of a tool. */
export const documentNamePattern = /^[a-z][a-z0-9_]{0,63}$/;

/** Names of tools that are no documents: of agents, and of the search. */
export function isReservedName(name: string): boolean {
  return name.startsWith('ask_') || name === 'search_knowledge';
}
