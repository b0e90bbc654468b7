import { beforeAll, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import type { Organization } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const lines: string[] = [];
const onLog = (line: string) => lines.push(line);
const header = 'x-forwarded-email';
const env = { LOG_LEVEL: 'info', TRUSTED_USER_HEADER: 'X-Forwarded-Email', TRUSTED_USER_PROXIES: '10.0.0.0/8, 127.0.0.1, ::1' };
const { service, make } = await withService('plain', { env, onLog });
const { service: strict, make: makeStrict } = await withService('plain', {
  env: { ...env, TRUSTED_USER_PROXIES: '10.1.2.3' },
  onLog,
});
const query = { query: '{ viewer { keyId role scopes user { email } session { method } } }' };
const ofPage = () => ({ origin: service.url, 'graphql-require-preflight': 'true' });

/** Every test with people of its own is one of several tenants, so the proxy speaks for one organization. */
let place: Organization = { id: '', tenantId: '' };
beforeAll(async () => {
  place = await make.organization();
  await service.restart({ ...env, TRUSTED_USER_ORGANIZATION: place.id });
});
async function team() {
  const ann = await make.person({ organization: place, role: 'ADMIN' });
  return { ann, bob: await make.person({ organization: place }), place };
}

describe('a header of a trusted proxy', () => {
  it('names the person at a browser, in a session that is listed and ends with the membership', async () => {
    const { ann, bob } = await team();
    const ask = () => service.nobody.post('/graphql', query, { ...ofPage(), [header]: bob.email.toUpperCase() });
    const { body } = await ask();
    expect(body.data.viewer).toMatchObject({ role: 'MEMBER', user: { email: bob.email }, session: { method: 'PROXY' } });
    expect((await ask()).body.data.viewer.keyId).toBe(body.data.viewer.keyId);
    const { id } = await service.deps.storage.db.prisma.membership.findFirstOrThrow({ where: { userId: bob.userId } });
    await ann.delete(`/api/v1/admin/memberships/${id}`);
    const { status, body: refused } = await ask();
    expect(status).toBe(403);
    expect(refused.errors[0].message).toContain('is no member of the organization of this proxy');
  });

  it('gives no operator the reach of the installation', async () => {
    const { ann, bob } = await team();
    await service.client().put(`/api/v1/admin/operators/${bob.userId}`, {});
    const document = { query: '{ viewer { level user { email isOperator } } }' };
    const byKey = { authorization: `Bearer ${ann.key}`, [header]: bob.email };
    for (const headers of [{ ...ofPage(), [header]: bob.email }, byKey]) {
      const { body } = await service.nobody.post('/graphql', document, headers);
      expect(body.data.viewer).toEqual({ level: 'ORGANIZATION', user: { email: bob.email, isOperator: true } });
    }
  });

  it('does not help a page of another site', async () => {
    const { bob } = await team();
    const foreign = { ...ofPage(), [header]: bob.email, origin: 'https://evil.example' };
    expect((await service.nobody.post('/graphql', query, foreign)).status).toBe(403);
    expect((await service.nobody.post('/graphql', query, { [header]: bob.email })).status).toBe(403);
  });

  it('opens neither REST nor /mcp without a key', async () => {
    const { bob } = await team();
    expect((await service.nobody.get('/api/v1/ais', { [header]: bob.email })).status).toBe(401);
    expect((await service.nobody.post('/mcp', {}, { [header]: bob.email })).status).toBe(401);
  });

  it.each([
    ['an unknown person', 'nobody@example.com'],
    ['two persons', 'a@example.com, b@example.com'],
    ['no e-mail', 'root'],
  ])('refuses %s', async (_case, value) => {
    expect((await service.nobody.post('/graphql', query, { ...ofPage(), [header]: value })).status).toBe(403);
  });

  it('names people of its organization, whatever other organizations and tenants have the address', async () => {
    const { bob } = await team();
    const second = await make.organization({ tenant: { id: bob.tenantId } });
    await service.client().post('/api/v1/admin/memberships', { userId: bob.userId, orgId: second.id });
    await make.person({ email: bob.email });
    const document = { query: '{ viewer { user { id } organization { id } } }' };
    const { body } = await service.nobody.post('/graphql', document, { ...ofPage(), [header]: bob.email });
    expect(body.data.viewer).toEqual({ user: { id: bob.userId }, organization: { id: place.id } });
    const stranger = await make.person({});
    expect((await service.nobody.post('/graphql', document, { ...ofPage(), [header]: stranger.email })).status).toBe(403);
  });

  it('counts without an organization in the settings while there is one tenant', async () => {
    const { data } = await strict.client().graphql('{ viewer { organization { id tenantId } } }');
    const home = data.viewer.organization;
    await strict.restart(env);
    const bob = await makeStrict.person({ organization: home });
    const ask = () =>
      strict.nobody.post('/graphql', query, { origin: strict.url, 'graphql-require-preflight': 'true', [header]: bob.email });
    expect((await ask()).body.data.viewer.user.email).toBe(bob.email);
    const second = await makeStrict.organization({ tenant: { id: home.tenantId } });
    await strict.client().post('/api/v1/admin/memberships', { userId: bob.userId, orgId: second.id });
    expect((await ask()).body.errors[0].message).toContain('several organizations');
    await makeStrict.tenant();
    const { status, body } = await ask();
    expect(status).toBe(403);
    expect(body.errors[0].message).toContain('TRUSTED_USER_ORGANIZATION');
    await strict.restart({ ...env, TRUSTED_USER_PROXIES: '10.1.2.3' });
  });
});

describe('a shared key with a header of a trusted proxy', () => {
  it('acts for the person: what is made belongs to the person, and the audit log names both', async () => {
    const { ann, bob } = await team();
    const made = await ann.post(
      '/api/v1/groups',
      { name: 'g', availability: 'EVERYONE', memberEmails: '' },
      { [header]: bob.email },
    );
    const group = await service.deps.storage.db.prisma.group.findUniqueOrThrow({ where: { id: made.body.id } });
    expect(group.ownerUserId).toBe(bob.userId);
    const { body: log } = await ann.get('/api/v1/admin/audit-log');
    const created = log.data.find((entry: { action: string }) => entry.action === 'createGroup');
    const began = log.data.find((entry: { action: string }) => entry.action === 'signIn');
    expect(created).toMatchObject({ actorUserId: bob.userId, actorKeyId: began.actorKeyId });
    expect(began.targetIds).toContain(ann.keyId);
  });

  it('may what both may, and neither makes keys nor administers', async () => {
    const { ann, bob, place } = await team();
    const carl = await make.person({ organization: place, role: 'ADMIN' });
    const shared = await make.withKey(ann, { scopes: ['CHATS:READ', 'CHATS:WRITE', 'ADMIN:WRITE', 'API_KEYS:WRITE'] });
    const scopesAs = async (email: string) =>
      (await shared.post('/graphql', query, { ...ofPage(), [header]: email })).body.data.viewer.scopes;
    expect(await scopesAs(bob.email)).toEqual(['CHATS_READ', 'CHATS_WRITE']);
    expect(await scopesAs(carl.email)).toEqual(['CHATS_READ', 'CHATS_WRITE']);
    expect((await shared.post('/api/v1/api-keys', { name: 'x', scopes: ['CHATS:READ'] }, { [header]: bob.email })).status).toBe(
      403,
    );
  });

  it('reaches nobody outside the organization of the key', async () => {
    const { ann } = await team();
    const stranger = await make.person({});
    const { status, body } = await ann.get('/api/v1/ais', { [header]: stranger.email });
    expect(status).toBe(403);
    expect(body.error.message).toContain('no member of the organization of this key');
  });

  it('is refused where its user is no administrator, unless it names that user', async () => {
    const { ann, bob } = await team();
    expect((await bob.get('/api/v1/ais', { [header]: ann.email })).status).toBe(403);
    const { body } = await bob.post('/graphql', query, { ...ofPage(), [header]: bob.email });
    expect(body.data.viewer.keyId).toBe(bob.keyId);
  });

  it('stops within a second with the key, and with the role of its user', async () => {
    const { ann, bob, place } = await team();
    await make.person({ organization: place, role: 'ADMIN' });
    const as = { [header]: bob.email };
    const second = await make.withKey(ann, {});
    expect((await second.get('/api/v1/ais', as)).status).toBe(200);
    await ann.delete(`/api/v1/api-keys/${second.keyId}`);
    expect((await second.get('/api/v1/ais', as)).status).toBe(401);
    expect((await ann.get('/api/v1/ais', as)).status).toBe(200);
    const { storage } = service.deps;
    const { id } = await storage.db.prisma.membership.findFirstOrThrow({ where: { userId: ann.userId } });
    await storage.people.memberships.setRole(id, 'MEMBER');
    await eventually(async () => expect((await ann.get('/api/v1/ais', as)).status).toBe(403));
  });
});

describe('a header from anywhere else', () => {
  let ann: Awaited<ReturnType<typeof makeStrict.person>>;
  beforeAll(async () => {
    ann = await makeStrict.person({ role: 'ADMIN' });
  });

  it('is ignored, whatever X-Forwarded-For says, and told once in the log', async () => {
    const bob = await makeStrict.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const spoofed = {
      origin: strict.url,
      'graphql-require-preflight': 'true',
      [header]: ann.email,
      'x-forwarded-for': '10.1.2.3',
    };
    lines.length = 0;
    expect((await strict.nobody.post('/graphql', query, spoofed)).status).toBe(401);
    const { body } = await bob.post('/graphql', query, spoofed);
    expect(body.data.viewer.user.email).toBe(bob.email);
    expect(lines.filter((line) => line.includes('which is ignored'))).toHaveLength(1);
  });
});

describe('the settings', () => {
  it.each([
    ['several tenants and no organization', {}, 'there are several tenants: TRUSTED_USER_ORGANIZATION must name'],
    [
      'an organization that is not there',
      { TRUSTED_USER_ORGANIZATION: `org_${'0'.repeat(26)}` },
      'TRUSTED_USER_ORGANIZATION names no organization that is there',
    ],
  ])('are warned of at the start: %s', async (_case, values, warning) => {
    await makeStrict.tenant();
    lines.length = 0;
    await strict.restart({ ...env, TRUSTED_USER_PROXIES: '10.1.2.3', ...values });
    expect(lines.filter((line) => line.includes(warning))).toHaveLength(1);
  });

  it.each([
    ['no proxies', { TRUSTED_USER_HEADER: 'X-User' }, 'TRUSTED_USER_PROXIES must be set'],
    [
      'a header that browsers send',
      { TRUSTED_USER_HEADER: 'Cookie', TRUSTED_USER_PROXIES: '::1' },
      'TRUSTED_USER_HEADER must be',
    ],
    ['an organization and no header', { TRUSTED_USER_ORGANIZATION: `org_${'a'.repeat(26)}` }, 'TRUSTED_USER_HEADER must be set'],
    ['a name in place of an address', { TRUSTED_USER_HEADER: 'X-User', TRUSTED_USER_PROXIES: 'proxy' }, 'TRUSTED_USER_PROXIES'],
  ])('are refused at the start: %s', (_case, values, problem) => {
    expect(() => loadSettings(values)).toThrow(problem);
  });
});
