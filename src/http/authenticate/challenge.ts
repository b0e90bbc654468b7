import { appScopes } from '../../entities/people/app.ts';

/** Where clients find what they need to know of an address that tokens open. */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource';

/** What a request without a valid token is told: where to get one (RFC 6750, RFC 9728). */
export function challenge(issuer: string, path: string, hasToken: boolean): string {
  const error = hasToken ? 'error="invalid_token", ' : '';
  return `Bearer ${error}resource_metadata="${issuer}${resourceMetadataPath}${path}", scope="${appScopes.join(' ')}"`;
}
