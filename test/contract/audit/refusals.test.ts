import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization, Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const path = '/api/v1/admin/audit-log';
const perMinuteMax = 3;
const logs: string[] = [];

const { service, make } = await withService('web', {
  env: { AUDIT_REFUSALS_PER_MINUTE_MAX: String(perMinuteMax), TRUSTED_PROXY_HOPS: '1' },
  onLog: (line) => logs.push(line),
});
let organization: Organization;
let admin: Person;
let ann: Person;

beforeEach(async () => {
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
  ann = await make.person({ organization });
});

interface Entry {
  readonly action: string;
  readonly count: number;
  readonly outcome: string;
  readonly actorKeyId: string;
  readonly address: string | null;
}

/** By the names of their actions: the log puts entries of one millisecond in any order. */
async function refusals(): Promise<readonly Entry[]> {
  await service.deps.audit.flush();
  const entries: readonly Entry[] = (await admin.get(`${path}?kind=REFUSAL`)).body.data;
  return entries.toSorted((one, other) => one.action.localeCompare(other.action));
}

describe('a refused call is an entry', () => {
  it('of a key without the scope, on both APIs, and over WebSocket', async () => {
    const agent = await make.agent({ owner: ann });
    const poor = await make.withKey(ann, { scopes: ['GROUPS:READ'] });
    await poor.get(`/api/v1/ais/${agent.id}`);
    await poor.graphql('mutation ($id: ID!) { deleteAgent(id: $id) { id } }', { id: agent.id });
    const closed = Promise.withResolvers<void>();
    const url = `${service.url.replace('http', 'ws')}/api/v2/responses`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${poor.key}` } } as never);
    socket.onerror = () => closed.resolve();
    socket.onclose = () => closed.resolve();
    await closed.promise;
    expect(await refusals()).toMatchObject([
      { action: 'agent', targetId: agent.id, actorUserId: ann.userId, orgId: organization.id },
      { action: 'deleteAgent', targetId: agent.id, changes: [{ member: 'code', value: 'insufficient_scope' }] },
      { action: 'newResponseEvents', outcome: 'REFUSED', count: 1, actorKeyId: poor.keyId },
    ]);
  });

  it('of a caller who sees the thing and may not do that', async () => {
    const agent = await make.agent({ owner: admin, visibility: 'ORGANIZATION' });
    expect((await ann.patch(`/api/v1/ais/${agent.id}`, { name: 'Mine' })).status).toBe(403);
    expect((await ann.delete('/api/v1/ais/ai_0')).status).toBe(404);
    expect((await ann.patch(`/api/v1/ais/${agent.id}`, { name: 5 })).status).toBe(400);
    expect(await refusals()).toMatchObject([
      { action: 'updateAgent', targetId: agent.id, changes: [{ member: 'code', value: 'forbidden' }] },
    ]);
  });

  it('with the address that the proxy in front saw, not one that the client made up', async () => {
    const poor = await make.withKey(ann, { scopes: ['GROUPS:READ'] });
    await poor.get('/api/v1/ais', { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' });
    await poor.get('/api/v1/ais', { 'x-forwarded-for': 'nonsense; drop' });
    expect((await refusals()).map(({ address }) => address).toSorted()).toEqual(['127.0.0.1', '203.0.113.7']);
  });
});

describe('refusals do not fill the log', () => {
  it('one key has so many entries in a minute, and one more with the count of the rest', async () => {
    const poor = await make.withKey(ann, { scopes: ['GROUPS:READ'] });
    for (let call = 0; call < 10; call += 1) await poor.get('/api/v1/ais');
    const found = await refusals();
    expect(found.map(({ count }) => count).toSorted()).toEqual([1, 1, 1, 10 - perMinuteMax]);
  });

  it('an organization with more keys gets no more entries than one with ten keys', async () => {
    const keys = await Promise.all(Array.from({ length: 25 }, () => make.withKey(ann, { scopes: ['GROUPS:READ'] })));
    await Promise.all(
      keys.map(async (key) => {
        for (let call = 0; call < perMinuteMax + 2; call += 1) await key.get('/api/v1/ais');
      }),
    );
    const found = await refusals();
    expect(found.filter(({ count }) => count === 1).length).toBeLessThanOrEqual(perMinuteMax * 10 + 10);
    expect(found.length).toBeLessThanOrEqual(perMinuteMax * 10 + 11);
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(25 * (perMinuteMax + 2));
  });

  it('calls without a valid key are counted in the log of the process, and make no entries', async () => {
    await service.deps.audit.flush();
    logs.length = 0;
    const before = await service.deps.storage.db.pool.query('select count(*)::int as count from audit_entries');
    for (let call = 0; call < 5; call += 1) await service.nobody.get('/api/v1/ais');
    await service.nobody.graphql('{ viewer { keyId } }');
    await service.deps.audit.flush();
    const after = await service.deps.storage.db.pool.query('select count(*)::int as count from audit_entries');
    expect(after.rows).toEqual(before.rows);
    const lines = logs.map((line) => JSON.parse(line)).filter(({ msg }) => /without a valid API key/.test(msg));
    expect(lines).toMatchObject([{ count: 6 }]);
  });
});
