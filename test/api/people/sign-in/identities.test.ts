import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization, Person } from '../../../support/make.ts';
import { type Account, startIdentityProvider } from '../../../support/people/identity-provider.ts';
import { WalkingBrowser } from '../../../support/people/walk.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { afterNext } from '../../../support/storage/between.ts';

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

  it('does not come back by another address that a provider gave, nor after a deletion of the user', async () => {
    const [kept, deleted] = [newAccount(), newAccount()];
    for (const account of [kept, deleted]) {
      const { user } = await userOf((await signIn('one', account)).page);
      const renamed = { ...account, email: `renamed-${account.email}` };
      expect((await userOf((await signIn('one', renamed)).page)).user.id).toBe(user.id);
      await remove(user.id);
      if (account === deleted) expect((await service.client().delete(`/api/v1/admin/users/${user.id}`)).status).toBe(200);
      const third = { ...account, email: `third-${account.email}` };
      for (const [name, as] of [
        ['two', { ...renamed, sub: `at two ${account.sub}` }],
        ['one', renamed],
        ['one', third],
      ] as const)
        expect((await signIn(name, as)).text, name).toContain(notAnyMore);
    }
  });

  it('comes back by an open invitation at a sign-in by the provider, as what it says, while its maker may invite', async () => {
    const account = newAccount({ groups: ['admins'] });
    const { user } = await userOf((await signIn('one', account)).page);
    await remove(user.id);
    const { body: group } = await administrator().post('/api/v1/groups', {
      ...{ name: 'Invited', availability: 'RESTRICTED', memberEmails: '' },
    });
    const inviting = 'mutation ($input: InviteInput!) { invite(input: $input) { invitation { id } } }';
    const inviteBy = async (who: Person, role: string) =>
      (await who.graphql(inviting, { input: { email: account.email, role, groupIds: [group.id] } })).data.invite.invitation.id;
    const former = await make.person({ organization, role: 'ADMIN' });
    await inviteBy(former, 'MEMBER');
    await prisma().membership.updateMany({ where: { userId: former.userId }, data: { role: 'MEMBER' } });
    const plain = { ...account, groups: [] };
    expect((await signIn('one', plain)).text).toContain(notAnyMore);
    const id = await inviteBy(administrator(), 'ADMIN');
    expect(await userOf((await signIn('one', plain)).page)).toEqual({
      role: 'ADMIN',
      user: { id: user.id, email: account.email },
    });
    expect(await prisma().invitation.findUniqueOrThrow({ where: { id } })).toMatchObject({ userId: user.id });
    expect(await prisma().groupMember.count({ where: { groupId: group.id, userId: user.id } })).toBe(1);
    expect((await userOf((await signIn('one', plain)).page)).role).toBe('ADMIN');
    // Used up: it opens nothing after the next removal.
    await remove(user.id);
    expect((await signIn('one', plain)).text).toContain(notAnyMore);
  });

  it('is let in by no invitation that was revoked during the sign-in', async () => {
    const account = newAccount();
    const { user } = await userOf((await signIn('one', account)).page);
    await remove(user.id);
    const inviting = 'mutation ($input: InviteInput!) { invite(input: $input) { invitation { id } } }';
    const { data } = await administrator().graphql(inviting, { input: { email: account.email, role: 'ADMIN' } });
    let revoked: number | undefined;
    afterNext(service.deps.storage.people.invitations, 'findOpenOf', async () => {
      revoked = (await administrator().delete(`/api/v1/admin/invitations/${data.invite.invitation.id}`)).status;
    });
    const { text, page } = await signIn('one', account);
    expect(revoked).toBeLessThan(300);
    expect(text).toContain(notAnyMore);
    expect((await page.viewer()).status).toBe(401);
    expect(await prisma().membership.count({ where: { userId: user.id, orgId: organization.id } })).toBe(0);
  });

  it('sees the end of open invitations in live lists', async () => {
    const { body: made } = await administrator().post('/api/v1/admin/users', { email: newAccount().email });
    const sister = await make.organization({ tenant: { id: organization.tenantId } });
    expect((await service.client().post('/api/v1/admin/memberships', { userId: made.id, orgId: sister.id })).status).toBe(200);
    const changed: string[] = [];
    const stop = service.deps.storage.signals.subscribe('invitation-changed', (id) => changed.push(id));
    await prisma().invitation.create({
      data: {
        ...{ id: service.deps.newId('invitation'), orgId: organization.id, email: made.email, role: 'MEMBER', groupIds: [] },
        ...{ hash: made.id, expiresAt: new Date(Date.now() + 60_000), delivery: 'NONE' },
        ...{ invitedByUserId: administrator().userId, invitedByLevel: 'ORGANIZATION' },
      },
    });
    await remove(made.id);
    const { id } = await prisma().invitation.findUniqueOrThrow({ where: { hash: made.id, revokedAt: { not: null } } });
    await eventually(() => expect(changed).toContain(id));
    stop();
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
