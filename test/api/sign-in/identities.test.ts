import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization, Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';
import { type Account, startIdentityProvider } from '../../support/sign-in/identity-provider.ts';
import { WalkingBrowser } from '../../support/sign-in/walk.ts';

/** Two providers whose people join the organization by a rule. */
const [first, second] = [await startIdentityProvider(), await startIdentityProvider()];
const lines: string[] = [];
const { service, make } = await withService('plain', { env: { LOG_LEVEL: 'warn' }, onLog: (line) => lines.push(line) });
let organization: Organization = { id: '', tenantId: '' };
let [admin]: readonly Person[] = [];

beforeAll(async () => {
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
  await service.restart({
    ...first.settings('one'),
    ...second.settings('two'),
    OIDC_ONE_JOIN: `*=${organization.id}`,
    OIDC_TWO_JOIN: `*=${organization.id}`,
    OIDC_ONE_GROUPS_CLAIM: 'groups',
    OIDC_ONE_ADMIN_GROUPS: 'admins',
  });
  first.register(service.url, 'one');
  second.register(service.url, 'two');
});
afterAll(() => Promise.all([first.close(), second.close()]));

const administrator = (): Person => {
  if (admin === undefined) throw new Error('there is no administrator yet');
  return admin;
};
const prisma = () => service.deps.storage.db.prisma;
let count = 0;
function newAccount(more: Partial<Account> = {}): Account & { readonly email: string } {
  count += 1;
  return { sub: `sub-${count}`, email: `person-${count}@one.example`, email_verified: true, ...more } as Account & {
    readonly email: string;
  };
}
async function signIn(name: 'one' | 'two', account: Account): Promise<{ readonly page: WalkingBrowser; readonly text: string }> {
  (name === 'one' ? first : second).signsIn(account);
  const page = new WalkingBrowser(() => service.url);
  const { text } = await page.walk(`/sign-in/oidc/${name}?next=/docs`);
  return { page, text };
}
const userOf = async (page: WalkingBrowser) =>
  (await page.graphql('{ viewer { role user { id email } } }')).data?.viewer as {
    role: string;
    user: { id: string; email: string };
  };
async function remove(userId: string): Promise<void> {
  const { id } = await prisma().membership.findFirstOrThrow({ where: { userId, orgId: organization.id } });
  expect((await administrator().delete(`/api/v1/admin/memberships/${id}`)).status).toBe(200);
}
const notAnyMore = 'no member of the organization any more';

describe('another subject with the e-mail of somebody', () => {
  const unlinking = 'mutation ($id: ID!) { unlinkIdentity(id: $id) { email identities { nodes { provider } } } }';
  const identityOf = async (userId: string) => {
    const query = 'query ($id: ID!) { user(id: $id) { identities { nodes { id provider } } } }';
    const { data } = await administrator().graphql(query, { id: userId });
    return data.user.identities.nodes as { id: string; provider: string }[];
  };

  it('does not get the account: the address may have been given to somebody else', async () => {
    const account = newAccount();
    const { user } = await userOf((await signIn('one', account)).page);
    const other = await signIn('one', { ...account, sub: `${account.sub}-other` });
    expect(other.text).toContain('Somebody else at One signs in with your e-mail address already');
    expect((await other.page.viewer()).status).toBe(401);
    expect(lines.join('\n')).toContain(`unlinkIdentity ${(await identityOf(user.id))[0]?.id}`);
    expect((await userOf((await signIn('one', account)).page)).user.id).toBe(user.id);
  });

  it('gets it after an administrator has unlinked the first, whose sessions, groups and role by the provider end', async () => {
    const account = newAccount({ groups: ['admins', 'Writers'] });
    const { body: group } = await administrator().post('/api/v1/groups', {
      ...{ name: 'Writers', availability: 'RESTRICTED', memberEmails: '' },
    });
    const { page } = await signIn('one', account);
    const { user, role } = await userOf(page);
    expect(role).toBe('ADMIN');
    const [identity] = await identityOf(user.id);
    const { data } = await administrator().graphql(unlinking, { id: identity?.id });
    expect(data.unlinkIdentity).toEqual({ email: account.email, identities: { nodes: [] } });
    expect((await page.viewer()).status).toBe(401);
    expect(await prisma().membership.findFirstOrThrow({ where: { userId: user.id } })).toMatchObject({ role: 'MEMBER' });
    expect(await prisma().groupMember.count({ where: { groupId: group.id } })).toBe(0);
    const { data: log } = await administrator().graphql('{ auditLog(first: 5) { nodes { action targetIds } } }');
    expect(log.auditLog.nodes).toContainEqual({
      action: 'unlinkIdentity',
      targetIds: expect.arrayContaining([identity?.id, user.id]),
    });
    const other = await signIn('one', { ...account, sub: `${account.sub}-other` });
    expect((await userOf(other.page)).user.id).toBe(user.id);
    expect(await identityOf(user.id)).toHaveLength(1);
  });

  it('is unlinked by administrators of its organization only', async () => {
    const { user } = await userOf((await signIn('one', newAccount())).page);
    const [identity] = await identityOf(user.id);
    const [stranger, member] = [await make.person({ role: 'ADMIN' }), await make.person({ organization })];
    const codeOf = async (who: Person) => (await who.graphql(unlinking, { id: identity?.id })).errors?.[0].extensions.code;
    expect([await codeOf(stranger), await codeOf(member)]).toEqual(['NOT_FOUND', 'FORBIDDEN']);
    expect(await identityOf(user.id)).toHaveLength(1);
  });

  it('at another provider is linked by the verified e-mail, once each', async () => {
    const account = newAccount();
    const { user } = await userOf((await signIn('one', account)).page);
    expect((await userOf((await signIn('two', { ...account, sub: 'elsewhere' })).page)).user.id).toBe(user.id);
    expect((await identityOf(user.id)).map(({ provider }) => provider).sort()).toEqual(['one', 'two']);
  });

  it('takes the place of one from before the issuer was changed in the settings', async () => {
    const account = newAccount();
    const { user } = await userOf((await signIn('one', account)).page);
    await prisma().signInIdentity.updateMany({ where: { userId: user.id }, data: { issuer: 'https://before.example' } });
    expect((await userOf((await signIn('one', { ...account, sub: `${account.sub}-moved` })).page)).user.id).toBe(user.id);
    expect(await prisma().signInIdentity.findMany({ where: { userId: user.id } })).toMatchObject([{ issuer: first.issuer }]);
  });
});

describe('who was removed', () => {
  it.each<readonly [string, 'one' | 'two', (account: Account) => Account]>([
    ['by another provider', 'two', (account) => ({ ...account, sub: 'at two' })],
    ['as another subject', 'one', (account) => ({ ...account, sub: `${account.sub}-new` })],
    ['as before', 'one', (account) => account],
  ])('does not come back by a rule: %s', async (_how, name, as) => {
    const account = newAccount();
    const { user } = await userOf((await signIn('one', account)).page);
    await remove(user.id);
    const { page, text } = await signIn(name, as(account));
    expect((await page.viewer()).status).toBe(401);
    expect(text).toMatch(/no member of the organization any more|Somebody else at One/);
    expect(await prisma().membership.count({ where: { userId: user.id } })).toBe(0);
  });

  it('does not come back by a first sign-in, after a deletion of the user, or after a SCIM DELETE', async () => {
    const [byHand, deleted, scim] = [newAccount(), newAccount(), newAccount()];
    const { body: one } = await administrator().post('/api/v1/admin/users', { email: byHand.email });
    await remove(one.id);
    expect((await signIn('one', byHand)).text).toContain(notAnyMore);
    const { body: two } = await administrator().post('/api/v1/admin/users', { email: deleted.email });
    expect((await service.client().delete(`/api/v1/admin/users/${two.id}`)).status).toBeLessThan(300);
    expect((await signIn('one', deleted)).text).toContain(notAnyMore);
    const directory = await make.withKey(administrator(), { scopes: ['SCIM:WRITE'] });
    const type = { 'content-type': 'application/scim+json' };
    const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: scim.email };
    const { status, body: made } = await directory.call('POST', '/scim/v2/Users', user, type);
    expect(status).toBe(201);
    expect((await directory.call('DELETE', `/scim/v2/Users/${made.id}`, undefined, type)).status).toBe(204);
    expect((await signIn('one', scim)).text).toContain(notAnyMore);
    expect((await signIn('two', { ...scim, sub: 'at two too' })).text).toContain(notAnyMore);
    // The directory adds the person anew.
    expect((await directory.call('POST', '/scim/v2/Users', user, type)).status).toBe(201);
    expect((await userOf((await signIn('one', scim)).page)).user.email).toBe(scim.email);
  });

  it('comes back when an administrator adds or invites the person anew, and by no invitation of before', async () => {
    const [added, invited] = [newAccount(), newAccount()];
    const inviting = 'mutation ($email: String!) { invite(input: { email: $email }) { url } }';
    const urlFor = async (email: string) => (await administrator().graphql(inviting, { email })).data.invite.url as string;
    const accept = (url: string) =>
      new WalkingBrowser(() => service.url).post('/sign-in/invitation', {
        invitation: url.slice(url.indexOf('=') + 1),
        ...{ name: 'Back', password: 'correct horse battery staple' },
      });
    const before = await urlFor(invited.email);
    for (const account of [added, invited]) await remove((await userOf((await signIn('one', account)).page)).user.id);
    expect((await accept(before)).status).toBe(400);
    await administrator().post('/api/v1/admin/users', { email: added.email });
    expect((await userOf((await signIn('one', added)).page)).user.email).toBe(added.email);
    const identity = await prisma().signInIdentity.findFirstOrThrow({ where: { email: invited.email } });
    await administrator().graphql('mutation ($id: ID!) { unlinkIdentity(id: $id) { id } }', { id: identity.id });
    expect((await accept(await urlFor(invited.email))).status).toBe(200);
    expect((await userOf((await signIn('one', invited)).page)).user.email).toBe(invited.email);
  });
});
