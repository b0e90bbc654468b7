import type { ConnectionSecrets } from '../../../entities/knowledge/connection.ts';
import { membersOf } from '../../../lib/json.ts';
import { SourceError } from '../connectors/error.ts';
import type { VendorClient } from '../connectors/vendor/client.ts';
import { withWords } from '../connectors/vendor/words.ts';
import type { OauthService } from './providers.ts';

export interface TokenGrant {
  readonly secrets: Pick<ConnectionSecrets, 'accessToken' | 'refreshToken'>;
  readonly expiresAt: Date | null;
  /** As granted; undefined when the service does not say. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * Asks a service for tokens: with a code, or with a refresh token.
 *
 * @param grant  the members of the grant, such as `{grant_type, code, redirect_uri, code_verifier}`.
 * @throws SourceError AUTH when the grant is refused; CONFIGURATION when this instance is not registered there, or wrongly.
 */
export async function requestTokens(
  vendors: VendorClient,
  service: OauthService,
  grant: Readonly<Record<string, string>>,
  now: Date,
  signal: AbortSignal,
): Promise<TokenGrant> {
  const { client, name } = service;
  if (client === undefined) {
    throw new SourceError('CONFIGURATION', `The operator has to set ${service.clientSettings} before ${name} can be connected.`);
  }
  const members = { ...grant, client_id: client.id, client_secret: client.secret };
  const body = service.format === 'json' ? members : new URLSearchParams(members);
  const reply = await vendors.send({ service: name, url: service.tokenUrl, body, accept: [400, 401, 403] }, signal);
  const said = membersOf(parsed(reply.body));
  // GitHub refuses with status 200 and the member `error`.
  if (reply.status >= 400 || typeof said.error === 'string') {
    const { code = '', code_verifier: verifier = '', refresh_token: refreshToken = '' } = grant;
    const secrets = [client.secret, code, verifier, refreshToken];
    throw withWords(refusalOf(service, reply.status, said), reply.body, secrets);
  }
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = said;
  if (typeof accessToken !== 'string' || accessToken === '') throw new SourceError('BAD_REPLY', `${name} gave no token.`);
  return {
    secrets: { accessToken, ...(typeof refreshToken === 'string' ? { refreshToken } : {}) },
    expiresAt: typeof seconds === 'number' && seconds > 0 ? new Date(now.getTime() + seconds * 1_000) : null,
    scopes: typeof scope === 'string' ? scope.split(/[\s,]+/).filter(Boolean) : undefined,
  };
}

function refusalOf({ name, clientSettings }: OauthService, status: number, said: ReturnType<typeof membersOf>): SourceError {
  const { error } = said;
  // Atlassian also says `unauthorized_client` of a refresh token that it does not take.
  const isOfToken = /refresh.?token/i.test(String(said.error_description));
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
