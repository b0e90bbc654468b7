import { randomUUID } from 'node:crypto';
import { calculatePKCECodeChallenge } from 'oauth4webapi';
import type { ConnectionProvider, ConnectionSecrets } from '../../../entities/knowledge/connection.ts';
import type { IdentityService } from '../../../entities/knowledge/permissions.ts';
import type { Settings } from '../../../settings.ts';
import { SourceError } from '../connectors/error.ts';
import type { ServiceAccount } from '../connectors/permissions.ts';
import { accountService, sourceKinds } from '../connectors/registry.ts';
import type { ServiceClient, ServiceToken } from '../connectors/service-client/client.ts';
import { notRegistered } from './oauth-service.ts';
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
  /** Whose account it is at the service, where permissions are read there: it opens documents of MIRRORED sources. */
  readonly identity?: ProvenIdentity;
}

export interface ProvenIdentity extends ServiceAccount {
  readonly service: IdentityService;
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
      const account = accountService(provider);
      if (account.installUrl !== undefined) return account.installUrl(settings, state);
      const service = account.oauth(settings);
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
      const account = accountService(provider);
      const service = account.oauth(settings);
      const proof = { code, verifier, redirectUri };
      const { secrets, expiresAt, scopes } = await requestTokens(vendors, service, proof, now(), signal);
      const token = bearer(secrets.accessToken ?? '');
      const ask = (url: string) => vendors.json({ service: service.name, url, token }, signal);
      const name = await account.name(settings, ask, installationId);
      const identity = await findIdentity(provider, settings, ask);
      // The person's token has done its work: what an App may read is read with tokens of the App.
      if (account.installUrl !== undefined)
        return { name, secrets: {}, expiresAt: null, scopes: [], installationId: installationId ?? null, ...identity };
      return { name, secrets, expiresAt, scopes: scopes ?? service.scopes, installationId: null, ...identity };
    },
  };
}

/** The account is connected also where the service does not say whose it is: then it proves nothing. */
async function findIdentity(
  provider: BrowserProvider,
  settings: Settings,
  ask: (url: string) => Promise<unknown>,
): Promise<Pick<ConnectedAccount, 'identity'>> {
  const { permissions } = sourceKinds[provider];
  if (permissions === undefined) return {};
  try {
    return { identity: { service: permissions.service, ...(await permissions.account(settings, ask)) } };
  } catch (error) {
    if (error instanceof SourceError) return {};
    throw error;
  }
}

function bearer(accessToken: string): ServiceToken {
  return {
    // One token of one person: a pause of this account is nobody else's.
    account: randomUUID(),
    authorization: async () => `Bearer ${accessToken}`,
    renew: () => Promise.reject(new SourceError('AUTH', 'The service does not accept the token that it has just given.')),
  };
}
