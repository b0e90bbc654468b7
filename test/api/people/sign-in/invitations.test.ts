import { afterAll, describe, expect, it } from 'vitest';
import { acceptInvitation } from '../../../../src/domain/people/sign-in/accept-invitation.ts';
import { checkMail } from '../../../../src/start/checks/checks.ts';
import type { Person } from '../../../support/make.ts';
import { TestBrowser } from '../../../support/people/browser.ts';
import { MailServer } from '../../../support/people/mail-server.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const mails = new MailServer();
const smtpUrl = await mails.listen();
const from = 'Parley <parley@example.com>';
const lines: string[] = [];
const { service, make } = await withService('plain', {
  env: { LOG_LEVEL: 'trace', SMTP_URL: smtpUrl, SMTP_FROM: from },
  onLog: (line) => lines.push(line),
});
afterAll(() => mails.close());

const password = 'correct horse battery staple';
const inviting = `mutation ($input: InviteInput!) { invite(input: $input) {
  url invitation { id email role status delivery expiresAt groups { id } organization { id } }
} }`;
/** Waits until there is something. */
const found = <T>(look: () => T | Promise<T>) =>
  eventually(async () => {
    const value = await look();
    if (value === undefined || value === null || value === false) throw new Error('not there yet');
    return value;
  });
const newBrowser = () => new TestBrowser(() => service.url);
const secretOf = (url: string) => url.slice(url.indexOf('#invitation=') + '#invitation='.length);
let count = 0;
function newEmail(): string {
  count += 1;
  return `invited-${count}-${Date.now()}@example.com`;
}

async function invite(who: Person, email: string, input: object = {}) {
  const { data, errors } = await who.graphql(inviting, { input: { email, ...input } });
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data.invite;
}
const accept = (url: string, given: object = { name: 'Bob', password }, browser = newBrowser()) =>
  browser.post('/sign-in/invitation', { invitation: secretOf(url), ...given });
const show = async (url: string, browser = newBrowser()) =>
  (await browser.post('/sign-in/invitation/show', { invitation: secretOf(url) })).body;
async function signedIn(who: Person): Promise<TestBrowser> {
  const browser = newBrowser();
  const { body } = await who.post('/api/v1/admin/sign-in-links', {});
  expect((await browser.signInBy(body.url)).status).toBe(200);
  return browser;
}
const invitationOf = async (who: Person, id: string) =>
  (
    await who.graphql(
      'query ($id: ID!) { node(id: $id) { ... on Invitation { status delivery deliveryProblem user { email } } } }',
      { id },
    )
  ).data.node;

describe('an invitation', () => {
  it('makes a member with name, password, role and groups, who then signs in by the password', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const group = (await ann.post('/api/v1/groups', { name: 'Writers', availability: 'RESTRICTED', memberEmails: '' })).body.id;
    const email = newEmail();
    const { url, invitation } = await invite(ann, email.toUpperCase(), { groupIds: [group] });
    expect(invitation).toMatchObject({ email, role: 'MEMBER', status: 'PENDING', groups: [{ id: group }] });
    expect(Date.parse(invitation.expiresAt) - Date.now()).toBeGreaterThan(6.9 * 86_400_000);
    expect(url).toMatch(/\/sign-in#invitation=[\w-]{43}$/);
    expect(await show(url)).toMatchObject({ email, needs: 'NAME' });
    const browser = newBrowser();
    expect(await accept(url, { name: ' Bob ', password }, browser)).toMatchObject({ status: 200, body: { isSignedIn: true } });
    const { data } = await browser.graphql(
      '{ viewer { user { name email } session { method } organization { id } role } myGroups { nodes { id } } }',
    );
    expect(data.viewer).toMatchObject({ user: { name: 'Bob', email }, session: { method: 'INVITATION' }, role: 'MEMBER' });
    expect(data.viewer.organization.id).toBe(ann.orgId);
    expect(data.myGroups.nodes).toEqual([{ id: group }]);
    expect((await newBrowser().post('/sign-in/password', { email, password })).status).toBe(200);
    expect(await invitationOf(ann, invitation.id)).toMatchObject({ status: 'ACCEPTED', user: { email } });
    const { data: log } = await ann.graphql('{ auditLog(first: 50) { nodes { action targetId } } }');
    const actions = log.auditLog.nodes.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(expect.arrayContaining(['invite', 'acceptInvitation', 'signIn']));
  });

  it('works once, also for two browsers at one moment', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const { url } = await invite(ann, newEmail());
    const replies = await Promise.all(Array.from({ length: 4 }, () => accept(url)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status >= 500)).toEqual([]);
    expect((await accept(url)).status).toBe(400);
  });

  it('is refused in the same words when it is used, revoked, replaced, too old, unknown, or its inviter is no administrator any more', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const organization = { id: ann.orgId, tenantId: ann.tenantId };
    const used = (await invite(ann, newEmail())).url;
    await accept(used);
    const revoked = await invite(ann, newEmail());
    expect((await ann.delete(`/api/v1/admin/invitations/${revoked.invitation.id}`)).body.status).toBe('REVOKED');
    const email = newEmail();
    const replaced = (await invite(ann, email)).url;
    await invite(ann, email);
    const old = await invite(ann, newEmail());
    const where = { id: old.invitation.id };
    await service.deps.storage.db.prisma.invitation.update({ where, data: { expiresAt: new Date(Date.now() - 1) } });
    const eve = await make.person({ organization, role: 'ADMIN' });
    const fallen = (await invite(eve, newEmail())).url;
    const { data } = (await ann.get(`/api/v1/admin/memberships?userId=${eve.userId}`)).body;
    expect((await ann.patch(`/api/v1/admin/memberships/${data[0].id}`, { role: 'MEMBER' })).status).toBe(200);
    const unknown = `#invitation=${'A'.repeat(43)}`;
    const errors = [];
    for (const url of [used, revoked.url, replaced, old.url, fallen, unknown, '#invitation=x']) {
      const { status, body } = await accept(url);
      expect(status).toBe(400);
      errors.push(body.error, (await show(url)).error);
    }
    expect(new Set(errors.map((error) => JSON.stringify(error))).size).toBe(1);
  });

  it('needs a name and a good password of a new person, and stays open after a refusal', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const { url } = await invite(ann, newEmail());
    for (const given of [{}, { name: ' ', password }, { name: 'Bob', password: 'short' }])
      expect((await accept(url, given)).status).toBe(400);
    expect((await accept(url)).status).toBe(200);
  });

  it('takes a new person without a password where a passkey can follow, who then adds one or sets a password', async () => {
    const { url } = await invite(await make.person({ role: 'ADMIN' }), newEmail());
    const browser = newBrowser();
    expect((await accept(url, { name: 'Bob' }, browser)).status).toBe(200);
    const setting = `mutation { setPassword(input: { new: "${password}" }) { hasPassword } }`;
    const { data: before } = await browser.graphql('{ viewer { hasPassword user { email } } }');
    expect(before.viewer.hasPassword).toBe(false);
    expect((await newBrowser().post('/sign-in/password', { email: before.viewer.user.email, password: '' })).status).toBe(400);
    expect((await browser.graphql('mutation { beginPasskey { options } }')).errors).toBeUndefined();
    expect((await browser.graphql(setting)).data.setPassword.hasPassword).toBe(true);
  });

  it('needs a password where passkeys cannot work', async () => {
    const { url } = await invite(await make.person({ role: 'ADMIN' }), newEmail());
    const [, secret = ''] = url.split('#invitation=');
    const deps = { ...service.deps, publicUrl: () => 'http://parley.internal' };
    const page = { requestId: 'req', address: undefined, userAgent: undefined, network: undefined, sessionSecret: undefined };
    await expect(acceptInvitation(deps, { secret, name: 'Bob', password: undefined }, page)).rejects.toThrow(
      'password must have 12 to 200 characters',
    );
    expect((await accept(url)).status).toBe(200);
  });

  it('is for administrators, with keys that have all scopes of the role', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    expect((await bob.graphql(inviting, { input: { email: newEmail() } })).errors?.[0].extensions.code).toMatch(
      /FORBIDDEN|SCOPE/,
    );
    const narrow = await make.withKey(ann, { scopes: ['ADMIN:WRITE', 'ADMIN:READ'] });
    expect((await narrow.graphql(inviting, { input: { email: newEmail() } })).errors?.[0].extensions.code).toBe('FORBIDDEN');
  });

  it.each([
    ['no address', { email: 'bob' }, 'INVALID_VALUE'],
    [
      'a group of another organization',
      { email: 'bob@example.com', groupIds: ['grp_01ke2s7d4vfzgv0b4xw2q9a1bc'] },
      'INVALID_VALUE',
    ],
  ])('is refused for %s', async (_case, input, code) => {
    const ann = await make.person({ role: 'ADMIN' });
    expect((await ann.graphql(inviting, { input })).errors?.[0].extensions.code).toBe(code);
  });

  it('is refused for a member, and hidden from other organizations', async () => {
    const [ann, eve] = [await make.person({ role: 'ADMIN' }), await make.person({ role: 'ADMIN' })];
    expect((await ann.graphql(inviting, { input: { email: ann.email } })).errors?.[0].extensions.code).toBe('CONFLICT');
    const { invitation } = await invite(ann, newEmail());
    expect(await invitationOf(eve, invitation.id)).toBeNull();
    expect((await eve.delete(`/api/v1/admin/invitations/${invitation.id}`)).status).toBe(404);
    expect((await eve.get('/api/v1/admin/invitations')).body.data).toEqual([]);
    const { data } = (await ann.get('/api/v1/admin/invitations')).body;
    expect(data).toMatchObject([{ id: invitation.id, status: 'PENDING' }]);
    expect(JSON.stringify(data)).not.toContain('#invitation');
  });

  it('is refused from another site', async () => {
    const { url } = await invite(await make.person({ role: 'ADMIN' }), newEmail());
    const body = { invitation: secretOf(url), name: 'Bob', password };
    for (const headers of [{ origin: 'https://evil.example' }, { origin: '' }, { 'graphql-require-preflight': '' }]) {
      for (const path of ['/sign-in/invitation', '/sign-in/invitation/show']) {
        expect((await newBrowser().post(path, body, headers)).status).toBe(403);
      }
    }
    expect((await accept(url)).status).toBe(200);
  });
});

describe('an invitation to an address that has an account', () => {
  /** An administrator of one organization, and a member of another organization of the same tenant. */
  async function twoOrganizations(): Promise<{ ann: Person; bob: Person }> {
    const ann = await make.person({ role: 'ADMIN' });
    const other = await make.organization({ tenant: { id: ann.tenantId } });
    return { ann, bob: await make.person({ organization: { id: other.id, tenantId: ann.tenantId }, role: 'ADMIN' }) };
  }

  it('is no way in: who has the link alone must sign in first, and changes nothing', async () => {
    const { ann, bob } = await twoOrganizations();
    const { url } = await invite(ann, bob.email);
    expect(await show(url)).toMatchObject({ needs: 'SIGN_IN' });
    const own = await signedIn(ann);
    for (const browser of [newBrowser(), own]) {
      const { status, body, headers } = await accept(url, { name: 'Eve', password }, browser);
      expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'conflict' });
      expect(headers.getSetCookie()).toEqual([]);
    }
    expect(await service.deps.storage.people.passwords.find(bob.userId)).toBeUndefined();
  });

  it('is accepted in a session of the account, which keeps its name and gets no password', async () => {
    const { ann, bob } = await twoOrganizations();
    const { url } = await invite(ann, bob.email, { role: 'AUDITOR' });
    const browser = await signedIn(bob);
    expect(await show(url, browser)).toMatchObject({ needs: 'NOTHING' });
    expect((await accept(url, { name: 'Other', password }, browser)).status).toBe(200);
    const { data } = await browser.graphql('{ viewer { user { name } organization { id } role hasPassword } }');
    expect(data.viewer).toMatchObject({ organization: { id: ann.orgId }, role: 'AUDITOR', hasPassword: false });
    expect(data.viewer.user.name).not.toBe('Other');
  });

  it('is accepted with the password of the account, whose wrong ones are counted', async () => {
    const { ann, bob } = await twoOrganizations();
    const setting = 'mutation ($input: SetPasswordInput!) { setPassword(input: $input) { hasPassword } }';
    await (await signedIn(bob)).graphql(setting, { input: { new: password } });
    const { url } = await invite(ann, bob.email);
    expect(await show(url)).toMatchObject({ needs: 'PASSWORD' });
    await service.deps.storage.db.prisma.signInAttempt.deleteMany({});
    const before = await service.deps.storage.people.passwords.find(bob.userId);
    const statuses = [];
    for (let attempt = 0; attempt < 11; attempt += 1) statuses.push((await accept(url, { password: 'a guess of mine' })).status);
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
    await service.deps.storage.db.prisma.signInAttempt.deleteMany({});
    expect((await accept(url, { password })).status).toBe(200);
    expect(await service.deps.storage.people.passwords.find(bob.userId)).toBe(before);
  });

  it('is accepted by the link alone where nobody can get into the account: it has no membership and no password', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    await service.deps.storage.db.prisma.membership.deleteMany({ where: { userId: bob.userId } });
    const { url } = await invite(ann, bob.email);
    expect(await show(url)).toMatchObject({ needs: 'NAME' });
    const browser = newBrowser();
    expect((await accept(url, { name: 'Bob again', password }, browser)).status).toBe(200);
    const { data } = await browser.graphql('{ viewer { user { id name } } }');
    expect(data.viewer.user).toEqual({ id: bob.userId, name: 'Bob again' });
  });
});

describe('the mail of an invitation', () => {
  const mailTo = (email: string) => found(() => mails.received.find(({ to }) => to.includes(email)));
  /** The link in the plain text, without the soft line breaks of the encoding. */
  const linkIn = (raw: string) => /#invitation=[\w-]{43}/.exec(raw.replaceAll('=\r\n', '').replaceAll('=3D', '='))?.[0] ?? '';

  it('is sent with a link of its own, in plain text and HTML, and its secret stands nowhere else', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const email = newEmail();
    const { url, invitation } = await invite(ann, email);
    expect(invitation.delivery).toBe('WAITING');
    const mail = await mailTo(email);
    expect(mail).toMatchObject({ from: 'parley@example.com', to: [email] });
    for (const type of ['text/plain', 'text/html']) expect(mail.raw).toContain(`Content-Type: ${type}`);
    expect(mail.raw.replaceAll('=\r\n', '')).not.toMatch(/<img|https?:\/\/(?!127\.0\.0\.1)/);
    await found(async () => (await invitationOf(ann, invitation.id)).delivery === 'SENT');
    const link = linkIn(mail.raw);
    expect(secretOf(link)).not.toBe(secretOf(url));
    const rows = await service.deps.storage.db.query('select row_to_json(j)::text as text from pgboss.job j', []);
    const stored = JSON.stringify([rows, await service.deps.storage.db.prisma.invitation.findMany({}), lines]);
    expect(stored).toContain(invitation.id);
    for (const secret of [secretOf(link), secretOf(url), 'mail secret', 'mail%20secret']) expect(stored).not.toContain(secret);
    expect((await accept(link)).status).toBe(200);
    expect((await accept(url)).status).toBe(400);
  });

  it('names nobody else, whatever the address and the organization are called', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const name = 'A <b>firm</b>\r\nBcc: eve@example.com';
    await service.deps.storage.db.prisma.organization.update({ where: { id: ann.orgId }, data: { name } });
    const email = `bob;${Date.now()}@example.com`;
    await invite(ann, email);
    const mail = await found(() => mails.received.find(({ raw }) => raw.includes('firm')));
    // The same mailbox, as the protocol writes it.
    expect(mail.to).toEqual([email.replace(/^(.*)@/, '"$1"@')]);
    expect(mail.raw).not.toMatch(/^Bcc:/im);
    expect(mail.raw.slice(mail.raw.indexOf('text/html'))).not.toContain('<b>firm');
  });

  it('is given up after a final refusal, which administrators see; the link goes on', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    mails.refusals.push({ responseCode: 550, message: 'No such mailbox' });
    const { url, invitation } = await invite(ann, newEmail());
    const failed = await found(async () => {
      const shown = await invitationOf(ann, invitation.id);
      return shown.delivery === 'FAILED' ? shown : undefined;
    });
    expect(failed?.deliveryProblem).toBe('The mail server answered: 550 No such mailbox');
    expect((await accept(url)).status).toBe(200);
  });

  it('is tried again after a refusal for now', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    mails.refusals.push({ responseCode: 451, message: 'Come back later' });
    const email = newEmail();
    const { invitation } = await invite(ann, email);
    await found(async () => (await invitationOf(ann, invitation.id)).deliveryProblem?.includes('Come back later'));
    const job = await found(async () => {
      const jobs = await service.deps.storage.db.query<{ delay: number }>(
        `select extract(epoch from start_after - now())::float8 as delay from pgboss.job
         where name = 'accounts.mail-invitation' and state = 'retry' and data->>'invitationId' = $1`,
        [invitation.id],
      );
      return jobs[0];
    });
    expect(job?.delay).toBeGreaterThan(5);
    await service.deps.storage.db.query(
      `update pgboss.job set start_after = now() where name = 'accounts.mail-invitation' and data->>'invitationId' = $1`,
      [invitation.id],
    );
    await mailTo(email);
    await found(async () => (await invitationOf(ann, invitation.id)).delivery === 'SENT');
  });

  it('is given up when it was refused for now for hours', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    mails.refusals.push({ responseCode: 451, message: 'Come back later' });
    const { invitation } = await invite(ann, newEmail());
    const retry = (set: string) =>
      service.deps.storage.db.query(
        `update pgboss.job set ${set}, start_after = now()
         where name = 'accounts.mail-invitation' and state = 'retry' and data->>'invitationId' = $1 returning id`,
        [invitation.id],
      );
    await found(async () => (await invitationOf(ann, invitation.id)).deliveryProblem?.includes('Come back later'));
    mails.refusals.push({ responseCode: 452, message: 'Come back tomorrow' });
    await found(async () => (await retry('retry_count = 10')).length === 1);
    await found(async () => (await invitationOf(ann, invitation.id)).deliveryProblem?.includes('Come back tomorrow'));
    expect((await invitationOf(ann, invitation.id)).delivery).toBe('WAITING');
    mails.refusals.push({ responseCode: 451, message: 'Never' });
    await found(async () => (await retry('retry_count = 11')).length === 1);
    await found(async () => (await invitationOf(ann, invitation.id)).delivery === 'FAILED');
  });

  it('is sent by a job that a former version queued', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    mails.refusals.push({ responseCode: 451, message: 'Come back later' });
    const email = newEmail();
    const { invitation } = await invite(ann, email);
    await found(async () => (await invitationOf(ann, invitation.id)).deliveryProblem?.includes('Come back later'));
    await service.deps.storage.db.query(
      `update pgboss.job set start_after = now(), data = data || '{"attempt":2}'
       where name = 'accounts.mail-invitation' and state = 'retry' and data->>'invitationId' = $1`,
      [invitation.id],
    );
    await mailTo(email);
  });
});

describe('parley doctor', () => {
  const check = async (url: string) => (await checkMail({ ...service.deps.settings, SMTP_URL: url, SMTP_FROM: from }))[0];

  it.each([
    ['says that the login works', smtpUrl, 'good', 'takes its user and password'],
    ['says that no login was tried', smtpUrl.replace(/\/\/.*@/, '//'), 'good', 'names no user, so no sign-in was tried'],
    ['names a wrong password', smtpUrl.replace('secret', 'wrong'), 'wrong', 'refuses the user or the password of SMTP_URL'],
    ['names a server that is not there', 'smtp://127.0.0.1:1', 'wrong', 'cannot be reached'],
  ])('%s', async (_case, url, level, words) => {
    const finding = await check(url);
    expect(finding).toMatchObject({ check: 'mail', level, message: expect.stringContaining(words) });
    expect(JSON.stringify(finding)).not.toMatch(/secret|wrong%|pass@/);
  });

  it('names a server that offers no login, and does not take the one of SMTP_URL', async () => {
    const mute = new MailServer({ offersLogin: false });
    try {
      const finding = await check(await mute.listen());
      expect(finding).toMatchObject({
        level: 'wrong',
        message: 'The mail server takes no user and password, and SMTP_URL names both.',
      });
    } finally {
      await mute.close();
    }
  });
});
