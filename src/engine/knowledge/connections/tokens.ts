import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Connection, OauthProvider } from '../../../entities/knowledge/connection.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Lease } from '../../leases.ts';
import { SourceError } from '../connectors/error.ts';
import type { ServiceClient, ServiceToken } from '../connectors/service-client/client.ts';
import type { OauthService } from './oauth-service.ts';
import { openSecrets, sealSecrets } from './secrets.ts';
import { requestTokens } from './token-request.ts';

/** A connection whose token can be used. */
export interface OpenConnection extends ServiceToken {
  readonly connection: Connection;
}

export interface ConnectionTokens {
  /**
   * A connection of the person who added a source. Its token is read at the first call, renewed before it ends and after a refusal.
   *
   * @throws SourceError AUTH when the person has no such connection, or it has to be connected again.
   */
  open(connectionId: string, owner: Pick<Connection, 'orgId' | 'ownerUserId'>): Promise<OpenConnection>;
}

export interface ConnectionTokensOptions {
  readonly storage: Storage;
  readonly vendors: ServiceClient;
  readonly logger: Logger;
  oauthService(provider: OauthProvider): OauthService;
  now(): Date;
}

/** A token is renewed when it has less time than this left. */
const marginMs = 60_000;
const leaseMs = 60_000;
const lookAgainMs = 200;

/**
 * Renews the token of a connection. One process at a time does: services that rotate refresh tokens end the whole grant when an old one comes back.
 * Others wait, and find the new token.
 */
export async function renewAlone(
  leases: Storage['leases'],
  connectionId: string,
  isRenewed: () => Promise<boolean>,
  request: (lease: Lease) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let lease: Lease | undefined;
  while (lease === undefined) {
    if (await isRenewed()) return;
    lease = await leases.takeRenewal(connectionId, randomUUID(), leaseMs);
    if (lease === undefined) await sleep(lookAgainMs, undefined, { signal });
  }
  try {
    // Another process may have ended between the reading and the lease.
    if (!(await isRenewed())) await request(lease);
  } finally {
    await leases.release('renewal', lease);
  }
}

export function createConnectionTokens(options: ConnectionTokensOptions): ConnectionTokens {
  const { storage } = options;
  return {
    async open(connectionId, { orgId, ownerUserId }) {
      const connection = await storage.knowledge.connections.find(connectionId, { orgId, ownerUserId });
      if (connection === undefined)
        throw new SourceError('AUTH', 'The connection of this source was deleted: connect the account again.');
      return new Renewed(options, connection);
    },
  };
}

class Renewed implements OpenConnection {
  connection: Connection;
  readonly #options: ConnectionTokensOptions;
  #accessToken: string | undefined;

  constructor(options: ConnectionTokensOptions, connection: Connection) {
    this.#options = options;
    this.connection = connection;
  }

  get account(): string {
    return this.connection.id;
  }

  async authorization(signal: AbortSignal): Promise<string> {
    const { storage, now } = this.#options;
    if (this.#accessToken === undefined) await this.#read();
    const { expiresAt } = this.connection;
    if (expiresAt !== null && expiresAt.getTime() - now().getTime() < marginMs) {
      const secrets = await openSecrets(storage, this.connection);
      // A token without a successor is used to its end.
      if (secrets?.refreshToken !== undefined) await this.renew(`Bearer ${this.#accessToken}`, signal);
    }
    return `Bearer ${this.#accessToken}`;
  }

  /** @param refusedToken  the value of `authorization` that the service refuses. */
  renew(refusedToken: string, signal: AbortSignal): Promise<void> {
    const isRenewed = async () => {
      await this.#read();
      return `Bearer ${this.#accessToken}` !== refusedToken;
    };
    const { leases } = this.#options.storage;
    return renewAlone(leases, this.connection.id, isRenewed, (lease) => this.#request(lease, signal), signal);
  }

  async #request(lease: Lease, signal: AbortSignal): Promise<void> {
    const { storage, vendors, oauthService, now } = this.#options;
    const { provider } = this.connection;
    const service = oauthService(provider as OauthProvider);
    const secrets = await openSecrets(storage, this.connection);
    try {
      if (secrets?.refreshToken === undefined) {
        throw new SourceError('AUTH', `${service.name} does not accept the connection any more: connect it again.`);
      }
      const grant = await requestTokens(vendors, service, { refreshToken: secrets.refreshToken }, now(), signal);
      const sealedText = await sealSecrets(storage, this.connection, { ...secrets, ...grant.secrets });
      // Stored before it is used: the old refresh token may be dead already. A process that was stopped for longer than its lease stores nothing.
      const renewedConnection = await storage.knowledge.connections.storeRenewal(lease, {
        sealed: sealedText,
        expiresAt: grant.expiresAt,
      });
      if (renewedConnection === undefined) return await this.#read();
      this.connection = renewedConnection;
      this.#accessToken = grant.secrets.accessToken;
    } catch (error) {
      if (error instanceof SourceError && error.code === 'AUTH')
        await storage.knowledge.connections.requireReauthorization(lease);
      throw error;
    }
  }

  async #read(): Promise<void> {
    const { storage } = this.#options;
    const { id, orgId, ownerUserId } = this.connection;
    const currentConnection = await storage.knowledge.connections.find(id, { orgId, ownerUserId });
    const secrets = currentConnection === undefined ? undefined : await openSecrets(storage, currentConnection);
    if (currentConnection === undefined || secrets?.accessToken === undefined) {
      throw new SourceError('AUTH', 'The connection of this source was deleted: connect the account again.');
    }
    if (currentConnection.needsReauthorization)
      throw new SourceError('AUTH', `The connection "${currentConnection.name}" has to be connected again.`);
    this.connection = currentConnection;
    this.#accessToken = secrets.accessToken;
  }
}
