import { randomUUID } from 'node:crypto';
import { calculatePKCECodeChallenge } from 'oauth4webapi';
import type { ConnectionProvider, ConnectionSecrets, OauthProvider } from '../../../entities/knowledge/connection.ts';
import { membersOf, readElements } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import { SourceError } from '../connectors/error.ts';
import type { ServiceClient, ServiceToken } from '../connectors/service-client/client.ts';
import { type OauthService, oauthService } from './providers.ts';
import { requestTokens } from './token-request.ts';

/** Services that a person connects in the browser. */
export type BrowserProvider = Exclude<ConnectionProvider, 'MCP'>;

/** What a person allowed. */
export interface ConnectedAccount {
  /** The account at the other service, for people. */
  readonly name: string;
  readonly secrets: ConnectionSecrets;
  readonly expiresAt: Date | null;
  readonly scopes: readonly string[];
  /** At the repository host. */
  readonly installationId: number | null;
}

export interface Connecting {
  /** Where the browser is sent. @throws SourceError CONFIGURATION naming the settings that are missing. */
  authorizeUrl(
    provider: BrowserProvider,
    request: { readonly state: string; readonly verifier: string; readonly redirectUri: string },
  ): Promise<string>;
  /** Turns the answer of the service into an account. @throws SourceError */
  account(provider: BrowserProvider, answer: ServiceAnswer, signal: AbortSignal): Promise<ConnectedAccount>;
}

export interface ServiceAnswer {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly installationId: number | undefined;
}

const installationPagesMax = 20;

export function createConnecting({
  settings,
  vendors,
  now,
}: {
  readonly settings: Settings;
  readonly vendors: ServiceClient;
  now(): Date;
}): Connecting {
  return {
    async authorizeUrl(provider, { state, verifier, redirectUri }) {
      if (provider === 'REPO_HOST') return installUrl(settings, state);
      const service = oauthService(settings, provider);
      if (service.client === undefined) throw notRegistered(service.name, service.clientSettings);
      const url = new URL(service.authorizeUrl);
      const members = {
        client_id: service.client.id,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: service.scopes.join(' '),
        state,
        ...service.authorizeMembers,
      };
      for (const [name, value] of Object.entries(members)) url.searchParams.set(name, value);
      if (service.usesPkce) {
        url.searchParams.set('code_challenge', await calculatePKCECodeChallenge(verifier));
        url.searchParams.set('code_challenge_method', 'S256');
      }
      return url.href;
    },
    async account(provider, { code, verifier, redirectUri, installationId }, signal) {
      const service = provider === 'REPO_HOST' ? userTokens(settings) : oauthService(settings, provider);
      const proof = { code, verifier, redirectUri };
      const { secrets, expiresAt, scopes } = await requestTokens(vendors, service, proof, now(), signal);
      const token = bearer(secrets.accessToken ?? '');
      if (provider === 'REPO_HOST') {
        if (installationId === undefined)
          throw new SourceError('AUTH', 'The repository host did not say which installation it is.');
        const name = await installationName(settings, vendors, token, installationId, signal);
        // The person's token has done its work: repositories are read with tokens of the App.
        return { name, secrets: {}, expiresAt: null, scopes: [], installationId };
      }
      const name = await accountName(settings, vendors, provider, service.name, token, signal);
      return { name, secrets, expiresAt, scopes: scopes ?? service.scopes, installationId: null };
    },
  };
}

function notRegistered(name: string, settings: string): SourceError {
  return new SourceError('CONFIGURATION', `This instance cannot connect ${name}: its operator has to set ${settings}`);
}

/** The web pages of the repository host; its API is elsewhere. */
function findWebOrigin(settings: Settings): string {
  const api = new URL(settings.GITHUB_API_URL);
  return api.hostname === 'api.github.com' ? 'https://github.com' : api.origin;
}

function installUrl(settings: Settings, state: string): string {
  const { GITHUB_APP_SLUG, GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET } = settings;
  if (GITHUB_APP_SLUG === undefined || GITHUB_CLIENT_ID === undefined || GITHUB_CLIENT_SECRET === undefined) {
    throw notRegistered('GitHub', 'GITHUB_APP_SLUG, GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET');
  }
  return `${findWebOrigin(settings)}/apps/${encodeURIComponent(GITHUB_APP_SLUG)}/installations/new?state=${encodeURIComponent(state)}`;
}

/** Tokens of people at the repository host: they show which installations are theirs. */
function userTokens(settings: Settings): OauthService {
  const { GITHUB_CLIENT_ID: id, GITHUB_CLIENT_SECRET: secret } = settings;
  return {
    name: 'GitHub',
    authorizeUrl: `${findWebOrigin(settings)}/login/oauth/authorize`,
    tokenUrl: `${findWebOrigin(settings)}/login/oauth/access_token`,
    client: id === undefined || secret === undefined ? undefined : { id, secret },
    clientSettings: 'GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET',
    scopes: [],
    usesPkce: false,
    format: 'form',
    authorizeMembers: {},
  };
}

function bearer(accessToken: string): ServiceToken {
  return {
    // One token of one person: a pause of this account is nobody else's.
    account: randomUUID(),
    authorization: async () => `Bearer ${accessToken}`,
    renew: () => Promise.reject(new SourceError('AUTH', 'The service does not accept the token that it has just given.')),
  };
}

/**
 * The account that an installation belongs to. An installation id alone proves nothing: it must be among those of the person.
 *
 * @throws SourceError FORBIDDEN
 */
async function installationName(
  settings: Settings,
  vendors: ServiceClient,
  token: ServiceToken,
  installationId: number,
  signal: AbortSignal,
): Promise<string> {
  for (let page = 1; page <= installationPagesMax; page += 1) {
    const url = `${settings.GITHUB_API_URL}/user/installations?per_page=100&page=${page}`;
    const reply = membersOf(await vendors.json({ service: 'GitHub', url, token }, signal));
    const installations = readElements(reply.installations).map(membersOf);
    const installationRow = installations.find(({ id }) => id === installationId);
    if (installationRow !== undefined)
      return String(membersOf(installationRow.account).login ?? `Installation ${installationId}`);
    if (installations.length < 100) break;
  }
  throw new SourceError('FORBIDDEN', 'This installation is not among those of your account at GitHub.');
}

/** What the account is called, for people. */
async function accountName(
  settings: Settings,
  vendors: ServiceClient,
  provider: OauthProvider,
  service: string,
  token: ServiceToken,
  signal: AbortSignal,
): Promise<string> {
  const ask = (url: string) => vendors.json({ service, url, token }, signal);
  switch (provider) {
    case 'DRIVE_A': {
      const { user } = membersOf(await ask(`${settings.GOOGLE_API_URL}/drive/v3/about?fields=user(displayName,emailAddress)`));
      const { emailAddress, displayName } = membersOf(user);
      return findText(emailAddress, displayName);
    }
    case 'DRIVE_B': {
      const { userPrincipalName, mail, displayName } = membersOf(await ask(`${settings.MICROSOFT_API_URL}/me`));
      return findText(userPrincipalName, mail, displayName);
    }
    default: {
      const sites = readElements(await ask(`${settings.ATLASSIAN_API_URL}/oauth/token/accessible-resources`)).map(membersOf);
      if (sites.length === 0) throw new SourceError('FORBIDDEN', `The account has no site of ${service} that it may show.`);
      return sites.map(({ name, url }) => findText(name, url)).join(', ');
    }
  }
}

function findText(...candidates: readonly unknown[]): string {
  const text = candidates.find((each) => typeof each === 'string' && each.trim() !== '');
  return typeof text === 'string' ? text.trim().slice(0, 200) : 'Account';
}
