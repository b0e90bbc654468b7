import { beforeEach, describe, expect, it } from 'vitest';
import { makeId } from '../../../src/entities/ground/ids.ts';
import { UsageBatch } from '../../../src/storage/ground/ledger/ledger.ts';
import type { TestClient } from '../../support/client.ts';
import type { Organization, Person } from '../../support/make.ts';
import { timed } from '../../support/processes/clock.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

const base = '/api/v1/admin';
const { service, make } = await withService();
let organization: Organization;
/** An administrator, a member, and a TENANT key of one organization. */
let admin: Person;
let member: Person;
let tenantKey: Person;
/** An administrator of another tenant. */
let stranger: Person;

const root = service.client();

beforeEach(async () => {
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
  member = await make.person({ organization });
  tenantKey = await make.withKey(member, { level: 'TENANT' });
  stranger = await make.person({ role: 'ADMIN' });
});

const membershipOf = async (person: Person, who: TestClient = root) =>
  (await who.get(`${base}/memberships?userId=${person.userId}&orgId=${person.orgId}`)).body.data[0];
const refused = (status: number) => ({ status, body: { error: { message: expect.any(String) } } });

describe('tenants', () => {
  it('are made, listed, read, renamed and deleted by INSTANCE keys', async () => {
    const made = await root.post(`${base}/tenants`, { name: ' Example Group ' });
    expect(made).toMatchObject({ status: 200, body: { id: expect.stringMatching(/^ten_/), name: 'Example Group' } });
    const { id } = made.body;
    expect((await root.patch(`${base}/tenants/${id}`, { name: 'Example' })).body).toMatchObject({ id, name: 'Example' });
    expect((await root.get(`${base}/tenants?limit=1`)).body).toMatchObject({
      data: [{ id, name: 'Example' }],
      nextCursor: expect.any(String),
    });
    expect((await root.get(`${base}/tenants/${id}`)).body.name).toBe('Example');
    expect((await root.delete(`${base}/tenants/${id}`)).body).toMatchObject({ id });
    expect(await root.get(`${base}/tenants/${id}`)).toMatchObject(refused(404));
  });

  it('stay while they have organizations', async () => {
    expect(await root.delete(`${base}/tenants/${organization.tenantId}`)).toMatchObject(refused(409));
  });
});

describe('organizations', () => {
  it('are made by TENANT keys in their tenant, with limits, and by INSTANCE keys anywhere', async () => {
    const made = await tenantKey.post(`${base}/organizations`, { name: 'Research', apiUsageTokenLimit: 5_000_000_000 });
    expect(made).toMatchObject({
      status: 200,
      body: {
        ...{ id: expect.stringMatching(/^org_/), tenantId: organization.tenantId, name: 'Research' },
        ...{ apiUsageTokenLimit: 5_000_000_000, dataUsageTokenLimit: null },
      },
    });
    const elsewhere = { name: 'Elsewhere', tenantId: stranger.tenantId };
    expect(await tenantKey.post(`${base}/organizations`, elsewhere)).toMatchObject({
      status: 404,
      body: { error: { param: 'tenantId' } },
    });
    expect((await root.post(`${base}/organizations`, elsewhere)).body.tenantId).toBe(stranger.tenantId);
    expect(await admin.post(`${base}/organizations`, { name: 'Mine' })).toMatchObject(refused(403));
  });

  it('are listed as far as the key reaches', async () => {
    const second = await make.organization({ tenant: { id: organization.tenantId } });
    const idsOf = async (who: TestClient, query = '') =>
      (await who.get(`${base}/organizations${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await idsOf(admin)).toEqual([organization.id]);
    expect(await idsOf(tenantKey)).toEqual([second.id, organization.id]);
    expect(await idsOf(root, `?tenantId=${organization.tenantId}`)).toEqual([second.id, organization.id]);
    expect(await idsOf(tenantKey, `?tenantId=${stranger.tenantId}`)).toEqual([]);
    expect(await member.get(`${base}/organizations`)).toMatchObject(refused(403));
  });

  it('keep what is absent, and lose a limit with null', async () => {
    const path = `${base}/organizations/${organization.id}`;
    await root.patch(path, { apiUsageTokenLimit: 10, dataUsageTokenLimit: 20 });
    expect((await tenantKey.patch(path, { apiUsageTokenLimit: null })).body).toMatchObject({
      apiUsageTokenLimit: null,
      dataUsageTokenLimit: 20,
    });
    for (const value of [-1, 1.5, 'many', 2 ** 60]) {
      expect(await root.patch(path, { apiUsageTokenLimit: value })).toMatchObject({
        status: 400,
        body: { error: { param: 'apiUsageTokenLimit' } },
      });
    }
  });

  it('are not given limits by their own administrators', async () => {
    expect(await admin.patch(`${base}/organizations/${organization.id}`, { apiUsageTokenLimit: null })).toMatchObject(
      refused(403),
    );
  });

  it('stay while they hold agents, and when the key acts in them', async () => {
    const agent = await make.agent({ owner: member });
    expect(await root.delete(`${base}/organizations/${organization.id}`)).toMatchObject(refused(409));
    await member.delete(`/api/v1/ais/${agent.id}`);
    expect(await tenantKey.delete(`${base}/organizations/${organization.id}`)).toMatchObject(refused(409));
  });

  it('that are deleted leave nothing behind: no key, no row, no blob', async () => {
    const agent = await make.agent({ owner: member });
    const chat = await make.chat({ owner: member, agentId: agent.id });
    await member.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
    const group = (await member.post('/api/v1/groups', { name: 'G', availability: 'EVERYONE', memberEmails: '' })).body;
    await member.delete(`/api/v1/ais/${agent.id}`);
    const { db, blobs } = service.deps.storage;
    await blobs.put(`${organization.id}/files/one`, Buffer.from('text'), 100);
    expect(await root.delete(`${base}/organizations/${organization.id}`)).toMatchObject({
      status: 200,
      body: { id: organization.id },
    });
    expect(await member.get('/api/v1/chats')).toMatchObject(refused(401));
    expect(await root.get(`${base}/organizations/${organization.id}`)).toMatchObject(refused(404));
    const { rows: tables } = await db.pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'orgId'
       and table_name not like 'audit_entries%'`,
    );
    expect(tables.length).toBeGreaterThan(10);
    await eventually(async () => {
      for (const { name } of tables) {
        const { rows } = await db.pool.query(`select count(*)::int as count from "${name}" where "orgId" = $1`, [
          organization.id,
        ]);
        expect({ name, count: rows[0]?.count }).toEqual({ name, count: 0 });
      }
      await expect(blobs.read(`${organization.id}/files/one`)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });
    const left = await db.pool.query(
      `select (select count(*) from messages where "chatId" = $1)::int as messages,
         (select count(*) from run_event_batches b where not exists (select 1 from runs r where r.id = b."runId"))::int as events,
         (select count(*) from group_members where "groupId" = $2)::int as members`,
      [chat.id, group.id],
    );
    expect(left.rows).toEqual([{ messages: 0, events: 0, members: 0 }]);
  });

  it('that are deleted leave nothing behind that is written later', async () => {
    const orgId = makeId('organization', Date.now());
    const {
      db,
      operations: { usage, usageLimits },
    } = service.deps.storage;
    const noted = {
      createdAt: new Date(),
      orgId,
      userId: 'user_1',
      keyId: null,
      agentId: null,
      runId: null,
      purpose: 'run',
    } as const;
    const tokens = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0 };
    const row = { id: makeId('usageEntry', Date.now()), ...noted, ...tokens, modelId: 'test/model' };
    await usage.add(UsageBatch.of([row]), 'test');
    await usageLimits.reserve({ owner: 'test', orgId, kind: 'api', tokensMin: 1, want: () => 1, leaseMs: 1_000 });
    for (const table of ['usage_entries', 'usage_days', 'usage_counters', 'usage_reservations']) {
      expect((await db.pool.query(`select 1 from ${table} where "orgId" = $1`, [orgId])).rows, table).toEqual([]);
    }
  });
});

describe('users', () => {
  it('are added by an administrator, and work at once with a key made for them', async () => {
    const made = await admin.post(`${base}/users`, { email: 'Cleo@Example.com', role: 'MEMBER' });
    expect(made).toMatchObject({
      status: 200,
      body: { id: expect.stringMatching(/^user_/), email: 'cleo@example.com', name: 'cleo', tenantId: organization.tenantId },
    });
    const key = await admin.post('/api/v1/api-keys', { name: 'Cleo', scopes: ['AGENTS:READ'], userId: made.body.id });
    expect(key.status).toBe(200);
    expect((await service.client(key.body.key).get('/api/v1/ais')).status).toBe(200);
    expect(await admin.post(`${base}/users`, { email: 'cleo@example.com' })).toMatchObject({
      status: 409,
      body: { error: { param: 'email' } },
    });
  });

  it('of the tenant who are added by e-mail become members and stay who they are', async () => {
    const second = await make.organization({ tenant: { id: organization.tenantId } });
    const dan = await make.person({ organization: second, name: 'Dan' });
    expect((await admin.post(`${base}/users`, { email: dan.email, name: 'Other' })).body).toMatchObject({
      id: dan.userId,
      name: 'Dan',
    });
    expect(await admin.patch(`${base}/users/${dan.userId}`, { name: 'Mine' })).toMatchObject(refused(403));
    expect((await tenantKey.patch(`${base}/users/${dan.userId}`, { name: 'Daniel' })).body.name).toBe('Daniel');
  });

  it('of the same e-mail in another tenant are others', async () => {
    const { id } = (await admin.post(`${base}/users`, { email: stranger.email })).body;
    expect(id).not.toBe(stranger.userId);
  });

  it('are listed and searched as far as the key reaches', async () => {
    const emailsOf = async (who: TestClient, query = '') =>
      (await who.get(`${base}/users${query}`)).body.data.map(({ email }: { email: string }) => email);
    expect(await emailsOf(admin)).toEqual([member.email, admin.email]);
    expect(await emailsOf(admin, `?search=${encodeURIComponent(member.email.toUpperCase())}`)).toEqual([member.email]);
    expect(await emailsOf(admin, '?search=%25')).toEqual([]);
    expect(await emailsOf(admin, `?orgId=${stranger.orgId}`)).toEqual([]);
    expect(await emailsOf(root, `?orgId=${stranger.orgId}`)).toEqual([stranger.email]);
    expect(await member.get(`${base}/users`)).toMatchObject(refused(403));
    expect(await admin.get(`${base}/users/${stranger.userId}`)).toMatchObject(refused(404));
  });

  it('take another e-mail, and their groups follow', async () => {
    const email = `new-${member.email}`;
    const group = (
      await admin.post('/api/v1/groups', { name: 'G', availability: 'RESTRICTED', memberEmails: `${member.email}, ${email}` })
    ).body;
    expect((await admin.patch(`${base}/users/${member.userId}`, { email: email.toUpperCase() })).body.email).toBe(email);
    expect((await admin.get(`/api/v1/groups/${group.id}`)).body.users).toMatchObject([{ email, userId: member.userId }]);
    expect(await admin.patch(`${base}/users/${member.userId}`, { email: admin.email })).toMatchObject(refused(409));
    expect(await admin.patch(`${base}/users/${member.userId}`, { email: 'nothing' })).toMatchObject({
      status: 400,
      body: { error: { param: 'email' } },
    });
  });

  it('are not deleted while something of theirs would be left without an owner', async () => {
    const agent = await make.agent({ owner: member });
    expect(await root.delete(`${base}/users/${member.userId}`)).toMatchObject(refused(409));
    expect(await root.delete(`${base}/users/${admin.userId}`)).toMatchObject(refused(409));
    expect((await member.get(`/api/v1/ais/${agent.id}`)).status).toBe(200);
    expect(await admin.delete(`${base}/users/${member.userId}`)).toMatchObject(refused(403));
  });

  it('that are deleted leave nothing readable behind', async () => {
    const agent = await make.agent({ owner: admin, visibility: 'ORGANIZATION', chatLogsVisible: true });
    const chat = await make.chat({ owner: member, agentId: agent.id });
    await member.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'A secret' });
    const form = new FormData();
    form.append('file', new Blob(['canary'], { type: 'text/plain' }), 'note.txt');
    const file = await member.post(`/api/v1/chats/${chat.id}/files`, form);
    expect(file.status).toBeLessThan(300);
    const { db, blobs } = service.deps.storage;
    const stored = await db.pool.query<{ blobKey: string }>('select "blobKey" from chat_files where "chatId" = $1', [chat.id]);
    const blobKey = stored.rows[0]?.blobKey ?? '';
    expect((await blobs.read(blobKey)).toString()).toBe('canary');
    await admin.post('/api/v1/groups', { name: 'G', availability: 'EVERYONE', memberEmails: member.email });
    expect((await admin.get(`/api/v1/chats/${chat.id}`)).status).toBe(200);
    expect(await root.delete(`${base}/users/${member.userId}`)).toMatchObject({ status: 200, body: { id: member.userId } });
    await eventually(async () => expect((await member.get('/api/v1/chats')).status).toBe(401), 1_000);
    await eventually(async () => expect((await admin.get(`/api/v1/chats/${chat.id}`)).status).toBe(404));
    await eventually(() => expect(blobs.read(blobKey)).rejects.toMatchObject({ code: 'NOT_FOUND' }));
    const { rows } = await db.pool.query(
      `select (select count(*) from messages where "chatId" = $1)::int as messages,
         (select count(*) from group_members where "userId" = $2)::int as groups,
         (select count(*) from api_keys where "userId" = $2)::int as keys`,
      [chat.id, member.userId],
    );
    expect(rows).toEqual([{ messages: 0, groups: 0, keys: 0 }]);
  });
});

describe('memberships', () => {
  it('that end stop the keys within a second, and streams within five', async () => {
    const leaver = await make.person({ organization });
    const stream = leaver.subscribe('subscription { usageChanged { id } }');
    await stream.next();
    const { id } = await membershipOf(leaver, admin);
    expect(await admin.delete(`${base}/memberships/${id}`)).toMatchObject({ status: 200, body: { id, userId: leaver.userId } });
    await eventually(async () => expect((await leaver.get('/api/v1/ais')).status).toBe(401), 1_000);
    const { elapsedMs } = await timed(async () => {
      for await (const _report of stream);
    });
    expect(elapsedMs).toBeLessThan(5_000);
    expect(await admin.delete(`${base}/memberships/${id}`)).toMatchObject(refused(404));
  });

  it('that change their role change what keys may do within a second', async () => {
    const { id } = await membershipOf(member, admin);
    expect(await member.get(`${base}/users`)).toMatchObject(refused(403));
    expect((await admin.patch(`${base}/memberships/${id}`, { role: 'ADMIN' })).body).toMatchObject({ id, role: 'ADMIN' });
    await eventually(async () => expect((await member.get(`${base}/users`)).status).toBe(200), 1_000);
    await admin.patch(`${base}/memberships/${id}`, { role: 'MEMBER' });
    await eventually(async () => expect((await member.get(`${base}/users`)).status).toBe(403), 1_000);
  });

  it('of the last administrator stay, also when two give up at one time', async () => {
    const own = await membershipOf(admin);
    expect(await root.delete(`${base}/memberships/${own.id}`)).toMatchObject(refused(409));
    expect(await root.patch(`${base}/memberships/${own.id}`, { role: 'MEMBER' })).toMatchObject(refused(409));
    const second = await make.person({ organization, role: 'ADMIN' });
    const other = await membershipOf(second);
    const replies = await Promise.all([
      root.delete(`${base}/memberships/${own.id}`),
      root.patch(`${base}/memberships/${other.id}`, { role: 'MEMBER' }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('join a user to another organization of the tenant, and of no other', async () => {
    const second = await make.organization({ tenant: { id: organization.tenantId } });
    const input = { userId: member.userId, orgId: second.id, role: 'ADMIN' };
    expect(await admin.post(`${base}/memberships`, input)).toMatchObject(refused(404));
    expect((await tenantKey.post(`${base}/memberships`, input)).body).toMatchObject({
      id: expect.stringMatching(/^mem_/),
      ...input,
    });
    expect(await tenantKey.post(`${base}/memberships`, input)).toMatchObject(refused(409));
    expect(await root.post(`${base}/memberships`, { userId: member.userId, orgId: stranger.orgId })).toMatchObject(refused(404));
    expect(await admin.post(`${base}/memberships`, { userId: stranger.userId })).toMatchObject({
      status: 404,
      body: { error: { param: 'userId' } },
    });
  });

  it('show users and organizations on GraphQL, in one statement each', async () => {
    const { data } = await admin.graphql('{ memberships { totalCount nodes { role user { email } organization { id } } } }');
    expect(data.memberships).toEqual({
      totalCount: 2,
      nodes: [
        { role: 'MEMBER', user: { email: member.email }, organization: { id: organization.id } },
        { role: 'ADMIN', user: { email: admin.email }, organization: { id: organization.id } },
      ],
    });
  });
});
