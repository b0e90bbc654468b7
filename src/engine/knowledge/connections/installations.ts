import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Connection } from '../../../entities/knowledge/connection.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { membersOf } from '../../../lib/json.ts';
import type { Settings } from '../../../settings.ts';
import type { Storage } from '../../../storage/storage.ts';
import { SourceError } from '../connectors/error.ts';
import { slowDownMs } from '../connectors/repo-host/slow-down.ts';
import type { VendorClient, VendorReply, VendorToken } from '../connectors/vendor/client.ts';
import { vendorWords } from '../connectors/vendor/words.ts';

/** Tokens of installations of the App at a repository host. */
export interface InstallationTokens {
  /**
   * The token of an installation of the person who added a source.
   *
   * @throws SourceError AUTH when the person has no such connection; CONFIGURATION when the App is not set up.
   */
  open(installationId: number, owner: Pick<Connection, 'orgId' | 'ownerUserId'>): Promise<VendorToken>;
}

/** An App's own token is good for ten minutes at most; clocks differ. */
const appTokenSeconds = { before: 60, after: 540 };
const marginMs = 60_000;

export function createInstallationTokens(options: {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly vendors: VendorClient;
  now(): Date;
}): InstallationTokens {
  const { settings, storage, vendors, now } = options;
  const known = new BoundedMap<number, { readonly value: string; readonly expiresAtMs: number }>(1_000);

  async function request(installationId: number, signal: AbortSignal): Promise<string> {
    const service = 'the repository host';
    const url = `${settings.GITHUB_API_URL}/app/installations/${installationId}/access_tokens`;
    const headers = { authorization: `Bearer ${appToken(settings, now())}`, accept: 'application/vnd.github+json' };
    const request = { service, url, headers, method: 'POST', body: {}, slowDownMs, refusal } as const;
    const { token, expires_at: expiresAt } = membersOf(await vendors.json(request, signal));
    if (typeof token !== 'string') throw new SourceError('BAD_REPLY', 'The repository host gave no token.');
    const expiresAtMs = typeof expiresAt === 'string' ? Date.parse(expiresAt) : now().getTime() + 3_600_000;
    known.set(installationId, { value: token, expiresAtMs });
    return token;
  }

  return {
    async open(installationId, { orgId, ownerUserId }) {
      const connection = await storage.connections.findInstallation(installationId, { orgId, ownerUserId });
      if (connection === undefined)
        throw new SourceError('AUTH', 'The connection of this source was deleted: connect the repository host again.');
      return {
        account: String(installationId),
        async authorization(signal) {
          const found = known.get(installationId);
          const isGood = found !== undefined && found.expiresAtMs - now().getTime() > marginMs;
          return `Bearer ${isGood ? found.value : await request(installationId, signal)}`;
        },
        async renew(refused, signal) {
          if (`Bearer ${known.get(installationId)?.value}` === refused) await request(installationId, signal);
        },
      };
    },
  };
}

/** What a refusal to give a token means. A 403 has many reasons: only one that names a suspension is one. */
function refusal(reply: VendorReply): SourceError | undefined {
  if (reply.status === 401) {
    return new SourceError(
      'CONFIGURATION',
      'The repository host does not accept GITHUB_APP_ID with GITHUB_APP_PRIVATE_KEY: its operator has to check them.',
    );
  }
  if (reply.status === 404) return new SourceError('AUTH', 'The App was uninstalled at the repository host: install it again.');
  if (reply.status !== 403 || slowDownMs(reply) !== undefined) return undefined;
  if (/suspended/i.test(vendorWords(reply.body) ?? '')) {
    return new SourceError('AUTH', 'The installation of the App is suspended: allow it again at the repository host.');
  }
  return new SourceError('FORBIDDEN', 'The repository host gives the App no token for this installation.');
}

/** What the App calls itself with: a JSON Web Token, RS256. @throws SourceError CONFIGURATION */
function appToken({ GITHUB_APP_ID: id, GITHUB_APP_PRIVATE_KEY: key }: Settings, now: Date): string {
  if (id === undefined || key === undefined) {
    throw new SourceError(
      'CONFIGURATION',
      'The operator has to set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY before repositories can be read.',
    );
  }
  const seconds = Math.floor(now.getTime() / 1_000);
  const claims = { iat: seconds - appTokenSeconds.before, exp: seconds + appTokenSeconds.after, iss: id };
  const signed = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  try {
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(pemOf(key), 'base64url')}`;
  } catch {
    throw new SourceError('CONFIGURATION', 'GITHUB_APP_PRIVATE_KEY holds no private key in PEM, and names no file with one.');
  }
}

/** Line ends may be written as \n, as in files of settings. */
function pemOf(key: string): string {
  return key.includes('-----BEGIN') ? key.replaceAll('\\n', '\n') : readFileSync(key, 'utf8');
}
