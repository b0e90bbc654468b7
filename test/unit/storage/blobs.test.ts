import { readdirSync, readlinkSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/settings.ts';
import { readBlobAddress } from '../../../src/storage/blobs/address.ts';
import type { Blobs } from '../../../src/storage/blobs/blobs.ts';
import { createDiskBlobs } from '../../../src/storage/blobs/disk.ts';
import { openS3Blobs } from '../../../src/storage/blobs/s3/open.ts';
import { partBytes } from '../../../src/storage/blobs/s3/upload.ts';
import { newFolder } from '../../support/storage/databases.ts';
import { startStore, type TestStore } from '../../support/storage/s3.ts';

interface Bench {
  readonly blobs: Blobs;
  /** What unfinished writes have left. */
  leftovers(): Promise<number>;
  /** A moment after which everything that is there now was written before. */
  later(): Date;
  close(): Promise<void>;
}

async function onDisk(): Promise<Bench> {
  const folder = newFolder();
  return {
    blobs: createDiskBlobs(folder),
    leftovers: async () => readdirSync(join(folder, '.incoming')).length,
    later() {
      const past = new Date(Date.now() - 60_000);
      for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) utimesSync(join(folder, path), past, past);
      return new Date();
    },
    close: async () => rmSync(folder, { recursive: true }),
  };
}

let store: TestStore | undefined;

async function inBucket(prefix: string): Promise<Bench> {
  const started = await startStore(prefix);
  store = started;
  const settings = loadSettings(started.env);
  const address = readBlobAddress(settings);
  if (address.kind !== 's3') throw new Error('no bucket');
  const blobs = await openS3Blobs(address, settings);
  return {
    blobs,
    leftovers: async () => started.openUploads(),
    later: () => new Date(Date.now() + 60_000),
    async close() {
      await blobs.close();
      await started.close();
    },
  };
}

const large = Buffer.alloc(2 * partBytes + 12_345, 'a page of text ');
/** A whole part and some bytes of another one. */
const twoParts = large.subarray(0, partBytes + 12_345);
const pieces = (content: Buffer, bytes: number) =>
  Readable.from(
    Array.from({ length: Math.ceil(content.length / bytes) }, (_, at) => content.subarray(at * bytes, (at + 1) * bytes)),
  );

describe.each([
  ['on disk', onDisk, large.length],
  ['in a bucket', () => inBucket(''), large.length],
  // A prefix changes the name of an object, whatever its size.
  ['below a prefix of a bucket', () => inBucket('files/of-parley'), 10],
])('blobs %s', (_place, open, sizeMax) => {
  let bench: Bench;
  let blobs: Blobs;
  beforeAll(async () => {
    bench = await open();
    blobs = bench.blobs;
  });
  afterAll(() => bench.close());

  it('give back what was put, with its size and hash', async () => {
    const written = await blobs.put('org_1/file/a', Readable.from([Buffer.from('hello '), Buffer.from('world')]), 11);
    expect(written).toEqual({ sizeBytes: 11, sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' });
    expect(String(await blobs.read('org_1/file/a'))).toBe('hello world');
    expect(String(await buffer(await blobs.get('org_1/file/a')))).toBe('hello world');
  });

  const sizes: readonly (readonly [string, number])[] = [
    ['nothing', 0],
    ['a byte', 1],
    ['one part', partBytes],
    ['a byte more than a part', partBytes + 1],
    ['several parts', large.length],
  ];
  it.each(sizes.filter(([, bytes]) => bytes <= sizeMax))('keep every byte of content of any size: %s', async (_size, bytes) => {
    const content = large.subarray(0, bytes);
    // As one piece, too, what fits one part and what does not.
    const isWhole = bytes < partBytes || bytes === large.length;
    for (const form of [...(isWhole ? [content] : []), pieces(content, 65_536)]) {
      const { sizeBytes } = await blobs.put('org_1/file/large', form, bytes);
      expect(sizeBytes).toBe(bytes);
      expect(content.equals(await blobs.read('org_1/file/large'))).toBe(true);
    }
    expect(await bench.leftovers()).toBe(0);
  });

  const limits: readonly (readonly [string, number])[] = [
    ['small', 10],
    ['large', partBytes + 10],
  ];
  it.each(limits.filter(([, limit]) => limit <= sizeMax))(
    'refuse more than the limit and keep what stood there before: %s content',
    async (_size, limit) => {
      await blobs.put('org_1/file/b', Buffer.from('first'), 10);
      const content = Readable.from([Buffer.alloc(limit), Buffer.alloc(1)]);
      await expect(blobs.put('org_1/file/b', content, limit)).rejects.toMatchObject({ code: 'REQUEST_TOO_LARGE' });
      expect(String(await blobs.read('org_1/file/b'))).toBe('first');
      expect(await bench.leftovers()).toBe(0);
    },
  );

  const breaks: readonly (readonly [string, number])[] = [
    ['little', 4],
    ['more than a part', partBytes + 4],
  ];
  it.each(breaks.filter(([, bytes]) => bytes <= sizeMax))(
    'keep nothing of an upload that broke off after %s',
    async (_much, bytes) => {
      const broken = Readable.from(
        (async function* () {
          yield Buffer.alloc(bytes);
          throw new Error('the client left');
        })(),
      );
      await expect(blobs.put('org_1/file/c', broken, large.length)).rejects.toThrow('the client left');
      await expect(blobs.read('org_1/file/c')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(await bench.leftovers()).toBe(0);
    },
  );

  it('are gone once deleted, and deleting again is no error', async () => {
    await blobs.put('org_1/file/d', Buffer.from('x'), 1);
    await blobs.delete('org_1/file/d');
    await blobs.delete('org_1/file/d');
    await expect(blobs.get('org_1/file/d')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are listed by their age, and nothing newer is', async () => {
    const before = new Date(Date.now() - 3_600_000);
    await blobs.put('org_2/file/e', Buffer.from('x'), 1);
    const listed = async (moment: Date) => (await Array.fromAsync(blobs.listOlder(moment))).flat();
    expect(await listed(before)).toEqual([]);
    expect(await listed(bench.later())).toContain('org_2/file/e');
  });

  it('of an organization go together, and no others', async () => {
    for (const key of ['org_3/file/a', 'org_3/other/b', 'org_33/file/c']) await blobs.put(key, Buffer.from('x'), 1);
    await blobs.deleteOrganization('org_3');
    await blobs.deleteOrganization('org_3');
    await expect(blobs.get('org_3/file/a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(blobs.get('org_3/other/b')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(String(await blobs.read('org_33/file/c'))).toBe('x');
    expect(await blobs.holdsOrganizations()).toBe(true);
  });

  it.each(['../outside', 'a/../../outside', '/etc/passwd', 'a//b', '', '.incoming/x', 'a/./b', 'a\\..\\b'])(
    'never leave their place: %j is no key',
    async (key) => {
      await expect(blobs.put(key, Buffer.from('x'), 1)).rejects.toThrow('not a blob key');
      await expect((async () => blobs.read(key))()).rejects.toThrow('not a blob key');
    },
  );
});

describe('blobs in a bucket', () => {
  let bench: Bench;
  let blobs: Blobs;
  beforeAll(async () => {
    bench = await inBucket('kept');
    blobs = bench.blobs;
    await blobs.put('org_1/file/large', twoParts, twoParts.length);
  });
  afterEach(() => {
    if (store !== undefined) store.fault = () => undefined;
  });
  afterAll(() => bench.close());
  const failing = (
    isMeant: (method: string, query: URLSearchParams) => boolean,
    times: number,
    fault: 'reset' | { status: number; code: string } | { cutAtByte: number },
  ) => {
    let left = times;
    if (store === undefined) throw new Error('no store');
    store.fault = ({ method, query }) => {
      if (left === 0 || !isMeant(method, query)) return undefined;
      left -= 1;
      return fault;
    };
  };

  it.each([
    ['the connection is lost', 'reset' as const, twoParts],
    ['the store is busy', { status: 503, code: 'SlowDown' }, twoParts.subarray(0, 1_000_000)],
    ['the store fails', { status: 500, code: 'InternalError' }, twoParts.subarray(0, 1_000_000)],
  ])('are written all the same when %s once or twice', async (_what, fault, content) => {
    failing((method) => method === 'PUT', 2, fault);
    await blobs.put('org_1/file/tried', pieces(content, 100_000), content.length);
    expect(content.equals(await blobs.read('org_1/file/tried'))).toBe(true);
    expect(await bench.leftovers()).toBe(0);
  });

  it('are read to the end when connections break within them, from where they broke', async () => {
    failing((method) => method === 'GET', 2, { cutAtByte: 1_000_000 });
    expect(twoParts.equals(await blobs.read('org_1/file/large'))).toBe(true);
  });

  it('break off with an error, not with a shorter file, when they break again and again', async () => {
    failing((method) => method === 'GET', 100, { cutAtByte: 1_000 });
    await expect(blobs.read('org_1/file/large')).rejects.toMatchObject({ code: 'OVERLOADED' });
  });

  it('say that a store that stays away cannot be reached, and leave nothing of a write', async () => {
    failing((method, query) => method === 'PUT' && query.get('partNumber') === '2', 100, 'reset');
    const put = blobs.put('org_1/file/lost', pieces(twoParts, 1_000_000), twoParts.length);
    await expect(put).rejects.toMatchObject({ code: 'OVERLOADED', detail: { retryAfterSeconds: 1 } });
    failing(() => false, 0, 'reset');
    await expect(blobs.get('org_1/file/lost')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await bench.leftovers()).toBe(0);
  });

  it('say that a full store is full, at once', async () => {
    failing((method) => method === 'PUT', 1, { status: 507, code: 'XMinioStorageFull' });
    await expect(blobs.put('org_1/file/full', Buffer.from('x'), 1)).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect(blobs.get('org_1/file/full')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are there when only the reply to the last request of an upload was lost', async () => {
    if (store === undefined) throw new Error('no store');
    let isLost = false;
    store.fault = ({ method, query }) => {
      if (isLost || method !== 'POST' || !query.has('uploadId')) return undefined;
      isLost = true;
      return { cutAtByte: 0 };
    };
    await blobs.put('org_1/file/lost-reply', pieces(twoParts, 1_000_000), twoParts.length);
    expect(twoParts.equals(await blobs.read('org_1/file/lost-reply'))).toBe(true);
  });

  it('lose the parts of an upload whose process died, at the sweep', async () => {
    failing((method) => method === 'DELETE', 100, 'reset');
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(partBytes + 1);
        throw new Error('killed');
      })(),
    );
    await expect(blobs.put('org_1/file/killed', broken, twoParts.length)).rejects.toThrow('killed');
    failing(() => false, 0, 'reset');
    expect(await bench.leftovers()).toBe(1);
    await Array.fromAsync(blobs.listOlder(new Date(Date.now() - 3_600_000)));
    expect(await bench.leftovers()).toBe(1);
    await Array.fromAsync(blobs.listOlder(bench.later()));
    expect(await bench.leftovers()).toBe(0);
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'wrong' }, /AWS_SECRET_ACCESS_KEY/],
    ['an unknown key', { AWS_ACCESS_KEY_ID: 'nobody' }, /AWS_ACCESS_KEY_ID/],
    ['another bucket', { BLOB_URL: 's3://another-bucket?endpoint=ENDPOINT' }, /no such bucket/],
    ['no store', { BLOB_URL: 's3://parley-files?endpoint=http://127.0.0.1:9' }, /nothing listens at its endpoint/],
  ])('refuse a start in plain words: %s', async (_what, env, words) => {
    if (store === undefined) throw new Error('no store');
    const given = { ...store.env, ...env };
    const settings = loadSettings({ ...given, BLOB_URL: String(given.BLOB_URL).replace('ENDPOINT', store.url) });
    const address = readBlobAddress(settings);
    if (address.kind !== 's3') throw new Error('no bucket');
    const opening = openS3Blobs(address, settings);
    await expect(opening).rejects.toThrow(words);
    await expect(opening).rejects.toMatchObject({ name: 'StartRefusal' });
  });
});

it.runIf(process.platform === 'linux')('a blob of a folder is open only while it is read', async () => {
  const folder = newFolder();
  const blobs = createDiskBlobs(folder);
  await blobs.put('org_1/open', Readable.from([Buffer.alloc(200_000, 'a')]), 1_000_000);
  const openCount = () =>
    readdirSync('/proc/self/fd').filter((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`).startsWith(folder);
      } catch {
        return false;
      }
    }).length;
  const unread = await blobs.get('org_1/open');
  expect(openCount()).toBe(0);
  unread.destroy();
  const begun = await blobs.get('org_1/open');
  for await (const _block of begun) {
    expect(openCount()).toBe(1);
    break;
  }
  await expect.poll(openCount).toBe(0);
  expect(await buffer(await blobs.get('org_1/open'))).toEqual(Buffer.alloc(200_000, 'a'));
  await expect.poll(openCount).toBe(0);
  rmSync(folder, { recursive: true });
});

it('a folder takes nothing when its disk has less room than the database needs, and keeps nothing of it', async () => {
  const folder = newFolder();
  const blobs = createDiskBlobs(folder, Number.MAX_SAFE_INTEGER);
  await expect(blobs.put('org_1/file/a', Buffer.from('x'), 1)).rejects.toMatchObject({ code: 'ENOSPC' });
  await expect(blobs.get('org_1/file/a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files).toEqual([]);
  rmSync(folder, { recursive: true });
});
