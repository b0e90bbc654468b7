import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { GitHub } from '../../../fixtures/upstreams/github.ts';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const host = await GitHub.start();
afterAll(() => host.close());
const { make, service } = await withService('plain', {
  env: {
    GITHUB_API_URL: host.url,
    GITHUB_APP_ID: host.appId,
    GITHUB_APP_PRIVATE_KEY: host.privateKey,
    // Archives lie at an address that the host names.
    EGRESS_ALLOW: '127.0.0.1',
  },
});
let ann: Person;
let aiId: string;
beforeEach(async () => {
  host.repositories.clear();
  host.faults.clear();
  host.requests.length = 0;
  host.treeMax = 100_000;
  host.isInstalled = true;
  host.isSuspended = false;
  ann = await make.person();
  aiId = (await make.agent({ owner: ann })).id;
  await make.installation({ owner: ann, installationId: host.installationId, name: 'acme' });
});

async function added(input: object): Promise<string> {
  const body = { repoHostAppInstallationId: host.installationId, ...input };
  const reply = await ann.post(`/api/v1/ais/${aiId}/data-sources/repo-host`, body);
  expect(reply.status).toBe(200);
  return reply.body.id;
}
const read = async (id: string) => (await ann.get(`/api/v1/data-sources/${id}`)).body;
const itemsOf = async (id: string) =>
  (await ann.get(`/api/v1/data-sources/${id}/knowledge?first=100`)).body.data as {
    uniqueId: string;
    indexStatus: string;
    metadata: object;
  }[];
async function run(id: string, count: number) {
  return eventually(async () => {
    const { data } = (await ann.get(`/api/v1/data-sources/${id}/runs`)).body;
    expect(data.length).toBe(count);
    expect(data[0].endedAt).toEqual(expect.any(String));
    return data[0];
  });
}
const refresh = (id: string) => ann.post(`/api/v1/data-sources/${id}/refresh`);
const readme = '# Handbook\n\nThe workshop opens at nine.\n';

describe('a source at a repository host', () => {
  it('is indexed, cited at its commit, and refreshed with few calls', async () => {
    const repository = host.add(7, 'acme/handbook', {
      'README.md': readme,
      'docs/prices.md': '# Prices\n\nA puncture costs fifteen euros.\n',
      'logo.png': new Uint8Array([137, 80, 78, 71, 0]),
      'node_modules/left/index.js': 'module.exports = 1;',
      'node_modules/right/index.js': 'module.exports = 2;',
      'data.bin.txt': new Uint8Array([65, 0, 66]),
      'large.txt': 'x'.repeat(1024 * 1024 + 1),
    });
    const id = await added({ mode: 'repos', repos: ['acme/handbook'] });
    expect(await run(id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 3, skippedCount: 3, isComplete: true });
    const items = await itemsOf(id);
    const states = Object.fromEntries(items.map(({ uniqueId, indexStatus }) => [uniqueId, indexStatus]));
    expect(states).toEqual({
      '7:README.md': 'INDEXED',
      '7:docs/prices.md': 'INDEXED',
      '7:data.bin.txt': 'SKIPPED',
      '7:logo.png': 'SKIPPED',
      '7:large.txt': 'SKIPPED',
      '7:node_modules/': 'SKIPPED',
    });
    expect(items.find(({ uniqueId }) => uniqueId === '7:node_modules/')?.metadata).toMatchObject({
      skippedReason: expect.stringContaining('code of others'),
    });
    const reply = await ann.post('/api/v1/chat/completions', {
      model: aiId,
      messages: [{ role: 'user', content: 'What does a puncture cost?' }],
    });
    expect(reply.body.choices[0].message.content).toContain('fifteen euros');
    expect(JSON.stringify(reply.body)).toMatch(/https:\/\/github\.example\/acme\/handbook\/blob\/[0-9a-f]{40}\/docs\/prices\.md/);

    host.take(/x/);
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ unchangedCount: 6, changedCount: 0 });
    expect(host.take(/git/)).toBe(0);

    repository.files.set('docs/prices.md', '# Prices\n\nA puncture costs twenty euros.\n');
    repository.files.delete('README.md');
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ changedCount: 1, removedCount: 1 });
    expect(host.take(/\/git\/blobs\//)).toBe(1);
    expect((await itemsOf(id)).map(({ uniqueId }) => uniqueId)).not.toContain('7:README.md');
  });

  it('is cited with the lines of the passage, on chats and completions, also with front matter and after a refresh', async () => {
    const filler = (count: number) => Array.from({ length: count }, (_, index) => `const unused${index} = ${index};`);
    const source = (before: number) =>
      [...filler(before), '', '// The watchdog barks every seventeen minutes.', 'export const barkMinutes = 17;'].join('\r\n');
    const guide = ['---', 'title: Guide', '---', '', '# Guide', '', 'The otter naps beside the canal.', ''].join('\n');
    const repository = host.add(9, 'acme/code', {
      'src/watch dog.ts': source(400),
      'docs/guide.md': guide,
      'one.txt': 'The heron stands still.',
    });
    const id = await added({ mode: 'repos', repos: ['acme/code'] });
    await run(id, 1);
    const cited = async (prompt: string) => {
      const chat = await ann.post(`/api/v1/ais/${aiId}/chats`, {});
      const { citations } = (await ann.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt })).body;
      const messages = [{ role: 'user', content: prompt }];
      const reply = await ann.post('/api/v1/chat/completions', { model: aiId, messages });
      expect(JSON.stringify(reply.body)).toContain(citations[0].url);
      return citations[0].url as string;
    };
    const lines = (url: string) => {
      const [, first, last] = /\/src\/watch%20dog\.ts#L(\d+)-L(\d+)$/.exec(url) ?? [];
      return { first: Number(first), last: Number(last) };
    };
    const before = lines(await cited('How often does the watchdog bark, in minutes?'));
    expect(before.last).toBe(403);
    expect(before.first).toBeGreaterThan(1);
    expect(before.first).toBeLessThanOrEqual(402);
    expect(await cited('Where does the otter nap?')).toMatch(/\/docs\/guide\.md\?plain=1#L2-L7$/);
    expect(await cited('What does the heron do?')).toMatch(/\/one\.txt#L1$/);
    repository.files.set('src/watch dog.ts', source(500));
    await refresh(id);
    await run(id, 2);
    expect(lines(await cited('How often does the watchdog bark, in minutes?')).last).toBe(503);
  });

  it('reads a changed file of a large repository anew, and keeps no content that it does not use', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [`notes/${index}.md`, `Number ${index} is old.\n`]),
    );
    const repository = host.add(17, 'acme/large', files);
    const id = await added({ mode: 'repos', repos: ['acme/large'] });
    await run(id, 1);
    repository.files.set('notes/3.md', 'Number 3 is new.\n');
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ changedCount: 1, failedCount: 0 });
    const { texts } = connectedSources(service);
    expect((await texts(id))['17:notes/3.md']).toContain('Number 3 is new.');
    const blobs = await service.deps.storage.db.pool.query(
      `select "contentBlobKey" as key, "isContentStoredExternally" as external from knowledge_items
       where "dataSourceId" = $1 and "uniqueId" = '17:notes/3.md'`,
      [id],
    );
    expect(blobs.rows).toEqual([{ key: null, external: true }]);
  });

  it('loses more than half of a repository once a second listing of the same commit agrees', async () => {
    const files = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}.md`, `Number ${index}.\n`]));
    const repository = host.add(18, 'acme/pruned', files);
    const id = await added({ mode: 'repos', repos: ['acme/pruned'] });
    await run(id, 1);
    for (let index = 1; index < 9; index += 1) repository.files.delete(`${index}.md`);
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ removedCount: 0, heldCount: 8 });
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ removedCount: 8, unchangedCount: 1 });
    expect((await itemsOf(id)).map(({ uniqueId }) => uniqueId)).toEqual(['18:0.md']);
  });

  it('takes many files from one archive, fetched without the token', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`notes/${index}.md`, `# Note ${index}\n\nNumber ${index}.\n`]),
    );
    host.add(8, 'acme/notes', files);
    const id = await added({ mode: 'all' });
    expect(await run(id, 1)).toMatchObject({ addedCount: 60, failedCount: 0 });
    expect(host.requests.filter((line) => line.includes('/git/blobs/'))).toEqual([]);
    expect(host.requests.filter((line) => line.startsWith('archive'))).toEqual(['archive /8?token=archive without token']);
    expect((await itemsOf(id)).every(({ indexStatus }) => indexStatus === 'INDEXED')).toBe(true);
  });

  it('walks a tree that the host cuts off, folder by folder', async () => {
    host.add(9, 'acme/wide', { 'a.md': 'a', 'b/c.md': 'c', 'b/d/e.md': 'e', 'node_modules/x/y.js': 'y' });
    host.treeMax = 3;
    const id = await added({ mode: 'repos', repos: ['acme/wide'] });
    expect(await run(id, 1)).toMatchObject({ addedCount: 3, skippedCount: 1 });
    expect((await itemsOf(id)).map(({ uniqueId }) => uniqueId).toSorted()).toEqual([
      '9:a.md',
      '9:b/c.md',
      '9:b/d/e.md',
      '9:node_modules/',
    ]);
  });

  it('goes on after faults: an ended token, limits of speed, a failure, a cut answer, an empty repository', async () => {
    host.add(10, 'acme/one', { 'a.md': 'Alpha.' });
    host.add(11, 'acme/empty', {});
    for (const fault of [
      { match: /installation\/repositories/, status: 503, times: 1, headers: { 'retry-after': '0' } },
      { match: /acme\/one\/commits/, status: 403, times: 1, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' } },
      { match: /git\/trees/, status: 429, times: 1, headers: { 'retry-after': new Date().toUTCString() } },
      { match: /git\/blobs/, ends: 'cut' },
    ] as const)
      host.faults.add(fault);
    host.expireTokens();
    const id = await added({ mode: 'all' });
    expect(await run(id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 1, failedCount: 0 });
  });

  it('says why it cannot be read, keeps what it has, and goes on when it can', async () => {
    host.add(12, 'acme/gone', { 'a.md': 'Alpha.' });
    const id = await added({ mode: 'repos', repos: ['acme/gone'] });
    await run(id, 1);
    host.isInstalled = false;
    host.expireTokens();
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
    expect(await read(id)).toMatchObject({
      indexStatus: 'INDEXED',
      errorCode: 'AUTH',
      errorMessage: expect.stringContaining('uninstalled'),
    });
    host.isInstalled = true;
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ status: 'COMPLETED' });
    expect(await read(id)).toMatchObject({ errorCode: null });
    host.repositories.clear();
    await refresh(id);
    expect(await run(id, 4)).toMatchObject({ status: 'FAILED', errorCode: 'NOT_FOUND' });
    expect((await itemsOf(id)).length).toBe(1);
  });

  it('reads a changed file that could not be read once it may be read again, though the tree is as it was', async () => {
    const repository = host.add(15, 'acme/locked', { 'a.md': 'The gate is red.', 'b.md': 'The fence is low.' });
    const id = await added({ mode: 'repos', repos: ['acme/locked'] });
    await run(id, 1);
    repository.files.set('a.md', 'The gate is blue.');
    host.faults.add({ match: /\/git\/blobs\//, status: 403 });
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ changedCount: 1, failedCount: 1 });
    const { data } = await ann.graphql(
      'query ($id: ID!) { dataSource(id: $id) { indexStatus statistics { doneCount failedCount totalCount } } }',
      { id },
    );
    expect(data.dataSource).toEqual({ indexStatus: 'INDEXED', statistics: { doneCount: 1, failedCount: 1, totalCount: 2 } });
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ status: 'COMPLETED', failedCount: 0 });
    expect((await itemsOf(id)).map(({ indexStatus }) => indexStatus)).toEqual(['INDEXED', 'INDEXED']);
    const body = { model: aiId, messages: [{ role: 'user', content: 'Which color has the gate?' }] };
    expect(JSON.stringify((await ann.post('/api/v1/chat/completions', body)).body)).toContain('The gate is blue');
  });

  it('tells a suspended App from every other refusal, in the words of the host', async () => {
    host.add(16, 'acme/closed', { 'a.md': 'Alpha.' });
    const id = await added({ mode: 'repos', repos: ['acme/closed'] });
    await run(id, 1);
    host.expireTokens();
    host.isSuspended = true;
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
    expect((await read(id)).errorMessage).toMatch(/is suspended: allow it again.*"This installation has been suspended"$/);
    host.isSuspended = false;
    const words =
      'Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled';
    host.faults.add({ match: /access_tokens/, status: 403, body: { message: words } });
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ status: 'FAILED', errorCode: 'FORBIDDEN' });
    const { errorMessage } = await read(id);
    expect(errorMessage).toContain(words);
    expect(errorMessage).not.toContain('suspended');
    await refresh(id);
    expect(await run(id, 4)).toMatchObject({ status: 'COMPLETED' });
  });

  it('loses the files of a repository that is gone from a complete list', async () => {
    for (const [id, name] of [
      [13, 'one'],
      [14, 'two'],
      [15, 'three'],
    ] as const)
      host.add(id, `acme/${name}`, { 'a.md': name });
    const id = await added({ mode: 'all' });
    await run(id, 1);
    host.repositories.delete(14);
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ removedCount: 1 });
    expect((await itemsOf(id)).map(({ uniqueId }) => uniqueId).toSorted()).toEqual(['13:a.md', '15:a.md']);
  });
});
