import { describe, expect, it } from 'vitest';
import type { Organization, Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const { make } = await withService('plain', { env: { LOG_LEVEL: 'fatal' } });

const mutation = `mutation ($input: TransferOwnershipInput!, $to: ID!) {
  transferOwnership(input: $input, toUserId: $to) { agents dataSources groups kept isMoreLeft }
}`;

async function team() {
  const home: Organization = await make.organization();
  const [admin, ann, bob] = await Promise.all([
    make.person({ organization: home, role: 'ADMIN' }),
    make.person({ organization: home }),
    make.person({ organization: home }),
  ]);
  return { home, admin, ann, bob };
}

const give = (who: Person, input: object, to: Person) => who.graphql(mutation, { input, to: to.userId });
async function given(who: Person, input: object, to: Person) {
  const { data, errors } = await give(who, input, to);
  expect(errors).toBeUndefined();
  return data.transferOwnership;
}
async function refusal(who: Person, input: object, to: Person) {
  const { errors } = await give(who, input, to);
  return { code: errors?.[0]?.extensions.code, message: errors?.[0]?.message };
}
const groupOf = async (who: Person) =>
  (await who.post('/api/v1/groups', { name: 'Writers', availability: 'RESTRICTED', memberEmails: who.email })).body.id as string;
const serverOf = async (who: Person) =>
  (await who.post('/api/v1/connections/mcp-servers', { name: 'Weather', url: 'https://mcp.example.com/mcp' })).body.id as string;
const tool = (data: object) => ({ name: 'weather', type: 'MCP_SERVER', data });

describe('handing over', () => {
  it('gives an agent to a colleague, who then owns it alone', async () => {
    const { ann, bob, admin } = await team();
    const { id } = await make.agent({ owner: ann });
    expect(await given(ann, { agentId: id }, bob)).toMatchObject({ agents: 1, dataSources: 0, groups: 0, kept: [] });
    expect((await ann.get(`/api/v1/ais/${id}`)).status).toBe(404);
    expect((await bob.patch(`/api/v1/ais/${id}`, { visibility: 'ORGANIZATION' })).status).toBe(200);
    expect((await ann.delete(`/api/v1/ais/${id}`)).status).toBe(403);
    const query = '{ auditLog(filter: { action: "transferOwnership" }) { nodes { actorUserId outcome targetIds } } }';
    expect((await admin.graphql(query)).data.auditLog.nodes).toEqual([
      { actorUserId: ann.userId, outcome: 'SUCCEEDED', targetIds: [id, ann.userId, bob.userId] },
    ]);
  });

  it('gives an agent to one of its editors, who is no editor besides', async () => {
    const { ann, bob } = await team();
    const { id } = await make.agent({ owner: ann, editors: [{ id: bob.userId }] });
    const editors = async (who: Person) =>
      (await who.graphql('query ($id: ID!) { agent(id: $id) { userId editors { id } } }', { id })).data.agent;
    expect(await editors(ann)).toEqual({ userId: ann.userId, editors: [{ id: bob.userId }] });
    await given(ann, { agentId: id }, bob);
    expect(await editors(bob)).toEqual({ userId: bob.userId, editors: [] });
  });

  it('gives a source, a vector store and a group', async () => {
    const { ann, bob } = await team();
    const agent = await make.agent({ owner: ann });
    const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { a: 'b' } });
    const store = (await ann.post('/api/v1/vector_stores', { name: 'Office' })).body.id;
    const group = await groupOf(ann);
    await given(ann, { dataSourceId: source.id }, bob);
    await given(ann, { dataSourceId: store }, bob);
    await given(ann, { groupId: group }, bob);
    expect((await bob.patch(`/api/v1/data-sources/${source.id}`, { cite: false })).status).toBe(200);
    expect((await bob.post(`/api/v1/vector_stores/${store}`, { name: 'House' })).status).toBe(200);
    expect((await bob.patch(`/api/v1/groups/${group}`, { name: 'Readers' })).status).toBe(200);
    expect((await ann.patch(`/api/v1/groups/${group}`, { name: 'Writers' })).status).toBe(403);
    expect((await ann.get(`/api/v1/vector_stores/${store}`)).status).toBe(404);
  });

  it('gives all of a person who has left; connections, keys and chats stay with the person', async () => {
    const { admin, ann, bob } = await team();
    const agent = await make.agent({ owner: ann });
    await make.apiDataSource({ owner: ann, agentId: agent.id, data: { a: 'b' } });
    await groupOf(ann);
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const server = await serverOf(ann);
    const { data } = (await admin.get(`/api/v1/admin/memberships?userId=${ann.userId}`)).body;
    expect((await admin.delete(`/api/v1/admin/memberships/${data[0].id}`)).status).toBe(200);
    expect(await given(admin, { allOf: { userId: ann.userId } }, bob)).toEqual({
      ...{ agents: 1, dataSources: 1, groups: 1, kept: [], isMoreLeft: false },
    });
    expect((await bob.get(`/api/v1/connections/${server}`)).status).toBe(404);
    expect((await bob.get(`/api/v1/chats/${chat.id}`)).status).toBe(404);
    expect(await given(admin, { allOf: { userId: ann.userId } }, bob)).toMatchObject({ agents: 0, dataSources: 0, groups: 0 });
  });

  it('gives at most 90 things a call, and says that there are more', async () => {
    const { ann, bob } = await team();
    for (let at = 0; at < 91; at += 1) await groupOf(ann);
    expect(await given(ann, { allOf: { userId: ann.userId } }, bob)).toMatchObject({ groups: 90, isMoreLeft: true });
    expect(await given(ann, { allOf: { userId: ann.userId } }, bob)).toMatchObject({ groups: 1, isMoreLeft: false });
  });
});

describe('an agent that would open what is the new owner’s', () => {
  it('is not handed over while it names a connection', async () => {
    const { ann, bob } = await team();
    await serverOf(ann);
    const { id } = await make.agent({ owner: ann });
    const other = await make.agent({ owner: ann });
    expect((await ann.post(`/api/v1/ais/${id}/tools`, tool({ server: 'Weather' }))).status).toBeLessThan(300);
    const { code, message } = await refusal(ann, { agentId: id }, bob);
    expect(code).toBe('CONFLICT');
    expect(message).toContain('"Weather"');
    const all = await given(ann, { allOf: { userId: ann.userId } }, bob);
    expect(all).toMatchObject({ agents: 1 });
    expect(all.kept).toEqual([message]);
    expect((await bob.get(`/api/v1/ais/${other.id}`)).status).toBe(200);
    expect((await bob.get(`/api/v1/ais/${id}`)).status).toBe(404);
  });

  it('is not handed over while it names the server among its standing tools', async () => {
    const { ann, bob } = await team();
    await serverOf(ann);
    const { id } = await make.agent({ owner: ann, enabledTools: [{ type: 'mcp_server', server: 'Weather' }] });
    expect(await refusal(ann, { agentId: id }, bob)).toMatchObject({ code: 'CONFLICT' });
  });

  it('is not handed over while it names a private agent or store of the new owner', async () => {
    const { ann, bob } = await team();
    const hidden = await make.agent({ owner: bob });
    const store = (await bob.post('/api/v1/vector_stores', { name: 'Diary' })).body.id;
    const asking = await make.agent({ owner: ann, enabledTools: [{ type: 'subagent', agents: [hidden.id] }] });
    const searching = await make.agent({ owner: ann, enabledTools: [{ type: 'file_search', vector_store_ids: [store] }] });
    expect((await refusal(ann, { agentId: asking.id }, bob)).message).toContain(hidden.id);
    expect((await refusal(ann, { agentId: searching.id }, bob)).message).toContain(store);
  });
});

describe('handing over is refused', () => {
  it('to whoever neither owns the thing nor administers the organization', async () => {
    const { ann, bob } = await team();
    const stranger = await make.person({ role: 'ADMIN' });
    const { id } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const group = await groupOf(ann);
    expect(await refusal(bob, { agentId: id }, bob)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await refusal(bob, { groupId: group }, bob)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusal(bob, { allOf: { userId: ann.userId } }, bob)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await refusal(stranger, { agentId: id }, stranger)).toMatchObject({ code: 'NOT_FOUND' });
    expect(
      await given(
        stranger,
        { allOf: { userId: ann.userId } },
        await make.person({ organization: { id: stranger.orgId, tenantId: stranger.tenantId } }),
      ),
    ).toMatchObject({ agents: 0, groups: 0 });
    expect((await ann.get(`/api/v1/groups/${group}`)).status).toBe(200);
  });

  it('for a new owner who is no member, an AUDITOR or the owner', async () => {
    const { home, ann } = await team();
    const auditor = await make.person({ organization: home, role: 'AUDITOR' });
    const { id } = await make.agent({ owner: ann });
    expect(await refusal(ann, { agentId: id }, await make.person())).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusal(ann, { agentId: id }, auditor)).toMatchObject({ code: 'INVALID_VALUE' });
    expect(await refusal(ann, { agentId: id }, ann)).toMatchObject({ code: 'INVALID_VALUE' });
  });

  it('with a key that may not change the kind of thing', async () => {
    const { ann, bob } = await team();
    const group = await groupOf(ann);
    const key = await make.withKey(ann, { scopes: ['AGENTS:READ', 'AGENTS:WRITE', 'GROUPS:READ'] });
    expect(await refusal(key, { groupId: group }, bob)).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    expect(await refusal(key, { allOf: { userId: ann.userId } }, bob)).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
  });

  it('is a call of REST too, with the same refusals', async () => {
    const { ann, bob } = await team();
    const { id } = await make.agent({ owner: ann });
    const path = `/api/v1/users/${bob.userId}/ownership`;
    const both = await ann.post(path, { agentId: id, groupId: id });
    expect([both.status, both.body.error.message]).toEqual([400, expect.stringContaining('exactly one')]);
    expect((await ann.post(path, {})).status).toBe(400);
    expect((await bob.post(path, { agentId: id })).status).toBe(404);
    const stranger = await make.person();
    expect((await ann.post(`/api/v1/users/${stranger.userId}/ownership`, { agentId: id })).status).toBe(404);
    expect(await ann.post(path, { agentId: id })).toMatchObject({
      status: 200,
      body: { agents: 1, dataSources: 0, groups: 0, kept: [], isMoreLeft: false },
    });
    expect((await bob.get(`/api/v1/ais/${id}`)).body.userId).toBe(bob.userId);
  });
});
