import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization, Person } from '../../../support/make.ts';
import type { TestBrowser } from '../../../support/people/browser.ts';
import { startIdentityProvider } from '../../../support/people/identity-provider.ts';
import { MailServer } from '../../../support/people/mail-server.ts';
import { WalkingBrowser } from '../../../support/people/walk.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

/** Two organizations of one tenant, B with an administrator who makes accounts for people of A. */
const provider = await startIdentityProvider();
const mails = new MailServer();
const smtpUrl = await mails.listen();
const { service, make } = await withService('plain', {});
let [a, b]: readonly Organization[] = [];
let [ada, bea]: readonly Person[] = [];
const orgA = () => ensured(a);
const orgB = () => ensured(b);
const adminOfA = () => ensured(ada);
const adminOfB = () => ensured(bea);

beforeAll(async () => {
  const tenant = await make.tenant();
  [a, b] = [await make.organization({ tenant }), await make.organization({ tenant })];
  [ada, bea] = [
    await make.person({ organization: orgA(), role: 'ADMIN' }),
    await make.person({ organization: orgB(), role: 'ADMIN' }),
  ];
  await service.restart({
    ...provider.settings('idp'),
    OIDC_IDP_ORGANIZATION: orgA().id,
    ...{ SMTP_URL: smtpUrl, SMTP_FROM: 'Parley <parley@example.com>' },
  });
  provider.register(service.url, 'idp');
});
afterAll(() => Promise.all([provider.close(), mails.close()]));

const password = 'correct horse battery staple';
let count = 0;
function newEmail(): string {
  count += 1;
  return `victim-${count}@a.example`;
}
const newBrowser = () => new WalkingBrowser(() => service.url);
const secretOf = (url: string) => url.slice(url.indexOf('#invitation=') + '#invitation='.length);
const byPassword = (email: string, browser: TestBrowser = newBrowser(), text = password) =>
  browser.post('/sign-in/password', { email, password: text });
const placeOf = async (browser: TestBrowser) =>
  (await browser.graphql('{ viewer { organization { id } user { id email } } }')).data?.viewer;
const inviting = 'mutation ($email: String!) { invite(input: { email: $email }) { url } }';
const inviteBy = async (who: Person, email: string) => (await who.graphql(inviting, { email })).data.invite.url as string;
const accept = (url: string, given: object, browser: TestBrowser = newBrowser()) =>
  browser.post('/sign-in/invitation', { invitation: secretOf(url), ...given });
const setting = 'mutation ($input: SetPasswordInput!) { setPassword(input: $input) { hasPassword } }';
const membershipIn = async ({ id: orgId }: Organization, userId: string) =>
  service.deps.storage.db.prisma.membership.findUnique({ where: { orgId_userId: { orgId, userId } } });

/** An account that the administrator of B made for an address that is not B's, and its password. */
async function accountOfB(): Promise<{ readonly email: string; readonly userId: string; readonly browser: TestBrowser }> {
  const email = newEmail();
  const browser = newBrowser();
  expect((await accept(await inviteBy(adminOfB(), email), { name: 'Victim', password }, browser)).status).toBe(200);
  return { email, userId: (await placeOf(browser)).user.id, browser };
}
/** B no longer has the person: nothing but A would be opened. */
async function leaveB(userId: string): Promise<void> {
  const { id } = ensured(await membershipIn(orgB(), userId));
  expect((await adminOfB().delete(`/api/v1/admin/memberships/${id}`)).status).toBe(200);
}
async function linkInto(organization: Organization, email: string): Promise<WalkingBrowser> {
  const { body } = await service.client().post('/api/v1/admin/sign-in-links', { email, orgId: organization.id });
  const browser = newBrowser();
  expect((await browser.signInBy(body.url)).status).toBe(200);
  return browser;
}

describe('an account that another organization made', () => {
  it('does not open an organization that adds its address by hand', async () => {
    const { email, userId, browser } = await accountOfB();
    expect((await adminOfA().post('/api/v1/admin/users', { email })).status).toBe(200);
    await leaveB(userId);
    expect((await byPassword(email)).status).toBe(400);
    expect((await browser.viewer()).status).toBe(401);
  });

  it('opens it once its owner has entered the password in a browser that the organization let in', async () => {
    const { email, userId } = await accountOfB();
    await adminOfA().post('/api/v1/admin/users', { email });
    const browser = await linkInto(orgA(), email);
    expect((await byPassword(email, browser)).status).toBe(200);
    expect((await placeOf(browser)).organization.id).toBe(orgA().id);
    await leaveB(userId);
    const later = newBrowser();
    expect((await byPassword(email, later)).status).toBe(200);
    expect((await placeOf(later)).organization.id).toBe(orgA().id);
  });

  it('opens it with the password that its owner gives in the place of the one until now, and both organizations then', async () => {
    const { email, userId } = await accountOfB();
    await adminOfA().post('/api/v1/admin/users', { email });
    const browser = await linkInto(orgA(), email);
    const next = `${password} 2`;
    expect((await browser.graphql(setting, { input: { new: next, current: 'wrong' } })).errors?.[0].extensions.code).toBe(
      'INVALID_VALUE',
    );
    expect((await browser.graphql(setting, { input: { new: next, current: password } })).errors).toBeUndefined();
    const { orgIds } = await service.deps.storage.db.prisma.password.findUniqueOrThrow({ where: { userId } });
    expect(new Set(orgIds)).toEqual(new Set([orgA().id, orgB().id]));
    // Without the one until now, the new one opens the organization of the link only.
    const again = await linkInto(orgA(), email);
    expect((await again.graphql(setting, { input: { new: password } })).errors).toBeUndefined();
    const later = newBrowser();
    expect((await byPassword(email, later)).status).toBe(200);
    expect((await placeOf(later)).organization.id).toBe(orgA().id);
    const stored = await service.deps.storage.db.prisma.password.findUniqueOrThrow({ where: { userId } });
    expect(stored.orgIds).toEqual([orgA().id]);
  });

  it.each([
    ['by the password of the account', async (url: string) => accept(url, { password })],
    [
      'in a session that the password began',
      async (url: string, email: string) => {
        const browser = newBrowser();
        await byPassword(email, browser);
        return accept(url, {}, browser);
      },
    ],
  ])('opens it once its owner accepted an invitation there %s', async (_how, join) => {
    const { email, userId } = await accountOfB();
    expect((await join(await inviteBy(adminOfA(), email), email)).status).toBe(200);
    await leaveB(userId);
    const later = newBrowser();
    expect((await byPassword(email, later)).status).toBe(200);
    expect((await placeOf(later)).organization.id).toBe(orgA().id);
  });

  it('does not open it when its invitation was accepted in a session that a link began: the password may be another person’s', async () => {
    const { email, userId } = await accountOfB();
    const browser = await linkInto(orgB(), email);
    expect((await accept(await inviteBy(adminOfA(), email), {}, browser)).status).toBe(200);
    await leaveB(userId);
    expect((await byPassword(email)).status).toBe(400);
  });
});

describe('the first sign-in by a provider that verified the e-mail', () => {
  const walk = async (email: string, sub: string) => {
    provider.signsIn({ sub, email, email_verified: true });
    const browser = newBrowser();
    await browser.walk('/sign-in/oidc/idp?next=/docs');
    return browser;
  };

  it('takes away password, sessions and links of an account whose e-mail nobody had verified, and the audit log says so', async () => {
    const { email, userId, browser: attacker } = await accountOfB();
    await adminOfA().post('/api/v1/admin/users', { email });
    const { body: link } = await service.client().post('/api/v1/admin/sign-in-links', { email, orgId: orgB().id });
    const owner = await walk(email, `sub ${email}`);
    expect((await placeOf(owner)).organization.id).toBe(orgA().id);
    expect((await attacker.viewer()).status).toBe(401);
    expect((await byPassword(email)).status).toBe(400);
    expect((await newBrowser().signInBy(link.url)).status).toBe(400);
    const query = '{ auditLog(first: 50) { nodes { action targetId changes { member values } } } }';
    const { data } = await adminOfA().graphql(query);
    const entry = data.auditLog.nodes.find(
      ({ action, targetId }: { action: string; targetId: string }) => action === 'followProvider' && targetId === userId,
    );
    expect(entry.changes).toContainEqual({ member: 'waysTakenAway', values: ['password', 'sessions', 'links'] });
    // Later sign-ins take away nothing that the owner made.
    expect((await owner.graphql(setting, { input: { new: password } })).errors).toBeUndefined();
    await walk(email, `sub ${email}`);
    expect((await byPassword(email)).status).toBe(200);
  });

  it('leaves an account alone whose owner came by a mailed invitation', async () => {
    const email = newEmail();
    await inviteBy(adminOfA(), email);
    const mail = await eventually(() => ensured(mails.received.find(({ to }) => to.includes(email))));
    const url = ensured(/https?:\/\/\S+#invitation=[\w-]{43}/.exec(mail.raw.replaceAll('=\r\n', '').replaceAll('=3D', '='))?.[0]);
    expect((await accept(url, { name: 'Owner', password })).status).toBe(200);
    await walk(email, `sub ${email}`);
    expect((await byPassword(email)).status).toBe(200);
  });

  it('takes no way from an operator that reaches the installation', async () => {
    const email = newEmail();
    const { body: user } = await adminOfA().post('/api/v1/admin/users', { email });
    expect((await service.client().put(`/api/v1/admin/operators/${user.id}`, {})).status).toBe(200);
    const browser = await linkInto(orgA(), email);
    expect((await browser.graphql(setting, { input: { new: password } })).errors).toBeUndefined();
    await walk(email, `sub ${email}`);
    expect((await byPassword(email)).status).toBe(200);
    expect((await browser.viewer()).status).toBe(200);
  });
});

function ensured<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('it is not there');
  return value;
}
