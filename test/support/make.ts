import { hashSecret, keyPrefix, makeKeySecret } from '../../src/entities/people/api-key.ts';
import { type AccessLevel, scopes as allScopes, type MemberRole, type Scope } from '../../src/entities/people/caller.ts';
import { makeSignInSecret } from '../../src/entities/people/session.ts';
import { type Reply, TestClient } from './client.ts';
import type { TestService } from './service.ts';

export interface Organization {
  readonly id: string;
  readonly tenantId: string;
}
/** A user with a key, ready to call: `ann.get(path)`. */
export class Person extends TestClient {
  readonly userId: string;
  readonly email: string;
  readonly orgId: string;
  readonly tenantId: string;
  readonly keyId: string;
  override readonly key: string;

  constructor(url: () => string, key: { readonly id: string; readonly secret: string }, user: NewPerson) {
    super(url, key.secret);
    this.key = key.secret;
    this.keyId = key.id;
    this.userId = user.userId;
    this.email = user.email;
    this.orgId = user.orgId;
    this.tenantId = user.tenantId;
  }
}
interface NewPerson {
  readonly userId: string;
  readonly email: string;
  readonly orgId: string;
  readonly tenantId: string;
}
interface Row {
  readonly table: string;
  readonly [column: string]: unknown;
}
export interface KeyOptions {
  readonly scopes?: readonly Scope[];
  readonly level?: AccessLevel;
  readonly expiresAt?: Date;
}

/** Makes the objects that tests begin with. People are written into the database, everything that has an operation is made over HTTP. */
export function makeFor(service: TestService) {
  let made = 0;
  const store = () => service.deps.storage;
  const newId = (kind: Parameters<typeof service.deps.newId>[0]) => service.deps.newId(kind);

  async function tenant(): Promise<{ readonly id: string }> {
    const row = tenantRow();
    await write([row]);
    return { id: row.id };
  }
  function tenantRow() {
    const createdAt = service.deps.now();
    return { table: 'tenants', id: newId('tenant'), name: `Tenant ${++made}`, createdAt, updatedAt: createdAt };
  }

  /** In a tenant of its own unless `tenant` is given. */
  async function organization(of: { readonly tenant?: { readonly id: string } } = {}): Promise<Organization> {
    const { rows, ...place } = newOrganization(of.tenant);
    await write(rows);
    return place;
  }
  function newOrganization(tenant?: { readonly id: string }): Organization & { readonly rows: readonly Row[] } {
    const newTenant = tenant === undefined ? [tenantRow()] : [];
    const [id, createdAt] = [newId('organization'), service.deps.now()];
    const tenantId = tenant?.id ?? newTenant[0]?.id ?? '';
    const row = { table: 'organizations', id, tenantId, name: `Organization ${++made}`, createdAt, updatedAt: createdAt };
    return { id, tenantId, rows: [...newTenant, row] };
  }

  /** A member of the organization, with a key; in an organization of its own unless one is given. By default the key has every scope. */
  async function person(of: { organization?: Organization; role?: MemberRole; email?: string; name?: string } & KeyOptions = {}) {
    const { id: orgId, tenantId, rows } = of.organization === undefined ? newOrganization() : { ...of.organization, rows: [] };
    const createdAt = service.deps.now();
    const userId = newId('user');
    const email = of.email ?? `person${++made}@example.com`;
    const user = { id: userId, tenantId, email, name: of.name ?? `Person ${made}`, createdAt };
    const member = { id: newId('membership'), orgId, userId, role: of.role ?? 'MEMBER', createdAt };
    const shown = { userId, email, orgId, tenantId };
    if (of.email !== undefined) {
      await write(rows);
      // Groups and removals may know the address.
      await store().people.tenancy.createUser(user);
      await store().people.tenancy.addMember(member);
      return new Person(() => service.url, await newKey(shown, of), shown);
    }
    const { secret, key } = keyOf(shown, of);
    await write([
      ...rows,
      { table: 'users', ...user, updatedAt: createdAt },
      { table: 'memberships', ...member },
      { table: 'api_keys', ...key, membershipId: member.id, updatedAt: createdAt },
    ]);
    const { signals } = store();
    signals.publish('user-changed', userId);
    signals.publish('membership-changed', member.id);
    signals.publish('key-changed', key.id);
    return new Person(() => service.url, { id: key.id, secret }, shown);
  }

  /** Inserts rows of several tables by one statement: most tests begin with people, who would take seven. */
  async function write(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const values: unknown[] = [];
    const inserts = rows.map(({ table, ...row }, index) => {
      const places = Object.values(row).map((value) => `$${values.push(value)}`);
      return `row${index} as (insert into ${table} ("${Object.keys(row).join('", "')}") values (${places.join(', ')}))`;
    });
    await store().db.pool.query(`with ${inserts.join(', ')} select`, values);
  }

  /** An installation of the App at a repository host: people connect one in the browser. */
  async function installation(of: { owner: Person; installationId: number; name: string }): Promise<{ readonly id: string }> {
    const { orgId, userId: ownerUserId } = of.owner;
    const id = newId('repoHostInstallation');
    const sealed = await store().vault.seal({ orgId, table: 'connections', rowId: id }, '{}');
    return store().knowledge.connections.create({
      ...{ id, orgId, ownerUserId, sealed, createdAt: service.deps.now() },
      ...{ kind: 'REPO_HOST_INSTALLATION', provider: 'REPO_HOST', installationId: of.installationId, name: of.name },
      ...{ baseUrl: null, scopes: [], expiresAt: null },
    });
  }

  /** The same person with another key. */
  async function withKey(of: Person, options: KeyOptions): Promise<Person> {
    return new Person(() => service.url, await newKey(of, options), of);
  }

  /** A browser in which the person is signed in. */
  async function session({ userId, orgId }: Pick<NewPerson, 'orgId' | 'userId'>): Promise<string> {
    const createdAt = service.deps.now();
    const times = { createdAt, expiresAt: new Date(createdAt.getTime() + 86_400_000) };
    const hash = hashSecret(makeSignInSecret());
    const place = { userId, orgId, level: 'ORGANIZATION', method: 'LINK', userAgent: null, network: null } as const;
    return (await store().people.sessions.create({ id: newId('session'), hash, ...times, ...place })).id;
  }

  async function newKey(of: Pick<NewPerson, 'orgId' | 'userId'>, options: KeyOptions) {
    const { secret, key } = keyOf(of, options);
    await store().people.apiKeys.create(key);
    return { id: key.id, secret };
  }
  function keyOf({ orgId, userId }: Pick<NewPerson, 'orgId' | 'userId'>, options: KeyOptions) {
    const secret = makeKeySecret();
    const key = {
      id: newId('apiKey'),
      createdAt: service.deps.now(),
      orgId,
      userId,
      name: `Key ${++made}`,
      scopes: options.scopes ?? allScopes,
      level: options.level ?? ('ORGANIZATION' as const),
      prefix: keyPrefix(secret),
      hash: hashSecret(secret),
      expiresAt: options.expiresAt ?? null,
    };
    return { secret, key };
  }

  /** An agent of `owner`, made over REST; further members are sent with the request. */
  async function agent({ owner, ...members }: { readonly owner: TestClient } & Readonly<Record<string, unknown>>) {
    return created(
      await owner.post('/api/v1/ais', {
        src: 'https://example.com/agent.png',
        name: `Agent ${++made}`,
        description: 'Made by a test',
        instructions: 'Answer briefly.',
        ...members,
      }),
    );
  }

  /** A chat of `owner` with an agent. */
  async function chat({
    owner,
    agentId,
    ...members
  }: {
    readonly owner: TestClient;
    readonly agentId: string;
    readonly name?: string;
  }) {
    return created(await owner.post(`/api/v1/ais/${agentId}/chats`, members));
  }

  /** A data source with payloads, attached to an agent. */
  async function apiDataSource(of: {
    readonly owner: TestClient;
    readonly agentId: string;
    readonly name?: string;
    readonly data: unknown;
  }) {
    const { owner, agentId, name = `Source ${++made}`, data } = of;
    return created(await owner.post(`/api/v1/ais/${agentId}/data-sources/api`, { name, data }));
  }

  return { tenant, organization, person, installation, withKey, session, agent, chat, apiDataSource };
}

function created({ status, body }: Reply) {
  if (status >= 300) throw new Error(`not made: ${status} ${JSON.stringify(body)}`);
  return body;
}
