import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { ConnectedApp } from '../../../entities/people/app.ts';
import type { Caller, Scope } from '../../../entities/people/caller.ts';
import type { Database } from '../../ground/database.ts';
import type { InvalidatedCache } from '../../ground/invalidated-cache.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { PublishingStore } from '../../ground/store.ts';
import type { ApiKeyStore } from '../keys/api-keys.ts';
import { callerAt, createCallerCache, type KnownCaller, loadKey } from '../keys/known-callers.ts';
import { hashRecord } from './records.ts';

interface KnownToken extends KnownCaller {
  readonly resource: string;
}

/** The clients of OAuth that people have connected, and the callers of their tokens. */
export class AppStore extends PublishingStore {
  readonly #keys: ApiKeyStore;
  readonly #tokens: InvalidatedCache<KnownToken>;

  constructor(db: Database, signals: Signals, keys: ApiKeyStore) {
    super(db, signals);
    this.#keys = keys;
    this.#tokens = createCallerCache<KnownToken>(signals);
  }

  /**
   * The caller of an access token at an address. Undefined when it is unknown, has expired or is of another address, or its key has ended. A value when it is
   * cached, a promise when the database must be asked. The end of the key drops it from the cache of every instance.
   */
  findCaller(token: string, resource: string, nowMs: number): Caller | undefined | Promise<Caller | undefined> {
    const found = this.#tokens.find(hashRecord('AccessToken', token), nowMs, (id) => this.#load(id));
    const ofAddress = (known: KnownToken | undefined) => (known?.resource === resource ? callerAt(known, nowMs) : undefined);
    return found instanceof Promise ? found.then(ofAddress) : ofAddress(found);
  }

  /** Whether the token is cached. Asks no database. */
  isFamiliar(token: string): boolean {
    return this.#tokens.has(hashRecord('AccessToken', token));
  }

  /** Those of a user in any organization that have not ended, newest first. */
  async list(userId: string, at: Date, page: PageRequest): Promise<Page<ConnectedApp>> {
    const where = { userId, clientId: { not: null }, revokedAt: null, expiresAt: { gt: at } };
    const rows = await this.db.prisma.apiKey.findMany({
      ...newestFirst(where, page),
      select: { id: true, createdAt: true, clientId: true, resource: true },
    });
    const keys = new Map((await this.#keys.findMany(rows.map(({ id }) => id))).map((key) => [key.id, key]));
    const apps = rows.flatMap(({ id, clientId, resource }) => {
      const key = keys.get(id);
      return key === undefined ? [] : [{ ...key, clientId: clientId ?? '', resource: resource ?? '' }];
    });
    return toPage(apps, page, timeKey, (take) => this.db.prisma.apiKey.count({ where, take }));
  }

  /** The client of a key that has not been revoked. */
  async findClient(keyId: string): Promise<{ readonly orgId: string; readonly clientId: string } | undefined> {
    const select = { orgId: true, clientId: true };
    const row = await this.db.prisma.apiKey.findFirst({ where: { id: keyId, revokedAt: null }, select });
    return row === null || row.clientId === null ? undefined : { orgId: row.orgId, clientId: row.clientId };
  }

  /** Lets a key live as long as the newest of its tokens. */
  async extend(keyId: string, expiresAt: Date): Promise<void> {
    const where = { id: keyId, revokedAt: null, expiresAt: { lt: expiresAt } };
    const { count } = await this.db.prisma.apiKey.updateMany({ where, data: { expiresAt } });
    if (count > 0) this.signals.publish('key-changed', keyId);
  }

  /** Ends all of a user. @returns how many had not ended. */
  async endAll(userId: string, at: Date): Promise<number> {
    const where = { userId, clientId: { not: null }, revokedAt: null, expiresAt: { gt: at } };
    const { count } = await this.db.prisma.apiKey.updateMany({ where, data: { revokedAt: at, updatedAt: at } });
    this.signals.publish('user-changed', userId);
    return count;
  }

  async #load(id: string): Promise<KnownToken | undefined> {
    const select = { keyId: true, payload: true, expiresAt: true, key: { select: { resource: true } } };
    const row = await this.db.prisma.oauthRecord.findUnique({ where: { hash: id }, select });
    const resource = row?.key?.resource ?? null;
    if (row === null || row.keyId === null || resource === null) return undefined;
    const known = await loadKey(this.db, { id: row.keyId });
    if (known === undefined) return undefined;
    const { scope } = row.payload as { readonly scope?: string };
    const own = new Set(scope?.split(' '));
    const scopes: ReadonlySet<Scope> = new Set([...known.caller.scopes].filter((each) => own.has(each)));
    const expiresAtMs = Math.min(row.expiresAt.getTime(), known.expiresAtMs);
    return { caller: Object.freeze({ ...known.caller, scopes }), expiresAtMs, through: known.through, resource };
  }
}
