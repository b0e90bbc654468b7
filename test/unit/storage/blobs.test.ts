import { readdirSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { createDiskBlobs } from '../../../src/storage/blobs/disk.ts';
import { newFolder } from '../../support/storage/databases.ts';

describe('blobs on disk', () => {
  const folder = newFolder();
  const blobs = createDiskBlobs(folder);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('give back what was put, with its size and hash', async () => {
    const written = await blobs.put('org_1/file/a', Readable.from([Buffer.from('hello '), Buffer.from('world')]), 11);
    expect(written).toEqual({ sizeBytes: 11, sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' });
    expect(String(await blobs.read('org_1/file/a'))).toBe('hello world');
    expect(String(await buffer(await blobs.get('org_1/file/a')))).toBe('hello world');
  });

  it('refuse more than the limit and keep what stood there before', async () => {
    await blobs.put('org_1/file/b', Buffer.from('first'), 10);
    await expect(blobs.put('org_1/file/b', Readable.from([Buffer.alloc(6), Buffer.alloc(6)]), 10)).rejects.toMatchObject({
      code: 'REQUEST_TOO_LARGE',
    });
    expect(String(await blobs.read('org_1/file/b'))).toBe('first');
    expect(readdirSync(`${folder}/.incoming`)).toEqual([]);
  });

  it('keep nothing of an upload that broke off', async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('the client left');
      })(),
    );
    await expect(blobs.put('org_1/file/c', broken, 100)).rejects.toThrow('the client left');
    await expect(blobs.read('org_1/file/c')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(readdirSync(`${folder}/.incoming`)).toEqual([]);
  });

  it('are gone once deleted, and deleting again is no error', async () => {
    await blobs.put('org_1/file/d', Buffer.from('x'), 1);
    await blobs.delete('org_1/file/d');
    await blobs.delete('org_1/file/d');
    await expect(blobs.get('org_1/file/d')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each(['../outside', 'a/../../outside', '/etc/passwd', 'a//b', '', '.incoming/x', 'a/./b', 'a\\..\\b'])(
    'never leave their folder: %j is no key',
    async (key) => {
      await expect(blobs.put(key, Buffer.from('x'), 1)).rejects.toThrow('not a blob key');
      await expect((async () => blobs.read(key))()).rejects.toThrow('not a blob key');
    },
  );
});
