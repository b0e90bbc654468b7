import { beforeEach, describe, expect, it } from 'vitest';
import { scopes } from '../../../../src/entities/people/caller.ts';
import type { TestClient } from '../../../support/client.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { TestBrowser } from '../../../support/people/browser.ts';
import { startClock } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', { env: { LOG_LEVEL: 'fatal' } });
const admin = '/api/v1/admin';
const password = 'correct horse battery staple';
let organization: Organization;
/** An administrator of the organization; an operator who is a member of it. */
let boss: Person;
let ann: Person;
let root: TestClient;

beforeEach(async () => {
  root = service.client();
  organization = await make.organization();
  boss = await make.person({ organization, role: 'ADMIN' });
  ann = await make.person({ organization });
});

const setting = 'mutation ($id: ID!, $isOperator: Boolean!) { setOperator(id: $id, isOperator: $isOperator) { id isOperator } }';
const setOperator = (who: TestClient, id: string, isOperator: boolean) => who.graphql(setting, { id, isOperator });
async function promote({ userId }: Person): Promise<void> {
  expect((await setOperator(root, userId, true)).data.setOperator).toEqual({ id: userId, isOperator: true });
}
const linkBy = (who: TestClient, { email, orgId }: Person) => who.post(`${admin}/sign-in-links`, { email, orgId });
async function opened(link: { readonly body: { readonly url: string } }): Promise<TestBrowser> {
  const browser = new TestBrowser(() => service.url);
  expect((await browser.signInBy(link.body.url)).status).toBe(200);
  return browser;
}
/** Signed in with the reach of the installation. */
const inSession = async (who: Person) => opened(await linkBy(root, who));
const level = async (browser: TestBrowser) =>
  (await browser.graphql('{ viewer { level scopes user { isOperator } } }')).data.viewer;
const reaches = async (browser: TestBrowser) =>
  (await browser.graphql('{ tenants(first: 1) { nodes { id } } }')).errors === undefined;
const refused = (code: string) => ({ errors: [{ extensions: { code } }] });
const membershipOf = async ({ userId }: Person) =>
  (await root.get(`${admin}/memberships?userId=${userId}`)).body.data[0].id as string;

describe('the first administrator', () => {
  it('administers the installation in a session', async () => {
    const browser = await opened(await root.post(`${admin}/sign-in-links`, {}));
    expect(await level(browser)).toMatchObject({ level: 'INSTANCE', user: { isOperator: true } });
    expect(await reaches(browser)).toBe(true);
  });
});

describe('an operator', () => {
  it('reaches the installation in a session that begins by a link of level INSTANCE, with all scopes', async () => {
    await promote(ann);
    const browser = await inSession(ann);
    expect(await level(browser)).toMatchObject({ level: 'INSTANCE', user: { isOperator: true } });
    expect(new Set((await level(browser)).scopes)).toEqual(new Set(scopes.map((scope) => scope.replace(':', '_'))));
    expect(await reaches(browser)).toBe(true);
  });

  it('does not reach it in sessions of before, or by keys of a lower level', async () => {
    const browser = await inSession(ann);
    await promote(ann);
    expect((await level(browser)).level).toBe('ORGANIZATION');
    expect(await reaches(browser)).toBe(false);
    expect((await ann.graphql('{ viewer { level } }')).data.viewer.level).toBe('ORGANIZATION');
  });

  it('does not reach it by a link that was made before by an administrator of the organization', async () => {
    const link = await linkBy(boss, ann);
    await promote(ann);
    expect((await level(await opened(link))).level).toBe('ORGANIZATION');
  });

  it('reaches it by a password that was set with that reach, and by no earlier one', async () => {
    const set = 'mutation ($input: SetPasswordInput!) { setPassword(input: $input) { level } }';
    const signIn = async () => {
      const browser = new TestBrowser(() => service.url);
      expect((await browser.post('/sign-in/password', { email: ann.email, password })).status).toBe(200);
      return (await level(browser)).level;
    };
    // Whoever administered the organization before may know it.
    const planted = await opened(await linkBy(boss, ann));
    expect((await planted.graphql(set, { input: { new: password } })).errors).toBeUndefined();
    await promote(ann);
    expect(await signIn()).toBe('ORGANIZATION');
    const changed = await planted.graphql(set, { input: { current: password, new: password } });
    expect(changed.errors).toBeUndefined();
    expect(await signIn()).toBe('ORGANIZATION');
    const own = await inSession(ann);
    expect((await own.graphql(set, { input: { new: password } })).errors).toBeUndefined();
    expect(await signIn()).toBe('INSTANCE');
  });

  it('who is an AUDITOR reads everything and changes nothing', async () => {
    const auditor = await make.person({ organization, role: 'AUDITOR' });
    await promote(auditor);
    const browser = await inSession(auditor);
    expect(await reaches(browser)).toBe(true);
    const made = await browser.graphql('mutation { createTenant(input: { name: "Mine" }) { id } }');
    expect(made.errors).toBeDefined();
  });

  it('makes no key above the organization in a session', async () => {
    await promote(ann);
    const browser = await inSession(ann);
    const document = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { __typename } }';
    for (const above of ['TENANT', 'INSTANCE']) {
      const input = { name: 'Mine', scopes: ['AGENTS_READ'], level: above };
      expect(await browser.graphql(document, { input })).toMatchObject(refused('FORBIDDEN'));
    }
  });

  it('is shown as one to the person and to callers of level INSTANCE only', async () => {
    await promote(ann);
    const query = 'query ($id: ID!) { node(id: $id) { ... on User { isOperator } } }';
    const seen = async (who: TestClient) => (await who.graphql(query, { id: ann.userId })).data.node.isOperator;
    expect([await seen(root), await seen(ann), await seen(boss)]).toEqual([true, true, null]);
  });
});

describe('the right', () => {
  it('is given by callers of level INSTANCE only', async () => {
    const tenantKey = await make.withKey(boss, { level: 'TENANT' });
    for (const who of [boss, tenantKey]) expect(await setOperator(who, ann.userId, true)).toMatchObject(refused('FORBIDDEN'));
    await promote(ann);
    expect((await setOperator(await inSession(ann), boss.userId, true)).data.setOperator.isOperator).toBe(true);
  });

  it('is an entry of the audit log with what it was before', async () => {
    await promote(ann);
    const query = `query ($filter: AuditFilter) { auditLog(filter: $filter) { nodes { action changes { member before values } } } }`;
    const { data } = await root.graphql(query, { filter: { targetId: ann.userId, action: 'setOperator' } });
    const changes = [{ member: 'isOperator', before: [false], values: [true] }];
    expect(data.auditLog.nodes).toEqual([{ action: 'setOperator', changes }]);
  });

  it('ends at once, with open sessions and their streams, and does not come back with them', async () => {
    await promote(ann);
    const browser = await inSession(ann);
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const stream = await browser.fetch('POST', '/graphql', { query: 'subscription { agentsChanged { kind } }' }, headers);
    expect(stream.status).toBe(200);
    const clock = startClock();
    expect((await root.delete(`${admin}/operators/${ann.userId}`)).status).toBe(200);
    await eventually(async () => expect((await browser.viewer()).status).toBe(401));
    expect(clock.elapsedMs()).toBeLessThan(1_000);
    expect(await stream.text()).toContain('INVALID_API_KEY');
    expect(clock.elapsedMs()).toBeLessThan(5_000);
    clock.stop();
    expect((await root.put(`${admin}/operators/${ann.userId}`, {})).status).toBe(200);
    expect((await browser.viewer()).status).toBe(401);
  });

  it('is not taken from oneself in a session; the last operator may lose it to a key', async () => {
    await promote(ann);
    const browser = await inSession(ann);
    expect(await setOperator(browser, ann.userId, false)).toMatchObject(refused('CONFLICT'));
    const operators = { where: { isOperator: true } };
    for (const { id } of await service.deps.storage.db.prisma.user.findMany(operators)) await setOperator(root, id, false);
    expect(await service.deps.storage.db.prisma.user.count(operators)).toBe(0);
    const me = (await root.graphql('{ viewer { user { id } } }')).data.viewer.user.id;
    expect((await setOperator(root, me, true)).data.setOperator.isOperator).toBe(true);
  });

  it.each([
    ['removed', (id: string) => root.delete(`${admin}/memberships/${id}`)],
    ['deactivated', async () => deactivate(root)],
  ])('ends when the person is %s, and whoever brings the person back does not give it', async (_case, end) => {
    await promote(ann);
    const browser = await inSession(ann);
    await end(await membershipOf(ann));
    await eventually(async () => expect((await browser.viewer()).status).toBe(401));
    const back = 'mutation ($id: ID!) { reactivateUser(id: $id) { id } }';
    const again = await boss.graphql(back, { id: ann.userId });
    if (again.errors !== undefined) expect((await boss.post(`${admin}/users`, { email: ann.email })).status).toBe(200);
    expect((await level(await opened(await linkBy(boss, ann)))).user.isOperator).toBe(false);
  });

  it('ends with the person who is erased', async () => {
    await promote(ann);
    const document = 'mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }';
    const input = { userId: ann.userId, orgId: organization.id, transferToUserId: boss.userId };
    expect((await root.graphql(document, { input })).errors).toBeUndefined();
    const { prisma } = service.deps.storage.db;
    expect(await prisma.user.count({ where: { id: ann.userId, isOperator: true } })).toBe(0);
  });

  it('does not go with what an operator hands over', async () => {
    await promote(ann);
    await make.agent({ owner: ann });
    const handed = await ann.post(`/api/v1/users/${boss.userId}/ownership`, { allOf: { userId: ann.userId } });
    expect(handed.status).toBe(200);
    expect(await service.deps.storage.people.operators.isOperator(boss.userId)).toBe(false);
  });
});

const deactivate = (who: TestClient) =>
  who.graphql('mutation ($id: ID!, $orgId: ID) { deactivateUser(id: $id, orgId: $orgId) { id } }', {
    id: ann.userId,
    orgId: organization.id,
  });

describe('an administrator of an organization of an operator', () => {
  beforeEach(() => promote(ann));

  it('makes no sign-in link for the operator', async () => {
    expect((await linkBy(boss, ann)).status).toBe(403);
    expect((await linkBy(await make.withKey(boss, { level: 'TENANT' }), ann)).status).toBe(403);
  });

  it('changes neither e-mail nor role, by which somebody else could sign in or the operator could not', async () => {
    expect((await boss.patch(`${admin}/users/${ann.userId}`, { email: `x${ann.email}` })).status).toBe(403);
    expect((await boss.patch(`${admin}/memberships/${await membershipOf(ann)}`, { role: 'AUDITOR' })).status).toBe(403);
  });

  it('neither removes, deactivates nor erases the operator, nor the organization', async () => {
    const sister = await make.organization({ tenant: { id: organization.tenantId } });
    const tenantKey = await make.person({ organization: sister, role: 'ADMIN', level: 'TENANT' });
    expect((await boss.delete(`${admin}/memberships/${await membershipOf(ann)}`)).status).toBe(403);
    expect(await deactivate(boss)).toMatchObject(refused('FORBIDDEN'));
    const document = 'mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }';
    expect(await boss.graphql(document, { input: { userId: ann.userId } })).toMatchObject(refused('FORBIDDEN'));
    expect((await tenantKey.delete(`${admin}/users/${ann.userId}`)).status).toBe(403);
    expect((await tenantKey.delete(`${admin}/organizations/${organization.id}`)).status).toBe(403);
  });

  it('does none of it by SCIM', async () => {
    const provider = await make.withKey(boss, { scopes: ['SCIM:WRITE'] });
    const path = `/scim/v2/Users/${ann.userId}`;
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
    const patch = (Operations: object[]) => provider.patch(path, { schemas, Operations });
    expect((await patch([{ op: 'replace', path: 'active', value: false }])).status).toBe(403);
    expect((await patch([{ op: 'replace', path: 'roles', value: [{ value: 'AUDITOR' }] }])).status).toBe(403);
    expect((await provider.delete(path)).status).toBe(403);
    await patch([{ op: 'replace', path: 'userName', value: `x${ann.email}` }]);
    expect((await provider.get(path)).body.userName).toBe(ann.email);
  });

  it('does not get into the account of an operator without membership by an invitation', async () => {
    await root.delete(`${admin}/memberships/${await membershipOf(ann)}`);
    await promote(ann);
    const inviting = 'mutation ($input: InviteInput!) { invite(input: $input) { url } }';
    const { data } = await boss.graphql(inviting, { input: { email: ann.email } });
    const invitation = data.invite.url.split('#invitation=')[1];
    const browser = new TestBrowser(() => service.url);
    expect((await browser.post('/sign-in/invitation', { invitation, name: 'Eve', password })).status).toBe(409);
  });
});
