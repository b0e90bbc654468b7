import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDriveB } from '../../../../src/engine/knowledge/connectors/onedrive/onedrive.ts';
import { MicrosoftGraph } from '../../../fixtures/upstreams/microsoft-graph.ts';
import { BenchSource, type BenchToken, type ConnectorBench, connectorBench } from '../../../support/knowledge/connector-bench.ts';

let graph: MicrosoftGraph;
let bench: ConnectorBench;
let token: BenchToken;

async function begin(allow?: string): Promise<void> {
  graph = await MicrosoftGraph.start();
  token = { access: graph.tokens.access };
  bench = connectorBench({ MICROSOFT_API_URL: graph.url }, token, allow);
}
async function end(): Promise<void> {
  await bench.close();
  await graph.close();
}
beforeEach(() => begin('127.0.0.1'));
afterEach(end);

const sourceOf = (fileId: string, data: object = {}) =>
  new BenchSource(createDriveB(bench.services), 'DRIVE_B', { fileId, filename: fileId, ...data });

/** handbook { intro, sheets { budget, q1 { plan } } } and a file beside it. */
function handbook(driveId = 'own'): void {
  const add = (id: string, parentId: string, text?: string) => graph.add({ id, parentId, text, driveId });
  add('handbook', `${driveId}-root`);
  add('intro', 'handbook', 'Welcome.');
  add('sheets', 'handbook');
  add('budget', 'sheets', 'a,b');
  add('q1', 'sheets');
  add('plan', 'q1', 'Plan.');
  add('beside', `${driveId}-root`, 'not in it');
}

describe('a source of OneDrive', () => {
  it('is one file', async () => {
    graph.add({ id: 'a', name: 'a.md', text: 'Hello.' });
    const source = sourceOf('a');
    const { listed, isComplete } = await source.run();
    expect(isComplete).toBe(true);
    expect([...listed.values()]).toEqual([
      {
        ...{ uniqueId: 'a', parentUniqueId: null, name: 'a.md', filename: 'a.md', mimeType: 'text/plain', sizeBytes: 6 },
        ...{ url: 'https://cloud.example/own/a', changeKey: '"c:{a},1"' },
      },
    ]);
    expect((await source.fetch('a')).text).toBe('Hello.');
  });

  it('is fetched from where Graph redirects, through the guard and without the token', async () => {
    graph.add({ id: 'a', text: 'Hello.' });
    await sourceOf('a').run();
    const source = sourceOf('a');
    await source.run();
    await source.fetch('a');
    expect(graph.storage.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    await end();
    await begin();
    graph.add({ id: 'a', text: 'Hello.' });
    const guarded = sourceOf('a');
    await guarded.run();
    await expect(guarded.fetch('a')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(graph.storage.requests).toEqual([]);
  });

  it('is a folder with all that is in it, each item with the folder that it lies in', async () => {
    handbook();
    const { listed, isComplete } = await sourceOf('handbook').run();
    expect(isComplete).toBe(true);
    expect([...listed.values()].map(({ uniqueId, parentUniqueId }) => [uniqueId, parentUniqueId]).sort()).toEqual([
      ['budget', 'sheets'],
      ['intro', 'handbook'],
      ['plan', 'q1'],
    ]);
  });

  it.each([
    ['driveId', () => sourceOf('handbook', { driveId: 'library' })],
    ['both ids in one', () => sourceOf('library/handbook')],
  ])('lies in a shared library: %s', async (_case, make) => {
    graph.drive('library', 'Library');
    handbook('library');
    const source = make();
    await source.run();
    expect(source.ids).toEqual(['budget', 'intro', 'plan']);
    expect((await source.fetch('plan')).text).toBe('Plan.');
    graph.change('plan', { text: 'Another.' });
    expect([...(await source.run()).listed.keys()]).toEqual(['plan']);
    expect(graph.server.requests.filter(({ path }) => path.includes('/me/'))).toEqual([]);
  });

  it('is a whole drive, listed by its delta', async () => {
    handbook();
    for (let index = 0; index < 250; index += 1) graph.add({ id: `f${index}`, text: `${index}`, parentId: 'q1' });
    const source = sourceOf('root');
    const { listed, isComplete, pages } = await source.run();
    expect([isComplete, listed.size, Math.max(...pages.map(({ items }) => items.length)) <= 100]).toEqual([true, 254, true]);
    expect(graph.server.seen().filter((line) => line.endsWith('/children'))).toEqual([]);
    graph.remove('sheets');
    graph.add({ id: 'new', text: 'new' });
    await source.run();
    expect(source.ids).toEqual(['beside', 'intro', 'new']);
  });

  it('goes on where a listing of a whole drive was cut off', async () => {
    graph.pageSize = 2;
    handbook();
    const source = sourceOf('root');
    await source.run({ pagesMax: 1 });
    graph.server.seen();
    expect((await source.run()).isComplete).toBe(true);
    expect(graph.server.seen().filter((line) => line.endsWith('/delta')).length).toBe(2);
  });

  it('begins a whole drive anew after a 410', async () => {
    graph.pageSize = 3;
    handbook();
    graph.server.fail({ match: /token=all-3/, status: 410, headers: { location: `${graph.url}/me/drive/root/delta` }, body: {} });
    const source = sourceOf('root');
    expect((await source.run()).isComplete).toBe(true);
    expect(source.ids).toEqual(['beside', 'budget', 'intro', 'plan']);
  });

  it('lists what cannot be read with a reason', async () => {
    graph.folder('f');
    graph.add({ id: 'notebook', parentId: 'f', isPackage: true });
    graph.add({ id: 'film', name: 'film.mp4', mimeType: 'video/mp4', parentId: 'f', text: 'x' });
    graph.add({ id: 'large', name: 'large.txt', parentId: 'f', text: 'x', size: 10 ** 12 });
    const { listed } = await sourceOf('f').run();
    expect([...listed.values()].map(({ uniqueId, skipped }) => [uniqueId, skipped?.code])).toEqual([
      ['notebook', 'UNSUPPORTED'],
      ['film', 'UNSUPPORTED'],
      ['large', 'TOO_LARGE'],
    ]);
  });

  it('follows what stands for things in other drives, and their changes', async () => {
    graph.drive('library', 'Library');
    graph.add({ id: 'shared', driveId: 'library' });
    graph.add({ id: 'rules', driveId: 'library', parentId: 'shared', text: 'Rules.' });
    graph.add({ id: 'single', driveId: 'library', text: 'Single.' });
    handbook();
    graph.add({ id: 'to-shared', parentId: 'handbook', remote: { id: 'shared', driveId: 'library' } });
    graph.add({ id: 'to-single', parentId: 'handbook', remote: { id: 'single', driveId: 'library' } });
    const source = sourceOf('handbook');
    await source.run();
    expect(source.ids).toEqual(['budget', 'intro', 'plan', 'rules', 'single']);
    expect((await source.fetch('rules')).text).toBe('Rules.');
    graph.change('rules', { text: 'Other rules.' });
    graph.change('single', { text: 'Other.' });
    expect([...(await source.run()).listed.keys()].sort()).toEqual(['rules', 'single']);
    expect((await source.fetch('single')).text).toBe('Other.');
  });
});

describe('the delta of the drive', () => {
  beforeEach(() => handbook());

  it('alone is asked between full listings, and tells what is new, changed, deleted and moved in the folder', async () => {
    graph.add({ id: 'leaving', parentId: 'q1', text: 'x' });
    const source = sourceOf('handbook');
    await source.run();
    graph.server.seen();
    graph.add({ id: 'new', text: 'new', parentId: 'sheets' });
    graph.change('plan', { text: 'Another plan.' });
    graph.remove('intro');
    graph.change('beside', { parentId: 'handbook' });
    graph.change('leaving', { parentId: 'own-root' });
    graph.add({ id: 'elsewhere', text: 'not in it' });
    const { listed, goneIds, isComplete } = await source.run();
    expect(isComplete).toBe(false);
    expect([...listed.keys()].sort()).toEqual(['beside', 'new', 'plan']);
    expect([...goneIds].sort()).toEqual(['intro', 'leaving']);
    expect(graph.server.seen()).toEqual(['GET /v1.0/me/drive/items/handbook', 'GET /v1.0/me/drive/root/delta']);
  });

  it('repeats items, and the last one wins', async () => {
    const source = sourceOf('handbook');
    await source.run();
    graph.pageSize = 1;
    graph.change('plan', { text: 'one' });
    graph.change('plan', { text: 'two' });
    graph.add({ id: 'short-lived', text: 'x', parentId: 'q1' });
    graph.remove('short-lived');
    const { listed, goneIds } = await source.run();
    expect([[...listed.keys()], goneIds, listed.get('plan')?.changeKey]).toEqual([['plan'], [], '"c:{plan},3"']);
  });

  it('tells of a folder that was moved in, whose children it does not repeat', async () => {
    graph.folder('outside');
    graph.add({ id: 'deep', text: 'deep', parentId: 'outside' });
    const source = sourceOf('handbook');
    await source.run();
    graph.change('outside', { parentId: 'q1' });
    await source.run();
    expect(source.ids).toEqual(['budget', 'deep', 'intro', 'plan']);
  });

  it.each([
    ['is deleted', () => graph.remove('sheets')],
    ['is moved out', () => graph.change('sheets', { parentId: 'own-root' })],
  ])('a folder that %s takes away what is in it', async (_case, happen) => {
    const source = sourceOf('handbook');
    await source.run();
    happen();
    await source.run();
    expect(source.ids).toEqual(['intro']);
  });

  it('a folder that is renamed changes nothing', async () => {
    const source = sourceOf('handbook');
    await source.run();
    graph.change('sheets', { name: 'Tables' });
    expect(await source.run()).toMatchObject({ isComplete: false, listed: { size: 0 }, goneIds: [] });
  });

  it.each([
    ['when it asks for that', () => graph.server.fail({ match: /delta\?token=\d/, status: 410, body: {} })],
    ['when it has forgotten where that was', () => graph.forget()],
    ['after an unknown link', () => graph.server.fail({ match: /delta\?token=\d/, status: 400, body: {} })],
  ])('everything is listed %s', async (_case, happen) => {
    const source = sourceOf('handbook');
    await source.run();
    graph.remove('plan');
    happen();
    expect(await source.run()).toMatchObject({ isComplete: true, listed: { size: 2 } });
    expect(source.ids).toEqual(['budget', 'intro']);
  });

  it('is never followed to another address: it would get the token', async () => {
    const body = { value: [], '@odata.nextLink': 'https://elsewhere.example/v1.0/me/drive/items/handbook/children?$skiptoken=1' };
    graph.server.fail({ match: /children/, status: 200, body });
    await expect(sourceOf('handbook').run()).rejects.toMatchObject({ code: 'BAD_REPLY' });
  });
});

describe('failures', () => {
  it.each([
    ['429 with seconds', { status: 429, headers: { 'retry-after': '2' } }],
    ['503 with a date', { status: 503, headers: { 'retry-after': new Date(Date.now() + 3_000).toUTCString() } }],
    ['500', { status: 500 }],
    [
      '403 of too many calls',
      { status: 403, body: { error: { code: 'accessDenied', innerError: { code: 'throttledRequest' } } } },
    ],
    ['423', { status: 423, body: { error: { code: 'resourceLocked' } } }],
    ['a cut reply', { cutAtByte: 10 }],
  ])('is asked again after %s', async (_case, fault) => {
    graph.add({ id: 'a', text: 'content' });
    graph.server.fail({ match: /items\/a$/, ...fault });
    graph.server.fail({ match: /content$/, ...fault });
    const source = sourceOf('a');
    await source.run();
    expect((await source.fetch('a')).text).toBe('content');
  });

  it.each([
    ['cut', { cutAtByte: 10 }, 'UNREACHABLE'],
    ['refused, because its address is too old', { status: 403, body: 'expired' }, 'BAD_REPLY'],
  ])('a content that is %s where it lies is fetched again later', async (_case, fault, code) => {
    graph.add({ id: 'a', text: 'x'.repeat(100) });
    const source = sourceOf('a');
    await source.run();
    graph.storage.fail({ match: /./, ...fault });
    await expect(source.fetch('a')).rejects.toMatchObject({ code, isRetryable: true });
    expect((await source.fetch('a')).text).toHaveLength(100);
  });

  it('a right that is lost for one file is the failure of that item; for the root, of the source', async () => {
    handbook();
    const source = sourceOf('handbook');
    await source.run();
    graph.server.fail({ match: /plan\/content/, status: 403, body: { error: { code: 'accessDenied' } } });
    await expect(source.fetch('plan')).rejects.toMatchObject({ code: 'FORBIDDEN', isRetryable: false });
    graph.server.fail({ match: /items\/handbook$/, status: 403, body: { error: { code: 'accessDenied' } } });
    await expect(source.run()).rejects.toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('Share') });
    graph.remove('handbook');
    await expect(source.run()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(source.ids).toEqual(['budget', 'intro', 'plan']);
  });

  it('a source whose only file was deleted loses it', async () => {
    graph.add({ id: 'a', text: 'x' });
    const source = sourceOf('a');
    await source.run();
    graph.remove('a');
    expect(await source.run()).toMatchObject({ goneIds: ['a'], isComplete: true });
  });

  it('a listing removes nothing when a file before the present page is deleted meanwhile', async () => {
    handbook();
    graph.pageSize = 1;
    for (const id of ['one', 'two', 'three']) graph.add({ id, text: id, parentId: 'q1' });
    const source = sourceOf('handbook');
    graph.server.fail({ match: /q1\/children.*skiptoken=2/, before: () => graph.remove('plan') });
    expect(await source.run()).toMatchObject({ isComplete: false, goneIds: ['plan'] });
    await source.run();
    expect(source.ids).toEqual(['budget', 'intro', 'one', 'three', 'two']);
  });
});
