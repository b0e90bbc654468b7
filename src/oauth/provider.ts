import { generateKeyPairSync, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Provider, {
  type ClientMetadata,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import type { Deps } from '../domain/deps.ts';
import { hashSecret } from '../entities/people/api-key.ts';
import { appScopes } from '../entities/people/app.ts';
import { findAddress, toNetwork } from '../http/address.ts';
import { nobody } from '../lib/flow/fair-share.ts';
import { createAdapter } from './adapter.ts';
import { explain } from './error-page.ts';
import { oauthPaths } from './metadata.ts';

const daySeconds = 86_400;
const hourSeconds = 3_600;
const requestSeconds = 900;
const codeSeconds = 60;
const documentMaxBytes = 64 * 1024;
const documentTimeoutMs = 5_000;
const redirectUrisMax = 20;
const textLengthMax = 2_000;

/**
 * The authorization server: oidc-provider, which holds to OAuth 2.1, its registration, metadata documents, resource indicators and revocation. What it keeps
 * is in our tables; who agrees is asked by `consent.ts`. It speaks OAuth only: no id tokens, no accounts.
 *
 * @param issuer  the base address of the service.
 */
export function createProvider(deps: Deps, issuer: string): Provider {
  const findNetwork = () => {
    const req: IncomingMessage | undefined = Provider.ctx?.req;
    return req === undefined ? undefined : toNetwork(findAddress(req, deps.settings.TRUSTED_PROXY_HOPS));
  };
  const provider = new Provider(issuer, { ...configure(deps, issuer), adapter: createAdapter(deps, findNetwork) });
  // The addresses that it makes are those of the issuer: `endpoint.ts` says so in these headers, whatever a client has sent.
  provider.proxy = true;
  provider.Client.prototype.compareClientSecret = function compare(secret: string) {
    const [own, other] = [Buffer.from(this.clientSecret ?? ''), Buffer.from(hashSecret(secret))];
    return own.length === other.length && timingSafeEqual(own, other);
  };
  provider.on('server_error', (_ctx, error) => deps.logger.error({ err: error }, 'the authorization server failed'));
  provider.use(explainRefusals);
  return provider;
}

/**
 * An error of a request that nobody has agreed to is shown, not sent to the address that the request names: whoever registers a client could else lead
 * people from this service to any page.
 */
async function explainRefusals(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.path !== oauthPaths.authorize || ctx.status !== 303) return;
  const target = URL.parse(String(ctx.response.get('location')), ctx.oidc.issuer);
  if (target === null || target.pathname.startsWith(`${oauthPaths.consent}/`)) return;
  const error = target.searchParams.get('error') ?? 'invalid_request';
  ctx.remove('location');
  ctx.status = 400;
  explain(ctx, { error, error_description: target.searchParams.get('error_description') ?? '' });
}

function configure(deps: Deps, issuer: string): Configuration {
  const isTls = issuer.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isTls, signed: true, overwrite: true } as const;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    // Nothing is signed with it: there are no id tokens.
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    scopes: [...appScopes],
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    extraClientMetadata: { properties: ['software_id', 'software_version'], validator: checkClient },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: () => false,
    cookies: {
      names: { session: 'parley_oauth', interaction: 'parley_oauth_request', resume: 'parley_oauth_resume' },
      long: { ...cookie, path: '/oauth' },
      short: cookie,
      keys: [deps.storage.links.sign('oauth-cookie', 'cookies')],
    },
    routes: {
      authorization: oauthPaths.authorize,
      token: oauthPaths.token,
      registration: oauthPaths.register,
      revocation: oauthPaths.revoke,
    },
    ttl: {
      AccessToken: hourSeconds,
      AuthorizationCode: codeSeconds,
      RefreshToken: 30 * daySeconds,
      Interaction: requestSeconds,
      Session: requestSeconds,
      // It ends with its key.
      Grant: 3_650 * daySeconds,
    },
    findAccount: (_ctx, keyId) => ({ accountId: keyId, claims: () => ({ sub: keyId }) }),
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    loadExistingGrant: (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId);
    },
    interactions: { url: (_ctx, { uid }) => `${oauthPaths.consent}/${uid}`, policy: alwaysAsk() },
    renderError: explain,
    fetchResponseBodyLimits: { 'client_id metadata document': documentMaxBytes },
    fetch: (url, init) => fetchDocument(deps, String(url), init),
    features: featuresFor(deps, issuer),
  };
}

function featuresFor(deps: Deps, issuer: string): Configuration['features'] {
  const { OAUTH_CLIENTS } = deps.settings;
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    dPoP: { enabled: false },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    registration: {
      enabled: OAUTH_CLIENTS === 'all',
      idFactory: (ctx) => {
        dropUnknownScopes(ctx.oidc.body);
        return deps.newId('oauthClient');
      },
      issueRegistrationAccessToken: false,
    },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      // Who is not signed in makes the service fetch nothing but the documents of clients that somebody has connected.
      allowFetch: async (ctx, id) => {
        const isNew = (await deps.storage.people.oauthClients.find(id)) === undefined;
        return !isNew || (OAUTH_CLIENTS !== 'off' && ctx.path === oauthPaths.authorize);
      },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => `${issuer}/mcp`,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => {
        if (!isResource(issuer, resource))
          throw new errors.InvalidTarget(`resource must be ${issuer}/mcp or ${issuer}/mcp/agents/<id>`);
        return { scope: appScopes.join(' '), audience: resource, accessTokenTTL: hourSeconds, accessTokenFormat: 'opaque' };
      },
    },
  };
}

/** Clients register with scopes of other services too, which mean nothing here (RFC 7591 lets a server leave them out). */
function dropUnknownScopes(body: Record<string, unknown> | undefined): void {
  if (typeof body?.scope !== 'string') return;
  const ownScopes = body.scope.split(' ').filter((scope) => (appScopes as readonly string[]).includes(scope));
  if (ownScopes.length === 0) delete body.scope;
  else body.scope = ownScopes.join(' ');
}

/** The addresses that tokens may open. */
function isResource(issuer: string, resource: string): boolean {
  const path = resource.startsWith(issuer) ? resource.slice(issuer.length) : '';
  return path === '/mcp' || /^\/mcp\/agents\/ai_[0-9a-z]{26}$/.test(path);
}

/** Each request is asked about anew, whatever was agreed to before. */
function alwaysAsk(): interactionPolicy.Prompt[] {
  const { Check, Prompt } = interactionPolicy;
  const isAsked = new Check('asked', 'A person must agree', 'consent_required', (ctx) => {
    const asked = [...ctx.oidc.requestParamScopes];
    if (!asked.some((scope) => (appScopes as readonly string[]).includes(scope)))
      throw new errors.InvalidScope(`scope must name at least one of ${appScopes.join(', ')}`, asked.join(' '));
    return ctx.oidc.result?.consent === undefined;
  });
  return [new Prompt({ name: 'consent', requestable: true }, isAsked)];
}

/** Where a client has its codes sent must be safe, whatever kind of program it says to be. */
function checkClient(_ctx: unknown, key: string, _value: unknown, metadata: ClientMetadata): void {
  if (key !== 'software_id') return;
  const { redirect_uris: uris = [], client_name: name = '' } = metadata;
  if (uris.length > redirectUrisMax)
    throw new errors.InvalidClientMetadata(`redirect_uris has at most ${redirectUrisMax} addresses`);
  if ([name, ...uris].some((text) => text.length > textLengthMax))
    throw new errors.InvalidClientMetadata(`client_name and redirect_uris have at most ${textLengthMax} characters`);
  const unsafe = uris.find((uri) => URL.parse(uri)?.protocol === 'http:' && !isLoopback(uri));
  if (unsafe !== undefined)
    throw new errors.InvalidClientMetadata(
      'redirect_uris with http must lead to the machine of the person: localhost, 127.0.0.1 or [::1]',
    );
}

function isLoopback(uri: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(uri)?.hostname ?? '');
}

/** Reads a document of a stranger as every URL of a stranger is read: checked on each hop, bounded, no redirect. */
async function fetchDocument({ egress }: Deps, url: string, init: RequestInit | undefined): Promise<Response> {
  const signal = init?.signal ?? AbortSignal.timeout(documentTimeoutMs);
  const request = {
    owner: nobody,
    url,
    headers: { accept: 'application/json' },
    bytesMax: documentMaxBytes,
    timeoutMs: documentTimeoutMs,
    redirectsMax: 0,
  };
  const { status, headers, body } = await egress.send(request, signal);
  const hasNoBody = status === 204 || status === 304;
  return new Response(hasNoBody ? null : new Uint8Array(body), { status, headers });
}
