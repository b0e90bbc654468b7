import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import { startEmbedded } from '../../../../src/storage/ground/embedded/embedded.ts';
import { lockFolder } from '../../../../src/storage/ground/embedded/lock.ts';
import { prepareDatabaseFolder } from '../../../../src/storage/ground/embedded/new-database.ts';
import { startParams } from '../../../../src/storage/ground/embedded/start-params.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { triesAll } from '../../../support/property/sample.ts';
import { newFolder } from '../../../support/storage/databases.ts';

describe('the embedded database', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('starts anew when its first start was interrupted', async () => {
    mkdirSync(`${folder}/database.unfinished`);
    writeFileSync(`${folder}/database.unfinished/PG_VERSION`, 'half');
    const server = await startEmbedded(folder, loadSettings({}), () => {});
    const client = new Client(server.connection);
    await client.connect();
    const { rows } = await client.query('SELECT datname FROM pg_database');
    await client.end();
    await server.close();
    expect(rows).toEqual([{ datname: 'postgres' }]);
    expect(readdirSync(folder)).not.toContain('database.unfinished');
  });

  it.runIf(triesAll)('keeps its log small without a checkpoint from outside', async () => {
    const server = await startEmbedded(folder, loadSettings({}), () => {});
    const client = new Client(server.connection);
    await client.connect();
    await client.query('CREATE TABLE filler (text text)');
    // About 40 MB of log each.
    for (let round = 0; round < 7; round += 1) {
      await client.query("INSERT INTO filler SELECT repeat('x', 1900) FROM generate_series(1, 20000)");
    }
    const log = join(folder, 'database', 'pg_wal');
    const logBytes = () => readdirSync(log).reduce((sum, name) => sum + statSync(join(log, name)).size, 0);
    await eventually(() => expect(logBytes()).toBeLessThan(180 * 1024 * 1024));
    await client.end();
    await server.close();
  });

  it('keeps the folder it finds', async () => {
    mkdirSync(`${folder}/database`);
    writeFileSync(`${folder}/database/mine`, '');
    expect(await prepareDatabaseFolder(`${folder}/database`)).toBeUndefined();
    expect(readdirSync(`${folder}/database`)).toEqual(['mine']);
  });

  it('gives its folder to one holder at a time, and to the next one after that', () => {
    const unlock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(`${folder} is in use by another Parley process (pid ${process.pid})`);
    unlock();
    lockFolder(folder)();
  });

  it('has 48 MB for pages, and takes them as it reads', async () => {
    const beforeBytes = process.memoryUsage.rss();
    const server = await startEmbedded(folder, loadSettings({}), () => {});
    const grownBytes = process.memoryUsage.rss() - beforeBytes;
    const client = new Client(server.connection);
    await client.connect();
    const { rows } = await client.query('SHOW shared_buffers');
    await client.end();
    await server.close();
    expect(rows).toEqual([{ shared_buffers: '48MB' }]);
    expect(grownBytes).toBeLessThan(160 * 1024 * 1024);
  });

  // PostgreSQL expects zeros in shared memory. PGlite hands out memory that its start may have used before.
  it.runIf(triesAll)('begins with shared memory that is empty behind the parts that PostgreSQL writes at once', async () => {
    const database = join(folder, 'database');
    await prepareDatabaseFolder(database);
    const files = new WatchedFiles(database);
    const db = await PGlite.create({ fs: files, startParams: startParams({ isShared: false }) });
    const { rows } = await db.query<{ end: number }>(
      `SELECT (off + size)::int4 AS "end" FROM pg_shmem_allocations WHERE name = 'XLOG Ctl'`,
    );
    const { before, segmentStart, after } = files.read();
    // The segment came after the look at the memory.
    expect(magicNumberAt(before, segmentStart)).not.toBe(segmentMagicNumber);
    expect(magicNumberAt(after, segmentStart)).toBe(segmentMagicNumber);
    await db.close();
    expect(segmentStart).toBeLessThan(before.length);
    const used = before.subarray(segmentStart);
    // Locks, the list of what is in the segment, and the state of the log.
    expect(used.subarray(rows[0]?.end).every((byte) => byte === 0)).toBe(true);
  });
});

/** PGShmemMagic of PostgreSQL's storage/pg_shmem.h: the first number of every segment, written when it is made. */
const segmentMagicNumber = 679_834_894;

function magicNumberAt(memory: Uint8Array, offset: number): number {
  return new DataView(memory.buffer, memory.byteOffset).getInt32(offset, true);
}

interface PgliteModule {
  readonly HEAPU8: Uint8Array;
  readonly FS: { readonly filesystems: { readonly NODEFS: NodeFiles } };
  _pgl_shmat(id: number, address: number, flags: number): number;
}
interface NodeFiles {
  realPath(node: unknown): string;
  readonly stream_ops: { open(stream: { readonly node: unknown }): unknown };
}

/** Copies the memory of PostgreSQL when it reads its state, the last step before it asks for shared memory. */
class WatchedFiles extends NodeFS {
  #module: PgliteModule | undefined;
  #before = new Uint8Array();

  override async init(pg: PGlite, options: Parameters<NodeFS['init']>[1]): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options);
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), (module) => this.#watch(module)] } };
  }

  read() {
    if (this.#module === undefined) throw new Error('PostgreSQL did not start');
    const segmentStart = this.#module._pgl_shmat(1, 0, 0);
    return { before: this.#before, segmentStart, after: this.#module.HEAPU8 };
  }

  #watch(module: object): void {
    const watched = module as PgliteModule;
    this.#module = watched;
    const files = watched.FS.filesystems.NODEFS;
    const { open } = files.stream_ops;
    files.stream_ops.open = (stream) => {
      if (this.#before.length === 0 && files.realPath(stream.node).endsWith('pg_control')) this.#before = watched.HEAPU8.slice();
      return open(stream);
    };
  }
}
