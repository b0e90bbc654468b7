import { describe, expect, it } from 'vitest';
import { prepareFirstStart } from '../../../../src/domain/people/first-start.ts';
import { linkTtlMs } from '../../../../src/entities/people/session.ts';
import { TenancyStore } from '../../../../src/storage/people/tenancy.ts';
import type { TestClient } from '../../../support/client.ts';
import { TestBrowser } from '../../../support/people/browser.ts';
import { withService } from '../../../support/service.ts';

const lines: string[] = [];
const { service, make } = await withService('plain', { env: { LOG_LEVEL: 'trace' }, onLog: (line) => lines.push(line) });
const browser = () => new TestBrowser(() => service.url);

async function linkFor(who: TestClient, email?: string): Promise<string> {
  const { body } = await who.post('/api/v1/admin/sign-in-links', email === undefined ? {} : { email });
  return body.url;
}

describe('a sign-in link', () => {
  it('begins a session with the rights of the role, and stands in no address that a server gets', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const link = await linkFor(ann);
    expect(link).toMatch(/\/sign-in#link=[\w-]{43}$/);
    const page = browser();
    const { status, body, headers } = await page.signInBy(link);
    expect({ status, body }).toEqual({ status: 200, body: { isSignedIn: true } });
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^parley_session=[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    const { data } = await page.viewer();
    expect(data.viewer).toMatchObject({
      role: 'ADMIN',
      session: { method: 'LINK', isCurrent: true },
      user: { email: ann.email },
    });
    expect(data.viewer.keyId).toBe(data.viewer.session.id);
    expect(data.viewer.scopes).toContain('ADMIN_WRITE');
  });

  it('gives a member no scope of administrators', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const page = browser();
    await page.signInBy(await linkFor(ann, bob.email.toUpperCase()));
    const { data } = await page.viewer();
    expect(data.viewer.user.email).toBe(bob.email);
    expect(data.viewer.scopes.filter((scope: string) => scope.startsWith('ADMIN'))).toEqual([]);
    expect(data.viewer.scopes).toContain('CHATS_WRITE');
  });

  it('works once, also for two browsers at one moment', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const link = await linkFor(ann);
    const replies = await Promise.all(Array.from({ length: 5 }, () => browser().signInBy(link)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    const { status, headers } = await browser().signInBy(link);
    expect(status).toBe(400);
    expect(headers.getSetCookie()).toEqual([]);
  });

  it('is refused in the same words when it is used, too old, or unknown', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const used = await linkFor(ann);
    await browser().signInBy(used);
    const old = await linkFor(ann);
    await service.deps.storage.db.prisma.signInLink.updateMany({
      where: { userId: ann.userId, usedAt: null },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    const unknown = `#link=${'A'.repeat(43)}`;
    const errors = [];
    for (const link of [used, old, unknown, '#link=x']) errors.push((await browser().signInBy(link)).body.error);
    expect(new Set(errors.map((error) => JSON.stringify(error))).size).toBe(1);
    expect(errors[0]).toMatchObject({ code: 'invalid_value', param: 'link' });
  });

  it('is valid for an hour', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const { body } = await ann.post('/api/v1/admin/sign-in-links', {});
    expect(Math.abs(Date.parse(body.expiresAt) - Date.now() - linkTtlMs)).toBeLessThan(60_000);
  });

  it('is of no use after its person left the organization', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const link = await linkFor(ann, bob.email);
    const { id } = await service.deps.storage.db.prisma.membership.findFirstOrThrow({ where: { userId: bob.userId } });
    await ann.delete(`/api/v1/admin/memberships/${id}`);
    expect((await browser().signInBy(link)).status).toBe(400);
  });

  it('is made by administrators with all scopes of the role only', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const place = { id: ann.orgId, tenantId: ann.tenantId };
    const bob = await make.person({ organization: place });
    const stranger = await make.person({ role: 'ADMIN' });
    const narrow = await make.withKey(ann, { scopes: ['ADMIN:WRITE', 'ADMIN:READ'] });
    const page = browser();
    await page.signInBy(await linkFor(ann));
    const refused = async (who: TestClient, body: object) => (await who.post('/api/v1/admin/sign-in-links', body)).status;
    expect(await refused(bob, {})).toBe(403);
    expect(await refused(narrow, { email: bob.email })).toBe(403);
    expect(await refused(stranger, { email: bob.email })).toBe(404);
    const own = await page.graphql('mutation { createSignInLink(input: {}) { url } }');
    expect(own.errors?.[0].extensions.code).toBe('FORBIDDEN');
    const other = await page.graphql(`mutation { createSignInLink(input: { email: "${bob.email}" }) { url } }`);
    expect(other.data.createSignInLink.url).toContain('#link=');
  });

  it('of a person of two organizations needs a key above them', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const tenant = { id: ann.tenantId };
    const second = await make.organization({ tenant });
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    await service.client().post('/api/v1/admin/memberships', { userId: bob.userId, orgId: second.id });
    expect((await ann.post('/api/v1/admin/sign-in-links', { email: bob.email })).status).toBe(403);
    const above = await make.withKey(ann, { level: 'TENANT' });
    expect((await above.post('/api/v1/admin/sign-in-links', { email: bob.email })).status).toBe(200);
  });

  it('has its place in the audit log: who made it, and who signed in and out', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const page = browser();
    await page.signInBy(await linkFor(ann));
    const sessionId = (await page.viewer()).data.viewer.keyId;
    await page.post('/sign-out', {});
    const { body } = await ann.get('/api/v1/admin/audit-log');
    const entries = body.data.map((entry: Record<string, unknown>) => [entry.action, entry.actorKeyId, entry.targetId]);
    expect(entries).toEqual([
      ['signOut', sessionId, sessionId],
      ['signIn', sessionId, sessionId],
      ['createSignInLink', ann.keyId, ann.userId],
    ]);
  });
});

describe('the first start', () => {
  const emptied = { isEmpty: () => Promise.resolve(true), createFirst: () => Promise.resolve(true) };
  const depsWith = (PARLEY_ADMIN_KEY: string | undefined) => ({
    ...service.deps,
    settings: { ...service.deps.settings, PARLEY_ADMIN_KEY },
    storage: {
      ...service.deps.storage,
      people: Object.assign(Object.create(service.deps.storage.people), {
        tenancy: Object.assign(new TenancyStore(service.deps.storage.db, service.deps.storage.signals), emptied),
      }),
    },
  });

  it('makes a link beside a key that it makes, and prints nothing secret where the operator chose the key', async () => {
    expect((await prepareFirstStart(depsWith(undefined)))?.signInPath).toMatch(/^\/sign-in#link=[\w-]{43}$/);
    expect((await prepareFirstStart(depsWith('x'.repeat(40))))?.signInPath).toBeUndefined();
  });
});

it('writes no secret into the log', async () => {
  const ann = await make.person({ role: 'ADMIN' });
  const page = browser();
  const link = await linkFor(ann);
  await page.signInBy(link);
  await page.viewer();
  await page.post('/graphql', { query: '{ viewer { keyId } }' }, { origin: 'https://evil.example' });
  const secrets = [link.slice(-43), ...page.cookies.values()];
  expect(lines.some((line) => line.includes('/sign-in/link'))).toBe(true);
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
});
