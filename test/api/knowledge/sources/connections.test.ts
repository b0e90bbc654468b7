import { describe, expect, it } from 'vitest';
import { createInstallationTokens } from '../../../../src/engine/knowledge/connections/installations.ts';
import { openSecrets } from '../../../../src/engine/knowledge/connections/secrets.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const organization = await make.organization();
const ann = await make.person({ organization });
const colleague = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const stranger = await make.person({ role: 'ADMIN' });

const token = {
  provider: 'WIKI',
  accountName: ' Ann at the wiki ',
  accessToken: 'CANARY-access',
  refreshToken: 'CANARY-refresh',
  expiresAt: '2027-01-31T10:30:00+01:00',
  scopes: ['read:page'],
  baseUrl: 'https://wiki.example.com',
};
const path = '/api/v1/connections';
async function stored(body: object = token, below = '', who = ann) {
  const reply = await who.post(`${path}${below}`, body);
  expect(reply).toMatchObject({ status: 200 });
  return reply.body;
}

describe('a stored connection', () => {
  it('comes back with every member and none of its secrets, from every operation', async () => {
    const made = await stored();
    expect(made).toEqual({
      id: expect.stringMatching(/^oat_/),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      orgId: ann.orgId,
      ownerUserId: ann.userId,
      kind: 'OAUTH_TOKEN',
      provider: 'WIKI',
      accountName: 'Ann at the wiki',
      baseUrl: 'https://wiki.example.com/',
      installationId: null,
      scopes: ['read:page'],
      expiresAt: '2027-01-31T09:30:00.000Z',
      needsReauthorization: false,
      isOwn: true,
    });
    expect((await ann.get(`${path}/${made.id}`)).body).toEqual(made);
    const listed = await ann.get(`${path}?kind=OAUTH_TOKEN&provider=WIKI`);
    expect(listed.body.data).toContainEqual(made);
    const shown = await ann.graphql('{ connections { nodes { id accountName } totalCount } }');
    expect(JSON.stringify([made, listed.body, shown.data])).not.toContain('CANARY');
    expect((await ann.delete(`${path}/${made.id}`)).body).toEqual(made);
    expect((await ann.get(`${path}/${made.id}`)).status).toBe(404);
  });

  it('is sealed in the database, opens for its own row only, and is renewed without being added again', async () => {
    const { id } = await stored();
    const { storage } = service.deps;
    const { rows } = await storage.db.pool.query('select * from connections where id = $1', [id]);
    expect(JSON.stringify(rows)).not.toContain('CANARY');
    const connection = await storage.knowledge.connections.find(id, {});
    if (connection === undefined) throw new Error('it is gone');
    expect(await openSecrets(service.deps.storage, connection)).toEqual({
      accessToken: 'CANARY-access',
      refreshToken: 'CANARY-refresh',
    });
    await expect(openSecrets(service.deps.storage, { ...connection, orgId: stranger.orgId })).rejects.toThrow();
    const renewed = await ann.patch(`${path}/${id}`, { accessToken: 'CANARY-new', refreshToken: null, accountName: 'Other' });
    expect(renewed).toMatchObject({ status: 200, body: { accountName: 'Other', scopes: ['read:page'] } });
    expect(await openSecrets(service.deps.storage, connection)).toEqual({ accessToken: 'CANARY-new' });
  });

  it('may be an installation at a repository host, or an MCP server', async () => {
    const { body: installation } = await service
      .client()
      .post(`${path}/repo-host-installations`, { installationId: 4711, accountName: 'acme' });
    expect(installation).toMatchObject({ kind: 'REPO_HOST_INSTALLATION', provider: 'REPO_HOST', installationId: 4711 });
    const headers = { Authorization: 'CANARY-header' };
    const server = await stored({ name: 'Weather', url: 'https://mcp.example.com/mcp', headers }, '/mcp-servers');
    expect(server).toMatchObject({ kind: 'MCP_SERVER', provider: 'MCP', baseUrl: 'https://mcp.example.com/mcp' });
    expect(JSON.stringify(server)).not.toContain('CANARY');
    const reply = await ann.patch(`${path}/${server.id}`, { accessToken: 'x' });
    expect(reply).toMatchObject({ status: 400, body: { error: { param: 'accessToken' } } });
  });
});

describe('who sees a connection', () => {
  it('is its owner; administrators see only its existence and name', async () => {
    const { id } = await stored();
    for (const who of [colleague, stranger]) {
      expect((await who.get(`${path}/${id}`)).status).toBe(404);
      expect((await who.patch(`${path}/${id}`, { accountName: 'x' })).status).toBe(404);
      expect((await who.delete(`${path}/${id}`)).status).toBe(404);
    }
    const names = { id, accountName: 'Ann at the wiki', isOwn: false, baseUrl: null, scopes: null, expiresAt: null };
    expect(await admin.get(`${path}/${id}`)).toMatchObject({ status: 200, body: names });
    expect((await admin.patch(`${path}/${id}`, { accountName: 'x' })).status).toBe(403);
    expect((await admin.get(path)).body.data).toEqual([]);
    expect((await admin.get(`${path}?ofOrganization=true`)).body.data).toContainEqual(expect.objectContaining(names));
    expect((await stranger.get(`${path}?ofOrganization=true`)).body.data).toEqual([]);
    expect(await colleague.get(`${path}?ofOrganization=true`)).toMatchObject({ status: 403 });
    expect((await admin.delete(`${path}/${id}`)).status).toBe(200);
  });
});

describe('an invalid connection is refused naming the member', () => {
  it.each<[string, string, object, string]>([
    ['a provider that is none', '', { ...token, provider: 'REPO_HOST' }, 'provider'],
    ['a blank name', '', { ...token, accountName: ' ' }, 'accountName'],
    ['no token', '', { ...token, accessToken: '' }, 'accessToken'],
    ['a token with a line break', '', { ...token, accessToken: 'a\nb' }, 'accessToken'],
    ['a token without end', '', { ...token, refreshToken: 'x'.repeat(20_001) }, 'refreshToken'],
    ['an address of another scheme', '', { ...token, baseUrl: 'file:///etc/passwd' }, 'baseUrl'],
    ['an address with a password', '', { ...token, baseUrl: 'https://a:b@example.com' }, 'baseUrl'],
    ...['DRIVE_A', 'DRIVE_B'].map((provider): [string, string, object, string] => [
      `an address of ${provider}, which is the operator's`,
      '',
      { ...token, provider },
      'baseUrl',
    ]),
    [
      'an address of a repository host',
      '/repo-host-installations',
      { installationId: 1, accountName: 'a', baseUrl: 'https://e.com' },
      'baseUrl',
    ],
    ['too many scopes', '', { ...token, scopes: Array.from({ length: 101 }, () => 's') }, 'scopes'],
    ['an installation of number 0', '/repo-host-installations', { installationId: 0, accountName: 'a' }, 'installationId'],
    ['an MCP server without address', '/mcp-servers', { name: 'a' }, 'url'],
    ['headers that are a list', '/mcp-servers', { name: 'a', url: 'https://e.com', headers: [] }, 'headers'],
    ['a header of the transport', '/mcp-servers', { name: 'a', url: 'https://e.com', headers: { Host: 'b' } }, 'headers.Host'],
    ['a header with a line break', '/mcp-servers', { name: 'a', url: 'https://e.com', headers: { a: 'b\r\nc' } }, 'headers.a'],
  ])('%s', async (_case, below, body, param) => {
    expect(await ann.post(`${path}${below}`, body)).toMatchObject({ status: 400, body: { error: { param } } });
  });
});

it('repositories of before the App was taken out of the settings are not read: its settings are named', async () => {
  await make.installation({ owner: ann, installationId: 4713, name: 'acme' });
  const { settings, storage } = service.deps;
  const tokens = createInstallationTokens({ settings, storage, vendors: {} as never, now: () => new Date() });
  const token = await tokens.open(4713, { orgId: ann.orgId, ownerUserId: ann.userId });
  await expect(token.authorization(new AbortController().signal)).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining('GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY'),
  });
});

it('repositories are not added without the App, and the settings are named', async () => {
  await make.installation({ owner: ann, installationId: 4712, name: 'acme' });
  const { id } = await make.agent({ owner: ann });
  const body = { mode: 'all', repoHostAppInstallationId: 4712 };
  const reply = await ann.post(`/api/v1/ais/${id}/data-sources/repo-host`, body);
  expect(reply).toMatchObject({
    status: 400,
    body: { error: { code: 'unsupported_value', param: 'type' } },
  });
  expect(reply.body.error.message).toContain('GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY');
  expect((await ann.get(`/api/v1/ais/${id}/data-sources`)).body.data).toEqual([]);
});
