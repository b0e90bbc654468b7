import { beforeEach, describe, expect, it } from 'vitest';
import type { AccessEntry } from '../../../../src/entities/knowledge/permissions.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const { storage, newId } = service.deps;
const { prisma } = storage.db;
const hourMs = 3_600_000;
let organization: Organization;
let ann: Person;
let source: string;
let item: string;

/** A source that a connector reads, with one document: what a reading of permissions leaves. */
beforeEach(async () => {
  organization = await make.organization();
  ann = await make.person({ organization });
  source = newId('dataSource');
  item = newId('knowledgeItem');
  const at = { createdAt: new Date(), updatedAt: new Date() };
  const row = { id: source, orgId: organization.id, ownerUserId: ann.userId, name: 'Drive', type: 'DRIVE_A', data: {}, ...at };
  await prisma.dataSource.create({ data: row });
  await storage.knowledge.sources.update(source, { access: 'MIRRORED' });
  await prisma.permissionReading.create({ data: { dataSourceId: source, directory: 'drive', readAt: new Date() } });
  const document = {
    id: item,
    orgId: organization.id,
    dataSourceId: source,
    name: 'Plan',
    uniqueId: 'plan',
    type: 'DRIVE_A',
    ...at,
  };
  await prisma.knowledgeItem.create({ data: document });
});

const place = () => ({ dataSourceId: source, orgId: organization.id, directory: 'drive', service: 'google' as const });
const write = (...lists: readonly (readonly AccessEntry[])[]) =>
  storage.knowledge.permissions.write(place(), {
    items: [{ uniqueId: 'plan', permissions: { lists: lists as [readonly AccessEntry[]] } }],
  });
async function isOpenTo(who: Pick<Person, 'orgId' | 'userId' | 'keyId'>): Promise<boolean> {
  const gate = await storage.knowledge.permissions.gates.open(who, [source]);
  if (gate === undefined) throw new Error('the source is not MIRRORED');
  return (await storage.knowledge.items.openAmong([item], gate)).length === 1;
}
const verify = (emailVerifiedAt: Date | null) => prisma.user.update({ where: { id: ann.userId }, data: { emailVerifiedAt } });
const forget = () => storage.signals.publish('permissions-changed', source);
async function connect(accountId: string, verifiedEmail?: string) {
  const id = newId('oauthToken');
  const scope = { orgId: organization.id, ownerUserId: ann.userId };
  await prisma.connection.create({ data: { id, ...scope, kind: 'OAUTH_TOKEN', provider: 'DRIVE_A', name: 'Ann', sealed: '' } });
  const identity = { service: 'google' as const, accountId, ...(verifiedEmail === undefined ? {} : { verifiedEmail }) };
  await storage.knowledge.permissions.proveAccount({ id, ...scope }, identity);
  return id;
}

describe('who a person is', () => {
  it('an e-mail that is not verified proves nothing', async () => {
    await write([{ kind: 'user', email: ann.email }]);
    expect(await isOpenTo(ann)).toBe(false);
    await verify(new Date());
    forget();
    expect(await isOpenTo(ann)).toBe(true);
  });

  it('the directory of the organization vouches for an e-mail while it keeps the person', async () => {
    await write([{ kind: 'user', email: ann.email }]);
    await prisma.scimUser.create({ data: { orgId: organization.id, userId: ann.userId, role: 'MEMBER' } });
    forget();
    expect(await isOpenTo(ann)).toBe(true);
    await prisma.scimUser.updateMany({ where: { userId: ann.userId }, data: { isActive: false } });
    forget();
    expect(await isOpenTo(ann)).toBe(false);
  });

  it('an account counts for whoever connected it, and no more once the connection is handed over or gone', async () => {
    await write([{ kind: 'user', accountId: '4711' }]);
    expect(await isOpenTo(ann)).toBe(false);
    const connection = await connect('4711');
    expect(await isOpenTo(ann)).toBe(true);
    const bob = await make.person({ organization });
    await prisma.connection.update({ where: { id: connection }, data: { ownerUserId: bob.userId } });
    forget();
    expect([await isOpenTo(ann), await isOpenTo(bob)]).toEqual([false, false]);
    await prisma.connection.update({ where: { id: connection }, data: { ownerUserId: ann.userId } });
    await prisma.connection.delete({ where: { id: connection } });
    forget();
    expect(await isOpenTo(ann)).toBe(false);
  });

  it('an account of another service with the same id is another account', async () => {
    await storage.knowledge.permissions.write(
      { ...place(), service: 'github' },
      {
        items: [{ uniqueId: 'plan', permissions: { lists: [[{ kind: 'user', accountId: '4711' }]] } }],
      },
    );
    await connect('4711');
    expect(await isOpenTo(ann)).toBe(false);
  });

  it('an e-mail that the service verified opens for its person and its domain, not for a part of it', async () => {
    await connect('4711', 'Ann@Sub.Example.org');
    await write([{ kind: 'domain', domain: 'sub.example.org' }]);
    expect(await isOpenTo(ann)).toBe(true);
    await write([{ kind: 'domain', domain: 'example.org' }]);
    expect(await isOpenTo(ann)).toBe(false);
  });

  it('somebody of another organization, and a key of the installation, open what anyone does', async () => {
    const guest = await make.person();
    const operator = await make.person({ organization, level: 'INSTANCE' });
    await prisma.user.updateMany({
      where: { id: { in: [guest.userId, operator.userId] } },
      data: { emailVerifiedAt: new Date() },
    });
    await write([
      { kind: 'anyone_in_organization' },
      { kind: 'user', email: guest.email },
      { kind: 'user', email: operator.email },
    ]);
    expect([await isOpenTo(guest), await isOpenTo(operator), await isOpenTo({ ...operator, keyId: 'none' })]).toEqual([
      false,
      false,
      true,
    ]);
    await write([{ kind: 'anyone' }]);
    expect([await isOpenTo(guest), await isOpenTo(operator)]).toEqual([true, true]);
  });
});

describe('what is not known is open to nobody', () => {
  beforeEach(() => verify(new Date()));

  it('a list that names nobody, and permissions that are unknown', async () => {
    await write([]);
    expect(await isOpenTo(ann)).toBe(false);
    await write([{ kind: 'anyone' }]);
    expect(await isOpenTo(ann)).toBe(true);
    const unknown = { code: 'INEXPRESSIBLE', message: 'It has a deny entry.' } as const;
    await storage.knowledge.permissions.write(place(), { items: [{ uniqueId: 'plan', permissions: { unknown } }] });
    expect(await isOpenTo(ann)).toBe(false);
    expect((await prisma.knowledgeItem.findUnique({ where: { id: item } }))?.accessUnknown).toEqual(unknown);
  });

  it('permissions that were read too long ago, or never', async () => {
    await write([{ kind: 'anyone' }]);
    const setRead = (readAt: Date | null) =>
      prisma.permissionReading.update({ where: { dataSourceId: source }, data: { readAt } });
    await setRead(new Date(Date.now() - 25 * hourMs));
    forget();
    expect(await isOpenTo(ann)).toBe(false);
    await setRead(null);
    forget();
    expect(await isOpenTo(ann)).toBe(false);
    await setRead(new Date(Date.now() - 23 * hourMs));
    forget();
    expect(await isOpenTo(ann)).toBe(true);
  });

  it('a group whose members were read too long ago, were never, or are refused', async () => {
    await write([{ kind: 'group', id: 'staff' }]);
    expect(await isOpenTo(ann)).toBe(false);
    const members = [{ kind: 'user', email: ann.email }] as const;
    await storage.knowledge.permissions.write(place(), {
      groups: [
        { id: 'staff', members: [{ kind: 'group', id: 'team' }] },
        { id: 'team', members },
      ],
    });
    expect(await isOpenTo(ann)).toBe(true);
    const unknown = { code: 'UNREADABLE', message: 'GroupMember.Read.All is missing.' } as const;
    await storage.knowledge.permissions.write(place(), { groups: [{ id: 'team', members: { unknown } }] });
    expect(await isOpenTo(ann)).toBe(false);
    await storage.knowledge.permissions.write(place(), { groups: [{ id: 'team', members }] });
    expect(await isOpenTo(ann)).toBe(true);
    await prisma.permissionPrincipal.updateMany({
      where: { key: 'team' },
      data: { membersReadAt: new Date(Date.now() - 25 * hourMs) },
    });
    forget();
    expect(await isOpenTo(ann)).toBe(false);
  });

  it('what is open by link, unless the source says that it is found', async () => {
    await write([{ kind: 'anyone', isByLink: true }]);
    expect(await isOpenTo(ann)).toBe(false);
    await storage.knowledge.sources.update(source, { linkShared: 'FINDABLE' });
    expect(await isOpenTo(ann)).toBe(true);
    await storage.knowledge.sources.update(source, { linkShared: 'HIDDEN' });
    expect(await isOpenTo(ann)).toBe(false);
  });

  it('everything once the source is MIRRORED anew: permissions of an earlier time do not count', async () => {
    await write([{ kind: 'anyone' }]);
    expect(await isOpenTo(ann)).toBe(true);
    await storage.knowledge.sources.update(source, { access: 'LENT' });
    await storage.knowledge.sources.update(source, { access: 'MIRRORED' });
    expect(await isOpenTo(ann)).toBe(false);
  });

  it('equal permissions are one row, and are not written again', async () => {
    const list = [{ kind: 'user', email: ann.email }] as const;
    expect(await write(list)).toBe(1);
    expect(await write(list)).toBe(0);
    expect(await write(list, list)).toBe(0);
    expect(await prisma.accessRule.count({ where: { dataSourceId: source } })).toBe(1);
    expect(await prisma.accessSet.count({ where: { dataSourceId: source } })).toBe(1);
  });
});
