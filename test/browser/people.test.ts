import { randomUUID } from 'node:crypto';
import type { Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { keepPicture, openPage, visible } from '../support/browser/pages.ts';
import { startIdentityProvider } from '../support/people/identity-provider.ts';
import { withService } from '../support/service.ts';

const provider = await startIdentityProvider();
const { service, make } = await withService('model', { env: { ...provider.settings('idp'), OIDC_IDP_LABEL: 'Example Company' } });
const password = 'correct horse battery';
const scimJson = { 'content-type': 'application/scim+json' };

provider.register(service.url, 'idp');
const { data } = await service.client().graphql('{ viewer { organization { id tenantId } } }');
const home = data.viewer.organization;
const admin = await make.person({ organization: home, role: 'ADMIN' });

afterAll(() => provider.close());

const newEmail = (name: string) => `${name}-${randomUUID()}@example.com`;
const isShown = (page: Page, selector: string) => page.waitForSelector(selector, { visible: true });
/**
 * Waits until the page has that path. It does not wait for `load`: a page such as GraphiQL has many files, and one that is left early says that they
 * were not loaded.
 */
const isAt = (page: Page, path: string) => page.waitForFunction((wanted) => location.pathname === wanted, {}, path);

/** Calls GraphQL as a page of the service does: in the session of the browser. */
function ask(page: Page, query: string) {
  return page.evaluate(async (document) => {
    const reply = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'graphql-require-preflight': 'true' },
      body: JSON.stringify({ query: document }),
    });
    return reply.json();
  }, query);
}

/** Who is signed in, as the console says it, and what a model answers there. */
async function seenSignedIn(page: Page, name: string): Promise<{ readonly viewer: unknown; readonly answer: string }> {
  await page.waitForFunction(
    (wanted) => [...document.querySelectorAll('button')].some((button) => button.textContent?.includes(wanted)),
    {},
    name,
  );
  const { data } = await ask(page, '{ viewer { role user { email } session { method } } }');
  const asked = await ask(
    page,
    'mutation { createCompletion(input: { model: "openai/test-model", messages: [{ user: { text: "Hello" } }] }) { text } }',
  );
  return { viewer: data.viewer, answer: asked.data.createCompletion.text };
}
/** Follows a list in the page; its text stands in `followed` once the stream has ended. */
function follow(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const reply = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'graphql-require-preflight': 'true' },
      body: JSON.stringify({ query: 'subscription { agentsChanged { kind } }' }),
    });
    void reply.text().then((text) => Object.assign(window, { followed: text }));
    return reply.status;
  });
}
const followed = (page: Page) => page.evaluate(() => Reflect.get(window, 'followed') as string | undefined);
/** The names of the members, as an administrator lists them. */
async function memberNames(): Promise<readonly string[]> {
  const { data } = await admin.graphql('{ users(first: 100) { nodes { name } } }');
  return data.users.nodes.map(({ name }: { name: string }) => name);
}

describe.skipIf(!hasBrowser())('people come to one organization, in Chromium', () => {
  it('by the link of an invitation, on a small screen', async () => {
    const email = newEmail('bob');
    const { data } = await admin.graphql(`mutation { invite(input: { email: "${email}" }) { url } }`);
    const { page, problems } = await openPage(data.invite.url, {}, 'light', 390);
    await isShown(page, '#by-invitation');
    expect(page.url()).toBe(`${service.url}/sign-in`);
    expect(await visible(page, '#by-invitation')).toContain('You are invited to');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await keepPicture(page, 'invitation-small');
    await page.locator('#invited-name').fill('Bob Example');
    await page.locator('#invited-password').fill(password);
    expect(problems).toEqual([]);
    await page.click('#accept');
    await isAt(page, '/');
    expect(await seenSignedIn(page, 'Bob Example')).toEqual({
      viewer: { role: 'MEMBER', user: { email }, session: { method: 'INVITATION' } },
      answer: 'Hello from upstream',
    });
    await keepPicture(page, 'signed-in-by-invitation-small');
    expect(await memberNames()).toContain('Bob Example');

    const again = await openPage(data.invite.url, {}, 'dark', 390);
    await isShown(again.page, '#problem');
    expect(await visible(again.page, '#problem')).toContain('was used before');
    await isShown(again.page, '#by-password');
    await keepPicture(again.page, 'invitation-used-small-dark');
  });

  it('by a provider of single sign-on', async () => {
    const { email } = await make.person({ organization: home, name: 'Cleo Example' });
    provider.signsIn({ sub: `sub of ${email}`, email, email_verified: true });
    const { page } = await openPage(`${service.url}/sign-in`);
    await isShown(page, '.provider');
    await keepPicture(page, 'sign-in');
    await page.click('.provider');
    expect(await seenSignedIn(page, 'Cleo Example')).toEqual({
      viewer: { role: 'MEMBER', user: { email }, session: { method: 'OIDC' } },
      answer: 'Hello from upstream',
    });
    await page.goto(`${service.url}/sign-in`);
    await isShown(page, '#signed-in');
    await keepPicture(page, 'signed-in');
  });

  it('by a directory, which then deactivates the person: the open stream ends, and no way leads back in', async () => {
    const directory = await make.withKey(admin, { scopes: ['SCIM:WRITE'] });
    const userName = newEmail('dana');
    const name = { givenName: 'Dana', familyName: 'Example' };
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
    const { status, body: dana } = await directory.post('/scim/v2/Users', { schemas, userName, name }, scimJson);
    expect(status).toBe(201);
    expect(await memberNames()).toContain('Dana Example');
    provider.signsIn({ sub: `sub of ${userName}`, email: userName, email_verified: true });
    const { page } = await openPage(`${service.url}/sign-in`, {}, 'dark');
    await isShown(page, '.provider');
    await keepPicture(page, 'sign-in-dark');
    await page.click('.provider');
    expect(await seenSignedIn(page, 'Dana Example')).toEqual({
      viewer: { role: 'MEMBER', user: { email: userName }, session: { method: 'OIDC' } },
      answer: 'Hello from upstream',
    });
    expect(await follow(page)).toBe(200);
    expect(await followed(page)).toBeUndefined();
    const patch = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value: false }],
    };
    expect((await directory.patch(`/scim/v2/Users/${dana.id}`, patch, scimJson)).status).toBe(200);
    await page.waitForFunction(() => Reflect.get(window, 'followed') !== undefined, { timeout: 5_000 });
    expect(await followed(page)).toContain('INVALID_API_KEY');
    expect((await ask(page, '{ viewer { role } }')).errors[0].extensions.code).toBe('INVALID_API_KEY');
    await page.reload();
    await isAt(page, '/sign-in');
    await keepPicture(page, 'deactivated-dark');
    await page.goto(`${service.url}/sign-in`);
    await isShown(page, '.provider');
    await page.click('.provider');
    await page.waitForFunction(() => location.pathname.endsWith('/callback'));
    await isShown(page, '#problem');
    await keepPicture(page, 'deactivated-sign-in-dark');
    expect(await visible(page, '#problem')).toContain('no member');
    expect(await memberNames()).not.toContain('Dana Example');
  });

  it('by a link, in one press', async () => {
    const { body } = await admin.post('/api/v1/admin/sign-in-links', {});
    const { page, problems } = await openPage(`${service.url}/sign-in?next=/manual${new URL(body.url).hash}`, {}, 'dark', 390);
    await isShown(page, '#use-link');
    await keepPicture(page, 'link-small-dark');
    await page.click('#use-link');
    await isAt(page, '/manual');
    expect(problems).toEqual([]);
    const { data } = await ask(page, '{ viewer { role hasPassword session { method } } }');
    expect(data.viewer).toEqual({ role: 'ADMIN', hasPassword: false, session: { method: 'LINK' } });
  });
});
