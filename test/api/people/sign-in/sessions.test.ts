import { describe, expect, it } from 'vitest';
import { allRoutes } from '../../../../src/rest/routes/index.ts';
import type { Person } from '../../../support/make.ts';
import { statusOf, TestBrowser } from '../../../support/people/browser.ts';
import { startClock } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', { env: { LOG_LEVEL: 'fatal' } });
const store = () => service.deps.storage;

async function administrator(): Promise<Person> {
  return make.person({ role: 'ADMIN' });
}
function colleagueOf({ orgId: id, tenantId }: Person): Promise<Person> {
  return make.person({ organization: { id, tenantId } });
}
/** A browser in which a person has signed in by a link of an administrator. */
async function signedIn(admin: Person, who: Person = admin): Promise<TestBrowser> {
  const browser = new TestBrowser(() => service.url);
  const { body } = await admin.post('/api/v1/admin/sign-in-links', { email: who.email });
  expect((await browser.signInBy(body.url)).status).toBe(200);
  return browser;
}
const sessionId = async (browser: TestBrowser) => (await browser.viewer()).data.viewer.keyId as string;
const isRefused = async (browser: TestBrowser) => (await browser.viewer()).status === 401;

/** Opens a subscription. Resolves to what it sends until its end. */
async function openStream(browser: TestBrowser): Promise<{ readonly rest: Promise<string> }> {
  const body = { query: 'subscription { agentsChanged { kind } }' };
  const response = await browser.fetch('POST', '/graphql', body, {
    accept: 'text/event-stream',
    'content-type': 'application/json',
  });
  expect(response.status).toBe(200);
  return { rest: response.text() };
}

describe('a session', () => {
  it('has a new secret at each sign-in, and ends the one that the browser had', async () => {
    const ann = await administrator();
    const browser = await signedIn(ann);
    const fixed = new TestBrowser(() => service.url);
    for (const [name, value] of browser.cookies) fixed.cookies.set(name, value);
    const { body } = await ann.post('/api/v1/admin/sign-in-links', {});
    await browser.signInBy(body.url);
    expect(browser.cookie).not.toBe(fixed.cookie);
    expect(await isRefused(browser)).toBe(false);
    expect(await isRefused(fixed)).toBe(true);
  });

  it('is not begun with a secret that the browser brings', async () => {
    const ann = await administrator();
    const browser = new TestBrowser(() => service.url);
    const brought = 'A'.repeat(43);
    browser.cookies.set('parley_session', brought);
    const { body } = await ann.post('/api/v1/admin/sign-in-links', {});
    await browser.signInBy(body.url);
    expect(browser.cookies.get('parley_session')).not.toBe(brought);
  });

  it('is stored as a hash only', async () => {
    const browser = await signedIn(await administrator());
    const row = await store().db.prisma.session.findUniqueOrThrow({ where: { id: await sessionId(browser) } });
    expect(JSON.stringify(row)).not.toContain(browser.cookies.get('parley_session'));
    expect(row.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('yields to the header Authorization', async () => {
    const ann = await administrator();
    const bob = await colleagueOf(ann);
    const browser = await signedIn(ann);
    const query = { query: '{ viewer { user { email } session { id } } }' };
    const { body } = await browser.post('/graphql', query, { authorization: `Bearer ${bob.key}` });
    expect(body.data.viewer).toEqual({ user: { email: bob.email }, session: null });
    const { status } = await browser.post('/graphql', query, { authorization: 'Bearer wrong' });
    expect(status).toBe(401);
  });

  it('slides: a use after an hour moves its end, and uses before that write nothing', async () => {
    const browser = await signedIn(await administrator());
    const id = await sessionId(browser);
    const { prisma } = store().db;
    const before = await prisma.session.findUniqueOrThrow({ where: { id } });
    await browser.viewer();
    expect(await prisma.session.findUniqueOrThrow({ where: { id } })).toEqual(before);
    const hourAgo = new Date(Date.now() - 3_700_000);
    await prisma.session.update({ where: { id }, data: { lastUsedAt: hourAgo, expiresAt: new Date(Date.now() + 60_000) } });
    store().signals.publish('key-changed', id);
    await browser.viewer();
    await eventually(async () => {
      const { expiresAt } = await prisma.session.findUniqueOrThrow({ where: { id } });
      expect(expiresAt.getTime() - Date.now()).toBeGreaterThan(29 * 86_400_000);
    });
  });

  it('is over when it expires', async () => {
    const browser = await signedIn(await administrator());
    const id = await sessionId(browser);
    await store().db.prisma.session.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1) } });
    store().signals.publish('key-changed', id);
    await eventually(async () => expect(await isRefused(browser)).toBe(true));
  });

  it('ends when its person signs out, with its open streams, within 5 seconds', async () => {
    const browser = await signedIn(await administrator());
    const { rest } = await openStream(browser);
    const clock = startClock();
    const secret = browser.cookies.get('parley_session') ?? '';
    const { status, headers } = await browser.post('/sign-out', {});
    expect(status).toBe(200);
    expect(headers.getSetCookie()).toEqual(['parley_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax']);
    browser.cookies.set('parley_session', secret);
    expect(await isRefused(browser)).toBe(true);
    expect(await rest).toContain('INVALID_API_KEY');
    expect(clock.elapsedMs()).toBeLessThan(5_000);
    clock.stop();
  });

  it('ends when its person leaves the organization, and does not come back with the person', async () => {
    const ann = await administrator();
    const bob = await colleagueOf(ann);
    const browser = await signedIn(ann, bob);
    const { id } = await store().db.prisma.membership.findFirstOrThrow({ where: { userId: bob.userId } });
    await ann.delete(`/api/v1/admin/memberships/${id}`);
    expect(await isRefused(browser)).toBe(true);
    await ann.post('/api/v1/admin/users', { email: bob.email });
    expect(await isRefused(browser)).toBe(true);
  });

  it('ends when the role of its person changes, with its open streams: the next sign-in has the new rights', async () => {
    const ann = await administrator();
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, role: 'ADMIN' });
    const browser = await signedIn(ann, bob);
    const { rest } = await openStream(browser);
    const { id } = await store().db.prisma.membership.findFirstOrThrow({ where: { userId: bob.userId } });
    const clock = startClock();
    await ann.patch(`/api/v1/admin/memberships/${id}`, { role: 'MEMBER' });
    expect(await isRefused(browser)).toBe(true);
    expect(await rest).toContain('errors');
    expect(clock.elapsedMs()).toBeLessThan(5_000);
    clock.stop();
    const again = await signedIn(ann, bob);
    expect((await again.viewer()).data.viewer.role).toBe('MEMBER');
  });

  it('is listed, and ended one by one or all others, by its person alone', async () => {
    const ann = await administrator();
    const bob = await colleagueOf(ann);
    const [first, second, third] = [await signedIn(ann), await signedIn(ann), await signedIn(ann)];
    const foreign = await signedIn(ann, bob);
    const ids = [await sessionId(third), await sessionId(second), await sessionId(first)];
    const list = () => first.graphql('{ viewer { sessions { totalCount nodes { id isCurrent organization { id } } } } }');
    const { data } = await list();
    expect(data.viewer.sessions.nodes.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(data.viewer.sessions.nodes.at(-1)).toMatchObject({ isCurrent: true, organization: { id: ann.orgId } });
    const end = (id: string) => first.graphql('mutation ($id: ID!) { endSession(id: $id) { id endedAt } }', { id });
    expect((await end(await sessionId(foreign))).errors?.[0].extensions.code).toBe('NOT_FOUND');
    expect((await end(ids[1] ?? '')).data.endSession.endedAt).not.toBeNull();
    expect((await end(ids[1] ?? '')).errors?.[0].extensions.code).toBe('NOT_FOUND');
    expect(await isRefused(second)).toBe(true);
    expect((await first.graphql('mutation { endOtherSessions { count } }')).data.endOtherSessions.count).toBe(1);
    expect([await isRefused(first), await isRefused(third), await isRefused(foreign)]).toEqual([false, true, false]);
    expect((await list()).data.viewer.sessions.totalCount).toBe(1);
  });

  it('of no operator stays within its organization, whoever made the link', async () => {
    const ann = await administrator();
    const browser = new TestBrowser(() => service.url);
    const { body } = await service.client().post('/api/v1/admin/sign-in-links', { email: ann.email, orgId: ann.orgId });
    await browser.signInBy(body.url);
    const { data } = await browser.graphql('{ viewer { level role } tenants { nodes { id } } }');
    expect(data).toBeNull();
    expect((await browser.graphql('{ viewer { level role } }')).data.viewer).toEqual({ level: 'ORGANIZATION', role: 'ADMIN' });
  });
});

describe('a request that another site makes a browser send', () => {
  const mutation = { query: 'mutation { endOtherSessions { count } }' };

  it.each([
    ['no header against forgery', { 'graphql-require-preflight': '' }],
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['the origin of a subdomain', { origin: 'http://evil.127.0.0.1' }],
    ['no origin', { origin: '' }],
  ])('is refused with %s', async (_case, headers) => {
    const browser = await signedIn(await administrator());
    const { status, body } = await browser.post('/graphql', mutation, headers);
    expect({ status, code: body.errors[0].extensions.code }).toEqual({ status: 403, code: 'FORBIDDEN' });
    for (const path of ['/graphql/stream', '/sign-out', '/sign-in/link']) {
      expect((await browser.post(path, path === '/graphql/stream' ? mutation : { link: 'x' }, headers)).status).toBe(403);
    }
    expect(await isRefused(browser)).toBe(false);
  });

  it('is refused as a form', async () => {
    const browser = await signedIn(await administrator());
    const form = new FormData();
    form.set('operations', JSON.stringify(mutation));
    expect((await browser.post('/graphql', form, { 'graphql-require-preflight': '' })).status).toBe(403);
    const text = { 'content-type': 'text/plain', 'graphql-require-preflight': '' };
    expect((await browser.call('POST', '/graphql', JSON.stringify(mutation), text)).status).toBe(403);
    const urlEncoded = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await browser.call('POST', '/sign-out', 'a=b', urlEncoded)).status).toBe(415);
  });

  it('may read nothing and begin nothing by a GET', async () => {
    const browser = await signedIn(await administrator());
    const get = (query: string, headers: Record<string, string>) =>
      browser.get(`/graphql?query=${encodeURIComponent(query)}`, { accept: 'application/json, text/event-stream', ...headers });
    const link = { origin: '', 'graphql-require-preflight': '' };
    expect((await get('{ viewer { keyId } }', { ...link, origin: 'https://evil.example' })).status).toBe(403);
    expect((await get('{ viewer { keyId } }', link)).status).toBe(200);
    expect((await get('mutation { endOtherSessions { count } }', link)).status).toBe(405);
    const subscription = 'subscription { agentsChanged { kind } }';
    expect(JSON.stringify((await get(subscription, link)).body)).toContain('FORBIDDEN');
    const ending = new AbortController();
    const address = `/graphql?query=${encodeURIComponent(subscription)}`;
    const stream = await browser.fetch('GET', address, undefined, { accept: 'text/event-stream', origin: '' }, ending.signal);
    expect(stream.status).toBe(200);
    ending.abort();
  });
});

describe('the cookie of a session', () => {
  it('is no way into any route of REST, or into /mcp', async () => {
    const browser = await signedIn(await administrator());
    const addresses = allRoutes.map(({ method, path }) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const);
    expect(addresses.length).toBeGreaterThan(100);
    for (const [method, path] of [...addresses, ['POST', '/mcp'] as const]) {
      const { status, body } = await browser.call(method, path, method === 'GET' ? undefined : {});
      expect([method, path, status]).toEqual([method, path, 401]);
      expect(JSON.stringify(body)).toContain('No API key was given');
    }
    const secret = browser.cookies.get('parley_session');
    expect((await service.client(secret).get('/api/v1/ais')).status).toBe(401);
  });

  it('is secure and of one host alone where the browser speaks TLS', async () => {
    const ann = await administrator();
    const { body } = await ann.post('/api/v1/admin/sign-in-links', {});
    const link = body.url.slice(-43);
    const place = { host: 'parley.example.com', origin: 'https://parley.example.com', 'graphql-require-preflight': '1' };
    const { status, headers } = await statusOf(service.url, '/sign-in/link', place, JSON.stringify({ link }));
    expect(status).toBe(200);
    const [secure = '', plain] = headers['set-cookie'] ?? [];
    expect(secure).toMatch(/^__Host-parley_session=[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    expect(plain).toBe('parley_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax');
    const query = JSON.stringify({ query: '{ viewer { keyId } }' });
    const value = secure.slice(secure.indexOf('=') + 1, secure.indexOf(';'));
    const withCookie = async (cookie: string) => (await statusOf(service.url, '/graphql', { ...place, cookie }, query)).status;
    expect(await withCookie(`__Host-parley_session=${value}`)).toBe(200);
    // Another host of the domain may have set it.
    expect(await withCookie(`parley_session=${value}`)).toBe(401);
  });
});
