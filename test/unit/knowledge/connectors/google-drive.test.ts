import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDriveA } from '../../../../src/engine/knowledge/connectors/google-drive/google-drive.ts';
import { userAgent } from '../../../../src/lib/product.ts';
import { GoogleDrive, googleTypes } from '../../../fixtures/upstreams/google-drive.ts';
import { BenchSource, type BenchToken, type ConnectorBench, connectorBench } from '../../../support/knowledge/connector-bench.ts';

let drive: GoogleDrive;
let bench: ConnectorBench;
let token: BenchToken;

async function begin(env: Readonly<Record<string, string>> = {}, allow?: string): Promise<void> {
  drive = await GoogleDrive.start();
  token = { access: drive.tokens.access };
  bench = connectorBench({ GOOGLE_API_URL: drive.url, GOOGLE_TOKEN_URL: `${drive.url}/token`, ...env }, token, allow);
}
async function end(): Promise<void> {
  await bench.close();
  await drive.server.close();
}
beforeEach(() => begin());
afterEach(end);

const sourceOf = (fileId: string) => new BenchSource(createDriveA(bench.services), 'DRIVE_A', { fileId, filename: fileId });
const foldersAsked = () => drive.server.seen().filter((line) => line.endsWith('/files')).length;

/** handbook { intro, sheets { budget, q1 { plan } } } and a file beside it. */
function handbook(): void {
  drive.folder('handbook');
  drive.add({ id: 'intro', name: 'intro.md', text: 'Welcome.', parents: ['handbook'] });
  drive.folder('sheets', 'handbook');
  drive.add({ id: 'budget', name: 'budget.csv', text: 'a,b', parents: ['sheets'] });
  drive.folder('q1', 'sheets');
  drive.add({ id: 'plan', name: 'plan.txt', text: 'Plan.', parents: ['q1'] });
  drive.add({ id: 'beside', text: 'not in it' });
}

describe('a source of Google Drive', () => {
  it('is one file', async () => {
    drive.add({ id: 'a', name: 'a.md', text: 'Hello.' });
    const source = sourceOf('a');
    const { listed, isComplete } = await source.run();
    expect(isComplete).toBe(true);
    expect([...listed.values()]).toEqual([
      {
        ...{ uniqueId: 'a', parentUniqueId: null, name: 'a.md', filename: 'a.md', mimeType: 'text/plain', sizeBytes: 6 },
        ...{ url: 'https://drive.google.com/file/d/a/view', changeKey: 'f9776f93ac975cd47b598e34d9242d18' },
      },
    ]);
    expect((await source.fetch('a')).text).toBe('Hello.');
  });

  it('is a folder with all that is in it, each item with the folder that it lies in', async () => {
    handbook();
    const source = sourceOf('handbook');
    const { listed, isComplete } = await source.run();
    expect(isComplete).toBe(true);
    expect([...listed.values()].map(({ uniqueId, parentUniqueId }) => [uniqueId, parentUniqueId]).sort()).toEqual([
      ['budget', 'sheets'],
      ['intro', 'handbook'],
      ['plan', 'q1'],
    ]);
  });

  it('has pages of at most 100 items, whatever the folder holds', async () => {
    drive.folder('large');
    for (let index = 0; index < 250; index += 1) drive.add({ id: `f${index}`, text: `${index}`, parents: ['large'] });
    const { pages, listed } = await sourceOf('large').run();
    expect([pages.length, listed.size, Math.max(...pages.map(({ items }) => items.length))]).toEqual([3, 250, 100]);
  });

  it('goes on where it was cut off, and the next run asks for changes alone', async () => {
    handbook();
    drive.pageSize = 1;
    const source = sourceOf('handbook');
    await source.run({ pagesMax: 2 });
    expect(source.ids).toHaveLength(2);
    expect((await source.run()).isComplete).toBe(true);
    expect(source.ids).toEqual(['budget', 'intro', 'plan']);
    expect(await source.run()).toMatchObject({ isComplete: false, listed: { size: 0 } });
  });

  it('begins a folder anew when the token of its pages is forgotten', async () => {
    handbook();
    drive.pageSize = 1;
    drive.server.fail({ match: /pageToken=page-1/, status: 400, body: { error: { errors: [{ reason: 'invalid' }] } } });
    const source = sourceOf('handbook');
    await source.run();
    expect(source.ids).toEqual(['budget', 'intro', 'plan']);
  });

  it('is read with shared drives', async () => {
    drive.add({ id: 'shared', name: 'Team', mimeType: googleTypes.folder, parents: [], driveId: 'shared' });
    drive.add({ id: 'in-shared', parents: ['shared'], driveId: 'shared', text: 'one' });
    const source = sourceOf('shared');
    await source.run();
    drive.add({ id: 'new-in-shared', parents: ['shared'], driveId: 'shared', text: 'two' });
    expect([...(await source.run()).listed.keys()]).toEqual(['new-in-shared']);
    expect(source.ids).toEqual(['in-shared', 'new-in-shared']);
  });
});

describe('documents that Google keeps in forms of its own', () => {
  const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  it.each([
    ['document', 'text/markdown', '.md'],
    ['spreadsheet', xlsx, '.xlsx'],
    ['presentation', 'text/plain', '.txt'],
  ] as const)('a %s comes as %s', async (kind, mimeType, ending) => {
    drive.add({ id: 'd', name: 'Notes', mimeType: googleTypes[kind], exports: { [mimeType]: 'exported' } });
    const source = sourceOf('d');
    const { listed } = await source.run();
    expect(listed.get('d')).toMatchObject({ name: 'Notes', filename: `Notes${ending}`, mimeType });
    expect(await source.fetch('d')).toEqual({ filename: `Notes${ending}`, mimeType, text: 'exported' });
  });

  it('have a change key of their time and version', async () => {
    drive.add({ id: 'd', mimeType: googleTypes.document, exports: { 'text/markdown': 'one' } });
    const source = sourceOf('d');
    const before = (await source.run()).listed.get('d')?.changeKey;
    drive.change('d', { content: { 'text/markdown': 'two' } });
    const after = (await source.run()).listed.get('d')?.changeKey;
    expect([before, after]).toEqual(['2026-11-01T00:01:00.000Z 1', '2026-11-01T00:02:00.000Z 2']);
  });

  it('come by their link when they are too large to export', async () => {
    drive.add({
      id: 'd',
      name: 'Long',
      mimeType: googleTypes.document,
      exports: { 'text/markdown': 'long' },
      isTooLargeToExport: true,
    });
    const source = sourceOf('d');
    await source.run();
    expect((await source.fetch('d')).text).toBe('long');
    expect(drive.server.requests.at(-1)?.headers.authorization).toBe('Bearer token-1');
  });

  it('come by a link to another place through the guard, without the token', async () => {
    await end();
    await begin({}, '127.0.0.1');
    const elsewhere = await GoogleDrive.start();
    try {
      drive.add({ id: 'd', mimeType: googleTypes.document, exports: { 'text/markdown': 'long' }, isTooLargeToExport: true });
      elsewhere.server.fail({ match: /export/, status: 200, body: 'from elsewhere' });
      drive.exportOrigin = elsewhere.url;
      const source = sourceOf('d');
      await source.run();
      expect((await source.fetch('d')).text).toBe('from elsewhere');
      expect(elsewhere.server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    } finally {
      await elsewhere.server.close();
    }
  });

  it('cannot lead to this machine by such a link', async () => {
    const elsewhere = await GoogleDrive.start();
    try {
      drive.add({ id: 'd', mimeType: googleTypes.document, exports: { 'text/markdown': 'long' }, isTooLargeToExport: true });
      drive.exportOrigin = elsewhere.url;
      const source = sourceOf('d');
      await source.run();
      await expect(source.fetch('d')).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(elsewhere.server.requests).toEqual([]);
    } finally {
      await elsewhere.server.close();
    }
  });

  it('say why when no link is there', async () => {
    drive.add({ id: 'd', mimeType: googleTypes.presentation, exports: { 'text/plain': 'long' }, isTooLargeToExport: true });
    const source = sourceOf('d');
    await source.run();
    drive.server.fail({ match: /fields=exportLinks/, status: 200, body: {} });
    await expect(source.fetch('d')).rejects.toMatchObject({ code: 'TOO_LARGE', message: expect.stringContaining('10 MB') });
  });
});

describe('what is listed and not read has a reason', () => {
  it.each([
    ['an image', { mimeType: 'image/png', name: 'photo.png' }, 'UNSUPPORTED', 'an image'],
    ['an archive', { mimeType: 'application/zip', name: 'all.zip' }, 'UNSUPPORTED', 'an archive'],
    ['a form', { mimeType: googleTypes.form }, 'UNSUPPORTED', 'a Google form'],
    ['a large file', { size: '999999999999' }, 'TOO_LARGE', 'UPLOAD_MAX_BYTES'],
    ['a file that may not be downloaded', { canDownload: false }, 'FORBIDDEN', 'owner'],
  ])('%s', async (_case, file, code, part) => {
    drive.add({ id: 'x', text: 'x', ...file });
    const { listed } = await sourceOf('x').run();
    expect(listed.get('x')?.skipped).toEqual({ code, message: expect.stringContaining(part) });
  });

  it('and a program of text is read although its ending is that of videos', async () => {
    drive.add({ id: 'x', name: 'server.ts', mimeType: 'video/mp2t', text: 'export {}' });
    expect((await sourceOf('x').run()).listed.get('x')?.skipped).toBeUndefined();
  });
});

describe('shortcuts', () => {
  it('are followed to files and folders, once, and loops end', async () => {
    handbook();
    drive.folder('far');
    drive.add({ id: 'far-file', text: 'far', parents: ['far'] });
    drive.shortcut('to-far', 'far', 'handbook');
    drive.shortcut('to-far-again', 'far', 'sheets');
    drive.shortcut('to-beside', 'beside', 'handbook');
    drive.shortcut('back', 'handbook', 'far');
    const source = sourceOf('handbook');
    expect((await source.run()).isComplete).toBe(true);
    expect(source.ids).toEqual(['beside', 'budget', 'far-file', 'intro', 'plan']);
    expect(drive.server.requests.filter(({ query }) => query.get('q')?.startsWith("'far'")).length).toBe(1);
  });

  it('to a folder can be the source', async () => {
    handbook();
    drive.shortcut('link', 'sheets');
    const source = sourceOf('link');
    await source.run();
    expect(source.ids).toEqual(['budget', 'plan']);
  });

  it('that lead nowhere are listed with a reason', async () => {
    drive.folder('f');
    drive.shortcut('dead', 'nothing', 'f');
    const { listed, isComplete } = await sourceOf('f').run();
    expect(listed.get('dead')?.skipped).toMatchObject({ code: 'NOT_FOUND' });
    expect(isComplete).toBe(true);
  });

  it('bring changes of what they lead to', async () => {
    handbook();
    drive.shortcut('to-beside', 'beside', 'handbook');
    const source = sourceOf('handbook');
    await source.run();
    drive.change('beside', { text: 'changed' });
    expect([...(await source.run()).listed.keys()]).toEqual(['beside']);
    drive.remove('to-beside');
    await source.run();
    expect(source.ids).toEqual(['budget', 'intro', 'plan']);
  });
});

describe('between full listings', () => {
  beforeEach(handbook);

  it('only changes are asked for', async () => {
    const source = sourceOf('handbook');
    await source.run();
    drive.server.seen();
    const { listed, isComplete } = await source.run();
    expect([listed.size, isComplete, drive.server.seen()]).toEqual([
      0,
      false,
      ['GET /drive/v3/files/handbook', 'GET /drive/v3/changes'],
    ]);
  });

  it('tell what is new, changed, deleted, moved in, and moved out', async () => {
    drive.add({ id: 'leaving', text: 'x', parents: ['q1'] });
    const source = sourceOf('handbook');
    await source.run();
    drive.add({ id: 'new', text: 'new', parents: ['sheets'] });
    drive.change('plan', { text: 'Another plan.' });
    drive.remove('intro');
    drive.change('budget', { trashed: true });
    drive.change('beside', { parents: ['handbook'] });
    drive.change('leaving', { parents: ['my-drive'] });
    drive.add({ id: 'elsewhere', text: 'not in it' });
    const { listed, goneIds } = await source.run();
    expect([...listed.keys()].sort()).toEqual(['beside', 'new', 'plan']);
    expect([...goneIds].sort()).toEqual(['budget', 'intro', 'leaving']);
    expect(foldersAsked()).toBe(3);
  });

  it('follow pages of changes, where the last change of a file wins', async () => {
    const source = sourceOf('handbook');
    await source.run();
    drive.pageSize = 1;
    drive.add({ id: 'short-lived', text: 'x', parents: ['q1'] });
    drive.remove('short-lived');
    drive.change('plan', { text: 'one' });
    drive.change('plan', { text: 'two' });
    const { listed, goneIds } = await source.run();
    expect([[...listed.keys()], goneIds]).toEqual([['plan'], []]);
  });

  it('a new folder, or one that was moved in, brings what is in it', async () => {
    drive.folder('outside');
    drive.folder('deeper', 'outside');
    drive.add({ id: 'deep', text: 'deep', parents: ['deeper'] });
    const source = sourceOf('handbook');
    await source.run();
    drive.change('outside', { parents: ['q1'] });
    await source.run();
    expect(source.ids).toEqual(['budget', 'deep', 'intro', 'plan']);
    drive.change('deep', { text: 'deeper' });
    expect([...(await source.run()).listed.keys()]).toEqual(['deep']);
  });

  it.each([
    ['is deleted', () => drive.trash('sheets')],
    ['is moved out', () => drive.change('sheets', { parents: ['my-drive'] })],
  ])('a folder that %s takes away what is in it', async (_case, happen) => {
    const source = sourceOf('handbook');
    await source.run();
    happen();
    expect((await source.run()).isComplete).toBe(true);
    expect(source.ids).toEqual(['intro']);
  });

  it('a deletion is told again in the next run, because the first one may wait for it', async () => {
    const source = sourceOf('handbook');
    await source.run();
    const plan = source.items.get('plan');
    drive.remove('plan');
    expect((await source.run()).goneIds).toEqual(['plan']);
    if (plan !== undefined) source.items.set('plan', plan);
    expect((await source.run()).goneIds).toEqual(['plan']);
    expect((await source.run()).goneIds).toEqual([]);
  });

  it.each([
    ['forced', async (source: BenchSource) => source.run({ isForced: true })],
    [
      'after Drive forgot the token',
      async (source: BenchSource) => {
        drive.oldestToken = 1_000;
        return source.run();
      },
    ],
    [
      'after a 410',
      async (source: BenchSource) => {
        drive.server.fail({ match: /changes\?/, status: 410, body: {} });
        return source.run();
      },
    ],
    [
      'after thirty days',
      async (source: BenchSource) => {
        bench.now = new Date('2026-12-23T10:00:00Z');
        return source.run();
      },
    ],
    [
      'at the twentieth run',
      async (source: BenchSource) => {
        for (let run = 1; run < 20; run += 1) expect((await source.run()).isComplete).toBe(false);
        return source.run();
      },
    ],
  ])('everything is listed: %s', async (_case, run) => {
    const source = sourceOf('handbook');
    await source.run();
    expect(await run(source)).toMatchObject({ isComplete: true, listed: { size: 3 } });
  });
});

describe('a listing that may have missed something removes nothing', () => {
  beforeEach(handbook);

  it('when Drive did not search everywhere', async () => {
    const source = sourceOf('handbook');
    await source.run();
    drive.isIncomplete = true;
    expect(await source.run({ isForced: true })).toMatchObject({ isComplete: false });
  });

  it('when a folder goes away meanwhile', async () => {
    drive.server.fail({ match: /%27q1%27/, before: () => drive.trash('q1'), status: 404, body: {} });
    expect(await sourceOf('handbook').run()).toMatchObject({ isComplete: false });
  });

  it('when a file before the present page is deleted meanwhile', async () => {
    drive.pageSize = 1;
    for (const id of ['one', 'two', 'three']) drive.add({ id, text: id, parents: ['q1'] });
    const source = sourceOf('handbook');
    drive.server.fail({ match: /%27q1%27.*pageToken=page-2/, before: () => drive.remove('plan') });
    expect(await source.run()).toMatchObject({ isComplete: false, goneIds: ['plan'] });
    expect(await source.run()).toMatchObject({ isComplete: true });
    expect(source.ids).toEqual(['budget', 'intro', 'one', 'three', 'two']);
  });
});

describe('failures', () => {
  it('a token that ended is renewed once', async () => {
    drive.add({ id: 'a', text: 'x' });
    drive.tokens.expire();
    token.renew = async () => {
      const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: drive.tokens.refresh });
      const reply = await fetch(`${drive.url}/token`, { method: 'POST', body, headers: { 'user-agent': userAgent } });
      return ((await reply.json()) as { access_token: string }).access_token;
    };
    await sourceOf('a').run();
    expect(drive.server.seen()).toEqual(['GET /drive/v3/files/a', 'POST /token', 'GET /drive/v3/files/a']);
  });

  it('a token that is refused is the failure of the source', async () => {
    drive.add({ id: 'a', text: 'x' });
    drive.tokens.expire();
    await expect(sourceOf('a').run()).rejects.toMatchObject({ code: 'AUTH' });
  });

  it.each([
    ['429 with seconds', { status: 429, headers: { 'retry-after': '1' } }],
    ['429 with a date', { status: 429, headers: { 'retry-after': new Date(Date.now() + 3_000).toUTCString() } }],
    ['503', { status: 503 }],
    ['403 userRateLimitExceeded', { status: 403, body: { error: { errors: [{ reason: 'userRateLimitExceeded' }] } } }],
    ['403 rateLimitExceeded', { status: 403, body: { error: { errors: [{ reason: 'rateLimitExceeded' }] } } }],
    ['a cut reply', { cutAtByte: 10 }],
  ])('is asked again after %s', async (_case, fault) => {
    drive.add({ id: 'a', text: 'content' });
    drive.server.fail({ match: /files\/a\?fields/, ...fault });
    drive.server.fail({ match: /alt=media/, ...fault });
    const source = sourceOf('a');
    await source.run();
    expect((await source.fetch('a')).text).toBe('content');
  });

  it('the daily limit is left to a later run', async () => {
    drive.add({ id: 'a', text: 'x' });
    drive.server.fail({ match: /files/, status: 403, body: { error: { errors: [{ reason: 'dailyLimitExceeded' }] } } });
    await expect(sourceOf('a').run()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 3_600_000 });
    expect(drive.server.requests).toHaveLength(1);
  });

  it('a right that is lost for one file is the failure of that item, without a retry', async () => {
    handbook();
    const source = sourceOf('handbook');
    await source.run();
    drive.server.seen();
    const body = { error: { errors: [{ reason: 'insufficientFilePermissions' }] } };
    drive.server.fail({ match: /plan\?alt=media/, status: 403, body, times: 10 });
    await expect(source.fetch('plan')).rejects.toMatchObject({ code: 'FORBIDDEN', isRetryable: false });
    expect(drive.server.seen()).toHaveLength(1);
    expect((await source.fetch('budget')).text).toBe('a,b');
  });

  it('a right that is lost for the root is the failure of the source', async () => {
    handbook();
    const source = sourceOf('handbook');
    await source.run();
    const body = { error: { errors: [{ reason: 'insufficientFilePermissions' }] } };
    drive.server.fail({ match: /files\/handbook/, status: 403, body });
    await expect(source.run()).rejects.toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('Share') });
    drive.remove('handbook');
    await expect(source.run()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(source.ids).toEqual(['budget', 'intro', 'plan']);
  });

  it('a source whose only file was deleted loses it; one that never was there says so', async () => {
    drive.add({ id: 'a', text: 'x' });
    const source = sourceOf('a');
    await source.run();
    drive.remove('a');
    expect(await source.run()).toMatchObject({ goneIds: ['a'], isComplete: true });
    await expect(source.run()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each([
    ['accessNotConfigured', 'CONFIGURATION', 'switch on'],
    ['insufficientPermissions', 'AUTH', 'connect it again'],
    ['cannotDownloadAbusiveFile', 'FORBIDDEN', 'harmful'],
  ])('403 %s says what to do', async (reason, code, part) => {
    drive.add({ id: 'a', text: 'x' });
    drive.server.fail({ match: /files/, status: 403, body: { error: { errors: [{ reason }] } } });
    await expect(sourceOf('a').run()).rejects.toMatchObject({ code, message: expect.stringContaining(part) });
  });

  it('a page that names itself as the next one does not go on for ever', async () => {
    handbook();
    drive.pageSize = 1;
    drive.server.fail({ match: /pageToken=page-1/, status: 200, body: { files: [], nextPageToken: 'page-1' } });
    const source = sourceOf('handbook');
    await expect(source.run()).rejects.toMatchObject({ code: 'BAD_REPLY', isRetryable: true });
    await source.run();
    expect(source.ids).toEqual(['budget', 'intro', 'plan']);
  });

  it('a reply without its list is no empty folder', async () => {
    handbook();
    drive.server.fail({ match: /files\?q/, status: 200, body: {} });
    await expect(sourceOf('handbook').run()).rejects.toMatchObject({ code: 'BAD_REPLY' });
  });

  it('a reply that does not come to its end is given up', async () => {
    await end();
    await begin({ CONNECTOR_TIMEOUT_MS: '500' });
    drive.add({ id: 'a', text: 'x' });
    const source = sourceOf('a');
    await source.run();
    drive.server.fail({ match: /alt=media/, gate: new Promise(() => undefined), times: 5 });
    await expect(source.fetch('a')).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });

  it('a file that has more bytes than it said is not kept', async () => {
    drive.add({ id: 'a', text: 'x'.repeat(100) });
    const source = sourceOf('a');
    await source.run();
    await expect(source.fetch('a', 99)).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });
});
