import { readFileSync } from 'node:fs';
import { createAppAuth } from '@octokit/auth-app';
import { request as octokitRequest } from '@octokit/request';
import type { Connection } from '../../../entities/knowledge/connection.ts';
import { unlessAborted } from '../../../lib/flow/unless-aborted.ts';
import { membersOf } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import type { Storage } from '../../../storage/storage.ts';
import { SourceError } from '../connectors/error.ts';
import { slowDownMs } from '../connectors/github/slow-down.ts';
import type { ServiceClient, ServiceReply, ServiceToken } from '../connectors/service-client/client.ts';
import { serviceWords } from '../connectors/service-client/words.ts';

/** Tokens of installations of the App at a repository host. */
export interface InstallationTokens {
  /**
   * The token of an installation of the person who added a source.
   *
   * @throws SourceError AUTH when the person has no such connection; CONFIGURATION when the App is not set up.
   */
  open(installationId: number, owner: Pick<Connection, 'orgId' | 'ownerUserId'>): Promise<ServiceToken>;
}

const marginMs = 60_000;
const badKey = 'GITHUB_APP_PRIVATE_KEY holds no private key in PEM, and names no file with one.';

export function createInstallationTokens(options: {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly vendors: ServiceClient;
  now(): Date;
}): InstallationTokens {
  const { settings, storage, vendors, now } = options;
  let app: ReturnType<typeof createAppAuth> | undefined;

  /** A token of the cache of the library, unless it ends soon. */
  async function token(installationId: number, signal: AbortSignal): Promise<string> {
    const { token: cachedToken, expiresAt } = await authenticate(installationId, false, signal);
    // The library counts an hour from the reply, whatever the reply says.
    const endsSoon = Date.parse(expiresAt) - now().getTime() < marginMs;
    return endsSoon ? (await authenticate(installationId, true, signal)).token : cachedToken;
  }

  async function authenticate(installationId: number, refresh: boolean, signal: AbortSignal) {
    app ??= appAuth(settings, vendors);
    try {
      // Callers that ask at one time share a request, so none of them ends it.
      return await unlessAborted(app({ type: 'installation', installationId, refresh }), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error && error.cause instanceof SourceError) throw error.cause;
      throw new SourceError('CONFIGURATION', badKey);
    }
  }

  return {
    async open(installationId, { orgId, ownerUserId }) {
      const connection = await storage.knowledge.connections.findInstallation(installationId, { orgId, ownerUserId });
      if (connection === undefined)
        throw new SourceError('AUTH', 'The connection of this source was deleted: connect the repository host again.');
      return {
        account: String(installationId),
        authorization: async (signal) => `Bearer ${await token(installationId, signal)}`,
        async renew(refusedToken, signal) {
          if (`Bearer ${await token(installationId, signal)}` === refusedToken) await authenticate(installationId, true, signal);
        },
      };
    },
  };
}

/** What a refusal to give a token means. A 403 has many reasons: only one that names a suspension is one. */
function refusal(reply: ServiceReply): SourceError | undefined {
  if (reply.status === 401) {
    return new SourceError(
      'CONFIGURATION',
      'The repository host does not accept GITHUB_APP_ID with GITHUB_APP_PRIVATE_KEY: its operator has to check them.',
    );
  }
  if (reply.status === 404) return new SourceError('AUTH', 'The App was uninstalled at the repository host: install it again.');
  if (reply.status !== 403 || slowDownMs(reply) !== undefined) return undefined;
  if (/suspended/i.test(serviceWords(reply.body) ?? '')) {
    return new SourceError('AUTH', 'The installation of the App is suspended: allow it again at the repository host.');
  }
  return new SourceError('FORBIDDEN', 'The repository host gives the App no token for this installation.');
}

/** The App at the repository host. Its requests go through the client of all vendors. @throws SourceError CONFIGURATION */
function appAuth(settings: Settings, vendors: ServiceClient): ReturnType<typeof createAppAuth> {
  const { GITHUB_APP_ID: appId, GITHUB_APP_PRIVATE_KEY: key, GITHUB_API_URL: baseUrl } = settings;
  if (appId === undefined || key === undefined) {
    throw new SourceError(
      'CONFIGURATION',
      'The operator has to set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY before repositories can be read.',
    );
  }
  const fetch = async (url: string, init: { readonly headers: Readonly<Record<string, string>> }): Promise<Response> => {
    // The library writes the name of the scheme in small letters, which not every server takes.
    const authorization = init.headers.authorization?.replace(/^bearer /, 'Bearer ') ?? '';
    const headers = { authorization, accept: 'application/vnd.github+json' };
    const request = { service: 'the repository host', url, headers, method: 'POST', body: {}, slowDownMs, refusal } as const;
    const reply = membersOf(await vendors.json(request, new AbortController().signal));
    if (typeof reply.token !== 'string') throw new SourceError('BAD_REPLY', 'The repository host gave no token.');
    return Response.json(reply, { status: 201 });
  };
  return createAppAuth({ appId, privateKey: toPem(key), request: octokitRequest.defaults({ baseUrl, request: { fetch } }) });
}

function toPem(key: string): string {
  try {
    return key.includes('-----BEGIN') ? key : readFileSync(key, 'utf8');
  } catch {
    throw new SourceError('CONFIGURATION', badKey);
  }
}
