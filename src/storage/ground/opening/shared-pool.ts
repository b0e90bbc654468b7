import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { FairQueue } from '../../../lib/flow/fair-queue.ts';
import { nobody, type ShareOwner } from '../../../lib/flow/fair-share.ts';

type OnConnect = (error: Error | undefined, client: PoolClient | undefined, release: (error?: boolean | Error) => void) => void;

/** The owner of the statements of jobs: like those of the service itself, they take turns with all tenants, and count as no tenant. */
export const jobsOwner: ShareOwner = { ...nobody, orgId: 'jobs' };

/** Callers of the other processes on the database. */
export interface OtherCallers {
  /** Whether one of them asked a moment ago. */
  areAsking(): boolean;
  /** A caller asks here. Called for each: it costs next to nothing. */
  note(): void;
}

export interface PoolSharing {
  /** Places for statements and transactions. Undefined where a program has the database for itself: connections in order of arrival. */
  readonly places: FairQueue | undefined;
  /** Whose work the current one is; `nobody` for the service itself. */
  ownerOf(): ShareOwner;
  /** Of an embedded database that other processes use too. */
  readonly otherCallers?: OtherCallers | undefined;
}

/**
 * Connections that tenants, and the organizations of a tenant, take in turn: each statement outside a transaction waits for its own turn, so what one
 * request asks for, however much, is many turns.
 */
export class SharedPool extends Pool {
  readonly #sharing: PoolSharing;
  readonly #owners = new Map<PoolClient, ShareOwner>();
  readonly #waitMs: number;

  constructor(config: PoolConfig, sharing: PoolSharing) {
    super(config);
    this.#sharing = sharing;
    this.#waitMs = config.connectionTimeoutMillis ?? 0;
    this.on('release', (_error, client) => this.#giveBack(client));
    this.on('remove', (client) => this.#giveBack(client));
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: OnConnect): void;
  override connect(callback?: OnConnect): Promise<PoolClient> | undefined {
    const connecting = this.take(this.#sharing.ownerOf());
    if (callback === undefined) return connecting;
    connecting.then(
      (client) => callback(undefined, client, client.release.bind(client)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  /** A connection, when it is the owner's turn. @throws Error as `pg` does, when the turn does not come in time. */
  async take(owner: ShareOwner): Promise<PoolClient> {
    const { places } = this.#sharing;
    if (places === undefined) return super.connect();
    if (!places.tryTake(owner)) await this.#wait(places, owner);
    try {
      const client = await super.connect();
      this.#owners.set(client, owner);
      return client;
    } catch (error) {
      places.give(owner);
      throw error;
    }
  }

  #wait(places: FairQueue, owner: ShareOwner): Promise<void> {
    const late = new AbortController();
    const timer =
      this.#waitMs === 0
        ? undefined
        : setTimeout(() => late.abort(new Error('timeout exceeded when trying to connect')), this.#waitMs);
    return places.take(owner, late.signal).finally(() => clearTimeout(timer));
  }

  #giveBack(client: PoolClient): void {
    const owner = this.#owners.get(client);
    if (owner === undefined) return;
    this.#owners.delete(client);
    this.#sharing.places?.give(owner);
  }
}
