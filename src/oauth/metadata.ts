import { appScopes } from '../entities/people/app.ts';
import type { Settings } from '../settings.ts';

export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  /** Of our own: the page that asks the person. */
  consent: '/oauth/consent',
} as const;

/** Metadata of an address that tokens open (RFC 9728). @param path  `/mcp`, or that of one agent. */
export function resourceMetadata(issuer: string, path: string): object {
  return {
    resource: `${issuer}${path}`,
    authorization_servers: [issuer],
    scopes_supported: appScopes,
    bearer_methods_supported: ['header'],
    resource_name: 'Parley',
    resource_documentation: `${issuer}/manual/mcp`,
  };
}

/** Metadata of the authorization server (RFC 8414). */
export function serverMetadata(issuer: string, { OAUTH_CLIENTS }: Pick<Settings, 'OAUTH_CLIENTS'>): object {
  const at = (path: string) => `${issuer}${path}`;
  return {
    issuer,
    authorization_endpoint: at(oauthPaths.authorize),
    token_endpoint: at(oauthPaths.token),
    ...(OAUTH_CLIENTS === 'all' ? { registration_endpoint: at(oauthPaths.register) } : {}),
    revocation_endpoint: at(oauthPaths.revoke),
    scopes_supported: appScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: OAUTH_CLIENTS !== 'off',
    service_documentation: at('/manual/mcp'),
  };
}
