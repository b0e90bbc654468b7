/** What a connection opens: a user's account, an installation of our app at a repository host, an MCP server. */
export const connectionKinds = ['OAUTH_TOKEN', 'REPO_HOST_INSTALLATION', 'MCP_SERVER'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

/** Services whose accounts are connected by an OAuth token. */
export const oauthProviders = ['DRIVE_A', 'DRIVE_B', 'WIKI', 'TRACKER'] as const;
export type OauthProvider = (typeof oauthProviders)[number];
export const connectionProviders = [...oauthProviders, 'REPO_HOST', 'MCP'] as const;
export type ConnectionProvider = (typeof connectionProviders)[number];

/** Somebody's access to a service elsewhere. What is secret of it never leaves the vault. */
export interface Connection {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly kind: ConnectionKind;
  readonly provider: ConnectionProvider;
  /** The account's or the server's name, for people. */
  readonly name: string;
  /** Where the service stands, when it is not where it usually is; the address of an MCP server. */
  readonly baseUrl: string | null;
  /** The number of an installation at a repository host. */
  readonly installationId: number | null;
  /** As the provider granted them. */
  readonly scopes: readonly string[];
  /** When the access token ends; null when nobody knows. */
  readonly expiresAt: Date | null;
}

/** What is kept sealed. Read by connectors only. */
export interface ConnectionSecrets {
  readonly accessToken?: string;
  readonly refreshToken?: string;
  /** Sent with every request to an MCP server. */
  readonly headers?: Readonly<Record<string, string>>;
}
