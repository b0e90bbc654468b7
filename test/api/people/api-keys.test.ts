import { describe, expect, it } from 'vitest';
import { authenticateKey, watchKey } from '../../../src/domain/people/api-keys.ts';
import { isWellFormedKey } from '../../../src/entities/people/api-key.ts';
import { scopes as allScopes } from '../../../src/entities/people/caller.ts';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService('plain', {});

const organization = await make.organization();
const sister = await make.organization({ tenant: { id: organization.tenantId } });
const ann = await make.person({ organization });
const bob = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const tenantAdmin = await make.person({ organization, role: 'ADMIN', level: 'TENANT' });
const stranger = await make.person({ role: 'ADMIN' });

const path = '/api/v1/api-keys';

describe('POST /api/v1/api-keys', () => {
  it('answers the contract and a key that works at once', async () => {
    const { status, body } = await ann.post(path, { name: ' Report ', scopes: ['AGENTS:READ', 'AGENTS:READ'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^key_/),
      orgId: ann.orgId,
      userId: ann.userId,
      userEmail: ann.email,
      name: 'Report',
      scopes: ['AGENTS:READ'],
      level: 'ORGANIZATION',
      lastUsedAt: null,
      expiresAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      key: expect.stringMatching(/^pk_[0-9A-Za-z]{33}$/),
    });
    expect(isWellFormedKey(body.key)).toBe(true);
    const keyed = service.client(body.key);
    expect((await keyed.get('/api/v1/ais')).status).toBe(200);
    expect((await keyed.get(path)).status).toBe(403);
  });

  it('shows the secret once and keeps its hash only', async () => {
    const { body } = await ann.post(path, { name: 'Once', scopes: ['AGENTS:READ'] });
    const listed = (await ann.get(path)).body.data.find(({ id }: { id: string }) => id === body.id);
    expect(listed).toBeDefined();
    expect(JSON.stringify(listed)).not.toContain(body.key);
    const { rows } = await service.deps.storage.db.pool.query('select * from api_keys where id = $1', [body.id]);
    expect(JSON.stringify(rows)).not.toContain(body.key);
    expect(JSON.stringify(rows)).not.toContain(body.key.slice(8));
  });

  it.each([
    ['no name', { name: undefined }, 400, 'name'],
    ['a blank name', { name: ' ' }, 400, 'name'],
    ['no scopes', { scopes: undefined }, 400, 'scopes'],
    ['empty scopes', { scopes: [] }, 400, 'scopes'],
    ['an unknown scope', { scopes: ['AGENTS:READ', 'EVERYTHING'] }, 400, 'scopes[1]'],
    ['an unknown level', { level: 'GALAXY' }, 400, 'level'],
    ['an expiry in the past', { expiresAt: '2001-01-01T00:00:00Z' }, 400, 'expiresAt'],
    ['a higher level', { level: 'TENANT' }, 403, 'level'],
    ['another user, by no administrator', { userId: 'bob' }, 403, 'userId'],
    ['another organization, by an ORGANIZATION key', { orgId: 'sister' }, 403, 'orgId'],
    ['an organization that does not exist, alike', { orgId: 'org_01jd0000000000000000000000' }, 403, 'orgId'],
  ])('refuses %s', async (_case, member, status, param) => {
    const named = {
      ...member,
      ...('userId' in member ? { userId: bob.userId } : {}),
      ...('orgId' in member && member.orgId === 'sister' ? { orgId: sister.id } : {}),
    };
    const reply = await ann.post(path, { name: 'x', scopes: ['AGENTS:READ'], ...named });
    expect({ status: reply.status, param: reply.body.error?.param }).toEqual({ status, param });
  });

  it('never makes a key that exceeds its maker in scopes', async () => {
    const maker = await make.withKey(ann, { scopes: ['API_KEYS:WRITE', 'CHATS:READ'] });
    const surplus = await maker.post(path, { name: 'x', scopes: ['CHATS:READ', 'CHATS:WRITE'] });
    expect(surplus).toMatchObject({ status: 403, body: { error: { param: 'scopes' } } });
    expect((await maker.post(path, { name: 'x', scopes: ['CHATS:READ'] })).status).toBe(200);
  });

  it('never makes a key that outlives its maker', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const maker = await make.withKey(ann, { expiresAt });
    const silent = await maker.post(path, { name: 'x', scopes: ['CHATS:READ'] });
    expect(silent.body.expiresAt).toBe(expiresAt.toISOString());
    const later = new Date(expiresAt.getTime() + 1_000).toISOString();
    expect((await maker.post(path, { name: 'x', scopes: ['CHATS:READ'], expiresAt: later })).status).toBe(403);
  });

  it('lets an administrator make keys for members of the organization, and for nobody else', async () => {
    const mine = await admin.post(path, { name: 'x', scopes: ['AGENTS:READ'], userId: bob.userId });
    expect(mine).toMatchObject({ status: 200, body: { userId: bob.userId, userEmail: bob.email } });
    const foreign = await admin.post(path, { name: 'x', scopes: ['AGENTS:READ'], userId: stranger.userId });
    const missing = await admin.post(path, { name: 'x', scopes: ['AGENTS:READ'], userId: 'user_01jd0000000000000000000000' });
    expect(foreign).toMatchObject({ status: 404, body: { error: { param: 'userId' } } });
    expect(missing.body).toEqual(foreign.body);
  });

  it('lets a TENANT key reach the organizations of its tenant, and no other', async () => {
    const clerk = await make.person({ organization: sister });
    const inside = await tenantAdmin.post(path, { name: 'x', scopes: ['AGENTS:READ'], orgId: sister.id, userId: clerk.userId });
    expect(inside).toMatchObject({ status: 200, body: { orgId: sister.id, userId: clerk.userId, level: 'ORGANIZATION' } });
    const keyed = service.client(inside.body.key);
    expect((await keyed.graphql('{ viewer { organization { id } } }')).data.viewer.organization.id).toBe(sister.id);
    const body = { name: 'x', scopes: ['AGENTS:READ'], orgId: stranger.orgId, userId: stranger.userId };
    expect((await tenantAdmin.post(path, body)).status).toBe(404);
    expect((await tenantAdmin.post(path, { ...body, level: 'INSTANCE' })).status).toBe(403);
    expect((await service.client().post(path, body)).status).toBe(200);
  });

  it('refuses the caller itself in an organization where it is no member', async () => {
    const reply = await tenantAdmin.post(path, { name: 'x', scopes: ['AGENTS:READ'], orgId: sister.id });
    expect(reply).toMatchObject({ status: 404, body: { error: { param: 'userId' } } });
  });
});

describe('GET /api/v1/api-keys', () => {
  it("shows the caller's own; to administrators those of others", async () => {
    const owners = async (who: Person, query = '') => {
      const { status, body } = await who.get(path + query);
      return status === 200 ? [...new Set(body.data.map(({ userId }: { userId: string }) => userId))].toSorted() : status;
    };
    expect(await owners(ann)).toEqual([ann.userId]);
    expect(await owners(ann, `?userId=${bob.userId}`)).toBe(403);
    expect(await owners(ann, `?orgId=${ann.orgId}`)).toEqual([ann.userId]);
    expect(await owners(ann, `?orgId=${sister.id}`)).toBe(403);
    expect(await owners(admin, `?userId=${bob.userId}`)).toEqual([bob.userId]);
    expect(await owners(admin, `?orgId=${admin.orgId}`)).toEqual(
      [ann, bob, admin, tenantAdmin].map(({ userId }) => userId).toSorted(),
    );
    expect(await owners(tenantAdmin, `?orgId=${stranger.orgId}`)).toBe(404);
  });

  it('tells when a key was last used', async () => {
    const person = await make.person();
    const before = Date.now();
    await person.get('/api/v1/ais');
    await service.restart();
    const [{ lastUsedAt }] = (await person.get(path)).body.data;
    expect(Date.parse(lastUsedAt)).toBeGreaterThanOrEqual(before);
  });
});

describe('a key ends', () => {
  it('by revocation: at once, in lists too, and a second time there is nothing to revoke', async () => {
    const { body } = await ann.post(path, { name: 'x', scopes: [...allScopes] });
    const keyed = service.client(body.key);
    expect((await keyed.get('/api/v1/ais')).status).toBe(200);
    const revoked = await ann.delete(`${path}/${body.id}`);
    expect(revoked).toMatchObject({ status: 200, body: { id: body.id, revokedAt: expect.any(String) } });
    expect((await keyed.get('/api/v1/ais')).status).toBe(401);
    expect((await keyed.graphql('{ viewer { keyId } }')).status).toBe(401);
    expect((await ann.get(path)).body.data.map(({ id }: { id: string }) => id)).not.toContain(body.id);
    expect((await ann.delete(`${path}/${body.id}`)).status).toBe(404);
  });

  it('by expiry, also when it is cached', async () => {
    let expiresAt: Date;
    let short: Person;
    // The key must live long enough for one use before it expires, also on a slow machine.
    for (let lifeMs = 400; ; lifeMs *= 2) {
      expiresAt = new Date(Date.now() + lifeMs);
      short = await make.withKey(ann, { expiresAt });
      const { status } = await short.get('/api/v1/ais');
      if (Date.now() >= expiresAt.getTime()) continue;
      expect(status).toBe(200);
      break;
    }
    await eventually(async () => expect((await short.get('/api/v1/ais')).status).toBe(401));
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime());
  });

  it('when its user leaves the organization', async () => {
    const leaver = await make.person({ organization });
    expect((await leaver.get('/api/v1/ais')).status).toBe(200);
    await service.deps.storage.db.pool.query('delete from memberships where "userId" = $1', [leaver.userId]);
    service.deps.storage.signals.publish('user-changed', leaver.userId);
    expect((await leaver.get('/api/v1/ais')).status).toBe(401);
  });

  it('for its open streams within 5 seconds', async () => {
    const { body } = await ann.post(path, { name: 'x', scopes: ['CHATS:READ'] });
    const caller = await authenticateKey(service.deps, body.key);
    if (caller === undefined) throw new Error('the key is not known');
    let ended = 0;
    const stops = [() => ended++, () => ended++].map((onEnd) => watchKey(service.deps, caller, onEnd));
    const unwatched = watchKey(service.deps, caller, () => {
      ended += 100;
    });
    unwatched();
    await ann.delete(`${path}/${body.id}`);
    await eventually(() => expect(ended).toBe(2));
    for (const stop of stops) stop();
  });
});

describe('DELETE /api/v1/api-keys/{keyId}', () => {
  it('is for the owner and administrators; to others the key is missing', async () => {
    const { body } = await bob.post(path, { name: 'x', scopes: ['AGENTS:READ'] });
    for (const other of [ann, stranger]) expect((await other.delete(`${path}/${body.id}`)).status).toBe(404);
    expect((await service.client(body.key).get('/api/v1/ais')).status).toBe(200);
    expect((await tenantAdmin.delete(`${path}/${body.id}`)).status).toBe(200);
    expect((await service.client(body.key).get('/api/v1/ais')).status).toBe(401);
  });
});

describe('authentication', () => {
  it.each([
    ['a mistyped key', () => `${ann.key.slice(0, -1)}${ann.key.endsWith('0') ? '1' : '0'}`],
    ['an unknown key of an operator', () => 'x'.repeat(40)],
    ['an empty key', () => ''],
    ['a very long key', () => 'k'.repeat(5_000)],
    ['the hash of a key', () => 'a'.repeat(64)],
    ['the id of a key', () => ann.keyId],
  ])('refuses %s', async (_case, key) => {
    expect((await service.client(key()).get('/api/v1/ais')).status).toBe(401);
  });

  it('takes a key from the Authorization header only', async () => {
    expect((await service.nobody.get(`/api/v1/ais?key=${ann.key}&api_key=${ann.key}`)).status).toBe(401);
    expect((await service.nobody.get('/api/v1/ais', { 'x-api-key': ann.key, cookie: `key=${ann.key}` })).status).toBe(401);
  });
});
