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
  /** Of an MCP server whose tokens come from an authorization server. */
  readonly mcp?: McpGrant;
}

/** What this installation is, for authorization servers that take the address of a client's metadata as its id. */
export const clientMetadataPath = '/oauth/client-metadata.json';

/** What tokens of an MCP server are renewed with. Kept with the tokens, sealed. */
export interface McpGrant {
  /** New with each consent: sessions and lists of tools belong to one grant. */
  readonly id: string;
  /** `consent`: a person agreed in the browser. `client`: the client has tokens in its own name. */
  readonly kind: 'consent' | 'client';
  /** The metadata of the authorization server that later requests need. */
  readonly server: AuthorizationServer;
  readonly client: McpClient;
  /** The resource that tokens are asked for, as its metadata names it; null for a server without such metadata. */
  readonly resource: string | null;
  /** The scopes that were asked for, separated by spaces; null: none were named. */
  readonly scope: string | null;
  /** Scopes that the server has demanded since; null: none. */
  readonly demandedScope: string | null;
}

export interface AuthorizationServer {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint?: string | undefined;
  readonly response_types_supported: string[];
  readonly token_endpoint_auth_methods_supported?: string[] | undefined;
  readonly authorization_response_iss_parameter_supported?: boolean | undefined;
}

/** What Parley is called at an authorization server. */
export interface McpClient {
  /**
   * `document`: its id is the address of its metadata. `registered`: the server gave the id. `given`: a person gave the id. `organization`: an administrator
   * gave it for all members; the secret is not kept here, but read when it is sent.
   */
  readonly origin: 'document' | 'registered' | 'given' | 'organization';
  /** The McpOauthClient of the origin `organization`. */
  readonly organizationClientId?: string | undefined;
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly client_secret_expires_at?: number | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
  /** The redirect address it was registered with. */
  readonly redirectUri: string;
}
