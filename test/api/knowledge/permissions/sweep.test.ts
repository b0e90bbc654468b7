import { beforeEach, describe, expect, it } from 'vitest';
import { sweepPermissions } from '../../../../src/engine/knowledge/sync/permission-jobs.ts';
import type { AccessEntry } from '../../../../src/entities/knowledge/permissions.ts';
import { sharePermissions } from '../../../../src/storage/ground/sql/locks.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const { storage, newId } = service.deps;
const { prisma } = storage.db;
const { permissions } = storage.knowledge;
let organization: Organization;
let ann: Person;
let source: string;

beforeEach(async () => {
  organization = await make.organization();
  ann = await make.person({ organization });
  await prisma.user.update({ where: { id: ann.userId }, data: { emailVerifiedAt: new Date() } });
  source = newId('dataSource');
  const at = { createdAt: new Date(), updatedAt: new Date() };
  const owner = { orgId: organization.id, ownerUserId: ann.userId };
  await prisma.dataSource.create({
    data: { id: source, ...owner, name: 'Drive', type: 'DRIVE_A', data: {}, access: 'MIRRORED', ...at },
  });
  // It failed just now: so the service does not read the source itself meanwhile, which would begin a reading in another directory.
  const reading = { directory: 'drive', readAt: new Date(), failedAt: new Date(), attempt: 10 };
  await prisma.permissionReading.create({ data: { dataSourceId: source, ...reading } });
  for (const uniqueId of ['a', 'b']) {
    const item = {
      id: newId('knowledgeItem'),
      orgId: organization.id,
      dataSourceId: source,
      name: uniqueId,
      uniqueId,
      type: 'DRIVE_A',
    };
    await prisma.knowledgeItem.create({ data: { ...item, ...at } });
  }
  storage.signals.publish('permissions-changed', source);
});

const place = () => ({ dataSourceId: source, orgId: organization.id, directory: 'drive', service: 'google' as const });
const open = (uniqueId: string, ...lists: readonly (readonly AccessEntry[])[]) =>
  permissions.write(place(), { items: [{ uniqueId, permissions: { lists: lists as [readonly AccessEntry[]] } }] });
/** Sweeps until the result is there: while the service sweeps by itself, another sweep deletes nothing. */
const sweptTo = (check: () => Promise<unknown>) =>
  eventually(async () => {
    await sweep();
    await check();
  });
const sweep = () => sweepPermissions(storage, new AbortController().signal);
const keys = async () => {
  const rows = await prisma.permissionPrincipal.findMany({ where: { orgId: organization.id }, orderBy: { key: 'asc' } });
  return rows.map(({ kind, key }) => `${kind} ${key}`);
};
const counts = async () => {
  const where = { dataSourceId: source };
  return [await prisma.accessRule.count({ where }), await prisma.accessSet.count({ where })];
};
/** A reading under way of a directory of the same name, in another organization. The service ends it within a minute. */
const readingElsewhere = async () => {
  const other = await make.person();
  const at = { createdAt: new Date(), updatedAt: new Date() };
  const row = { id: newId('dataSource'), orgId: other.orgId, ownerUserId: other.userId, name: 'Drive', data: {}, ...at };
  await prisma.dataSource.create({ data: { ...row, type: 'DRIVE_A', access: 'MIRRORED' } });
  await prisma.permissionReading.create({ data: { dataSourceId: row.id, directory: 'drive', startedAt: new Date() } });
};
const openCount = async () => {
  storage.signals.publish('permissions-changed', source);
  const gate = await permissions.gates.open(ann, [source]);
  const ids = (await prisma.knowledgeItem.findMany({ where: { dataSourceId: source }, select: { id: true } })).map(
    ({ id }) => id,
  );
  return gate === undefined ? undefined : (await storage.knowledge.items.openAmong(ids, gate)).length;
};

describe('permissions that nothing names any more', () => {
  it('are deleted, and what documents have stays', async () => {
    await open('a', [{ kind: 'user', email: ann.email }], [{ kind: 'anyone_in_organization' }]);
    await open('b', [
      { kind: 'user', email: 'gone@example.org' },
      { kind: 'domain', domain: 'gone.example' },
    ]);
    await sweep();
    expect([await counts(), (await keys()).length, await openCount()]).toEqual([[2, 3], 4, 1]);
    await open('b', [{ kind: 'user', email: ann.email }]);
    await sweptTo(async () => expect(await counts()).toEqual([2, 2]));
    expect(await keys()).toEqual(['organization ', `email ${ann.email}`]);
    expect(await openCount()).toBe(2);
    // They are made anew when a document is opened so once more.
    await open('b', [{ kind: 'user', email: 'gone@example.org' }]);
    expect([await keys(), await openCount()]).toEqual([expect.arrayContaining(['email gone@example.org']), 1]);
  });

  it('are no groups that a program put, nor those that are told of', async () => {
    const members = [{ kind: 'user', email: ann.email }] as const;
    await permissions.write(place(), { groups: [{ id: 'staff', members }] });
    const pushed = { dataSourceId: source, orgId: organization.id, directory: `source:${source}` };
    await permissions.write(pushed, { groups: [{ id: 'pushed', members }] });
    await permissions.write(
      { ...pushed, directory: 'source:ds_gone' },
      { groups: [{ id: 'of a source that is gone', members }] },
    );
    const groups = async () => (await keys()).filter((key) => key.startsWith('group'));
    await sweptTo(async () => expect(await groups()).toEqual(['group pushed', 'group staff']));
    const old = new Date(Date.now() - 25 * 3_600_000);
    await prisma.permissionPrincipal.updateMany({
      where: { orgId: organization.id, key: 'staff' },
      data: { membersReadAt: old },
    });
    await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { startedAt: new Date() } });
    await sweep();
    expect(await keys()).toContain('group staff');
    await readingElsewhere();
    await eventually(async () => {
      // Each time: the service may have gone on with the reading meanwhile.
      await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { startedAt: null } });
      await sweep();
      expect((await keys()).toSorted()).toEqual([`email ${ann.email}`, 'group pushed']);
    }, 20_000);
  });

  it('stay while permissions are written: what is written next may name them', async () => {
    await open('a', [{ kind: 'anyone' }]);
    await open('a', [{ kind: 'user', email: ann.email }]);
    let end = () => {};
    const written = new Promise<void>((resolve) => (end = resolve));
    let isHeld = false;
    const writer = storage.db.transaction(async (tx) => {
      await sharePermissions(tx, organization.id);
      isHeld = true;
      await written;
    });
    await eventually(async () => expect(isHeld).toBe(true));
    // The embedded database has one connection: there, the sweep waits its turn.
    const swept = permissions.sweep(organization.id);
    if (process.env.TEST_DATABASE_URL !== undefined) expect(await swept).toBe(0);
    end();
    await writer;
    await swept;
    await sweptTo(async () => expect(await counts()).toEqual([1, 1]));
  });
});

describe('an erasure', () => {
  it('takes the e-mails and accounts of the person out of what was mirrored', async () => {
    const admin = await make.person({ organization, role: 'ADMIN' });
    const bob = await make.person({ organization });
    const connection = newId('oauthToken');
    const scope = { orgId: organization.id, ownerUserId: bob.userId };
    const row = { id: connection, ...scope, kind: 'OAUTH_TOKEN', provider: 'DRIVE_A', name: 'Bob', sealed: '' };
    await prisma.connection.create({ data: row });
    const identity = { service: 'google', accountId: '4711', verifiedEmail: 'bob@other.example' } as const;
    await permissions.proveAccount({ id: connection, ...scope }, identity);
    await open('a', [
      { kind: 'user', email: bob.email, accountId: '4711' },
      { kind: 'user', email: 'bob@other.example' },
      { kind: 'user', email: ann.email },
    ]);
    expect(await keys()).toHaveLength(4);
    const erase = 'mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }';
    const { data } = await admin.graphql(erase, { input: { userId: bob.userId } });
    await eventually(async () => {
      const erasure = await prisma.erasure.findUniqueOrThrow({ where: { id: data.erasePerson.id } });
      expect(erasure.status).toBe('DONE');
      expect(erasure.report).toContainEqual({ table: 'permission_principals', action: 'ERASED', count: 3 });
    });
    expect([await keys(), await openCount()]).toEqual([[`email ${ann.email}`], 1]);
  });
});
