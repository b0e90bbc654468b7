import { randomUUID } from 'node:crypto';
import type { CDPSession, Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import type { Person } from '../support/make.ts';
import { TestBrowser } from '../support/people/browser.ts';
import { withService } from '../support/service.ts';

const { service, make } = await withService();
/** Browsers take passkeys for names only. */
const site = () => service.url.replace('127.0.0.1', 'localhost');
const newBrowser = () => new TestBrowser(() => service.url);
const isShown = (page: Page, selector: string) => page.waitForSelector(selector, { visible: true });
const adding = 'mutation ($input: AddPasskeyInput!) { addPasskey(input: $input) { id name } }';
const prisma = () => service.deps.storage.db.prisma;

/** A browser with a device that knows its person. */
async function withDevice(hash: string): Promise<{ page: Page; problems: readonly string[]; device: CDPSession }> {
  const { page, problems } = await openPage(`${site()}/sign-in?next=/docs`);
  const device = await page.createCDPSession();
  await device.send('WebAuthn.enable');
  await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  await page.evaluate((fragment) => {
    location.hash = fragment;
    location.reload();
  }, hash);
  return { page, problems, device };
}

/** Waits until the page shows that path of the service. */
const isAt = (page: Page, path: string) => page.waitForFunction((wanted) => location.pathname === wanted, {}, path);

/** An invitation of a new address. */
async function invitationOf(who: Person): Promise<{ readonly email: string; readonly hash: string }> {
  const email = `invited-${randomUUID()}@example.com`;
  const { body } = await who.post('/api/v1/admin/invitations', { email });
  return { email, hash: new URL(body.url).hash };
}
async function linkOf(who: Person): Promise<string> {
  return new URL((await who.post('/api/v1/admin/sign-in-links', {})).body.url).hash;
}
async function signedIn(who: Person): Promise<TestBrowser> {
  const browser = newBrowser();
  expect((await browser.signInBy(await linkOf(who))).status).toBe(200);
  return browser;
}

/** A person who has added a passkey on the page, and the page, signed out. */
async function withPasskey(): Promise<{ ann: Person; page: Page; problems: readonly string[] }> {
  const ann = await make.person({ role: 'ADMIN' });
  const { page, problems } = await withDevice(await linkOf(ann));
  await isShown(page, '#use-link');
  await page.click('#use-link');
  await isAt(page, '/docs');
  await page.goto(`${site()}/account`);
  await page.locator('::-p-aria(Add a passkey)').click();
  await isShown(page, '::-p-aria(Rename Passkey 1)');
  await page.goto(`${site()}/sign-in?next=/docs`);
  await isShown(page, '#sign-out');
  await page.click('#sign-out');
  await isShown(page, '#use-passkey');
  return { ann, page, problems };
}

/** What the device of the page signs for a new challenge, as JSON; nothing is sent. */
function signedOn(page: Page): Promise<AuthenticationResponseJSON> {
  return page.evaluate(async () => {
    const reply = await fetch('/sign-in/passkey/options', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'graphql-require-preflight': 'true' },
      body: '{}',
    });
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await reply.json());
    const credential = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
    return credential.toJSON() as AuthenticationResponseJSON;
  });
}
const send = (credential: unknown, browser = newBrowser()) => browser.post('/sign-in/passkey', { credential });

describe.skipIf(!hasBrowser())('a passkey, in Chromium', () => {
  it('is added after a link, signs in, is renamed, and signs nobody in when it is deleted', async () => {
    const { ann, page, problems } = await withPasskey();
    await Promise.all([page.waitForNavigation(), page.click('#use-passkey')]);
    expect(new URL(page.url()).pathname).toBe('/docs');
    const browser = newBrowser();
    expect((await send(await signedOn(page), browser)).status).toBe(200);
    const { data } = await browser.graphql(
      '{ viewer { user { email } session { method } passkeys { nodes { id name lastUsedAt } totalCount } } }',
    );
    expect(data.viewer).toMatchObject({
      user: { email: ann.email },
      session: { method: 'PASSKEY' },
      passkeys: { totalCount: 1 },
    });
    const [{ id, lastUsedAt }] = data.viewer.passkeys.nodes;
    expect(Date.now() - Date.parse(lastUsedAt)).toBeLessThan(120_000);
    const renaming = 'mutation ($id: ID!) { renamePasskey(id: $id, input: { name: "Laptop" }) { name } }';
    expect((await browser.graphql(renaming, { id })).data.renamePasskey.name).toBe('Laptop');
    const eve = await signedIn(await make.person({ role: 'ADMIN' }));
    const deleting = 'mutation ($id: ID!) { deletePasskey(id: $id) { id } }';
    for (const document of [renaming, deleting]) {
      expect((await eve.graphql(document, { id })).errors?.[0].extensions.code).toBe('NOT_FOUND');
    }
    const signed = await signedOn(page);
    expect((await browser.graphql(deleting, { id })).errors).toBeUndefined();
    expect((await send(signed)).status).toBe(400);
    expect((await browser.viewer()).status).toBe(200);
    expect(problems).toEqual([]);
  });

  it('takes the place of a password when an invitation is accepted, and signs in then', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const { email, hash } = await invitationOf(ann);
    const { page, problems } = await withDevice(hash);
    await isShown(page, '#accept-by-passkey');
    // Without a name nothing is sent: the browser asks for it.
    await page.click('#accept-by-passkey');
    await page.locator('#invited-name').fill('Bob Example');
    await page.click('#accept-by-passkey');
    await isAt(page, '/docs');
    await page.goto(`${site()}/sign-in?next=/docs`);
    await isShown(page, '#sign-out');
    await page.click('#sign-out');
    const browser = newBrowser();
    expect((await send(await signedOn(page), browser)).status).toBe(200);
    const { data } = await browser.graphql(
      '{ viewer { hasPassword user { name email } organization { id } session { method } passkeys { totalCount } } }',
    );
    expect(data.viewer).toEqual({
      hasPassword: false,
      user: { name: 'Bob Example', email },
      organization: { id: ann.orgId },
      session: { method: 'PASSKEY' },
      passkeys: { totalCount: 1 },
    });
    expect(problems).toEqual([]);
  });

  it('leaves a person whose device fails with an invitation at the choice of a password', async () => {
    const { email, hash } = await invitationOf(await make.person({ role: 'ADMIN' }));
    const { page, device } = await withDevice(hash);
    await isShown(page, '#accept-by-passkey');
    await page.locator('#invited-name').fill('Bob Example');
    await page.evaluate(() => {
      navigator.credentials.create = () => Promise.reject(new DOMException('The person said no', 'NotAllowedError'));
    });
    await page.click('#accept-by-passkey');
    await isShown(page, '#problem');
    expect(await visible(page, '#problem')).toContain('The passkey was not used');
    await isShown(page, '#set-password');
    await page.locator('#new-password').fill('correct horse battery');
    await page.click('#save-password');
    await isAt(page, '/docs');
    await device.detach();
    const given = { email, password: 'correct horse battery' };
    expect((await newBrowser().post('/sign-in/password', given)).status).toBe(200);
  });

  it('answers a challenge once, also at one moment, and begins a session with a new secret', async () => {
    const { page } = await withPasskey();
    const signed = await signedOn(page);
    const browsers = Array.from({ length: 4 }, newBrowser);
    const fixed = 'A'.repeat(43);
    for (const browser of browsers) browser.cookies.set('parley_session', fixed);
    const replies = await Promise.all(browsers.map((browser) => send(signed, browser)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const secrets = browsers.map(({ cookies }) => cookies.get('parley_session'));
    expect(secrets.filter((secret) => secret !== fixed)).toHaveLength(1);
    expect((await send(signed)).status).toBe(400);
  });

  it('is refused in the same words whatever is wrong with the answer', async () => {
    const { ann, page } = await withPasskey();
    const other = await make.person();
    const handle = Buffer.from(other.userId).toString('base64url');
    const changed = async (members: object) => {
      const signed = await signedOn(page);
      return { ...signed, response: { ...signed.response, ...members } };
    };
    const clientData = (members: object) =>
      Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge: 'A'.repeat(43), origin: site(), ...members })).toString(
        'base64url',
      );
    const expired = await signedOn(page);
    await prisma().passkeyChallenge.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } });
    const counted = await signedOn(page);
    const answers: Readonly<Record<string, unknown>> = {
      'an expired challenge': expired,
      'a signature of something else': await changed({ signature: Buffer.from('no signature').toString('base64url') }),
      'an invented challenge': await changed({ clientDataJSON: clientData({}) }),
      'another origin': await changed({ clientDataJSON: clientData({ origin: 'https://evil.example' }) }),
      'another user': await changed({ userHandle: handle }),
      'no user': await changed({ userHandle: undefined }),
      'an unknown key': { ...(await signedOn(page)), id: 'AAAA', rawId: 'AAAA' },
      'no credential': null,
      'a text': 'x',
      'bytes that are none': {
        id: counted.id,
        rawId: counted.id,
        type: 'public-key',
        response: { clientDataJSON: '!', userHandle: handle },
      },
    };
    const errors = new Set<string>();
    for (const [name, answer] of Object.entries(answers)) {
      const { status, body, headers } = await send(answer);
      expect([name, status, headers.getSetCookie()]).toEqual([name, 400, []]);
      errors.add(JSON.stringify(body.error));
    }
    // A copy of the key has counted further.
    await prisma().passkey.updateMany({ where: { userId: ann.userId }, data: { counter: 1_000_000n } });
    errors.add(JSON.stringify((await send(counted)).body.error));
    await prisma().passkey.updateMany({ where: { userId: ann.userId }, data: { counter: 0n } });
    const signed = await signedOn(page);
    await prisma().membership.deleteMany({ where: { userId: ann.userId } });
    errors.add(JSON.stringify((await send(signed)).body.error));
    expect(errors.size).toBe(1);
  });

  it('is refused from another site', async () => {
    for (const path of ['/sign-in/passkey/options', '/sign-in/passkey']) {
      for (const headers of [{ origin: 'https://evil.example' }, { origin: '' }, { 'graphql-require-preflight': '' }]) {
        expect((await newBrowser().post(path, { credential: null }, headers)).status).toBe(403);
      }
    }
  });

  it('is added in a new session only, by its person, with a challenge that is used up', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const { page } = await withDevice('');
    await isShown(page, '#by-password');
    const browser = await signedIn(ann);
    const eve = await signedIn(await make.person({ role: 'ADMIN' }));
    const { data } = await browser.graphql('mutation { beginPasskey { options } }');
    const response = await page.evaluate(async (text) => {
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(text));
      return JSON.stringify(await navigator.credentials.create({ publicKey }));
    }, data.beginPasskey.options);
    const input = { name: 'Laptop', response };
    const codeOf = async (who: TestBrowser | Person, document: string, variables?: Record<string, unknown>) =>
      (await who.graphql(document, variables)).errors?.[0].extensions.code;
    // Of another person: the challenge stays, because it is not of that person.
    expect(await codeOf(eve, adding, { input })).toBe('INVALID_VALUE');
    for (const bad of ['{}', 'x', '{"id":"a","response":{}}', '{"id":"a","response":{"attestationObject":"!"}}']) {
      expect(await codeOf(browser, adding, { input: { ...input, response: bad } })).toBe('INVALID_VALUE');
    }
    expect(await codeOf(ann, 'mutation { beginPasskey { options } }')).toBe('FORBIDDEN');
    expect(await codeOf(ann, adding, { input })).toBe('FORBIDDEN');
    expect((await browser.graphql(adding, { input })).data.addPasskey.name).toBe('Laptop');
    expect(await codeOf(browser, adding, { input })).toBe('INVALID_VALUE');
    const hourAgo = new Date(Date.now() - 3_700_000);
    await prisma().session.updateMany({ where: { userId: ann.userId }, data: { createdAt: hourAgo } });
    expect(await codeOf(browser, 'mutation { beginPasskey { options } }')).toBe('FORBIDDEN');
    const setting = 'mutation { setPassword(input: { new: "correct horse battery" }) { hasPassword } }';
    expect(await codeOf(browser, setting)).toBe('FORBIDDEN');
  });

  it('is offered where the page has the name that passkeys are bound to, and a device that fails is told', async () => {
    const { page } = await openPage(`${service.url}/sign-in`);
    await isShown(page, '#by-password');
    expect(await page.$eval('#use-passkey', (button) => (button as HTMLElement).hidden)).toBe(true);
    const other = (await withDevice('')).page;
    await isShown(other, '#use-passkey');
    await other.click('#use-passkey');
    await isShown(other, '#problem');
    expect(await visible(other, '#problem')).toContain('The passkey was not used');
  });
});
