import type { OauthProvider } from '../../../entities/knowledge/connection.ts';
import type { Settings } from '../../../settings.ts';

/** How a service gives tokens, and what this instance is called there. */
export interface OauthService {
  /** The name in messages. */
  readonly name: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Undefined: the operator has not registered this instance. */
  readonly client: { readonly id: string; readonly secret: string } | undefined;
  /** The settings that `client` is made of. */
  readonly clientSettings: string;
  /** Read-only, and no more than connectors need. */
  readonly scopes: readonly string[];
  readonly usesPkce: boolean;
  /** How the token address takes its request. */
  readonly format: 'form' | 'json';
  /** Further members of the address that a person is sent to. */
  readonly authorizeMembers: Readonly<Record<string, string>>;
}

export function oauthService(settings: Settings, provider: OauthProvider): OauthService {
  switch (provider) {
    case 'DRIVE_A':
      return {
        name: 'Google Drive',
        authorizeUrl: settings.GOOGLE_AUTHORIZE_URL,
        tokenUrl: settings.GOOGLE_TOKEN_URL,
        client: toClient(settings.GOOGLE_CLIENT_ID, settings.GOOGLE_CLIENT_SECRET),
        clientSettings: 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET',
        scopes: ['https://www.googleapis.com/auth/drive.readonly'],
        usesPkce: true,
        format: 'form',
        // Without these, Google gives a refresh token at the first consent only.
        authorizeMembers: { access_type: 'offline', prompt: 'consent' },
      };
    case 'DRIVE_B':
      return {
        name: 'OneDrive',
        authorizeUrl: settings.MICROSOFT_AUTHORIZE_URL,
        tokenUrl: settings.MICROSOFT_TOKEN_URL,
        client: toClient(settings.MICROSOFT_CLIENT_ID, settings.MICROSOFT_CLIENT_SECRET),
        clientSettings: 'MICROSOFT_CLIENT_ID and MICROSOFT_CLIENT_SECRET',
        scopes: ['offline_access', 'User.Read', 'Files.Read.All'],
        usesPkce: true,
        format: 'form',
        authorizeMembers: {},
      };
    case 'WIKI':
      return atlassian(settings, 'Confluence', [
        'read:hierarchical-content:confluence',
        'read:page:confluence',
        'read:space:confluence',
        'read:attachment:confluence',
        'readonly:content.attachment:confluence',
      ]);
    case 'TRACKER':
      return atlassian(settings, 'Jira', ['read:jira-work', 'read:jira-user']);
  }
}

function atlassian(settings: Settings, name: string, scopes: readonly string[]): OauthService {
  return {
    name,
    authorizeUrl: settings.ATLASSIAN_AUTHORIZE_URL,
    tokenUrl: settings.ATLASSIAN_TOKEN_URL,
    client: toClient(settings.ATLASSIAN_CLIENT_ID, settings.ATLASSIAN_CLIENT_SECRET),
    clientSettings: 'ATLASSIAN_CLIENT_ID and ATLASSIAN_CLIENT_SECRET',
    scopes: ['offline_access', ...scopes],
    usesPkce: false,
    format: 'json',
    authorizeMembers: { audience: 'api.atlassian.com', prompt: 'consent' },
  };
}

function toClient(id: string | undefined, secret: string | undefined): OauthService['client'] {
  return id === undefined || secret === undefined ? undefined : { id, secret };
}
