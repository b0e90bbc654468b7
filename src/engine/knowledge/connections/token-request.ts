import type { ConnectionSecrets } from '../../../entities/knowledge/connection.ts';
import { membersOf } from '../../../lib/json.ts';
import { SourceError } from '../connectors/error.ts';
import type { VendorClient } from '../connectors/vendor/client.ts';
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
  if (reply.status >= 400) {
    // Atlassian also says `unauthorized_client` of a refresh token that it does not take.
    const isOfToken = /refresh.?token/i.test(String(said.error_description));
    if (said.error === 'invalid_client' || (said.error === 'unauthorized_client' && !isOfToken)) {
      throw new SourceError('CONFIGURATION', `${name} does not know this instance: ${service.clientSettings} are wrong.`);
    }
    throw new SourceError('AUTH', `${name} does not accept the connection any more: connect it again.`);
  }
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = said;
  if (typeof accessToken !== 'string' || accessToken === '') throw new SourceError('BAD_REPLY', `${name} gave no token.`);
  return {
    secrets: { accessToken, ...(typeof refreshToken === 'string' ? { refreshToken } : {}) },
    expiresAt: typeof seconds === 'number' && seconds > 0 ? new Date(now.getTime() + seconds * 1_000) : null,
    scopes: typeof scope === 'string' ? scope.split(/[\s,]+/).filter(Boolean) : undefined,
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
