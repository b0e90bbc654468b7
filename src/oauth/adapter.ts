import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Deps } from '../domain/deps.ts';
import { endApp, isAppAlive } from '../domain/people/apps.ts';
import { hashSecret } from '../entities/people/api-key.ts';

/** What the library stores that is a secret, or hangs on the key of a person. */
const kinds = new Set(['Grant', 'AuthorizationCode', 'AccessToken', 'RefreshToken', 'Interaction']);
const tokenKinds = new Set(['AccessToken', 'RefreshToken']);

/**
 * Where the library keeps things: in our tables, by hashes. A grant is the key of the person who agreed: its id is that of the key, and it ends with the
 * key. Sessions of the library are kept nowhere: who sits at the browser is what our own session says, each time.
 */
export function createAdapter(deps: Deps, findNetwork: () => string | undefined): (kind: string) => Adapter {
  return (kind) => {
    if (kind === 'Client') return new ClientAdapter(deps, findNetwork);
    return kinds.has(kind) ? new RecordAdapter(deps, kind) : nothing;
  };
}

const nothing: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};

class RecordAdapter implements Adapter {
  readonly #deps: Deps;
  readonly #kind: string;
  readonly findByUid = nothing.findByUid;
  readonly findByUserCode = nothing.findByUserCode;

  constructor(deps: Deps, kind: string) {
    this.#deps = deps;
    this.#kind = kind;
  }

  async upsert(secret: string, { jti: _secret, ...payload }: AdapterPayload, expiresInSeconds: number): Promise<void> {
    const { apps, oauthClients, oauthRecords } = this.#deps.storage.people;
    const expiresAt = new Date(this.#deps.now().getTime() + expiresInSeconds * 1_000);
    const keyId = this.#kind === 'Grant' ? secret : (payload.grantId ?? null);
    await oauthRecords.put({ kind: this.#kind, secret, keyId, payload, expiresAt });
    if (keyId === null || !tokenKinds.has(this.#kind)) return;
    await apps.extend(keyId, expiresAt);
    // Each answer with tokens has one of these.
    if (this.#kind === 'AccessToken') await oauthClients.noteUse(payload.clientId ?? '', this.#deps.now());
  }

  async find(secret: string): Promise<AdapterPayload | undefined> {
    const record = await this.#deps.storage.people.oauthRecords.find(this.#kind, secret, this.#deps.now());
    if (record === undefined) return undefined;
    if (this.#kind === 'Grant' && !(await isAppAlive(this.#deps, secret))) return undefined;
    const { payload, consumedAt } = record;
    return { ...payload, jti: secret, ...(consumedAt === null ? {} : { consumed: Math.floor(consumedAt.getTime() / 1_000) }) };
  }

  /** @throws InvalidGrant for the second of two requests at one moment: the whole grant ends then, as with one that comes later. */
  async consume(secret: string): Promise<void> {
    const { oauthRecords } = this.#deps.storage.people;
    if (await oauthRecords.consume(this.#kind, secret, this.#deps.now())) return;
    const keyId = (await oauthRecords.find(this.#kind, secret, this.#deps.now()))?.keyId;
    if (typeof keyId === 'string') await endApp(this.#deps, keyId);
    throw new errors.InvalidGrant('used before');
  }

  async destroy(secret: string): Promise<void> {
    if (this.#kind === 'Grant') await endApp(this.#deps, secret);
    else await this.#deps.storage.people.oauthRecords.remove(this.#kind, secret);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#deps.storage.people.oauthRecords.removeOfKey(grantId);
  }
}

class ClientAdapter implements Adapter {
  readonly #deps: Deps;
  readonly #findNetwork: () => string | undefined;
  readonly findByUid = nothing.findByUid;
  readonly findByUserCode = nothing.findByUserCode;
  readonly consume = nothing.consume;
  readonly revokeByGrantId = nothing.revokeByGrantId;

  constructor(deps: Deps, findNetwork: () => string | undefined) {
    this.#deps = deps;
    this.#findNetwork = findNetwork;
  }

  /** Of a secret, its hash is kept; `compareClientSecret` knows. */
  async upsert(id: string, { client_secret: secret, ...metadata }: AdapterPayload): Promise<void> {
    const createdAt = this.#deps.now();
    const name = metadata.client_name ?? '';
    const kept = secret === undefined ? metadata : { ...metadata, client_secret: hashSecret(secret) };
    const network = this.#findNetwork() ?? null;
    await this.#deps.storage.people.oauthClients.add({ id, createdAt, name, network, metadata: kept });
    this.#deps.logger.info({ clientId: id, network }, 'a client of OAuth has registered');
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const client = await this.#deps.storage.people.oauthClients.find(id);
    return client?.metadata ?? undefined;
  }

  async destroy(id: string): Promise<void> {
    await this.#deps.storage.people.oauthClients.remove(id);
  }
}
