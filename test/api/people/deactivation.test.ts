import { beforeEach, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/client.ts';
import type { Organization, Person } from '../../support/make.ts';
import { TestBrowser } from '../../support/people/browser.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();
let organization: Organization;
let admin: Person;
let ann: Person;

beforeEach(async () => {
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
  ann = await make.person({ organization });
});

const members = 'id isActive memberships { nodes { orgId role } }';
const set = (who: TestClient, mutation: 'deactivateUser' | 'reactivateUser', id: string, orgId?: string) =>
  who.graphql(`mutation ($id: ID!, $orgId: ID) { ${mutation}(id: $id, orgId: $orgId) { ${members} } }`, { id, orgId });
const deactivate = (who: TestClient, id: string, orgId?: string) => set(who, 'deactivateUser', id, orgId);
const reactivate = (who: TestClient, id: string, orgId?: string) => set(who, 'reactivateUser', id, orgId);
const refusedWith = (code: string) => ({ errors: [{ extensions: { code } }] });
async function listed(who: TestClient, isActive: boolean): Promise<readonly string[]> {
  const query = 'query ($isActive: Boolean) { users(isActive: $isActive) { totalCount nodes { id isActive } } }';
  const { users } = (await who.graphql(query, { isActive })).data;
  expect(users.nodes).toHaveLength(users.totalCount);
  for (const user of users.nodes) expect(user.isActive).toBe(isActive);
  return users.nodes.map(({ id }: { id: string }) => id);
}

describe('a deactivated person', () => {
  it('loses keys, sessions and membership at once', async () => {
    const browser = new TestBrowser(() => service.url);
    await browser.signInBy((await admin.post('/api/v1/admin/sign-in-links', { email: ann.email })).body.url);
    expect((await browser.viewer()).status).toBe(200);
    const { data } = await deactivate(admin, ann.userId);
    expect(data.deactivateUser).toEqual({ id: ann.userId, isActive: false, memberships: { nodes: [] } });
    await eventually(async () => expect((await ann.get('/api/v1/ais')).status).toBe(401));
    await eventually(async () => expect((await browser.viewer()).status).toBe(401));
  });

  it('is in the list of those who are deactivated, and in no other', async () => {
    await deactivate(admin, ann.userId);
    expect(await listed(admin, false)).toEqual([ann.userId]);
    expect(await listed(admin, true)).toEqual([admin.userId]);
    const elsewhere = await make.person({ role: 'ADMIN' });
    expect(await listed(elsewhere, false)).toEqual([]);
  });

  it('comes back with the same role, without keys and sessions', async () => {
    const bea = await make.person({ organization, role: 'ADMIN' });
    await deactivate(admin, bea.userId);
    const { data } = await reactivate(admin, bea.userId);
    const nodes = [{ orgId: organization.id, role: 'ADMIN' }];
    expect(data.reactivateUser).toEqual({ id: bea.userId, isActive: true, memberships: { nodes } });
    expect((await bea.get('/api/v1/ais')).status).toBe(401);
    expect(await listed(admin, false)).toEqual([]);
  });

  it('cannot be added by hand meanwhile', async () => {
    await deactivate(admin, ann.userId);
    expect(await admin.post('/api/v1/admin/users', { email: ann.email })).toMatchObject({ status: 409 });
  });

  it('is inactive for the identity provider too, which may activate the person', async () => {
    await deactivate(admin, ann.userId);
    const provider = await make.withKey(admin, { scopes: ['SCIM:WRITE'] });
    const path = `/scim/v2/Users/${ann.userId}`;
    const { body } = await provider.get(path);
    expect(body.active).toBe(false);
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
    const Operations = [{ op: 'replace', path: 'active', value: true }];
    expect((await provider.patch(path, { schemas, Operations })).body.active).toBe(true);
    expect(await listed(admin, false)).toEqual([]);
  });

  it('keeps what the identity provider said, when an administrator deactivates and activates', async () => {
    const provider = await make.withKey(admin, { scopes: ['SCIM:WRITE'] });
    const given = { userName: ann.email.replace('@', '.2@'), externalId: 'e-7', name: { givenName: 'Ann', familyName: 'Lee' } };
    const { id } = (await provider.post('/scim/v2/Users', given)).body;
    await deactivate(admin, id);
    await reactivate(admin, id);
    expect((await provider.get(`/scim/v2/Users/${id}`)).body).toMatchObject({
      externalId: 'e-7',
      name: given.name,
      active: true,
    });
  });

  it('may be deactivated under a legal hold: nothing that the person made goes', async () => {
    const document = 'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }';
    const held = await admin.graphql(document, { input: { userId: ann.userId, reason: 'A claim' } });
    expect(held.errors).toBeUndefined();
    expect((await deactivate(admin, ann.userId)).data.deactivateUser.isActive).toBe(false);
  });
});

describe('deactivation', () => {
  it('changes nothing the second time', async () => {
    for (const _ of [1, 2]) expect((await deactivate(admin, ann.userId)).data.deactivateUser.isActive).toBe(false);
    for (const _ of [1, 2]) expect((await reactivate(admin, ann.userId)).data.reactivateUser.isActive).toBe(true);
  });

  it('is refused for oneself, for the last administrator, and for somebody with a key of a higher level', async () => {
    expect(await deactivate(admin, admin.userId)).toMatchObject(refusedWith('CONFLICT'));
    expect(await deactivate(service.client(), admin.userId, organization.id)).toMatchObject(refusedWith('CONFLICT'));
    await make.withKey(ann, { level: 'TENANT' });
    expect(await deactivate(admin, ann.userId)).toMatchObject(refusedWith('FORBIDDEN'));
  });

  it('does not reach people and organizations of others', async () => {
    const stranger = await make.person({ role: 'ADMIN' });
    expect(await deactivate(stranger, ann.userId)).toMatchObject(refusedWith('NOT_FOUND'));
    expect(await deactivate(stranger, ann.userId, organization.id)).toMatchObject(refusedWith('NOT_FOUND'));
    expect(await reactivate(admin, stranger.userId)).toMatchObject(refusedWith('NOT_FOUND'));
    expect(await deactivate(ann, admin.userId)).toMatchObject(refusedWith('FORBIDDEN'));
  });

  it('ends one membership only of somebody with several', async () => {
    const second = await make.organization({ tenant: { id: organization.tenantId } });
    await service.client().post('/api/v1/admin/memberships', { userId: ann.userId, orgId: second.id });
    const { data } = await deactivate(service.client(), ann.userId, organization.id);
    expect(data.deactivateUser).toMatchObject({ isActive: true, memberships: { nodes: [{ orgId: second.id }] } });
  });

  it('is an entry of the audit log', async () => {
    await deactivate(admin, ann.userId);
    await reactivate(admin, ann.userId);
    const query = 'query ($filter: AuditFilter) { auditLog(filter: $filter) { nodes { action targetId actorUserId orgId } } }';
    const { data } = await admin.graphql(query, { filter: { targetId: ann.userId, kind: 'CHANGE' } });
    const entry = { targetId: ann.userId, actorUserId: admin.userId, orgId: organization.id };
    const actions = ['reactivateUser', 'deactivateUser'].map((action) => ({ action, ...entry }));
    expect(data.auditLog.nodes).toEqual(actions);
  });
});

describe('the groups of a user', () => {
  const groups = (first?: number, after?: string) => ({
    query:
      'query ($first: Int, $after: String) { users { nodes { id groups(first: $first, after: $after) { totalCount nodes { name } pageInfo { endCursor hasNextPage } } } } }',
    variables: { first, after },
  });
  async function groupsOf(who: TestClient, userId: string, first?: number, after?: string) {
    const { query, variables } = groups(first, after);
    const { nodes } = (await who.graphql(query, variables)).data.users;
    return nodes.find(({ id }: { id: string }) => id === userId).groups;
  }
  const made = async (owner: Person, name: string, availability: string, ...people: Person[]) =>
    owner.post('/api/v1/groups', { name, availability, memberEmails: people.map(({ email }) => email).join(',') });

  it('are those that the user is a member of, newest first, page by page', async () => {
    for (const name of ['One', 'Two', 'Three']) await made(admin, name, 'EVERYONE', ann);
    await made(admin, 'Without', 'EVERYONE', admin);
    const page = await groupsOf(admin, ann.userId, 2);
    expect(page).toMatchObject({ totalCount: 3, nodes: [{ name: 'Three' }, { name: 'Two' }], pageInfo: { hasNextPage: true } });
    const rest = await groupsOf(admin, ann.userId, 2, page.pageInfo.endCursor);
    expect(rest).toMatchObject({ nodes: [{ name: 'One' }], pageInfo: { hasNextPage: false } });
    expect((await groupsOf(admin, admin.userId)).nodes).toEqual([{ name: 'Without' }]);
  });

  it('are only those that the caller may see', async () => {
    await made(admin, 'Open', 'EVERYONE', ann);
    await made(admin, 'Secret', 'RESTRICTED', ann);
    const bob = await make.person({ organization });
    const query = 'query ($id: ID!) { node(id: $id) { ... on User { groups { nodes { name } } } } }';
    const seenBy = async (who: TestClient) => (await who.graphql(query, { id: ann.userId })).data.node.groups.nodes;
    expect(await seenBy(bob)).toEqual([{ name: 'Open' }]);
    expect(await seenBy(ann)).toEqual([{ name: 'Secret' }, { name: 'Open' }]);
  });
});
