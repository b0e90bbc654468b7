/** The highest number of an installation at a repository host: far above what hosts count to, and within 32 bits. */
export const installationIdMax = 2_000_000_000;

/** What a connection gives access to: a user's account, an installation of our app at a repository host, an MCP server. */
export const connectionKinds = ['OAUTH_TOKEN', 'REPO_HOST_INSTALLATION', 'MCP_SERVER'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

/** Services whose accounts are connected by an OAuth token. */
export const oauthProviders = ['DRIVE_A', 'DRIVE_B', 'WIKI', 'TRACKER'] as const;
export type OauthProvider = (typeof oauthProviders)[number];
export const connectionProviders = [...oauthProviders, 'REPO_HOST', 'MCP'] as const;
export type ConnectionProvider = (typeof connectionProviders)[number];

/** A user's access to another service. Its secrets never leave the vault. */
export interface Connection {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly kind: ConnectionKind;
  readonly provider: ConnectionProvider;
  /** The name of the account or server, for people. */
  readonly name: string;
  /** The address of a self-hosted service or of an MCP server; null for the default. */
  readonly baseUrl: string | null;
  /** The id of the installation at a repository host. */
  readonly installationId: number | null;
  /** As granted by the provider. */
  readonly scopes: readonly string[];
  /** When the access token expires; null when unknown. */
  readonly expiresAt: Date | null;
  /** The service refuses the token: its owner has to connect again. */
  readonly needsReauthorization: boolean;
}

/** The encrypted part of a connection. Only connectors read it. */
export interface ConnectionSecrets {
  readonly accessToken?: string;
  readonly refreshToken?: string;
  /** Sent with every request to an MCP server. */
  readonly headers?: Readonly<Record<string, string>>;
}
