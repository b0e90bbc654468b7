import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { GoogleDrive, googleTypes } from '../../../fixtures/upstreams/google-drive.ts';
import { MicrosoftGraph } from '../../../fixtures/upstreams/microsoft-graph.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const google = await GoogleDrive.start();
const graph = await MicrosoftGraph.start();
afterAll(() => Promise.all([google.server.close(), graph.close()]));
const { service, make } = await withService('plain', {
  env: {
    GOOGLE_API_URL: google.url,
    GOOGLE_TOKEN_URL: `${google.url}/token`,
    MICROSOFT_API_URL: graph.url,
    MICROSOFT_TOKEN_URL: `${graph.server.url}/token`,
    ...{ GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret', MICROSOFT_CLIENT_ID: 'id', MICROSOFT_CLIENT_SECRET: 'secret' },
    // Graph redirects to where the contents lie.
    EGRESS_ALLOW: '127.0.0.1',
  },
});
let ann: Person;
let aiId: string;
beforeEach(async () => {
  ann = await make.person();
  aiId = (await make.agent({ owner: ann })).id;
});

async function connected(provider: 'DRIVE_A' | 'DRIVE_B'): Promise<string> {
  const { access: accessToken, refresh: refreshToken } = (provider === 'DRIVE_A' ? google : graph).tokens;
  const reply = await ann.post('/api/v1/connections', { provider, accountName: 'Ann', accessToken, refreshToken });
  expect(reply.status).toBe(200);
  return reply.body.id;
}
async function driveA(...ids: readonly string[]): Promise<string> {
  const files = ids.map((id) => ({ id, name: id }));
  const reply = await ann.post(`/api/v1/ais/${aiId}/data-sources/drive-a`, { oauthTokenId: await connected('DRIVE_A'), files });
  expect(reply.status).toBe(200);
  return reply.body.data[0].id;
}
async function driveB(fileId: string, more: object = {}): Promise<string> {
  const body = { oauthTokenId: await connected('DRIVE_B'), fileId, filename: fileId, ...more };
  const reply = await ann.post(`/api/v1/ais/${aiId}/data-sources/drive-b`, body);
  expect(reply.status).toBe(200);
  return reply.body.id;
}
async function run(id: string, count: number) {
  return eventually(async () => {
    const { data } = (await ann.get(`/api/v1/data-sources/${id}/runs`)).body;
    expect(data.length).toBe(count);
    expect(data[0].endedAt).toEqual(expect.any(String));
    return data[0];
  });
}
const read = async (id: string) => (await ann.get(`/api/v1/data-sources/${id}`)).body;
async function statesOf(id: string): Promise<Readonly<Record<string, string>>> {
  const { data } = (await ann.get(`/api/v1/data-sources/${id}/knowledge`)).body;
  return Object.fromEntries(data.map((item: { uniqueId: string; indexStatus: string }) => [item.uniqueId, item.indexStatus]));
}
const refresh = (id: string, isForced = false) => ann.post(`/api/v1/data-sources/${id}/refresh?forceRefresh=${isForced}`);
async function answer(question: string): Promise<string> {
  const body = { model: aiId, messages: [{ role: 'user', content: question }] };
  return JSON.stringify((await ann.post('/api/v1/chat/completions', body)).body);
}

it('says of a connection whose refresh token was withdrawn that it has to be connected again, and asks for no more tokens', async () => {
  google.add({ id: 'shelf', name: 'shelf.txt', text: 'The shelf is of ash.' });
  const tokens = { accessToken: 'ended', refreshToken: 'withdrawn' };
  const made = await ann.post('/api/v1/connections', { provider: 'DRIVE_A', accountName: 'Ann', ...tokens });
  const body = { oauthTokenId: made.body.id, files: [{ id: 'shelf', name: 'shelf' }] };
  const source = (await ann.post(`/api/v1/ais/${aiId}/data-sources/drive-a`, body)).body.data[0].id;
  expect(await run(source, 1)).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
  const needs = async () => (await ann.get(`/api/v1/connections/${made.body.id}`)).body.needsReauthorization;
  expect(await needs()).toBe(true);
  google.server.seen();
  await refresh(source);
  expect(await run(source, 2)).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
  expect(google.server.seen()).not.toContain('POST /token');
});

describe('a folder of Google Drive', () => {
  it.each([
    ['failed for a moment', `"indexStatus" = 'FAILED', "isRetryable" = true`],
    ['was cancelled before it was read', `"indexStatus" = 'CANCELLED', "liveGeneration" = null`],
    ['was cancelled after it changed', `"changeKey" = 'an earlier one'`],
  ])('reads a file that %s at the next refresh, though the file did not change since', async (_what, state) => {
    google.folder('attic');
    google.add({ id: 'beam', name: 'beam.txt', parents: ['attic'], text: 'The beam is of oak.' });
    const id = await driveA('attic');
    await run(id, 1);
    const { pool } = service.deps.storage.db;
    await pool.query(`update knowledge_items set ${state}, "indexedAt" = null, "contentHash" = null where "dataSourceId" = $1`, [
      id,
    ]);
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ status: 'COMPLETED', listedCount: 0, failedCount: 0 });
    const { rows } = await pool.query(
      `select "indexStatus" as status, "changeKey" = "listedKey" as "isRead", "indexedAt" is not null as "isIndexed" from knowledge_items
       where "dataSourceId" = $1`,
      [id],
    );
    expect(rows).toEqual([{ status: 'INDEXED', isRead: true, isIndexed: true }]);
  });

  it('is indexed, cited, refreshed by its changes, and loses what is deleted', async () => {
    google.folder('shop');
    google.add({ id: 'hours', name: 'hours.md', parents: ['shop'], text: '# Hours\n\nThe workshop opens at nine.\n' });
    google.add({
      ...{ id: 'prices', name: 'Prices', parents: ['shop'], mimeType: googleTypes.document },
      exports: { 'text/markdown': '# Prices\n\nA puncture costs fifteen euros.\n' },
    });
    google.add({ id: 'logo', name: 'logo.png', parents: ['shop'], mimeType: 'image/png', text: 'x' });
    const id = await driveA('shop');
    expect(await run(id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 2, skippedCount: 1, isComplete: true });
    expect(await statesOf(id)).toEqual({ hours: 'INDEXED', prices: 'INDEXED', logo: 'SKIPPED' });
    const before = await answer('What does a puncture cost?');
    expect(before).toContain('fifteen euros');
    expect(before).toContain('https://drive.google.com/file/d/prices/view');

    google.change('prices', { content: { 'text/markdown': '# Prices\n\nA puncture costs twenty euros.\n' } });
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ listedCount: 1, changedCount: 1, removedCount: 0 });
    expect(await answer('What does a puncture cost?')).toContain('twenty euros');

    google.remove('hours');
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ listedCount: 0, removedCount: 1 });
    expect(await statesOf(id)).toEqual({ prices: 'INDEXED', logo: 'SKIPPED' });
    await refresh(id, true);
    expect(await run(id, 4)).toMatchObject({ listedCount: 2, isComplete: true });
  });

  it('leaves the pictures of a document out of its passages', async () => {
    const picture = `data:image/png;base64,${'iVBORw0KGgo'.repeat(50_000)}`;
    const markdown = `# Tour\n\nThe tour begins at the mill. ![][image1]\n\n[image1]: <${picture}>\n`;
    google.add({ id: 'tour', name: 'Tour', mimeType: googleTypes.document, exports: { 'text/markdown': markdown } });
    const id = await driveA('tour');
    await run(id, 1);
    const { data } = (await ann.get(`/api/v1/data-sources/${id}/knowledge`)).body;
    expect(data).toMatchObject([{ indexStatus: 'INDEXED', documentCount: 1 }]);
    expect(await answer('Where does the tour begin?')).not.toContain('iVBOR');
  });

  it('stays INDEXED with its error after a refresh that failed, counts the failure, and goes on answering', async () => {
    google.add({ id: 'crane', name: 'crane.md', text: 'The crane lifts nine tons.' });
    const id = await driveA('crane');
    await run(id, 1);
    const statistics = async () => (await ann.get(`/api/v1/data-sources/${id}/indexing-statistics`)).body;
    const before = await statistics();
    expect(before).toMatchObject({ doneCount: 1, failedCount: 0, totalCount: 1 });
    google.change('crane', { text: 'The crane lifts ten tons.' });
    const error = { code: 403, message: 'No access.', errors: [{ reason: 'insufficientFilePermissions' }] };
    google.server.fail({ match: /files\/crane\?alt=media/, status: 403, body: { error } });
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ failedCount: 1 });
    expect(await read(id)).toMatchObject({ indexStatus: 'INDEXED', indexPercentage: '100', errorCode: 'FORBIDDEN' });
    expect(await statistics()).toEqual({ ...before, doneCount: 0, failedCount: 1 });
    expect(await answer('What does the crane lift?')).toContain('nine tons');
    await refresh(id);
    await run(id, 3);
    expect(await read(id)).toMatchObject({ indexStatus: 'INDEXED', errorCode: null });
    expect(await answer('What does the crane lift?')).toContain('ten tons');
  });

  it('says why a file that may not be downloaded is not read, and tries it once in each run', async () => {
    google.folder('closed');
    google.add({ id: 'open', name: 'open.md', parents: ['closed'], text: 'The open file.' });
    google.add({ id: 'shut', name: 'shut.md', parents: ['closed'], text: 'The shut file.', canDownload: false });
    google.add({ id: 'lent', name: 'lent.md', parents: ['closed'], text: 'The lent file.' });
    const error = { code: 403, message: 'Ask the owner of lent.md.', errors: [{ reason: 'insufficientFilePermissions' }] };
    google.server.fail({ match: /files\/lent\?alt=media/, status: 403, body: { error }, times: 2 });
    const tries = () => google.server.seen().filter((line) => line === 'GET /drive/v3/files/lent').length;
    const id = await driveA('closed');
    expect(await run(id, 1)).toMatchObject({ status: 'COMPLETED', skippedCount: 0, failedCount: 2 });
    expect(tries()).toBe(1);
    const { data } = (await ann.get(`/api/v1/data-sources/${id}/knowledge`)).body;
    const failures = data.filter((item: { indexStatus: string }) => item.indexStatus === 'FAILED');
    expect(failures.map((item: { uniqueId: string }) => item.uniqueId).toSorted()).toEqual(['lent', 'shut']);
    for (const item of failures) expect(item.errorCode).toBe('FORBIDDEN');
    expect(JSON.stringify(failures)).toContain('Ask the owner of lent.md.');
    expect(JSON.stringify(failures)).toContain('Its owner does not let the connected account download the file.');
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ status: 'COMPLETED', failedCount: 2 });
    expect(tries()).toBe(1);
    google.change('shut', { canDownload: true });
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ status: 'COMPLETED', failedCount: 0 });
    expect(await statesOf(id)).toEqual({ open: 'INDEXED', shut: 'INDEXED', lent: 'INDEXED' });
  });

  it('has the failure of one item where one file is refused, and goes on with an ended token', async () => {
    google.folder('mixed');
    for (const id of ['good', 'bad']) google.add({ id, name: `${id}.md`, parents: ['mixed'], text: `The ${id} file.` });
    const body = { error: { errors: [{ reason: 'insufficientFilePermissions' }] } };
    google.server.fail({ match: /files\/bad\?alt=media/, status: 403, body, times: 10 });
    google.server.fail({ match: /files\/good\?alt=media/, status: 429, headers: { 'retry-after': '0' } });
    const id = await driveA('mixed');
    expect(await run(id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 2, failedCount: 1 });
    expect(await read(id)).toMatchObject({ indexStatus: 'INDEXED', errorCode: 'FORBIDDEN' });
    google.tokens.expire();
    google.add({ id: 'late', name: 'late.md', parents: ['mixed'], text: 'A late file.' });
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ status: 'COMPLETED', addedCount: 1 });
    google.tokens.expire();
    google.tokens.refresh = 'another';
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
    expect(await read(id)).toMatchObject({ indexStatus: 'INDEXED', errorCode: 'AUTH' });
    google.tokens.refresh = 'refresh-1';
  });

  it('removes more than half only when a second run agrees, also of changes that are told once', async () => {
    google.folder('pair');
    for (const id of ['left', 'right']) google.add({ id, name: `${id}.md`, parents: ['pair'], text: `The ${id} file.` });
    const id = await driveA('pair');
    await run(id, 1);
    google.remove('left');
    google.remove('right');
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ removedCount: 0, heldCount: 2 });
    await refresh(id);
    expect(await run(id, 3)).toMatchObject({ removedCount: 2 });
  });

  it('keeps a file that a listing passed over because another one was moved meanwhile', async () => {
    google.folder('gap');
    for (const id of ['first', 'second', 'third']) google.add({ id, name: `${id}.md`, parents: ['gap'], text: `The ${id}.` });
    google.folder('below', 'gap');
    const id = await driveA('gap');
    expect(await run(id, 1)).toMatchObject({ addedCount: 3, isComplete: true });
    google.pageSize = 1;
    google.server.fail({ match: /q=%27gap%27.*pageToken=page-1/, before: () => google.change('first', { parents: ['below'] }) });
    await refresh(id, true);
    expect(await run(id, 2)).toMatchObject({ isComplete: false, removedCount: 0 });
    await refresh(id);
    await run(id, 3);
    google.pageSize = 100;
    expect(await statesOf(id)).toEqual({ first: 'INDEXED', second: 'INDEXED', third: 'INDEXED' });
  });

  it('says what to do when it is not there', async () => {
    const id = await driveA('nowhere');
    expect(await run(id, 1)).toMatchObject({ status: 'FAILED', errorCode: 'NOT_FOUND' });
    expect(await read(id)).toMatchObject({ indexStatus: 'FAILED', errorMessage: expect.stringContaining('Share it') });
  });
});

describe('a folder of OneDrive', () => {
  it('of a shared library is indexed, cited, refreshed by the delta, and loses what is deleted', async () => {
    graph.drive('library', 'Library');
    graph.add({ id: 'team', driveId: 'library' });
    const rules = {
      id: 'rules',
      name: 'rules.md',
      driveId: 'library',
      parentId: 'team',
      text: '# Rules\n\nVisitors sign in at gate four.\n',
    };
    graph.add(rules);
    graph.add({ id: 'menu', name: 'menu.md', driveId: 'library', parentId: 'team', text: '# Menu\n\nFriday is soup day.\n' });
    graph.add({ id: 'tour', name: 'tour.md', driveId: 'library', parentId: 'team', text: '# Tour\n\nIt lasts an hour.\n' });
    const id = await driveB('team', { driveId: 'library' });
    expect((await read(id)).data).toMatchObject({ fileId: 'team', driveId: 'library' });
    expect(await run(id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 3, isComplete: true });
    const before = await answer('Where do visitors sign in?');
    expect(before).toContain('gate four');
    expect(before).toContain('https://cloud.example/library/rules');

    graph.tokens.expire();
    graph.change('rules', { text: '# Rules\n\nVisitors sign in at gate seven.\n' });
    graph.remove('menu');
    await refresh(id);
    expect(await run(id, 2)).toMatchObject({ listedCount: 1, changedCount: 1, removedCount: 1 });
    expect(await answer('Where do visitors sign in?')).toContain('gate seven');
    expect(await statesOf(id)).toEqual({ rules: 'INDEXED', tour: 'INDEXED' });
    expect(graph.storage.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  it.each([
    ['driveId', ''],
    ['driveId', 'x'.repeat(501)],
  ])('needs a fitting %s', async (name, value) => {
    const body = { oauthTokenId: await connected('DRIVE_B'), fileId: 'f', filename: 'f', [name]: value };
    const reply = await ann.post(`/api/v1/ais/${aiId}/data-sources/drive-b`, body);
    expect(reply).toMatchObject({ status: 400, body: { error: { param: name } } });
  });
});
