import { beforeEach, describe, expect, it } from 'vitest';
import { operationScopes } from '../../../../src/domain/ground/access/operation-scopes.ts';
import { sweepOldData } from '../../../../src/domain/operations/data-life/sweep.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const path = '/api/v1/admin/audit-log';
const canary = 'canary-1b9f';
const { service, make } = await withService('plain', {});
let organization: Organization;
let ann: Person;
let admin: Person;

beforeEach(async () => {
  organization = await make.organization();
  ann = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
});

const entries = async (query = '') => (await admin.get(`${path}${query}`)).body.data;

describe(`GET ${path}`, () => {
  it('says who changed what, when, with which key, on which API', async () => {
    const agent = await make.agent({ owner: ann, name: 'Ada' });
    await ann.patch(`/api/v1/ais/${agent.id}`, { name: 'Grace', visibility: 'ORGANIZATION', options: { temperature: [0.5] } });
    await ann.graphql('mutation ($id: ID!) { deleteAgent(id: $id) { id } }', { id: agent.id });
    const found = await entries();
    expect(found.map(({ action }: { action: string }) => action)).toEqual(['deleteAgent', 'updateAgent', 'createAgent']);
    expect(found[1]).toEqual({
      id: expect.stringMatching(/^aud_/),
      createdAt: expect.any(String),
      orgId: organization.id,
      actorUserId: ann.userId,
      actorEmail: ann.email,
      actorKeyId: ann.keyId,
      action: 'updateAgent',
      kind: 'CHANGE',
      outcome: 'SUCCEEDED',
      count: 1,
      targetKind: 'agent',
      targetId: agent.id,
      targetIds: [agent.id],
      changes: expect.arrayContaining([
        { member: 'name', value: 'Grace' },
        { member: 'visibility', value: 'ORGANIZATION' },
        { member: 'options.temperature', value: [0.5] },
      ]),
      requestId: expect.any(String),
      address: '127.0.0.1',
    });
    expect(Math.abs(Date.parse(found[0].createdAt) - Date.now())).toBeLessThan(60_000);
  });

  it('says that instructions changed without their text, and never contains a secret or a conversation', async () => {
    const agent = await make.agent({ owner: ann, instructions: `${canary} instructions`, description: `${canary} description` });
    const chat = await make.chat({ owner: ann, agentId: agent.id, name: `${canary} chat` });
    await ann.patch(`/api/v1/chats/${chat.id}`, { name: `${canary} renamed` });
    await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: `${canary} prompt`, secrets: { crm: `${canary} secret` } });
    const key = (await ann.post('/api/v1/api-keys', { name: 'Nightly', scopes: ['AGENTS:READ'] })).body;
    const found = await entries();
    expect(JSON.stringify(found)).not.toContain(canary);
    expect(JSON.stringify(found)).not.toContain(key.key);
    expect(found.map(({ action }: { action: string }) => action)).toEqual([
      'createApiKey',
      'updateChat',
      'createChat',
      'createAgent',
    ]);
    expect(found[0]).toMatchObject({ targetKind: 'apiKey', targetId: key.id });
    expect(found[0].changes).toContainEqual({ member: 'scopes', value: ['AGENTS:READ'] });
    expect(found[1].changes).toEqual([{ member: 'name', value: null }]);
    expect(found[3].changes).toContainEqual({ member: 'instructions', value: null });
  });

  it('says what a new file is for', async () => {
    const form = new FormData();
    form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'note.txt');
    form.append('purpose', 'assistants');
    await ann.post('/api/v1/files', form);
    const [entry] = await entries();
    expect(entry).toMatchObject({
      action: 'createFile',
      changes: expect.arrayContaining([{ member: 'purpose', value: 'assistants' }]),
    });
  });

  it('has no change for what was refused or failed', async () => {
    const agent = await make.agent({ owner: admin });
    await ann.patch(`/api/v1/ais/${agent.id}`, { name: 'Mine' });
    await admin.patch(`/api/v1/ais/${agent.id}`, { name: ' ' });
    await admin.patch(`/api/v1/ais/${agent.id}`, { name: 5 });
    await admin.delete('/api/v1/ais/ai_0');
    await service.nobody.delete(`/api/v1/ais/${agent.id}`);
    const poor = await make.withKey(admin, { scopes: ['AGENTS:READ'] });
    await poor.delete(`/api/v1/ais/${agent.id}`);
    expect((await entries('?kind=CHANGE')).map(({ action }: { action: string }) => action)).toEqual(['createAgent']);
  });

  it('has no entry for completions, which change nothing', async () => {
    await ann.post('/api/v1/chat/completions', { model: 'parley/offline', messages: [{ role: 'user', content: 'Hi' }] });
    expect(await entries()).toEqual([]);
  });

  it('is narrowed to actor, target, action and time, and paged', async () => {
    const one = await make.agent({ owner: ann });
    const two = await make.agent({ owner: admin });
    const [last] = await entries();
    const between = new Date(Date.parse(last.createdAt) + 1).toISOString();
    await admin.patch(`/api/v1/ais/${one.id}`, { name: 'Other' });
    const actions = async (query: string) =>
      (await entries(query)).map(({ action, targetId }: { action: string; targetId: string }) => [action, targetId]);
    expect(await actions(`?actorUserId=${ann.userId}`)).toEqual([['createAgent', one.id]]);
    expect(await actions(`?targetId=${one.id}`)).toEqual([
      ['updateAgent', one.id],
      ['createAgent', one.id],
    ]);
    expect(await actions('?action=updateAgent')).toEqual([['updateAgent', one.id]]);
    expect(await actions(`?from=${between}`)).toEqual([['updateAgent', one.id]]);
    expect(await actions(`?to=${between}`)).toEqual([
      ['createAgent', two.id],
      ['createAgent', one.id],
    ]);
    const first = (await admin.get(`${path}?limit=2`)).body;
    expect(first.data).toHaveLength(2);
    const second = (await admin.get(`${path}?limit=2&cursor=${first.nextCursor}`)).body;
    expect(second.data.map(({ targetId }: { targetId: string }) => targetId)).toEqual([one.id]);
    expect(await admin.get(`${path}?from=${between}&to=${between}`)).toMatchObject({
      status: 400,
      body: { error: { param: 'to' } },
    });
    const log = 'query ($filter: AuditFilter) { auditLog(filter: $filter, first: 1) { totalCount nodes { action targetId } } }';
    expect((await admin.graphql(log)).data.auditLog).toMatchObject({ totalCount: 3, nodes: [{ action: 'updateAgent' }] });
    const narrowed = await admin.graphql(log, { filter: { action: 'createAgent', targetId: one.id, to: between } });
    expect(narrowed.data.auditLog).toEqual({ totalCount: 1, nodes: [{ action: 'createAgent', targetId: one.id }] });
    const { errors } = await admin.graphql(log, { filter: { from: between, to: between } });
    expect(errors?.[0].extensions.faults).toMatchObject([{ path: 'filter.to' }]);
  });

  it('is for administrators, and shows what keys above the organization did in it', async () => {
    await service.client().patch(`/api/v1/admin/organizations/${organization.id}`, { apiUsageTokenLimit: 5 });
    expect(await entries()).toMatchObject([
      { action: 'updateOrganization', targetId: organization.id, changes: [{ member: 'apiUsageTokenLimit', value: 5 }] },
    ]);
    expect((await ann.get(path)).status).toBe(403);
    const stranger = await make.person({ role: 'ADMIN' });
    expect((await stranger.get(path)).body.data).toEqual([]);
    expect((await stranger.get(`${path}?orgId=${organization.id}`)).status).toBe(404);
    expect((await service.client().get(`${path}?orgId=${organization.id}&kind=CHANGE`)).body.data).toHaveLength(1);
  });

  it('names what was changed as it is called now, and neither what is gone nor a chat', async () => {
    const agent = await make.agent({ owner: ann, name: 'Ada' });
    const of = `/api/v1/ais/${agent.id}`;
    await ann.patch(of, { name: 'Grace' });
    await ann.post(`${of}/skills`, { name: 'Greeting', content: 'Say hello.' });
    await ann.post(`${of}/flows`, { name: 'Two steps', versions: [] });
    await ann.post(`${of}/user-inputs`, { label: 'Shop', variableName: 'shop', type: 'DATE' });
    await ann.post(`${of}/secrets`, { key: 'KEY', secretType: 'apiKey' });
    await ann.post(`${of}/tools`, { name: 'price', type: 'CLIENT_FUNCTION', data: {} });
    await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Handbook', data: {} });
    await ann.post('/api/v1/api-keys', { name: 'Nightly', scopes: ['AGENTS:READ'] });
    await admin.post('/api/v1/groups', { name: 'Sales', availability: 'EVERYONE', memberEmails: '' });
    await make.chat({ owner: ann, agentId: agent.id, name: `${canary} chat` });
    const gone = await make.agent({ owner: ann, name: 'Gone' });
    await ann.delete(`/api/v1/ais/${gone.id}`);
    const { data } = await admin.graphql(
      '{ auditLog(first: 50) { nodes { action targetKind targetName target { __typename } } } }',
    );
    const names = data.auditLog.nodes.map((entry: Readonly<Record<string, string>>) => [entry.action, entry.targetName]);
    expect(new Map(names)).toEqual(
      new Map([
        ['createAgent', 'Grace'],
        ['updateAgent', 'Grace'],
        ['deleteAgent', null],
        ['createSkill', 'Greeting'],
        ['createFlow', 'Two steps'],
        ['createUserInput', 'Shop'],
        ['createAgentSecret', 'KEY'],
        ['createAgentTool', 'price'],
        ['addDataSource', 'Handbook'],
        ['createApiKey', 'Nightly'],
        ['createGroup', 'Sales'],
        ['createChat', null],
      ]),
    );
  });

  it('finds a thing also where it was named beside the target, in pages, counted, and narrowed', async () => {
    const one = await make.agent({ owner: ann });
    const two = await make.agent({ owner: admin });
    await admin.patch(`/api/v1/ais/${two.id}`, { name: 'Other' });
    await entries();
    const beside = 'update audit_entries set "targetIds" = array["targetId", $1] where "targetId" = $2';
    await service.deps.storage.db.pool.query(beside, [one.id, two.id]);
    const log = `query ($filter: AuditFilter, $first: Int, $after: String, $last: Int, $before: String) {
      auditLog(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
        totalCount nodes { action targetId } pageInfo { startCursor endCursor } } }`;
    const list = async (filter: object, page: object = {}) =>
      (await admin.graphql(log, { filter: { targetId: one.id, ...filter }, ...page })).data.auditLog;
    const [updated, made, itself] = [
      { action: 'updateAgent', targetId: two.id },
      { action: 'createAgent', targetId: two.id },
      { action: 'createAgent', targetId: one.id },
    ];
    expect(await list({})).toMatchObject({ totalCount: 3, nodes: [updated, made, itself] });
    const first = await list({}, { first: 1 });
    expect(first).toMatchObject({ totalCount: 3, nodes: [updated] });
    const rest = await list({}, { first: 2, after: first.pageInfo.endCursor });
    expect(rest.nodes).toEqual([made, itself]);
    expect((await list({}, { last: 2, before: rest.pageInfo.endCursor })).nodes).toEqual([updated, made]);
    expect(await list({ action: 'createAgent' }, { first: 1 })).toMatchObject({ totalCount: 2, nodes: [made] });
    expect(await list({ actorUserId: ann.userId })).toMatchObject({ totalCount: 1, nodes: [itself] });
    expect(await list({ kind: 'READ' })).toMatchObject({ totalCount: 0, nodes: [] });
    expect((await list({ to: new Date(Date.now() + 60_000).toISOString() })).nodes).toHaveLength(3);
    expect((await list({ from: new Date(Date.now() + 60_000).toISOString() })).nodes).toEqual([]);
  });

  it('names nothing of another organization', async () => {
    const agent = await make.agent({ owner: ann, name: 'Ada' });
    await service.deps.storage.db.pool.query('update audit_entries set "targetId" = $1 where "targetId" = $2', [
      (await make.agent({ owner: await make.person(), name: 'Elsewhere' })).id,
      agent.id,
    ]);
    const { data } = await admin.graphql('{ auditLog { nodes { action targetName } } }');
    expect(data.auditLog.nodes).toEqual([{ action: 'createAgent', targetName: null }]);
  });

  it('keeps entries for AUDIT_RETENTION_DAYS', async () => {
    const old = await make.agent({ owner: ann });
    const { db } = service.deps.storage;
    await db.pool.query(`update audit_entries set "createdAt" = now() - interval '366 days' where "targetId" = $1`, [old.id]);
    const recent = await make.agent({ owner: ann });
    await sweepOldData(service.deps, AbortSignal.timeout(60_000));
    expect((await entries()).map(({ targetId }: { targetId: string }) => targetId)).toEqual([recent.id]);
  });
});

it('every mutation is audited, but for those that only run a model', async () => {
  const { unauditedOperations } = await import('../../../../src/domain/ground/audit/operation.ts');
  const mutations = Object.keys(operationScopes).flatMap((name) => (name.startsWith('Mutation.') ? [name.slice(9)] : []));
  expect([...unauditedOperations].filter((name) => !mutations.includes(name))).toEqual([]);
});
