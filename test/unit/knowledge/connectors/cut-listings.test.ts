import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDriveA } from '../../../../src/engine/knowledge/connectors/google-drive/google-drive.ts';
import { createDriveB } from '../../../../src/engine/knowledge/connectors/onedrive/onedrive.ts';
import { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import { MicrosoftGraph } from '../../../fixtures/upstreams/microsoft-graph.ts';
import { BenchSource, connectorBench } from '../../../support/knowledge/connector-bench.ts';
import { sampled, stepsApart } from '../../../support/property/sample.ts';

/** A stand-in of a drive, by what people do in it. */
interface Drive {
  readonly home: string;
  folder(id: string, parent: string): void;
  file(id: string, parent: string): void;
  shortcut(id: string, target: string, parent: string): void;
  move(id: string, parent: string): void;
  remove(id: string): void;
  /** Says what a request for the second page of a folder does before it is answered. */
  beforeSecondPage(folder: string, happen: () => void): void;
  /** Says that the second page of a folder is not known any more, each time that it is asked for. */
  forgetSecondPage(folder: string): void;
  forgetChanges(): void;
  listedFolders(): number;
  source(fileId: string): BenchSource;
  close(): Promise<void>;
}

async function google(): Promise<Drive> {
  const drive = await GoogleDrive.start();
  const bench = connectorBench({ GOOGLE_API_URL: drive.url }, { access: drive.tokens.access });
  drive.pageSize = 2;
  return {
    home: 'my-drive',
    folder: (id, parent) => drive.folder(id, parent),
    file: (id, parent) => drive.add({ id, parents: [parent], text: id }),
    shortcut: (id, target, parent) => drive.shortcut(id, target, parent),
    move: (id, parent) => drive.change(id, { parents: [parent] }),
    remove: (id) => (drive.files.get(id)?.mimeType === 'text/plain' ? drive.remove(id) : drive.trash(id)),
    beforeSecondPage: (folder, before) => drive.server.fail({ match: new RegExp(`q=%27${folder}%27.*pageToken=page-2`), before }),
    forgetSecondPage: (folder) =>
      drive.server.fail({ match: new RegExp(`q=%27${folder}%27.*pageToken=page-2`), status: 400, body: {}, times: 1_000 }),
    forgetChanges: () => {
      drive.oldestToken = Number.POSITIVE_INFINITY;
    },
    listedFolders: () => drive.server.seen().filter((line) => line.endsWith('/files')).length,
    source: (fileId) => new BenchSource(createDriveA(bench.services), 'DRIVE_A', { fileId, filename: fileId }),
    close: async () => {
      await bench.close();
      await drive.server.close();
    },
  };
}

async function graph(): Promise<Drive> {
  const drive = await MicrosoftGraph.start();
  const bench = connectorBench({ MICROSOFT_API_URL: drive.url }, { access: drive.tokens.access }, '127.0.0.1');
  drive.pageSize = 2;
  return {
    home: 'own-root',
    folder: (id, parent) => drive.folder(id, parent),
    file: (id, parentId) => drive.add({ id, parentId, text: id }),
    shortcut: (id, target, parentId) => drive.add({ id, parentId, remote: { id: target, driveId: 'own' } }),
    move: (id, parentId) => drive.change(id, { parentId }),
    remove: (id) => drive.remove(id),
    beforeSecondPage: (folder, before) => drive.server.fail({ match: new RegExp(`${folder}/children.*skiptoken=2`), before }),
    forgetSecondPage: (folder) =>
      drive.server.fail({ match: new RegExp(`${folder}/children.*skiptoken=2`), status: 400, body: {}, times: 1_000 }),
    forgetChanges: () => drive.forget(),
    listedFolders: () => drive.server.seen().filter((line) => line.endsWith('/children')).length,
    source: (fileId) => new BenchSource(createDriveB(bench.services), 'DRIVE_B', { fileId, filename: fileId }),
    close: async () => {
      await bench.close();
      await drive.close();
    },
  };
}

/**
 * handbook { a, b, c, d { deep }, to-linked }, linked, outside: two or three files in each, so that a folder has several pages.
 */
function handbook(drive: Drive): void {
  drive.folder('handbook', drive.home);
  for (const id of ['linked', 'outside']) drive.folder(id, drive.home);
  for (const id of ['a', 'b', 'c', 'd']) drive.folder(id, 'handbook');
  drive.folder('deep', 'd');
  drive.shortcut('to-linked', 'linked', 'handbook');
  for (const id of ['a', 'b', 'c', 'd', 'deep', 'linked', 'outside']) {
    for (const number of [1, 2, 3]) drive.file(`${id}${number}`, id);
  }
}

const all = ['a', 'b', 'c', 'd', 'deep', 'linked'].flatMap((id) => [1, 2, 3].map((number) => `${id}${number}`));
const without = (...ids: readonly string[]) => all.filter((id) => !ids.includes(id));
const isOf = (folder: string) => (id: string) => new RegExp(`^${folder}\\d`).test(id);

/** What people do while a listing stands still, and what the source holds then. */
const breaks: readonly (readonly [string, (drive: Drive) => void, readonly string[]])[] = [
  ['nothing happens', () => undefined, all],
  [
    'a file is added to every folder',
    (drive) => {
      for (const id of ['a', 'b', 'c', 'd', 'deep', 'linked']) drive.file(`${id}4`, id);
    },
    [...all, 'a4', 'b4', 'c4', 'd4', 'deep4', 'linked4'],
  ],
  [
    'the first file of every folder is deleted',
    (drive) => {
      for (const id of ['a', 'b', 'c', 'd', 'deep', 'linked']) drive.remove(`${id}1`);
    },
    without('a1', 'b1', 'c1', 'd1', 'deep1', 'linked1'),
  ],
  [
    'files are moved from the first folders to the last ones',
    (drive) => {
      drive.move('a1', 'd');
      drive.move('b2', 'deep');
    },
    all,
  ],
  [
    'files are moved from the last folders to the first ones',
    (drive) => {
      drive.move('d1', 'a');
      drive.move('deep2', 'b');
      drive.move('c3', 'handbook');
    },
    all,
  ],
  [
    'files are moved out and in',
    (drive) => {
      drive.move('a1', 'outside');
      drive.move('d3', 'outside');
      drive.move('outside1', 'b');
    },
    [...without('a1', 'd3'), 'outside1'],
  ],
  ['a folder is moved into another one', (drive) => drive.move('deep', 'a'), all],
  ['a folder is moved out', (drive) => drive.move('d', 'outside'), all.filter((id) => !isOf('d')(id) && !isOf('deep')(id))],
  ['a folder is moved in', (drive) => drive.move('outside', 'c'), [...all, 'outside1', 'outside2', 'outside3']],
  ['a folder is deleted', (drive) => drive.remove('b'), all.filter((id) => !isOf('b')(id))],
  ['a shortcut is deleted', (drive) => drive.remove('to-linked'), all.filter((id) => !isOf('linked')(id))],
  [
    'a file is deleted and the service forgets its changes',
    (drive) => {
      drive.remove('d1');
      drive.forgetChanges();
    },
    without('d1'),
  ],
];

describe.each([
  ['Google Drive', google],
  ['OneDrive', graph],
])('a listing of %s', (_name, start) => {
  let drive: Drive;
  beforeEach(async () => {
    drive = await start();
    handbook(drive);
  });
  afterEach(() => drive.close());

  /** Cuts the listing off after some of its pages, or each, each time on a drive of its own. */
  async function eachCut(happen: (drive: Drive) => void, isKnown: boolean, check: (source: BenchSource) => Promise<void>) {
    for (let pagesMax = 1; ; pagesMax += stepsApart) {
      const source = drive.source('handbook');
      if (isKnown) await source.run();
      const isForced = isKnown;
      const first = await source.run({ isForced, pagesMax });
      if (source.place === undefined) {
        expect([pagesMax > 8, first.isComplete]).toEqual([true, true]);
        return;
      }
      happen(drive);
      await source.run({ isForced });
      await check(source);
      await drive.close();
      drive = await start();
      handbook(drive);
    }
  }

  it.each(sampled(breaks))('goes on after each cut without losing what is there, though %s', async (_case, happen, expected) => {
    const kept = all.filter((id) => expected.includes(id));
    await eachCut(happen, true, async (source) => {
      expect(kept.filter((id) => !source.ids.includes(id))).toEqual([]);
    });
  });

  it.each([
    ['of a new source', false],
    ['of a source that was read before', true],
  ])('%s holds what is there after the next run, whatever happens during a break', async (_case, isKnown) => {
    for (const [name, happen, expected] of sampled(breaks)) {
      await eachCut(happen, isKnown, async (source) => {
        await source.run();
        expect([name, source.ids]).toEqual([name, [...expected].sort()]);
      });
    }
  });

  it('that went on after a break is followed by changes alone', async () => {
    const source = drive.source('handbook');
    await source.run({ pagesMax: 2 });
    expect((await source.run()).isComplete).toBe(true);
    drive.listedFolders();
    drive.file('late', 'deep');
    expect(await source.run()).toMatchObject({ isComplete: false, listed: { size: 1 } });
    expect(drive.listedFolders()).toBe(0);
  });

  it('removes nothing when a file of an earlier page is moved to another folder before the next page', async () => {
    for (const target of ['a', 'deep']) {
      drive.beforeSecondPage('c', () => drive.move('c1', target));
      const source = drive.source('handbook');
      for (const id of all) source.items.set(id, { ...known, uniqueId: id });
      await source.run();
      expect(source.ids).toEqual([...all].sort());
      await source.run();
      expect(source.ids).toEqual([...all].sort());
      drive.move('c1', 'c');
    }
  });

  it('with more folders than a place holds removes nothing after a break, and the next run lists once more', async () => {
    const source = drive.source('handbook');
    await source.run();
    await source.run({ isForced: true, pagesMax: 4 });
    source.place = { ...(source.place as object), ids: null };
    drive.move('a1', 'd');
    drive.remove('b1');
    expect((await source.run({ isForced: true })).isComplete).toBe(false);
    expect(without('b1').filter((id) => !source.ids.includes(id))).toEqual([]);
    await source.run();
    expect(source.ids).toEqual(without('b1').sort());
  });

  it('that was cut off once more while it read the changes of the break goes on with them', async () => {
    const source = drive.source('handbook');
    const { pages } = await source.run({ pagesMax: 3 });
    expect(pages).toHaveLength(3);
    for (const id of ['a', 'b', 'c', 'd']) drive.file(`${id}4`, id);
    const { listed } = await source.run({ pagesMax: 8 });
    expect([...listed.keys()].some((id) => id.endsWith('4'))).toBe(true);
    drive.remove('a4');
    drive.remove('c3');
    await source.run();
    await source.run();
    expect(source.ids).toEqual([...without('c3'), 'b4', 'c4', 'd4'].sort());
  });
});

const known = { parentUniqueId: null, name: '', url: null, changeKey: null, filename: '', mimeType: 'text/plain' };

describe.each([
  ['Google Drive', google],
  ['OneDrive', graph],
])('%s', (_name, start) => {
  it('that forgets the pages of a folder again and again ends the run, instead of being asked for ever', async () => {
    const drive = await start();
    try {
      handbook(drive);
      drive.forgetSecondPage('a');
      await expect(drive.source('handbook').run()).rejects.toMatchObject({
        code: 'BAD_REPLY',
        message: expect.stringContaining('forgets the pages of a folder'),
      });
    } finally {
      await drive.close();
    }
  });
});
