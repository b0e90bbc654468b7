/**
 * What Parley is called at the authorization server of an MCP server, for all members of an organization: an administrator registered it there by hand.
 * Its secret never leaves the vault.
 */
export interface McpOauthClient {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  /** The address of the MCP server, as connections with it have it; unique in the organization. */
  readonly url: string;
  /** The authorization server that the MCP server named when the client was saved. The secret is sent to no other. */
  readonly issuer: string;
  readonly clientId: string;
  readonly hasSecret: boolean;
  /** What a person is asked for; empty: what the server names. */
  readonly scopes: readonly string[];
}
