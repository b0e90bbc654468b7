import { beforeEach, describe, expect, it } from 'vitest';
import type { AccessEntry } from '../../../../src/entities/knowledge/permissions.ts';
import { Numbered } from '../../../contract/audit/numbered.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { parley } from '../../../support/processes/command-line.ts';
import { withService } from '../../../support/service.ts';

// What people are told about permissions: how far they are read, what a person is known by, and what a person can see.

const { service, make } = await withService();
const { storage, newId } = service.deps;
const { prisma } = storage.db;
const { permissions, permissionReadings } = storage.knowledge;
const minuteMs = 60_000;
let organization: Organization;
let ann: Person;
let bob: Person;
let admin: Person;
let source: string;

/** A source that a connector reads, with documents: what a reading of permissions leaves. */
async function makeSource(type: string, names: readonly string[], members: { readonly readAt?: Date } = { readAt: new Date() }) {
  const id = newId('dataSource');
  const at = { createdAt: new Date(), updatedAt: new Date() };
  const data = { id, orgId: organization.id, ownerUserId: ann.userId, name: 'Drive', type, data: {}, access: 'MIRRORED', ...at };
  await prisma.dataSource.create({ data });
  const lease = { leaseOwner: 'test', leaseUntil: new Date(Date.now() + 60 * minuteMs) };
  await prisma.permissionReading.create({ data: { dataSourceId: id, directory: 'drive', ...members, ...lease } });
  for (const [index, name] of names.entries()) {
    const createdAt = new Date(Date.now() + index);
    const item = { id: newId('knowledgeItem'), orgId: organization.id, dataSourceId: id, name, uniqueId: name, type };
    await prisma.knowledgeItem.create({ data: { ...item, createdAt, updatedAt: createdAt, indexStatus: 'INDEXED' } });
  }
  storage.signals.publish('permissions-changed', id);
  return id;
}
const place = () => ({ dataSourceId: source, orgId: organization.id, directory: 'drive', service: 'google' as const });
const open = (uniqueId: string, ...lists: readonly (readonly AccessEntry[])[]) =>
  permissions.write(place(), { items: [{ uniqueId, permissions: { lists: lists as [readonly AccessEntry[]] } }] });
const verify = (...people: readonly Person[]) =>
  prisma.user.updateMany({ where: { id: { in: people.map(({ userId }) => userId) } }, data: { emailVerifiedAt: new Date() } });
async function connect(who: Person, accountId: string, verifiedEmail?: string) {
  const id = newId('oauthToken');
  const scope = { orgId: organization.id, ownerUserId: who.userId };
  await prisma.connection.create({ data: { id, ...scope, kind: 'OAUTH_TOKEN', provider: 'DRIVE_A', name: 'Bob', sealed: '' } });
  await permissions.proveAccount({ id, ...scope }, { service: 'google', accountId, ...(verifiedEmail ? { verifiedEmail } : {}) });
  return id;
}

const seenBy = `query ($source: ID!, $user: ID!, $first: Int, $after: String, $search: String) {
  openDocuments(dataSourceId: $source, userId: $user, first: $first, after: $after, search: $search) {
    totalCount
    nodes { itemId name indexStatus lists { principals { form key name isByLink } } }
    pageInfo { endCursor hasNextPage }
  }
}`;
const ask = (who: Numbered | Person, user: string, more = {}) => who.graphql(seenBy, { source, user, ...more });
const names = (reply: { readonly data: { readonly openDocuments: { readonly nodes: readonly { readonly name: string }[] } } }) =>
  reply.data.openDocuments.nodes.map(({ name }) => name);

beforeEach(async () => {
  organization = await make.organization();
  ann = await make.person({ organization });
  bob = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
  source = await makeSource('DRIVE_A', ['budget', 'holidays', 'plan']);
});

describe('the reading of permissions', () => {
  const document = `query ($id: ID!) { dataSource(id: $id) { permissionReading {
    isRunning startedAt itemCount readAt failedAt latenessMs closesAt } } }`;
  const read = async (who: Person, id: string) => (await who.graphql(document, { id })).data.dataSource?.permissionReading;

  it('is shown to the owner and to administrators: how far it is, how late it is, and when the source closes', async () => {
    const { readAt, ...rest } = await read(ann, source);
    expect(rest).toEqual({
      ...{ isRunning: true, startedAt: null, itemCount: 0, failedAt: null, latenessMs: minuteMs },
      closesAt: new Date(Date.parse(readAt) + 24 * 60 * minuteMs).toISOString(),
    });
    expect(await read(admin, source)).toMatchObject({ readAt, latenessMs: minuteMs });
    await prisma.dataSource.update({ where: { id: source }, data: { orgVisible: true } });
    expect(await read(bob, source)).toBe(null);
    const wiki = await makeSource('WIKI', [], {});
    expect(await read(ann, wiki)).toMatchObject({ readAt: null, closesAt: null, latenessMs: 15 * minuteMs });
    await prisma.dataSource.update({ where: { id: source }, data: { access: 'LENT' } });
    expect(await read(ann, source)).toBe(null);
  });

  it('is followed live while it goes on', async () => {
    await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { leaseOwner: null, leaseUntil: null } });
    const live = `subscription ($id: ID!) { dataSourceUpdated(dataSourceId: $id) { permissionReading { isRunning itemCount startedAt } } }`;
    const seen: { readonly isRunning: boolean; readonly itemCount: number }[] = [];
    let lease: Awaited<ReturnType<typeof permissionReadings.begin>>;
    for await (const { data } of ann.subscribe(live, { id: source })) {
      const { isRunning, itemCount, startedAt } = data.dataSourceUpdated.permissionReading;
      seen.push({ isRunning, itemCount });
      if (seen.length === 1) lease = await permissionReadings.begin(source, { owner: 'me', leaseMs: minuteMs });
      if (lease === undefined) throw new Error('nothing began');
      const items = ['budget', 'plan'].map((uniqueId) => ({ uniqueId, permissions: { lists: [[{ kind: 'anyone' }]] } }) as const);
      if (isRunning && itemCount === 0) await permissionReadings.apply(lease, place(), { items, groups: [], place: 1 });
      if (itemCount === 2) {
        expect(startedAt).not.toBe(null);
        await permissionReadings.finish(lease, { isFull: true, state: 1, missingRights: [] });
      }
      if (seen.length > 1 && !isRunning) break;
    }
    expect([seen.at(0), seen.at(-1)]).toEqual([
      { isRunning: false, itemCount: 0 },
      { isRunning: false, itemCount: 0 },
    ]);
    expect(seen).toContainEqual({ isRunning: true, itemCount: 2 });
  });

  it('is shown by the command line', async () => {
    const startedAt = new Date('2026-11-01T08:00:00Z');
    await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { startedAt, itemCount: 2 } });
    const said = await parley(`sources permissions ${source}`, { PARLEY_URL: service.url, PARLEY_API_KEY: ann.key });
    expect(said.out).toContain('2 of 3 documents so far, since 2026-11-01T08:00:00.000Z');
    expect(said.out).toContain('count after 1 minutes at most');
    expect(said.out).toContain('nobody finds anything');
  });

  it('counts who is not known at the source: by account and by verified e-mail, or by account alone', async () => {
    const count = async (id: string) => {
      const reply = await ann.graphql('query ($id: ID!) { dataSource(id: $id) { permissions { unidentifiedCount } } }', { id });
      return reply.data.dataSource.permissions.unidentifiedCount;
    };
    const github = await makeSource('REPO_HOST', []);
    await verify(ann);
    expect([await count(source), await count(github)]).toEqual([2, 3]);
    await connect(bob, '4711');
    expect([await count(source), await count(github)]).toEqual([1, 3]);
  });

  it('names them to administrators, page by page, on both APIs', async () => {
    const document = `query ($id: ID!, $first: Int, $after: String) {
      unidentifiedPeople(dataSourceId: $id, first: $first, after: $after) { totalCount nodes { id email } pageInfo { endCursor hasNextPage } } }`;
    const list = async (who: Person, id: string, page: object = {}) => await who.graphql(document, { id, ...page });
    const github = await makeSource('REPO_HOST', []);
    await verify(ann);
    await connect(bob, '4711');
    expect((await list(admin, source)).data.unidentifiedPeople.nodes).toEqual([{ id: admin.userId, email: admin.email }]);
    const everybody = [ann, bob, admin].map(({ userId }) => userId).toSorted();
    const first = (await list(admin, github, { first: 2 })).data.unidentifiedPeople;
    expect([first.totalCount, first.pageInfo.hasNextPage]).toEqual([3, true]);
    const rest = (await list(admin, github, { first: 2, after: first.pageInfo.endCursor })).data.unidentifiedPeople;
    expect([...first.nodes, ...rest.nodes].map(({ id }: { id: string }) => id)).toEqual(everybody);
    const path = `/api/v1/data-sources/${github}/permissions/unidentified-people`;
    const page = (await admin.get(`${path}?limit=2`)).body;
    expect(page.data).toEqual(everybody.slice(0, 2).map((id) => ({ id, name: expect.any(String), email: expect.any(String) })));
    expect((await admin.get(`${path}?cursor=${page.nextCursor}`)).body).toMatchObject({
      data: [{ id: everybody[2] }],
      nextCursor: null,
    });
    expect((await ann.get(path)).body.error.code).toBe('forbidden');
    await prisma.dataSource.update({ where: { id: github }, data: { access: 'LENT' } });
    expect((await admin.get(path)).status).toBe(409);
  });
});

describe('what a person is known by', () => {
  const document = `{ sourceIdentities { service accountId email proof provenAt connection { id isOwn } } }`;
  const own = async (who: Person) => (await who.graphql(document)).data.sourceIdentities;
  const ofEmail = { service: null, accountId: null, provenAt: null, connection: null };

  it('is listed for that person, with what vouches for it', async () => {
    expect(await own(bob)).toEqual([{ ...ofEmail, email: bob.email, proof: 'NONE' }]);
    await verify(bob);
    await prisma.scimUser.create({ data: { orgId: organization.id, userId: bob.userId, role: 'MEMBER' } });
    const id = await connect(bob, '4711', 'Bob@Example.org');
    expect(await own(bob)).toEqual([
      { ...ofEmail, email: bob.email, proof: 'SIGN_IN', provenAt: expect.any(String) },
      { ...ofEmail, email: bob.email, proof: 'DIRECTORY' },
      {
        ...{ service: 'GOOGLE', accountId: '4711', email: 'bob@example.org', proof: 'CONNECTION' },
        ...{ provenAt: expect.any(String), connection: { id, isOwn: true } },
      },
    ]);
    expect(await own(ann)).toHaveLength(1);
    expect((await bob.get('/api/v1/connections/identities')).body.data).toMatchObject([
      { service: null, email: bob.email, proof: 'SIGN_IN', connection: null },
      { service: null, proof: 'DIRECTORY' },
      { service: 'GOOGLE', accountId: '4711', proof: 'CONNECTION', connection: { id, provider: 'DRIVE_A' } },
    ]);
  });

  it('ends with the connection, at once', async () => {
    await open('plan', [{ kind: 'user', accountId: '4711' }]);
    const id = await connect(bob, '4711');
    const ruleCount = async () => (await permissions.gates.open(bob, [source]))?.ruleIds.length;
    expect(await ruleCount()).toBe(1);
    const remove = 'mutation ($id: ID!) { deleteConnection(id: $id) { id } }';
    expect((await bob.graphql(remove, { id })).data.deleteConnection.id).toBe(id);
    expect(await ruleCount()).toBe(0);
    expect(await own(bob)).toMatchObject([{ proof: 'NONE' }]);
  });
});

describe('what a person can see in a source', () => {
  it('is said with the reason of each document, and no others', async () => {
    await verify(bob);
    await connect(bob, '4711');
    await permissions.write(place(), {
      groups: [
        { id: 'staff', name: 'All staff', members: [{ kind: 'group', id: 'interns' }] },
        { id: 'interns', members: [{ kind: 'user', email: bob.email }] },
      ],
    });
    await open('budget', [{ kind: 'user', email: ann.email }]);
    await open(
      'holidays',
      [{ kind: 'group', id: 'staff' }],
      [{ kind: 'user', accountId: '4711' }, { kind: 'anyone_in_organization' }],
    );
    await open('plan', [{ kind: 'domain', domain: bob.email.split('@')[1] ?? '' }]);
    const principal = (form: string, key: string, name: string | null = null) => ({ form, key, name, isByLink: false });
    const { nodes, totalCount } = (await ask(admin, bob.userId)).data.openDocuments;
    expect(totalCount).toBe(2);
    expect(nodes).toMatchObject([
      { itemId: expect.stringMatching(/^ki_/), name: 'holidays', indexStatus: 'INDEXED' },
      { name: 'plan', lists: [{ principals: [principal('DOMAIN', bob.email.split('@')[1] ?? '')] }] },
    ]);
    // Lists have no order.
    expect(new Set(nodes[0].lists.map((list: object) => JSON.stringify(list)))).toEqual(
      new Set([
        JSON.stringify({ principals: [principal('GROUP', 'staff', 'All staff')] }),
        JSON.stringify({ principals: [principal('ACCOUNT', 'google 4711'), principal('ANYONE_IN_ORGANIZATION', '')] }),
      ]),
    );
    const path = `/api/v1/data-sources/${source}/permissions/documents`;
    const reply = await admin.get(`${path}?userId=${bob.userId}&limit=1`);
    expect(reply.body).toMatchObject({ data: [{ id: nodes[0].itemId, name: 'holidays', lists: expect.any(Array) }] });
    expect((await admin.get(`${path}?userId=${bob.userId}&cursor=${reply.body.nextCursor}`)).body.data).toMatchObject([
      { name: 'plan' },
    ]);
    expect((await admin.get(path)).body.error).toMatchObject({ param: 'userId' });
    expect((await ann.get(`${path}?userId=${bob.userId}`)).status).toBe(403);
  });

  it('is paged and searched, and what is open by link says so', async () => {
    for (const name of ['budget', 'holidays', 'plan']) await open(name, [{ kind: 'anyone', isByLink: true }]);
    expect(names(await ask(admin, bob.userId))).toEqual([]);
    await storage.knowledge.sources.update(source, { linkShared: 'FINDABLE' });
    const first = await ask(admin, bob.userId, { first: 2 });
    expect(names(first)).toEqual(['budget', 'holidays']);
    expect(first.data.openDocuments.nodes[0].lists).toEqual([
      { principals: [{ form: 'ANYONE', key: '', name: null, isByLink: true }] },
    ]);
    const { endCursor, hasNextPage } = first.data.openDocuments.pageInfo;
    expect(hasNextPage).toBe(true);
    expect(names(await ask(admin, bob.userId, { first: 2, after: endCursor }))).toEqual(['plan']);
    expect(names(await ask(admin, bob.userId, { search: 'lid' }))).toEqual(['holidays']);
  });

  it('is nothing once permissions were not read for too long', async () => {
    await open('plan', [{ kind: 'anyone' }]);
    expect(names(await ask(admin, bob.userId))).toEqual(['plan']);
    const readAt = new Date(Date.now() - 25 * 60 * minuteMs);
    await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { readAt } });
    // The process may remember what the person opened: what is stored decides.
    expect(names(await ask(admin, bob.userId))).toEqual([]);
  });

  it('is one entry of the audit log an asking, which names both, also where everybody may see the source', async () => {
    await prisma.dataSource.update({ where: { id: source }, data: { orgVisible: true } });
    const requestId = `asked-${source}`;
    await ask(new Numbered(admin, requestId), bob.userId);
    await service.deps.audit.flush();
    const entries = await prisma.auditEntry.findMany({ where: { requestId } });
    expect(entries).toMatchObject([
      { action: 'openDocuments', kind: 'READ', actorUserId: admin.userId, targetIds: [source, bob.userId] },
    ]);
  });

  it('is told to nobody else, of nobody else, and of no source that is LENT', async () => {
    const codeOf = async (who: Person, user: string) => (await ask(who, user)).errors?.[0]?.extensions.code;
    const stranger = await make.person();
    expect(await codeOf(ann, bob.userId)).toBe('FORBIDDEN');
    expect(await codeOf(bob, bob.userId)).toBe('NOT_FOUND');
    expect(await codeOf(await make.person({ role: 'ADMIN' }), bob.userId)).toBe('NOT_FOUND');
    expect(await codeOf(admin, stranger.userId)).toBe('NOT_FOUND');
    expect(await codeOf(admin, 'nobody')).toBe('NOT_FOUND');
    await storage.knowledge.sources.update(source, { access: 'LENT' });
    expect(await codeOf(admin, bob.userId)).toBe('CONFLICT');
  });
});
