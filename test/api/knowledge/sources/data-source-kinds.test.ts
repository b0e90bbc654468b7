import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

// No worker: what the sources name is not reached.
const { make } = await withService('web', {
  env: { AGENT_DATA_SOURCES_MAX: '60', GITHUB_APP_ID: '1', GITHUB_APP_PRIVATE_KEY: 'unused.pem' },
});
const tokens: Record<string, string> = {};

const organization = await make.organization();
const ann = await make.person({ organization });
const colleague = await make.person({ organization, role: 'ADMIN' });
const stranger = await make.person();
const aiId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;
for (const provider of ['DRIVE_A', 'DRIVE_B', 'WIKI', 'TRACKER']) tokens[provider] = await tokenOf(ann, provider);
const installation = (await make.installation({ owner: ann, installationId: 4711, name: 'acme' })).id;

async function tokenOf(who: Person, provider: string): Promise<string> {
  const token = { provider, accountName: `${provider} of ${who.userId}`, accessToken: 'token' };
  return (await who.post('/api/v1/connections', token)).body.id;
}
const add = (kind: string, body: object, who = ann, id = aiId) => who.post(`/api/v1/ais/${id}/data-sources/${kind}`, body);

const web = {
  url: 'https://example.com/docs',
  dataRefreshPeriod: 'DAILY',
  includeFiles: true,
  includedFileTypes: ['PDF', 'PDF', 'XLS'],
};
const wiki = () => ({ oauthTokenId: tokens.WIKI, pageName: 'Handbook', spaceId: '17', indexChildPages: true });
const tracker = () => ({
  oauthTokenId: tokens.TRACKER,
  projectName: 'Help desk',
  projectKey: 'HELP',
  dataRefreshPeriod: 'MONTHLY',
});
const driveA = () => ({
  oauthTokenId: tokens.DRIVE_A,
  files: [
    { id: '1', name: 'One' },
    { id: '2', name: 'Two' },
  ],
});
const driveB = () => ({ oauthTokenId: tokens.DRIVE_B, fileId: '01A', filename: 'Plan.docx' });
const repos = { mode: 'repos', repoHostAppInstallationId: 4711, repos: ['acme/handbook'] };

describe('a source of a connected kind', () => {
  it.each<[string, () => object, object]>([
    [
      'web-url',
      () => web,
      {
        type: 'WEB_URL',
        name: 'example.com/docs',
        refreshPeriod: 'DAILY',
        data: {
          url: 'https://example.com/docs',
          includeFiles: true,
          includedFileTypes: ['PDF', 'XLS'],
          includeUrlGlobs: [],
          excludeUrlGlobs: [],
          maxPages: 100,
          maxMemory: 1024,
          timeout: 3600,
        },
      },
    ],
    [
      'wiki',
      wiki,
      { type: 'WIKI', name: 'Handbook', data: { pageName: 'Handbook', spaceId: '17', indexChildPages: true, archive: false } },
    ],
    ['tracker', tracker, { type: 'TRACKER', name: 'Help desk', refreshPeriod: 'MONTHLY', data: { projectKey: 'HELP' } }],
    ['repo-host', () => repos, { type: 'REPO_HOST', name: 'acme/handbook', data: { mode: 'repos', repos: ['acme/handbook'] } }],
  ])('is kept as it was added: %s', async (kind, body, shown) => {
    const reply = await add(kind, body());
    const begun = { indexStatus: 'INITIALIZED', indexPercentage: '0', errorCode: null, ownerUserId: ann.userId };
    expect(reply).toMatchObject({ status: 200, body: { ...shown, ...begun } });
    const { id } = reply.body;
    expect((await ann.get(`/api/v1/data-sources/${id}`)).body).toMatchObject({ ...shown, ...begun, ais: [{ id: aiId }] });
    expect((await ann.post(`/api/v1/data-sources/${id}/refresh`)).status).toBe(200);
    const counts = (await ann.get(`/api/v1/data-sources/${id}/indexing-statistics`)).body;
    expect(counts).toEqual({ doneCount: 0, failedCount: 0, pendingCount: 0, indexingCount: 0, totalCount: 0 });
    expect((await ann.delete(`/api/v1/data-sources/${id}`)).status).toBe(200);
  });

  it('of drive B is kept with its drive, where one is named', async () => {
    const plan = { type: 'DRIVE_B', name: 'Plan.docx', refreshPeriod: 'NEVER', data: { fileId: '01A', filename: 'Plan.docx' } };
    expect(await add('drive-b', driveB())).toMatchObject({ status: 200, body: { ...plan, warnings: [] } });
    const reply = await add('drive-b', { ...driveB(), driveId: 'b!library' });
    expect(reply.body.data).toEqual({ oauthTokenId: tokens.DRIVE_B, fileId: '01A', filename: 'Plan.docx', driveId: 'b!library' });
  });

  it('is made for each file of drive A, all or none, with the newest token where none is named', async () => {
    const reply = await add('drive-a', driveA());
    expect(reply.body.data).toMatchObject([
      { type: 'DRIVE_A', name: 'One', data: { oauthTokenId: tokens.DRIVE_A, fileId: '1', filename: 'One' } },
      { type: 'DRIVE_A', name: 'Two', data: { fileId: '2' } },
    ]);
    const newest = await tokenOf(ann, 'DRIVE_A');
    const { files } = driveA();
    expect((await add('drive-a', { files })).body.data[0].data.oauthTokenId).toBe(newest);
    const count = async () => (await ann.get(`/api/v1/ais/${aiId}/data-sources`)).body.data.length;
    const before = await count();
    const many = Array.from({ length: 61 - before }, (_, index) => ({ id: `${index}`, name: `F${index}` }));
    expect(await add('drive-a', { ...driveA(), files: many })).toMatchObject({ status: 409 });
    expect(await count()).toBe(before);
  });

  it('may take all repositories of an installation', async () => {
    const { body } = await add('repo-host', { mode: 'all', repoHostAppInstallationId: 4711 });
    expect(body).toMatchObject({ name: 'All repositories', data: { mode: 'all', repos: [] } });
  });

  it('is not added to an agent that the caller may not edit', async () => {
    expect((await add('web-url', web, stranger)).status).toBe(404);
    const other = await make.agent({ owner: colleague, visibility: 'ORGANIZATION' });
    expect((await add('web-url', web, ann, other.id)).status).toBe(403);
  });
});

describe("a connection that is not the caller's own looks missing", () => {
  it.each<[string, string, string, () => object]>([
    ['drive-a', 'DRIVE_A', 'oauthTokenId', driveA],
    ['drive-b', 'DRIVE_B', 'oauthTokenId', driveB],
    ['wiki', 'WIKI', 'oauthTokenId', wiki],
    ['tracker', 'TRACKER', 'oauthTokenId', tracker],
  ])('%s', async (kind, provider, param, body) => {
    const missing = await add(kind, { ...body(), [param]: 'oat_01jd0000000000000000000000' });
    expect(missing).toMatchObject({ status: 400, body: { error: { param } } });
    const wrongKind = tokens[provider === 'WIKI' ? 'TRACKER' : 'WIKI'];
    // The colleague is an administrator of the organization, and still must not use the connection.
    for (const id of [await tokenOf(colleague, provider), await tokenOf(stranger, provider), wrongKind, 'x']) {
      expect((await add(kind, { ...body(), [param]: id })).body).toEqual(missing.body);
    }
    expect((await add(kind, body(), colleague)).body).toEqual(missing.body);
  });

  it('an installation, and the drive account of a wiki', async () => {
    expect(await add('repo-host', repos, colleague)).toMatchObject({
      status: 400,
      body: { error: { param: 'repoHostAppInstallationId' } },
    });
    const selectedDriveAccount = await tokenOf(colleague, 'DRIVE_A');
    const reply = await add('wiki', { ...wiki(), selectedDriveAccount });
    expect(reply).toMatchObject({ status: 400, body: { error: { param: 'selectedDriveAccount' } } });
  });
});

describe('a source of a connected kind is refused, and the member named', () => {
  it.each<[string, () => object, string]>([
    ['web-url', () => ({ ...web, url: 'ftp://example.com' }), 'url'],
    ['web-url', () => ({ ...web, url: 'https://a:b@example.com' }), 'url'],
    ['web-url', () => ({ ...web, dataRefreshPeriod: 'HOURLY' }), 'dataRefreshPeriod'],
    ['web-url', () => ({ ...web, dataRefreshPeriod: undefined }), 'dataRefreshPeriod'],
    ['web-url', () => ({ ...web, includedFileTypes: undefined }), 'includedFileTypes'],
    ['web-url', () => ({ ...web, includedFileTypes: ['EXE'] }), 'includedFileTypes[0]'],
    ['web-url', () => ({ ...web, includeUrlGlobs: ['**', '{a'] }), 'includeUrlGlobs[1]'],
    ['web-url', () => ({ ...web, excludeUrlGlobs: [' '] }), 'excludeUrlGlobs[0]'],
    ['web-url', () => ({ ...web, excludeUrlGlobs: ['*a'.repeat(21)] }), 'excludeUrlGlobs[0]'],
    ['web-url', () => ({ ...web, includeUrlGlobs: Array(101).fill('**') }), 'includeUrlGlobs'],
    ['web-url', () => ({ ...web, maxPages: 0 }), 'maxPages'],
    ['web-url', () => ({ ...web, maxPages: 10_001 }), 'maxPages'],
    ['web-url', () => ({ ...web, maxMemory: 8_193 }), 'maxMemory'],
    ['web-url', () => ({ ...web, timeout: 86_401 }), 'timeout'],
    ['drive-a', () => ({ ...driveA(), files: [] }), 'files'],
    ['drive-a', () => ({ ...driveA(), files: [{ id: '1' }] }), 'files[0].name'],
    ['drive-b', () => ({ ...driveB(), fileId: ' ' }), 'fileId'],
    ['wiki', () => ({ ...wiki(), pageName: '' }), 'pageName'],
    ['wiki', () => ({ ...wiki(), pageId: 'x'.repeat(501) }), 'pageId'],
    ['tracker', () => ({ ...tracker(), projectKey: 'A" OR 1=1' }), 'projectKey'],
    ['repo-host', () => ({ ...repos, mode: 'some' }), 'mode'],
    ['repo-host', () => ({ ...repos, repos: [] }), 'repos'],
    ['repo-host', () => ({ ...repos, repos: ['../etc'] }), 'repos[0]'],
    ['repo-host', () => ({ ...repos, mode: 'all' }), 'repos'],
    ['repo-host', () => ({ ...repos, repoHostAppInstallationId: 1.5 }), 'repoHostAppInstallationId'],
  ])('%s: %#', async (kind, body, param) => {
    expect(await add(kind, body())).toMatchObject({ status: 400, body: { error: { param } } });
  });
});

it('the same over GraphQL', async () => {
  const reply = await ann.graphql(
    `mutation ($id: ID!, $input: AddRepoHostDataSourceInput!) { addDataSource(agentId: $id, input: { repoHost: $input }) {
      dataSource { type indexStatus connection { id installationId } settings { ... on RepoHostSettings { mode repos } } } dataSources { type }
    } }`,
    { id: aiId, input: { mode: 'REPOS', connectionId: installation, repos: repos.repos } },
  );
  const settings = { mode: 'REPOS', repos: repos.repos };
  const connection = { id: installation, installationId: repos.repoHostAppInstallationId };
  expect(reply.data).toEqual({
    addDataSource: {
      dataSource: { type: 'REPO_HOST', indexStatus: 'INITIALIZED', connection, settings },
      dataSources: [{ type: 'REPO_HOST' }],
    },
  });
});

describe('the bounds of a web site', () => {
  it.each([
    ['maxPages', 'must be from 1 to 10000'],
    ['maxMemory', 'must be from 64 to 8192'],
    ['timeout', 'must be from 1 to 86400'],
  ])('are named as they are, whatever the number: %s', async (name, rule) => {
    for (const value of [0, -1, 100_000, 3_000_000_000, 1e15]) {
      const { status, body } = await add('web-url', { ...web, [name]: value });
      expect([status, body.error.param, body.error.message]).toEqual([400, name, `${name} ${rule}`]);
    }
    const { components } = (await ann.get('/openapi.json')).body;
    const [min, max] = rule.match(/\d+/g)?.map(Number) ?? [];
    expect(components.schemas.AddWebUrlDataSourceInput.properties[name]).toMatchObject({ minimum: min, maximum: max });
  });
});
