import { describe, expect, it } from 'vitest';
import { scopes as allScopes, type Scope } from '../../../src/entities/people/caller.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const path = '/api/v1/api-keys';
const { service, make } = await withService('web');

const home = await make.organization();
const sister = await make.organization({ tenant: { id: home.tenantId } });
const admin = await make.person({ organization: home, role: 'ADMIN' });
const ann = await make.person({ organization: home });
const operator = await make.person({ organization: home, level: 'INSTANCE' });
const tenantKey = await make.person({ organization: home, level: 'TENANT' });

const forbidden = { status: 403, body: { error: { code: 'forbidden' } } };
const without = (missing: Scope) => allScopes.filter((scope) => scope !== missing);

describe('a key above its own level', () => {
  it('is seen by administrators and revoked by none of them', async () => {
    for (const [who, key] of [
      [admin, tenantKey],
      [admin, operator],
      [tenantKey, operator],
    ] as const) {
      const { data } = (await who.get(`${path}?orgId=${home.id}`)).body;
      expect(data.map(({ id }: { id: string }) => id)).toContain(key.keyId);
      expect(await who.delete(`${path}/${key.keyId}`)).toMatchObject(forbidden);
      expect((await key.get('/api/v1/ais')).status).toBe(200);
    }
  });

  it('is not ended by a lesser key of the same user', async () => {
    const lesser = await make.withKey(operator, {});
    expect(await lesser.delete(`${path}/${operator.keyId}`)).toMatchObject(forbidden);
    expect((await operator.delete(`${path}/${lesser.keyId}`)).status).toBe(200);
  });

  it('is not ended by ending its membership, its user or its organization', async () => {
    const base = '/api/v1/admin';
    const place = await make.organization({ tenant: { id: home.tenantId } });
    const boss = await make.person({ organization: place, role: 'ADMIN' });
    const guest = await make.person({ organization: place, level: 'INSTANCE' });
    const { data } = (await boss.get(`${base}/memberships?userId=${guest.userId}`)).body;
    expect(await boss.delete(`${base}/memberships/${data[0].id}`)).toMatchObject(forbidden);
    expect(await tenantKey.delete(`${base}/users/${guest.userId}`)).toMatchObject(forbidden);
    expect(await tenantKey.delete(`${base}/organizations/${place.id}`)).toMatchObject(forbidden);
    expect((await guest.get('/api/v1/ais')).status).toBe(200);
    expect((await service.client().delete(`${base}/memberships/${data[0].id}`)).status).toBe(200);
  });
});

describe('acting as somebody else', () => {
  it('needs ADMIN:WRITE besides the scope of keys', async () => {
    const poor = await make.withKey(tenantKey, { level: 'TENANT', scopes: without('ADMIN:WRITE') });
    const victim = await make.person({ organization: sister });
    const wanted = { name: 'As them', scopes: ['AGENTS:READ'], orgId: sister.id, userId: victim.userId };
    expect(await poor.post(path, wanted)).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope', param: 'userId' } },
    });
    expect((await poor.post(path, { name: 'Own', scopes: ['AGENTS:READ'] })).status).toBe(200);
  });

  it('is visible: the key names its maker, its user sees and revokes it, and the log of its organization has both', async () => {
    const owner = await make.person({ organization: sister });
    const chief = await make.person({ organization: sister, role: 'ADMIN' });
    const agent = await make.agent({ owner, visibility: 'PRIVATE' });
    expect((await tenantKey.get(`/api/v1/ais/${agent.id}`)).status).toBe(404);
    const wanted = { name: 'As them', scopes: ['AGENTS:READ'], orgId: sister.id, userId: owner.userId, level: 'TENANT' };
    const made = await tenantKey.post(path, wanted);
    const marked = { createdByUserId: tenantKey.userId, createdByKeyId: tenantKey.keyId, userId: owner.userId };
    expect(made).toMatchObject({ status: 200, body: marked });
    expect((await service.client(made.body.key).get(`/api/v1/ais/${agent.id}`)).status).toBe(200);
    const found = (who: Person, query = '') =>
      who.get(path + query).then(({ body }) => body.data.find(({ id }: { id: string }) => id === made.body.id));
    expect(await found(owner)).toMatchObject(marked);
    expect(await found(chief, `?orgId=${sister.id}`)).toMatchObject(marked);
    const entries = (await chief.get('/api/v1/admin/audit-log?action=createApiKey')).body.data;
    expect(entries).toMatchObject([
      {
        actorUserId: tenantKey.userId,
        actorKeyId: tenantKey.keyId,
        targetId: made.body.id,
        targetIds: expect.arrayContaining([owner.userId]),
        changes: expect.arrayContaining([{ member: 'userId', value: owner.userId }]),
      },
    ]);
    expect((await owner.delete(`${path}/${made.body.id}`)).status).toBe(200);
    expect((await service.client(made.body.key).get('/api/v1/ais')).status).toBe(401);
  });

  it('is marked on a key that somebody makes for itself as well', async () => {
    expect((await ann.post(path, { name: 'Own', scopes: ['AGENTS:READ'] })).body).toMatchObject({
      createdByUserId: ann.userId,
      createdByKeyId: ann.keyId,
    });
  });
});

it('a key of a demoted user administers nothing any more, and one of a user who left is none', async () => {
  const chief = await make.person({ organization: home, role: 'ADMIN' });
  const { data } = (await admin.get(`/api/v1/admin/memberships?userId=${chief.userId}`)).body;
  expect((await chief.get('/api/v1/admin/users')).status).toBe(200);
  await admin.patch(`/api/v1/admin/memberships/${data[0].id}`, { role: 'MEMBER' });
  expect((await chief.get('/api/v1/admin/users')).status).toBe(403);
  expect(await chief.post(path, { name: 'As Ann', scopes: ['AGENTS:READ'], userId: ann.userId })).toMatchObject(forbidden);
  await admin.delete(`/api/v1/admin/memberships/${data[0].id}`);
  expect((await chief.get('/api/v1/ais')).status).toBe(401);
});
