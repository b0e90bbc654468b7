import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../../src/entities/people/caller.ts';
import { scopes } from '../../../../src/entities/people/caller.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', {});
const ofOrganization = 'exportOrganizationData';
const ofPerson = (userId: string) => `exportPersonData(input: { userId: "${userId}" })`;
const own = 'exportPersonData(input: {})';
const readScopes = scopes.filter((scope) => scope.endsWith(':READ') && scope !== 'ADMIN:READ');

const organization = await make.organization();
const admin = await make.person({ organization, role: 'ADMIN' });
const ann = await make.person({ organization });

async function begun(who: Person, mutation: string): Promise<string> {
  const data = await who.ask(`mutation { started: ${mutation} { id } }`);
  const { id } = data.started;
  await eventually(() => service.deps.storage.db.prisma.dataExport.findUniqueOrThrow({ where: { id, status: 'READY' } }));
  return id;
}
/** What the person sees of an export: null, or an object with its link, by its id and in the list. */
async function seen(who: Person, id: string): Promise<{ readonly url: string | null } | null> {
  const { data } = await who.graphql(
    'query ($id: ID!) { node(id: $id) { ... on DataExport { url } } dataExports(first: 100) { nodes { id } } }',
    { id },
  );
  const isListed = data.dataExports.nodes.some((node: { id: string }) => node.id === id);
  expect(isListed).toBe(data.node !== null);
  return data.node;
}
const urlOf = async (who: Person, id: string): Promise<string> => (await seen(who, id))?.url ?? 'none';
const opened = async (url: string): Promise<number> => (await fetch(url)).status;
async function deletion(who: Person, id: string): Promise<string> {
  const reply = await who.graphql('mutation ($id: ID!) { deleteDataExport(id: $id) { id } }', { id });
  return reply.errors?.[0].extensions.code ?? 'deleted';
}
async function setRole({ userId }: Person, role: string): Promise<void> {
  const { body } = await service.client().get(`/api/v1/admin/memberships?userId=${userId}`);
  expect((await admin.patch(`/api/v1/admin/memberships/${body.data[0].id}`, { role })).status).toBe(200);
}
async function remove({ userId }: Person): Promise<void> {
  const { body } = await service.client().get(`/api/v1/admin/memberships?userId=${userId}`);
  expect((await admin.delete(`/api/v1/admin/memberships/${body.data[0].id}`)).status).toBeLessThan(300);
}

describe('an export that an administrator asked for', () => {
  it.each(['of the organization', 'of a person'])(
    '%s is closed to its maker after a demotion, its link too, and open to the administrators of today',
    async (about) => {
      const former = await make.person({ organization, role: 'ADMIN' });
      const id = await begun(former, about === 'of a person' ? ofPerson(ann.userId) : ofOrganization);
      const url = await urlOf(former, id);
      expect(await opened(url)).toBe(200);
      await setRole(former, 'MEMBER');
      expect(await seen(former, id)).toBeNull();
      expect(await opened(url)).toBe(403);
      expect(await deletion(former, id)).toBe('NOT_FOUND');
      expect(await opened(await urlOf(admin, id))).toBe(200);
      await setRole(former, 'AUDITOR');
      expect(await seen(former, id)).toEqual({ url: null });
      expect(await opened(url)).toBe(403);
    },
  );

  it('is closed to its maker after a removal, with its link', async () => {
    const former = await make.person({ organization, role: 'ADMIN' });
    const id = await begun(former, ofOrganization);
    const url = await urlOf(former, id);
    await remove(former);
    expect(await opened(url)).toBe(403);
    expect(await opened(await urlOf(admin, id))).toBe(200);
  });

  it.each<[string, readonly Scope[], { url: null } | null]>([
    ['all scopes that read a person', readScopes, null],
    ['ADMIN:READ', ['ADMIN:READ'], { url: null }],
    ['all scopes that read', [...readScopes, 'ADMIN:READ'], { url: null }],
    ['ADMIN:READ and ADMIN:WRITE', ['ADMIN:READ', 'ADMIN:WRITE'], { url: null }],
  ])('is not opened by a key of its maker with %s alone', async (_what, given, expected) => {
    const id = await begun(admin, ofOrganization);
    const narrow = await make.withKey(admin, { scopes: given });
    expect(await seen(narrow, id)).toEqual(expected);
    if (!given.includes('ADMIN:WRITE')) {
      expect(await deletion(narrow, id)).toBe(expected === null ? 'NOT_FOUND' : 'INSUFFICIENT_SCOPE');
    }
  });

  it('has a link that ends with the key that got it', async () => {
    const id = await begun(admin, ofOrganization);
    const short = await make.withKey(admin, {});
    const url = await urlOf(short, id);
    expect(await opened(url)).toBe(200);
    expect((await admin.delete(`/api/v1/api-keys/${short.keyId}`)).status).toBeLessThan(300);
    expect(await opened(url)).toBe(403);
  });

  it('is neither seen nor deleted by the person whom it is about', async () => {
    const id = await begun(admin, ofPerson(ann.userId));
    expect(await seen(ann, id)).toBeNull();
    expect(await deletion(ann, id)).toBe('NOT_FOUND');
    expect(await deletion(admin, id)).toBe('deleted');
  });

  it('is an entry of the audit log whenever it is opened', async () => {
    const id = await begun(admin, ofPerson(ann.userId));
    const second = await make.person({ organization, role: 'ADMIN' });
    await fetch(await urlOf(second, id), { headers: { 'x-request-id': 'export-was-opened' } });
    await service.deps.audit.flush();
    const document =
      'query ($targetId: ID!) { auditLog(filter: { targetId: $targetId }) { nodes { kind actorUserId requestId } } }';
    const data = await admin.ask(document, { targetId: id });
    expect(data.auditLog.nodes).toContainEqual({ kind: 'READ', actorUserId: second.userId, requestId: 'export-was-opened' });
  });
});

describe("a person's own export", () => {
  it('is seen by administrators, who do not open it, and ends with the membership', async () => {
    const bob = await make.person({ organization });
    const id = await begun(bob, own);
    const url = await urlOf(bob, id);
    expect(await opened(url)).toBe(200);
    expect(await seen(admin, id)).toEqual({ url: null });
    await remove(bob);
    expect(await opened(url)).toBe(403);
  });

  it('stays with an administrator who is demoted', async () => {
    const bob = await make.person({ organization, role: 'ADMIN' });
    const id = await begun(bob, own);
    await setRole(bob, 'MEMBER');
    expect(await opened(await urlOf(bob, id))).toBe(200);
    expect(await deletion(bob, id)).toBe('deleted');
  });
});
