import * as jose from 'jose';
import * as oidc from 'openid-client';
import { nobody } from '../../lib/flow/fair-share.ts';
import type { OidcProviderSettings } from '../../lib/settings/oidc-settings.ts';
import { readHost } from '../egress/allowance.ts';
import { createEgress, type Egress, type EgressOptions } from '../egress/egress.ts';
import { loadPerson, type ProvidedPerson } from './claims.ts';
import { isClientRefused, type SecretMethod, secretMethods, toClientAuth } from './client-secret.ts';
import { ProviderError, refusedClient, toProviderError } from './provider-error.ts';

/** One way through the sign-in. `state`, `nonce` and `verifier` are its own. */
export interface Attempt {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
}

/** A provider ends sessions: all of a person (`subject`), or one at the provider (`sessionId`), or both. */
export interface LogoutToken {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sessionId: string | undefined;
  /** After this the token is refused for its age. */
  readonly expiresAt: Date;
}

/** A provider of sign-ins by OpenID Connect. Every function throws ProviderError. */
export interface OidcProvider {
  readonly settings: OidcProviderSettings;
  /** Reads the discovery document. */
  check(): Promise<void>;
  /** Where the browser is sent. */
  authorizeUrl(attempt: Attempt): Promise<string>;
  /** Exchanges the code in the answer, and checks the answer and the id token. @param query  of the answer. */
  person(attempt: Attempt, query: URLSearchParams): Promise<ProvidedPerson>;
  /** Where a person signs out there too; undefined when the provider has no such place. */
  logoutUrl(returnTo: string): Promise<string | undefined>;
  readLogoutToken(token: string): Promise<LogoutToken>;
}

export interface OidcProviders {
  readonly list: readonly OidcProvider[];
  close(): Promise<void>;
}

/** A discovery document is read anew after this, and used for so long at most while it cannot be. */
const freshMs = 3_600_000;
const staleMs = 86_400_000;
const requestTimeoutMs = 8_000;
const replyBytesMax = 1_000_000;
const clockToleranceSeconds = 30;
/** Logout tokens are sent at once; an older one is refused. */
const logoutTokenMaxSeconds = 300;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
const signatures = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

/**
 * The providers of the settings. Their requests go through an egress of their own, which reaches the hosts of the issuers also in private networks; what
 * the discovery documents name beyond these must be public, or in EGRESS_ALLOW.
 */
export function createOidcProviders(settings: readonly OidcProviderSettings[], egressOptions: EgressOptions): OidcProviders {
  const hosts = settings.map(({ issuer }) => readHost(new URL(issuer)));
  const egress = createEgress({ ...egressOptions, allow: [egressOptions.allow ?? '', ...hosts].filter(Boolean).join(',') });
  return {
    list: settings.map((provider) => createProvider(provider, egress)),
    close: () => egress.close(),
  };
}

/** The client with one way to show its secret; undefined for a public client. */
interface ShownClient {
  readonly config: oidc.Configuration;
  readonly method: SecretMethod | undefined;
}
interface Discovered {
  /** For everything but tokens. */
  readonly config: oidc.Configuration;
  readonly clients: readonly ShownClient[];
  readonly keys: jose.JWTVerifyGetKey;
  readonly atMs: number;
}

function createProvider(settings: OidcProviderSettings, egress: Egress): OidcProvider {
  let cachedDiscovery: Discovered | undefined;
  let reading: Promise<Discovered> | undefined;
  const order = new ClientOrder();

  async function discovered(): Promise<Discovered> {
    const ageMs = cachedDiscovery === undefined ? Number.POSITIVE_INFINITY : performance.now() - cachedDiscovery.atMs;
    if (cachedDiscovery !== undefined && ageMs < freshMs) return cachedDiscovery;
    reading ??= discover(settings, egress).finally(() => {
      reading = undefined;
    });
    try {
      cachedDiscovery = await reading;
      return cachedDiscovery;
    } catch (error) {
      if (cachedDiscovery !== undefined && ageMs < staleMs) return cachedDiscovery;
      throw error;
    }
  }
  const asking = <T>(work: (discovery: Discovered) => Promise<T>): Promise<T> =>
    discovered()
      .then(work)
      .catch((error: unknown) => {
        throw toProviderError(settings, error);
      });

  return {
    settings,
    check: () => asking(async () => undefined),
    authorizeUrl: (attempt) => asking(({ config }) => authorizeUrl(config, settings, attempt)),
    person: (attempt, query) => asking((signInDiscovery) => signedIn(signInDiscovery, settings, attempt, query, order)),
    logoutUrl: (returnTo) =>
      asking(async ({ config }) =>
        config.serverMetadata().end_session_endpoint === undefined
          ? undefined
          : oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo }).href,
      ),
    readLogoutToken: (token) => asking((logoutDiscovery) => verifyLogoutToken(logoutDiscovery, settings, token)),
  };
}

/** Remembers which way to show the client was taken last. */
class ClientOrder {
  #taken: SecretMethod | undefined;

  note(method: SecretMethod | undefined): void {
    this.#taken = method;
  }
  sort(clients: readonly ShownClient[]): readonly ShownClient[] {
    return clients.toSorted((one, other) => Number(other.method === this.#taken) - Number(one.method === this.#taken));
  }
}

async function discover(settings: OidcProviderSettings, egress: Egress): Promise<Discovered> {
  const { issuer, clientId, clientSecret } = settings;
  const fetcher = createFetcher(egress);
  const client = { [oidc.clockTolerance]: clockToleranceSeconds };
  const config = await oidc.discovery(new URL(issuer), clientId, client, oidc.None(), {
    [oidc.customFetch]: fetcher,
    execute: isPlain(issuer) ? [oidc.allowInsecureRequests] : [],
  });
  const metadata = config.serverMetadata();
  const { jwks_uri: keysUri } = metadata;
  if (keysUri === undefined) throw new ProviderError(...withoutKeys(settings));
  const shownBy = (method: SecretMethod | undefined): ShownClient => {
    const auth = method === undefined || clientSecret === undefined ? oidc.None() : toClientAuth(method, clientSecret);
    const configuration = new oidc.Configuration(metadata, clientId, client, auth);
    configuration[oidc.customFetch] = fetcher;
    if (isPlain(issuer)) oidc.allowInsecureRequests(configuration);
    // The signature of id tokens is checked too, not only that they came over TLS from the provider.
    oidc.enableNonRepudiationChecks(configuration);
    return { config: configuration, method };
  };
  const methods = clientSecret === undefined ? [undefined] : secretMethods(metadata.token_endpoint_auth_methods_supported);
  const options = { [jose.customFetch]: fetcher as unknown as jose.FetchImplementation, timeoutDuration: requestTimeoutMs };
  const keys = jose.createRemoteJWKSet(new URL(keysUri), options);
  return { config, clients: methods.map(shownBy), keys, atMs: performance.now() };
}

/** Only where the settings allow it: an issuer without TLS is on this machine. */
function isPlain(issuer: string): boolean {
  return issuer.startsWith('http:');
}

function withoutKeys({ label, name }: OidcProviderSettings): [string, string] {
  return [
    `Signing in by ${label} does not work at the moment. An administrator finds the reason in the log.`,
    `The provider ${name} cannot be used: its discovery document names no jwks_uri.`,
  ];
}

async function authorizeUrl(config: oidc.Configuration, { scopes }: OidcProviderSettings, attempt: Attempt): Promise<string> {
  const { redirectUri, state, nonce, verifier } = attempt;
  return oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: scopes,
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).href;
}

/**
 * Exchanges the code, and reads who the person is. A client that is not taken is shown once more in the other way: the settings may be right.
 *
 * @param order  of the ways to show the client; the one that was taken comes first in later sign-ins.
 */
async function signedIn(
  { clients }: Discovered,
  settings: OidcProviderSettings,
  { redirectUri, state, nonce, verifier }: Attempt,
  query: URLSearchParams,
  order: ClientOrder,
): Promise<ProvidedPerson> {
  const answer = new URL(`${redirectUri}?${query}`);
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
  const ways = order.sort(clients);
  for (const [at, { config, method }] of ways.entries()) {
    const tokens = await oidc.authorizationCodeGrant(config, answer, checks).catch((error: unknown) => {
      const isRefused = isClientRefused(error);
      if (!isRefused) order.note(method);
      if (!isRefused) throw error;
      if (at === ways.length - 1) throw refusedClient(settings);
    });
    if (tokens === undefined) continue;
    order.note(method);
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the provider gave no id token');
    return loadPerson(config, settings, claims, tokens.access_token);
  }
  throw new Error('there is no way to show the client');
}

/** @throws ProviderError for a token that is not one of this provider for this client, or that is no logout token (OpenID Connect Back-Channel Logout 1.0, 2.6). */
async function verifyLogoutToken(
  { config, keys }: Discovered,
  { clientId }: OidcProviderSettings,
  token: string,
): Promise<LogoutToken> {
  const { issuer } = config.serverMetadata();
  const { payload } = await jose
    .jwtVerify(token, keys, {
      ...{ issuer, audience: clientId, algorithms: signatures },
      ...{ clockTolerance: clockToleranceSeconds, maxTokenAge: logoutTokenMaxSeconds, requiredClaims: ['iat', 'jti', 'events'] },
    })
    .catch((error: unknown) => {
      throw isOfToken(error) ? new ProviderError(`The token is refused (${error.code})`) : error;
    });
  const { sub, sid, jti, nonce, events, iat = 0 } = payload;
  const isLogout = typeof events === 'object' && events !== null && logoutEvent in events;
  const [subject, sessionId] = [readText(sub, 1_000), readText(sid, 1_000)];
  if (!isLogout || nonce !== undefined || (subject === undefined && sessionId === undefined) || typeof jti !== 'string') {
    throw new ProviderError('The token is no logout token');
  }
  const expiresAt = new Date((iat + logoutTokenMaxSeconds + 2 * clockToleranceSeconds) * 1_000);
  return { id: jti, issuer, subject, sessionId, expiresAt };
}

/** Whether the token is wrong, and not the way to the keys. */
function isOfToken(error: unknown): error is jose.errors.JOSEError {
  const { JOSEError, JWKSTimeout, JWKSInvalid } = jose.errors;
  return (
    error instanceof JOSEError &&
    !(error instanceof JWKSTimeout) &&
    !(error instanceof JWKSInvalid) &&
    error.code !== 'ERR_JOSE_GENERIC'
  );
}

function createFetcher(egress: Egress): oidc.CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const reply = await egress.send(
      {
        ...{ owner: nobody, url, method: method as 'GET' | 'POST', headers },
        ...(body === undefined || body === null ? {} : { body: String(body) }),
        ...{ bytesMax: replyBytesMax, timeoutMs: requestTimeoutMs, redirectsMax: 0 },
      },
      signal ?? new AbortController().signal,
    );
    const isBodiless = [204, 205, 304].includes(reply.status);
    return new Response(isBodiless ? null : new Uint8Array(reply.body), {
      status: reply.status,
      headers: withoutEncoding(reply.headers),
    });
  };
}

/** The body is decoded already. */
function withoutEncoding(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-(?:encoding|length)$/i.test(name)));
}

function readText(value: unknown, most: number): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= most ? value : undefined;
}
