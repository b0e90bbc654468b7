import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/entities/people/caller.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

// test/contract/authorization/nested.test.ts checks the whole schema; this file checks single fields, and inputs that refer to other nouns.

const { make } = await withService('web');

const canary = 'canary-7d21';
const only = (...scopes: Scope[]) => make.withKey(ann, { scopes });

const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });
const stranger = await make.person();
const members = { name: 'Board', availability: 'RESTRICTED', memberEmails: `${canary}@example.com` };
const group = (await ann.post('/api/v1/groups', members)).body;
const shown = { visibility: 'ANYONE_WITH_LINK', groups: [group.id], editors: [{ id: bob.userId }] };
const agent = await make.agent({ owner: ann, ...shown });
const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { secret: canary } });
await ann.post(`/api/v1/ais/${agent.id}/skills`, { name: 'Skill', content: canary });

describe('AGENTS:READ alone', () => {
  it('exports no sources, and says so; asking for them is refused', async () => {
    const key = await only('AGENTS:READ');
    const exported = await key.get(`/api/v1/ais/${agent.id}/export`);
    expect(exported).toMatchObject({ status: 200, body: { dataSources: [], skills: [] } });
    expect(exported.headers.get('x-parley-warnings')).toMatch(/skills left out.*data sources left out/);
    expect(JSON.stringify(exported.body)).not.toContain(canary);
    for (const query of ['includeDataSources=true', `dataSourceIds=${source.id}`]) {
      expect(await key.get(`/api/v1/ais/${agent.id}/export?${query}`)).toMatchObject({
        status: 403,
        body: { error: { code: 'insufficient_scope', param: query.split('=')[0] } },
      });
    }
    const rich = await only('AGENTS:READ', 'DATA_SOURCES:READ', 'SKILLS:READ');
    const whole = await rich.get(`/api/v1/ais/${agent.id}/export`);
    expect(whole.body).toMatchObject({ dataSources: [{ data: { secret: canary } }], skills: [{ content: canary }] });
    expect(whole.headers.get('x-parley-warnings')).toBeNull();
  });

  it('reads no groups, no members and no sources through agents', async () => {
    const key = await only('AGENTS:READ');
    const query =
      '{ agents(first: 100) { nodes { id groupIds groups { id members(first: 5) { nodes { email } } } sources { nodes { id } } } } }';
    const data = await key.ask(query);
    const shown = data.agents.nodes.find(({ id }: { id: string }) => id === agent.id);
    expect(shown).toMatchObject({ groupIds: [], groups: [] });
    expect(shown.sources?.nodes ?? []).toEqual([]);
    expect((await key.get(`/api/v1/ais/${agent.id}`)).body.groups).toEqual([]);
    expect((await key.get(`/api/v1/ais?groupId=${group.id}`)).body.data).toEqual([]);
    expect((await ann.get(`/api/v1/ais?groupId=${group.id}`)).body.data).toMatchObject([{ id: agent.id, groups: [group.id] }]);
  });

  it('and AGENTS:WRITE take nothing away from an agent by sending back what they read', async () => {
    const key = await only('AGENTS:READ', 'AGENTS:WRITE');
    const { groups } = (await key.get(`/api/v1/ais/${agent.id}`)).body;
    expect((await key.patch(`/api/v1/ais/${agent.id}`, { name: 'Renamed', groups })).status).toBe(200);
    expect((await ann.get(`/api/v1/ais/${agent.id}`)).body.groups).toEqual([group.id]);
  });
});

describe('AGENTS:WRITE alone', () => {
  it('imports neither sources nor skills, and warns', async () => {
    const { body: bundle } = await ann.get(`/api/v1/ais/${agent.id}/export`);
    const made = await (await only('AGENTS:WRITE')).post('/api/v1/ais/import', { bundle });
    expect(made).toMatchObject({ status: 200 });
    expect(made.body.warnings).toEqual(
      expect.arrayContaining([
        'data sources skipped: the key has no DATA_SOURCES:WRITE scope',
        'skills skipped: the key has no SKILLS:WRITE scope',
      ]),
    );
    expect((await ann.get(`/api/v1/ais/${made.body.aiId}/data-sources`)).body.data).toEqual([]);
    const rich = await only('AGENTS:WRITE', 'DATA_SOURCES:WRITE', 'SKILLS:WRITE');
    const whole = await rich.post('/api/v1/ais/import', { bundle });
    expect(whole.body.warnings.filter((text: string) => /skipped/.test(text))).toEqual([]);
    expect((await ann.get(`/api/v1/ais/${whole.body.aiId}/data-sources`)).body.data).toHaveLength(1);
  });

  it('hands on no groups: naming one needs the scope that reads it', async () => {
    const key = await only('AGENTS:WRITE');
    const members = { src: '', name: 'Ada', description: '', instructions: '' };
    const refused = { status: 403, body: { error: { code: 'insufficient_scope', param: 'groups' } } };
    expect(await key.post('/api/v1/ais', { ...members, groups: [group.id] })).toMatchObject(refused);
    expect((await key.post('/api/v1/ais', { ...members, groups: [] })).status).toBe(200);
    expect(await key.patch(`/api/v1/ais/${agent.id}`, { groups: [group.id] })).toMatchObject(refused);
  });
});

it('DATA_SOURCES:WRITE alone hands a source on to no agent and uses no connection', async () => {
  const key = await only('DATA_SOURCES:WRITE', 'DATA_SOURCES:READ');
  expect(await key.patch(`/api/v1/data-sources/${source.id}`, { ais: [agent.id] })).toMatchObject({
    status: 403,
    body: { error: { code: 'insufficient_scope', param: 'ais' } },
  });
  const { body: connection } = await ann.post('/api/v1/connections', {
    provider: 'WIKI',
    accountName: 'ann',
    accessToken: 'token-of-the-wiki',
  });
  const wiki = { oauthTokenId: connection.id, pageName: 'Handbook' };
  expect(await key.post(`/api/v1/ais/${agent.id}/data-sources/wiki`, wiki)).toMatchObject({
    status: 403,
    body: { error: { code: 'insufficient_scope', param: 'oauthTokenId' } },
  });
  const { data } = (await key.get('/api/v1/data-sources')).body;
  expect(data.find(({ id }: { id: string }) => id === source.id)).toMatchObject({ ais: [], ownerUser: { id: ann.userId } });
});

it('a caller with the link sees no id of a restricted group and no editor; colleagues see editors without e-mails', async () => {
  expect((await stranger.get(`/api/v1/ais/${agent.id}`)).body).toMatchObject({ groups: [], editors: [] });
  const colleague = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
  expect((await colleague.get(`/api/v1/ais/${agent.id}`)).body).toMatchObject({
    groups: [],
    editors: [{ id: bob.userId, email: '' }],
  });
  expect((await bob.get(`/api/v1/ais/${agent.id}`)).body).toMatchObject({ groups: [], editors: [{ email: bob.email }] });
  expect((await ann.get(`/api/v1/ais/${agent.id}`)).body).toMatchObject({ groups: [group.id], editors: [{ email: bob.email }] });
});

it('an editor who does not see a group keeps it when sending back what was read, and removes none by adding others', async () => {
  const { groups } = (await bob.get(`/api/v1/ais/${agent.id}`)).body;
  expect((await bob.patch(`/api/v1/ais/${agent.id}`, { introduction: 'Hello', groups })).status).toBe(200);
  expect((await ann.get(`/api/v1/ais/${agent.id}`)).body.groups).toEqual([group.id]);
});

it('an administrator reads e-mails of the keys of others with ADMIN:READ only', async () => {
  const admin = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, role: 'ADMIN' });
  const emails = async (who: Person) =>
    new Set(
      (await who.get(`/api/v1/api-keys?userId=${ann.userId}`)).body.data.map(({ userEmail }: { userEmail: string }) => userEmail),
    );
  expect(await emails(admin)).toEqual(new Set([ann.email]));
  expect(await emails(await make.withKey(admin, { scopes: ['API_KEYS:READ'] }))).toEqual(new Set(['']));
  expect(await emails(await make.withKey(ann, { scopes: ['API_KEYS:READ'] }))).toEqual(new Set([ann.email]));
});
