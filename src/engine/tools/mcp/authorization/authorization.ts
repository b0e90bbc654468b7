import { randomUUID } from 'node:crypto';
import type { AuthorizationServerMetadata, FetchLike, OAuthTokens } from '@modelcontextprotocol/client';
import {
  type AuthorizationServer,
  type ConnectionSecrets,
  clientMetadataPath,
  type McpClient,
  type McpGrant,
} from '../../../../entities/knowledge/connection.ts';
import type { ShareOwner } from '../../../../lib/flow/fair-share.ts';
import type { Egress } from '../../../egress/egress.ts';
import { SourceError } from '../../../knowledge/connectors/error.ts';
import { type Discovery, discover } from './discovery.ts';
import { toAuthorizationError } from './failure.ts';
import { createAuthorizationFetch } from './fetch.ts';

/** Tokens of an authorization server, and what they are renewed with. */
export interface McpTokens {
  readonly secrets: Required<Pick<ConnectionSecrets, 'mcp'>> & Pick<ConnectionSecrets, 'accessToken' | 'refreshToken'>;
  readonly expiresAt: Date | null;
  readonly scopes: readonly string[];
}

/** A person who is on the way to the authorization server. Kept sealed until the answer. */
export interface PendingConsent {
  readonly verifier: string;
  readonly grant: Omit<McpGrant, 'id'>;
}

/** An id that somebody registered by hand, with its secret. */
export interface GivenClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
}

export interface ConsentRequest {
  readonly state: string;
  readonly redirectUri: string;
  /** Absent: a client that Parley has there, or registers. */
  readonly client?: GivenClient | undefined;
  /** Absent: those that the server names. */
  readonly scopes?: readonly string[] | undefined;
  /** The grant that is replaced. */
  readonly before?: McpGrant | undefined;
}

/** A client that an organization has for all of its members, with its secret. */
export interface OrganizationClient extends GivenClient {
  readonly id: string;
  /** The only authorization server that the secret is sent to. */
  readonly issuer: string;
  readonly scopes: readonly string[];
}

export interface McpAuthorizationOptions {
  readonly egress: Egress;
  /** The client of an organization by its id, or by the address of its MCP server. */
  findClient(orgId: string, by: { readonly id: string } | { readonly url: string }): Promise<OrganizationClient | undefined>;
  readonly version: string;
  /** Of links to this service, without a slash at the end. */
  publicUrl(): string;
  now(): Date;
}

/**
 * Parley as a client of the authorization servers of MCP servers: OAuth 2.1 by the functions of the SDK, over the egress guard. Every method throws
 * SourceError: AUTH when the grant has ended, UNREACHABLE when the server may answer later, else BAD_REPLY or CONFIGURATION.
 */
export class McpAuthorization {
  readonly #options: McpAuthorizationOptions;

  constructor(options: McpAuthorizationOptions) {
    this.#options = options;
  }

  /** Where a person is sent to agree: authorization code with PKCE, for one resource. */
  begin(
    serverUrl: string,
    owner: ShareOwner,
    request: ConsentRequest,
    signal: AbortSignal,
  ): Promise<{ readonly url: string; readonly pending: PendingConsent }> {
    const { state, redirectUri } = request;
    return this.#ask(owner, signal, [request.client?.clientSecret], async (fetch) => {
      const sdk = await import('@modelcontextprotocol/client');
      const discovery = await discover(serverUrl, fetch);
      const organizationClient =
        request.client === undefined ? await this.#options.findClient(owner.orgId, { url: serverUrl }) : undefined;
      const scopes = request.scopes ?? organizationClient?.scopes;
      const scope = readScope(discovery, { ...request, scopes }, sdk.computeScopeUnion);
      const client =
        organizationClient === undefined
          ? await this.#findClient(discovery.server, request, scope, fetch)
          : toSharedClient(organizationClient, discovery.server, redirectUri);
      const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(discovery.server.issuer, {
        metadata: discovery.server,
        clientInformation: client,
        redirectUrl: redirectUri,
        state,
        ...(scope === undefined ? {} : { scope }),
        ...(discovery.resource === null ? {} : { resource: discovery.resource as never }),
      });
      const grant = toGrant('consent', discovery, client, scope ?? null);
      return { url: authorizationUrl.href, pending: { verifier: codeVerifier, grant } };
    });
  }

  /**
   * Turns the code of a consent into tokens.
   *
   * @param answer  `iss` is the issuer that the answer names: it must be the one that was asked (RFC 9207).
   */
  async finish(
    { verifier, grant }: PendingConsent,
    answer: { readonly code: string; readonly iss: string | undefined },
    owner: ShareOwner,
    signal: AbortSignal,
  ): Promise<McpTokens> {
    const client = await this.#clientOf(grant, owner);
    return this.#ask(owner, signal, [answer.code, verifier, client.client_secret], async (fetch) => {
      const sdk = await import('@modelcontextprotocol/client');
      const tokens = await sdk.exchangeAuthorization(grant.server.issuer, {
        ...requestOptions({ ...grant, client }, fetch),
        authorizationCode: answer.code,
        ...(answer.iss === undefined ? {} : { iss: answer.iss }),
        codeVerifier: verifier,
        redirectUri: grant.client.redirectUri,
      });
      return this.#toTokens(tokens, { ...grant, id: randomUUID() });
    });
  }

  /** Tokens of a client in its own name. */
  requestClientTokens(
    serverUrl: string,
    owner: ShareOwner,
    { clientId, clientSecret, scopes }: GivenClient & Pick<ConsentRequest, 'scopes'>,
    signal: AbortSignal,
  ): Promise<McpTokens> {
    return this.#ask(owner, signal, [clientSecret], async (fetch) => {
      const sdk = await import('@modelcontextprotocol/client');
      const discovery = await discover(serverUrl, fetch);
      const scope = readScope(discovery, { scopes }, sdk.computeScopeUnion, false);
      const client: McpClient = { origin: 'given', client_id: clientId, client_secret: clientSecret, redirectUri: '' };
      const grant = { ...toGrant('client', discovery, client, scope ?? null), id: randomUUID() };
      return this.#toTokens(await fetchClientTokens(grant, fetch), grant);
    });
  }

  /** The authorization server that an MCP server names. */
  findIssuer(serverUrl: string, owner: ShareOwner, signal: AbortSignal): Promise<string> {
    return this.#ask(owner, signal, [], async (fetch) => (await discover(serverUrl, fetch)).server.issuer);
  }

  /** New tokens of a grant. The resource and the scopes stay. */
  async renew(
    { refreshToken, mcp: grant }: ConnectionSecrets & { readonly mcp: McpGrant },
    owner: ShareOwner,
    signal: AbortSignal,
  ): Promise<McpTokens> {
    const client = await this.#clientOf(grant, owner);
    return this.#ask(owner, signal, [refreshToken, client.client_secret], async (fetch) => {
      if (grant.kind === 'client') return this.#toTokens(await fetchClientTokens(grant, fetch), grant);
      if (refreshToken === undefined)
        throw new SourceError('AUTH', 'The token has ended, and there is none to renew it: sign in again.');
      const sdk = await import('@modelcontextprotocol/client');
      const options = requestOptions({ ...grant, client }, fetch);
      const tokens = await sdk.refreshAuthorization(grant.server.issuer, { ...options, refreshToken });
      return this.#toTokens(tokens, grant);
    });
  }

  /** Gives tokens back (RFC 7009), where the authorization server takes them. A refresh token ends its access tokens too. */
  async revoke(
    { accessToken, refreshToken, mcp: grant }: ConnectionSecrets,
    owner: ShareOwner,
    signal: AbortSignal,
  ): Promise<void> {
    const token = refreshToken ?? accessToken;
    const address = grant?.server.revocation_endpoint;
    if (grant === undefined || token === undefined || address === undefined) return;
    const { server } = grant;
    const client = await this.#clientOf(grant, owner);
    return this.#ask(owner, signal, [token, client.client_secret], async (fetch) => {
      const sdk = await import('@modelcontextprotocol/client');
      const form = new URLSearchParams({ token, token_type_hint: refreshToken === undefined ? 'access_token' : 'refresh_token' });
      const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' });
      const method = sdk.selectClientAuthMethod(client, server.token_endpoint_auth_methods_supported ?? []);
      if (method === 'client_secret_basic') {
        const words = [client.client_id, client.client_secret ?? ''].map(encodeURIComponent).join(':');
        headers.set('authorization', `Basic ${Buffer.from(words).toString('base64')}`);
      } else {
        form.set('client_id', client.client_id);
        if (method === 'client_secret_post') form.set('client_secret', client.client_secret ?? '');
      }
      const reply = await fetch(address, { method: 'POST', headers, body: form });
      await reply.body?.cancel();
      if (!reply.ok)
        throw new SourceError('BAD_REPLY', `The authorization server does not take the token back (${reply.status}).`);
    });
  }

  /** The document at `clientMetadataPath`. */
  clientMetadata(redirectUri: string): Readonly<Record<string, unknown>> {
    return {
      client_id: `${this.#options.publicUrl()}${clientMetadataPath}`,
      ...clientMetadata(redirectUri, this.#options.publicUrl()),
      token_endpoint_auth_method: 'none',
    };
  }

  async #ask<T>(
    owner: ShareOwner,
    signal: AbortSignal,
    secrets: readonly (string | undefined)[],
    work: (fetch: FetchLike) => Promise<T>,
  ): Promise<T> {
    const { egress, version } = this.#options;
    try {
      return await work(createAuthorizationFetch({ egress, owner, version, signal }));
    } catch (error) {
      signal.throwIfAborted();
      throw await toAuthorizationError(
        error,
        secrets.filter((one) => one !== undefined),
      );
    }
  }

  /**
   * The client of a grant, with the secret that the organization has for it now.
   *
   * @throws SourceError AUTH where the organization has it no more: its tokens cannot be renewed.
   */
  async #clientOf({ client, server }: Pick<McpGrant, 'client' | 'server'>, { orgId }: ShareOwner): Promise<McpClient> {
    const { organizationClientId: id } = client;
    if (id === undefined) return client;
    const shared = await this.#options.findClient(orgId, { id });
    if (shared?.clientId === client.client_id && shared.issuer === server.issuer)
      return { ...client, client_secret: shared.clientSecret };
    throw new SourceError('AUTH', 'The organization has another client for this MCP server now, or none: sign in again.');
  }

  /** A given client, the one of the earlier grant, the address of our metadata, or one that is registered now. */
  async #findClient(
    server: AuthorizationServerMetadata,
    { redirectUri, client: givenClient, before }: ConsentRequest,
    scope: string | undefined,
    fetch: FetchLike,
  ): Promise<McpClient> {
    if (givenClient !== undefined) {
      const { clientId, clientSecret } = givenClient;
      return { origin: 'given', client_id: clientId, client_secret: clientSecret, redirectUri };
    }
    if (before !== undefined && this.#isUsable(before, server, redirectUri, splitScope(scope ?? null))) return before.client;
    const publicUrl = this.#options.publicUrl();
    if (server.client_id_metadata_document_supported === true && publicUrl.startsWith('https://')) {
      return {
        origin: 'document',
        client_id: `${publicUrl}${clientMetadataPath}`,
        token_endpoint_auth_method: 'none',
        redirectUri,
      };
    }
    if (server.registration_endpoint === undefined) {
      const message = `The authorization server registers no clients by itself: register Parley there with the redirect address ${redirectUri}, and give its clientId`;
      throw new SourceError('CONFIGURATION', message);
    }
    const sdk = await import('@modelcontextprotocol/client');
    const metadata = { ...clientMetadata(redirectUri, publicUrl), token_endpoint_auth_method: authenticationOf(server) };
    const registration = await sdk.registerClient(server.issuer, {
      metadata: server,
      clientMetadata: metadata,
      ...(scope === undefined ? {} : { scope }),
      fetchFn: fetch,
    });
    const {
      client_id,
      client_secret,
      client_secret_expires_at,
      token_endpoint_auth_method = metadata.token_endpoint_auth_method,
    } = registration;
    return { origin: 'registered', client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method, redirectUri };
  }

  /** Credentials belong to one issuer: at another, Parley is another client. */
  #isUsable(
    { kind, client, server, scope }: McpGrant,
    { issuer }: AuthorizationServerMetadata,
    redirectUri: string,
    scopes: readonly string[],
  ): boolean {
    const { client_secret_expires_at: endsAt = 0 } = client;
    const isOver = endsAt !== 0 && endsAt * 1_000 <= this.#options.now().getTime();
    // A client is registered with its scopes.
    const isForScopes = client.origin !== 'registered' || scopes.every((one) => splitScope(scope).includes(one));
    return (
      kind === 'consent' &&
      client.origin !== 'organization' &&
      server.issuer === issuer &&
      client.redirectUri === redirectUri &&
      !isOver &&
      isForScopes
    );
  }

  #toTokens({ access_token, refresh_token, expires_in, scope, token_type }: OAuthTokens, grant: McpGrant): McpTokens {
    if (!/^bearer$/i.test(token_type)) {
      throw new SourceError('BAD_REPLY', 'The authorization server gives tokens of a type that is not sent here.');
    }
    if (!/^[\x21-\x7e]+$/.test(access_token))
      throw new SourceError('BAD_REPLY', 'The authorization server gave a token that no header can carry.');
    return {
      secrets: { accessToken: access_token, ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }), mcp: grant },
      expiresAt:
        expires_in === undefined || expires_in <= 0 ? null : new Date(this.#options.now().getTime() + expires_in * 1_000),
      scopes: splitScope(scope ?? grant.scope),
    };
  }
}

/** @throws SourceError CONFIGURATION where the MCP server names another authorization server than when the client was saved. */
function toSharedClient(
  { id, clientId, issuer }: OrganizationClient,
  server: AuthorizationServerMetadata,
  redirectUri: string,
): McpClient {
  if (server.issuer === issuer) return { origin: 'organization', organizationClientId: id, client_id: clientId, redirectUri };
  const message = `The client of your organization is for ${issuer}, and the MCP server names ${server.issuer} now: an administrator has to save the client again`;
  throw new SourceError('CONFIGURATION', message);
}

function clientMetadata(redirectUri: string, publicUrl: string) {
  const isOwnMachine = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(redirectUri).hostname);
  return {
    client_name: 'Parley',
    client_uri: publicUrl,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: isOwnMachine ? 'native' : 'web',
  };
}

/** How Parley proves itself where it registers: by a secret where the server takes one. */
function authenticationOf({ token_endpoint_auth_methods_supported: supported }: AuthorizationServerMetadata): string {
  const preferred = ['client_secret_basic', 'client_secret_post', 'none'];
  return supported === undefined ? 'client_secret_basic' : (preferred.find((one) => supported.includes(one)) ?? 'none');
}

function readScope(
  { server, scope: namedScope }: Discovery,
  { scopes, before }: Pick<ConsentRequest, 'scopes' | 'before'>,
  union: (...scopes: readonly (string | undefined)[]) => string | undefined,
  isRefreshable = true,
): string | undefined {
  const wantedScope = scopes === undefined || scopes.length === 0 ? namedScope : scopes.join(' ');
  const demanded = before?.demandedScope ?? undefined;
  // What was granted before stays granted when the server demands more.
  const scope = union(wantedScope, demanded, demanded === undefined ? undefined : (before?.scope ?? undefined));
  const isOffered = server.scopes_supported?.includes('offline_access') === true;
  return scope !== undefined && isOffered && isRefreshable ? union(scope, 'offline_access') : scope;
}

function toGrant(
  kind: McpGrant['kind'],
  { server, resource }: Discovery,
  client: McpClient,
  scope: string | null,
): Omit<McpGrant, 'id'> {
  const {
    issuer,
    authorization_endpoint,
    token_endpoint,
    revocation_endpoint,
    response_types_supported,
    token_endpoint_auth_methods_supported,
    authorization_response_iss_parameter_supported,
  } = server as AuthorizationServerMetadata & AuthorizationServer;
  return {
    kind,
    server: {
      issuer,
      authorization_endpoint,
      token_endpoint,
      revocation_endpoint,
      response_types_supported,
      token_endpoint_auth_methods_supported,
      authorization_response_iss_parameter_supported,
    },
    client,
    resource,
    scope,
    demandedScope: null,
  };
}

function requestOptions({ server, client, resource }: Omit<McpGrant, 'id'>, fetch: FetchLike) {
  return {
    metadata: server as AuthorizationServerMetadata,
    clientInformation: client,
    ...(resource === null ? {} : { resource: resource as never }),
    fetchFn: fetch,
  };
}

async function fetchClientTokens(grant: McpGrant, fetch: FetchLike): Promise<OAuthTokens> {
  const sdk = await import('@modelcontextprotocol/client');
  const { fetchFn, metadata, resource } = requestOptions(grant, fetch) as ReturnType<typeof requestOptions> & {
    readonly resource?: never;
  };
  const provider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], grant_types: ['client_credentials'] },
    clientInformation: () => grant.client,
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    prepareTokenRequest: (scope?: string) =>
      new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
  };
  return sdk.fetchToken(provider, grant.server.issuer, {
    metadata,
    fetchFn,
    ...(resource === undefined ? {} : { resource }),
    ...(grant.scope === null ? {} : { scope: grant.scope }),
  });
}

function splitScope(scope: string | null): readonly string[] {
  return scope?.split(/\s+/).filter(Boolean) ?? [];
}
