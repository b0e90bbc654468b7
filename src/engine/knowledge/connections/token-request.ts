import * as oauth from 'oauth4webapi';
import type { ConnectionSecrets } from '../../../entities/knowledge/connection.ts';
import { membersOf } from '../../../lib/json/json.ts';
import { SourceError } from '../connectors/error.ts';
import type { ServiceClient } from '../connectors/service-client/client.ts';
import { withWords } from '../connectors/service-client/words.ts';
import type { OauthService } from './oauth-service.ts';

export interface TokenGrant {
  readonly secrets: Pick<ConnectionSecrets, 'accessToken' | 'refreshToken'>;
  readonly expiresAt: Date | null;
  /** As granted; undefined when the service does not say. */
  readonly scopes: readonly string[] | undefined;
}

/** What tokens are asked for with: the code of a person's consent, or the refresh token of an earlier grant. */
export type TokenProof =
  | { readonly code: string; readonly verifier: string; readonly redirectUri: string }
  | { readonly refreshToken: string };

/**
 * Asks a service for tokens.
 *
 * @throws SourceError AUTH when the proof is refused; CONFIGURATION when this instance is not registered there, or wrongly.
 */
export async function requestTokens(
  vendors: ServiceClient,
  service: OauthService,
  proof: TokenProof,
  now: Date,
  signal: AbortSignal,
): Promise<TokenGrant> {
  if (service.client === undefined) {
    throw new SourceError(
      'CONFIGURATION',
      `The operator has to set ${service.clientSettings} before ${service.name} can be connected.`,
    );
  }
  const own = 'refreshToken' in proof ? [proof.refreshToken] : [proof.code, proof.verifier];
  const secrets = [service.client.secret, ...own];
  const tokenGrant = await requestGrant(vendors, service, service.client, proof, secrets, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof SourceError) throw error;
    throw new SourceError('BAD_REPLY', `${service.name} gave no token.`);
  });
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = tokenGrant;
  if (accessToken === '') throw new SourceError('BAD_REPLY', `${service.name} gave no token.`);
  return {
    secrets: { accessToken, ...(refreshToken === undefined ? {} : { refreshToken }) },
    expiresAt: seconds !== undefined && seconds > 0 ? new Date(now.getTime() + seconds * 1_000) : null,
    scopes: scope?.split(/[\s,]+/).filter(Boolean),
  };
}

async function requestGrant(
  vendors: ServiceClient,
  service: OauthService,
  { id, secret }: NonNullable<OauthService['client']>,
  proof: TokenProof,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<oauth.TokenEndpointResponse> {
  const server = { issuer: new URL(service.tokenUrl).origin, token_endpoint: service.tokenUrl };
  const client = { client_id: id };
  const authentication = oauth.ClientSecretPost(secret);
  const options = {
    [oauth.customFetch]: (url: string, { body }: { readonly body: URLSearchParams }) =>
      send(vendors, service, url, body, secrets, signal),
    // The operator set the address.
    [oauth.allowInsecureRequests]: true,
    signal,
  };
  if ('refreshToken' in proof) {
    const reply = await oauth.refreshTokenGrantRequest(server, client, authentication, proof.refreshToken, options);
    return oauth.processRefreshTokenResponse(server, client, reply);
  }
  // The state was checked when the browser came back.
  const consent = oauth.validateAuthResponse(server, client, new URLSearchParams({ code: proof.code }), oauth.expectNoState);
  const verifier = service.usesPkce ? proof.verifier : oauth.nopkce;
  const reply = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    consent,
    proof.redirectUri,
    verifier,
    options,
  );
  return oauth.processAuthorizationCodeResponse(server, client, reply);
}

/** A request of the library, by the client of all vendors, in the form that the service takes. @throws SourceError for a refusal. */
async function send(
  vendors: ServiceClient,
  service: OauthService,
  url: string,
  form: URLSearchParams,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<Response> {
  const body = service.format === 'json' ? Object.fromEntries(form) : form;
  const reply = await vendors.send({ service: service.name, url, body, accept: [400, 401, 403] }, signal);
  const members = membersOf(parsed(reply.body));
  // GitHub refuses with status 200 and the member `error`.
  if (reply.status >= 400 || typeof members.error === 'string') {
    throw withWords(toRefusal(service, reply.status, members), reply.body, secrets);
  }
  // The protocol asks for a type; all that these services give are bearer tokens, whether they say so or not.
  return Response.json({ token_type: 'bearer', ...members });
}

function toRefusal({ name, clientSettings }: OauthService, status: number, members: ReturnType<typeof membersOf>): SourceError {
  const { error } = members;
  // Atlassian also says `unauthorized_client` of a refresh token that it does not take.
  const isOfToken = /refresh.?token/i.test(String(members.error_description));
  const isOfClient = error === 'invalid_client' || error === 'incorrect_client_credentials';
  if (isOfClient || (error === 'unauthorized_client' && !isOfToken)) {
    return new SourceError('CONFIGURATION', `${name} does not know this instance: ${clientSettings} are wrong.`);
  }
  // A refusal that is not of the protocol comes from what stands before the service.
  if (status === 403 && error === undefined) return new SourceError('FORBIDDEN', `${name} refuses the request of a token.`);
  return new SourceError('AUTH', `${name} does not accept the connection any more: connect it again.`);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
