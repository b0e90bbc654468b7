import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import { checkSignIn } from '../../../../src/start/checks/checks.ts';
import type { Reply } from '../../../support/client.ts';
import { startScriptedProvider } from '../../../support/people/scripted-provider.ts';
import { WalkingBrowser } from '../../../support/people/walk.ts';
import { withService } from '../../../support/service.ts';

const [honest, other] = [await startScriptedProvider('parley'), await startScriptedProvider('parley')];
const lines: string[] = [];
const settingsOf = (name: string, issuer: string) => ({ [`OIDC_${name}_ISSUER`]: issuer, [`OIDC_${name}_CLIENT_ID`]: 'parley' });
const { service, make } = await withService('plain', {
  env: { LOG_LEVEL: 'warn', SIGN_IN: 'oidc', ...settingsOf('ONE', honest.issuer), ...settingsOf('TWO', other.issuer) },
  onLog: (line) => lines.push(line),
});
let email = '';
const password = 'a password long enough';
const unknownSecret = 'A'.repeat(43);
const onlyProviders = 'People sign in by single sign-on only here: open /sign-in. Passwords, passkeys and invitations are off.';

const { data } = await service.client().graphql('{ viewer { organization { id tenantId } } }');
const home = data.viewer.organization;

beforeEach(async () => {
  lines.length = 0;
  email = (await make.person({ organization: home })).email;
  for (const provider of [honest, other]) {
    provider.claims = (claims) => ({ ...claims, sub: `sub of ${email}`, email, email_verified: true });
    provider.tokenError = undefined;
    provider.usesOtherKey = false;
  }
});
afterAll(() => Promise.all([honest.close(), other.close()]));

/** The address that an answer leads to, not opened. */
async function answered(page: WalkingBrowser): Promise<string> {
  const { url } = await page.walk('/sign-in/oidc/one?next=/docs', honest.issuer);
  return honest.answerTo(url);
}
async function refusalOf(asked: Promise<Reply>): Promise<{ readonly status: number; readonly message: string }> {
  const { status, body } = await asked;
  return { status, message: body.error?.message };
}
const now = () => Math.floor(Date.now() / 1_000);

describe('an id token', () => {
  it('begins a session', async () => {
    const page = new WalkingBrowser(() => service.url);
    expect((await page.walk(await answered(page))).status).toBe(200);
    expect((await page.viewer()).data.viewer.user.email).toBe(email);
  });

  it.each([
    ['another nonce', { nonce: 'x' }, 'does not belong to this sign-in', 'nonce'],
    ['no nonce', { nonce: undefined }, 'does not belong to this sign-in', 'nonce'],
    ['the name of another issuer', { iss: 'https://evil.example' }, 'does not belong to this sign-in', 'iss'],
    ['another audience', { aud: 'somebody-else' }, 'does not belong to this sign-in', 'aud'],
    ['a time that is over', { iat: now() - 900, exp: now() - 600 }, 'does not work at the moment', 'clock'],
    ['a time that is to come', { nbf: now() + 600 }, 'does not work at the moment', 'clock'],
  ])('is refused with %s', async (_case, change, words, advice) => {
    const page = new WalkingBrowser(() => service.url);
    const url = await answered(page);
    const claims = honest.claims;
    honest.claims = (asked) => ({ ...claims(asked), ...change }) as never;
    const { status, text } = await page.walk(url);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).toContain(words);
    expect(lines.join('\n')).toContain(advice);
    expect(page.cookies.has('parley_session')).toBe(false);
  });

  it('is refused when it is signed with a key that the provider does not publish', async () => {
    const page = new WalkingBrowser(() => service.url);
    const url = await answered(page);
    honest.usesOtherKey = true;
    expect((await page.walk(url)).status).toBe(502);
    expect(page.cookies.has('parley_session')).toBe(false);
  });
});

describe('mixing up two providers', () => {
  it('is refused: an answer counts at the address of the provider that was asked', async () => {
    const page = new WalkingBrowser(() => service.url);
    const url = (await answered(page)).replace('/oidc/one/', '/oidc/two/');
    const { status, text } = await page.walk(url);
    expect(status).toBe(400);
    expect(text).toContain('not begun in this browser');
  });

  it('is refused: a provider that names another issuer in its answer', async () => {
    const page = new WalkingBrowser(() => service.url);
    const url = `${await answered(page)}&iss=${encodeURIComponent(other.issuer)}`;
    expect((await page.walk(url)).status).toBeGreaterThanOrEqual(400);
    expect(page.cookies.has('parley_session')).toBe(false);
  });

  it('gives the same subject at another provider no way in', async () => {
    const page = new WalkingBrowser(() => service.url);
    await page.walk(await answered(page));
    const claims = other.claims;
    other.claims = (asked) => ({ ...claims(asked), email_verified: false });
    const { url } = await page.walk('/sign-in/oidc/two', other.issuer);
    expect((await page.walk(other.answerTo(url))).text).toContain('not verified');
  });
});

describe('a logout token', () => {
  const logout = 'http://schemas.openid.net/event/backchannel-logout';
  const claims = () => ({
    ...{ iss: honest.issuer, aud: 'parley', iat: now(), jti: `jti-${Math.random()}`, sub: `sub of ${email}` },
    events: { [logout]: {} },
  });
  const send = (token: string) =>
    service.nobody.call('POST', '/sign-in/oidc/one/backchannel-logout', new URLSearchParams({ logout_token: token }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
    });
  async function signedIn(): Promise<WalkingBrowser> {
    const page = new WalkingBrowser(() => service.url);
    await page.walk(await answered(page));
    expect((await page.viewer()).status).toBe(200);
    return page;
  }

  it('of a person ends all sessions by the provider, and counts once', async () => {
    const pages = [await signedIn(), await signedIn()];
    const token = await honest.sign(claims(), 'logout+jwt');
    expect((await send(token)).status).toBe(200);
    expect(await Promise.all(pages.map(async (page) => (await page.viewer()).status))).toEqual([401, 401]);
    const again = await signedIn();
    expect((await send(token)).status).toBe(400);
    expect((await again.viewer()).status).toBe(200);
  });

  it.each([
    ['a nonce, as id tokens have', { nonce: 'x' }],
    ['no event', { events: {} }],
    ['another audience', { aud: 'x' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['neither subject nor session', { sub: undefined }],
    ['no id', { jti: undefined }],
    ['a time long ago', { iat: now() - 3_600 }],
  ])('is refused with %s', async (_case, change) => {
    const page = await signedIn();
    expect((await send(await honest.sign({ ...claims(), ...change } as never))).status).toBe(400);
    expect((await page.viewer()).status).toBe(200);
  });

  it('is refused outside of a form', async () => {
    const page = await signedIn();
    const form = new URLSearchParams({ logout_token: await honest.sign(claims(), 'logout+jwt') }).toString();
    const path = '/sign-in/oidc/one/backchannel-logout';
    for (const type of ['text/plain', 'application/json', 'multipart/form-data'])
      expect((await service.nobody.call('POST', path, form, { 'content-type': type })).status, type).toBe(400);
    expect((await page.viewer()).status).toBe(200);
  });

  it('is refused when another provider signed it', async () => {
    const page = await signedIn();
    expect((await send(await other.sign(claims()))).status).toBe(400);
    expect((await page.viewer()).status).toBe(200);
  });
});

describe('a provider that cannot be used', () => {
  it.each([
    ['invalid_client', 'correct OIDC_ONE_CLIENT_ID and OIDC_ONE_CLIENT_SECRET'],
    ['server_error', 'compare the client that is registered there'],
  ])('is told to the administrator in a sentence, and to the visitor in plain words: %s', async (error, advice) => {
    const page = new WalkingBrowser(() => service.url);
    const url = await answered(page);
    honest.tokenError = error;
    const { status, text } = await page.walk(url);
    expect({ status, isPlain: text.includes('does not work at the moment') }).toEqual({ status: 502, isPlain: true });
    expect(lines.join('\n')).toContain(advice);
  });

  it.each([
    ['a provider that is down', 'http://127.0.0.1:9', 'see whether it runs'],
    ['another issuer', `${honest.issuer}/other`, 'it does not answer as OpenID Connect says'],
  ])('is found by parley doctor: %s', async (_case, issuer, advice) => {
    const [finding] = await checkSignIn(loadSettings({ ...settingsOf('IDP', issuer) }));
    expect(finding).toMatchObject({ check: 'sign-in', level: 'wrong' });
    expect(finding?.message).toContain(advice);
  });

  it('is found by parley doctor: a discovery document of another issuer, which is named', async () => {
    other.metadata = { issuer: 'https://right.example' };
    const [finding] = await checkSignIn(loadSettings({ ...settingsOf('IDP', other.issuer) }));
    other.metadata = {};
    expect(finding?.message).toContain('says that the issuer is https://right.example');
  });

  it('is good where it answers', async () => {
    expect(await checkSignIn(loadSettings({ ...settingsOf('IDP', honest.issuer) }))).toMatchObject([{ level: 'good' }]);
  });
});

describe('SIGN_IN=oidc', () => {
  it('names providers to the page, and says that there are no passwords', async () => {
    const ways = await (await fetch(`${service.url}/sign-in/session`)).json();
    expect(ways).toMatchObject({
      hasOwnWays: false,
      providers: expect.arrayContaining([expect.objectContaining({ name: 'one' })]),
    });
  });

  it.each<readonly [string, (page: WalkingBrowser) => Promise<{ readonly status: number; readonly message: string }>]>([
    ['a password at the page', (page) => refusalOf(page.post('/sign-in/password', { email, password }))],
    ['the page of an invitation', (page) => refusalOf(page.post('/sign-in/invitation/show', { invitation: unknownSecret }))],
    [
      'a password with an invitation',
      (page) => refusalOf(page.post('/sign-in/invitation', { invitation: unknownSecret, name: 'Bob', password })),
    ],
    ['an invitation', () => refusalOf(service.client().post('/api/v1/admin/invitations', { email: 'bob@example.com' }))],
    ['the challenge of a passkey', (page) => refusalOf(page.post('/sign-in/passkey/options', {}))],
    ['a passkey', (page) => refusalOf(page.post('/sign-in/passkey', { credential: { id: 'AAAA', response: {} } }))],
  ])('refuses %s in one sentence', async (_way, ask) => {
    expect(await ask(new WalkingBrowser(() => service.url))).toEqual({ status: 403, message: onlyProviders });
  });

  it.each([
    ['a password', `mutation { setPassword(input: { new: "${password}" }) { hasPassword } }`],
    ['a passkey', 'mutation { beginPasskey { options } }'],
    ['the answer of a device', 'mutation { addPasskey(input: { name: "Laptop", response: "{}" }) { id } }'],
    ['an invitation', 'mutation { invite(input: { email: "bob@example.com" }) { url } }'],
  ])('refuses %s in a session that a link began', async (_what, document) => {
    const page = new WalkingBrowser(() => service.url);
    const { id, tenantId } = home;
    const admin = await make.person({ organization: { id, tenantId }, role: 'ADMIN' });
    const { body } = await service.client().post('/api/v1/admin/sign-in-links', { email: admin.email });
    expect((await page.signInBy(body.url)).status).toBe(200);
    const { errors } = await page.graphql(document);
    expect(errors).toMatchObject([{ message: onlyProviders, extensions: { code: 'FORBIDDEN' } }]);
  });

  it('lets nobody in by the password of the time before', async () => {
    const { prisma } = service.deps.storage.db;
    const { userId } = await make.person({ organization: home });
    const before = await prisma.session.count({ where: { userId } });
    const hash = await service.deps.passwords.hash(password);
    await service.deps.storage.people.passwords.set({ userId, hash, level: 'ORGANIZATION', orgIds: [home.id] }, new Date());
    const user = await prisma.user.findUniqueOrThrow({ where: { id: userId } });
    const page = new WalkingBrowser(() => service.url);
    const { status, headers } = await page.post('/sign-in/password', { email: user.email, password });
    expect({ status, cookies: headers.getSetCookie() }).toEqual({ status: 403, cookies: [] });
    expect(await prisma.session.count({ where: { userId } })).toBe(before);
  });

  it('takes links of administrators', async () => {
    const { body } = await service.client().post('/api/v1/admin/sign-in-links', { email });
    const page = new WalkingBrowser(() => service.url);
    expect((await page.signInBy(body.url)).status).toBe(200);
    expect((await page.viewer()).data.viewer).toMatchObject({ session: { method: 'LINK' }, user: { email } });
  });

  it('needs a provider', () => {
    expect(() => loadSettings({ SIGN_IN: 'oidc' })).toThrow('SIGN_IN must be all without a provider');
  });
});
