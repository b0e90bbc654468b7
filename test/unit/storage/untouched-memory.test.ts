import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileProgram } from '../../../src/storage/database/embedded/program.ts';
import { prepareDatabaseFolder } from '../../../src/storage/database/embedded/template.ts';
import { leaveMemoryUntouched } from '../../../src/storage/database/embedded/untouched-memory.ts';

/** What the program of the database exports of its C library. */
interface Program {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _mmap(address: number, bytes: number, protection: number, flags: number, file: number, offset: bigint): number;
}

const megabyte = 1024 * 1024;
const parent = mkdtempSync(join(tmpdir(), 'parley-untouched-'));
let db: PGlite;

beforeAll(async () => {
  const folder = join(parent, 'database');
  await prepareDatabaseFolder(folder, () => Promise.reject(new Error('the template does not fit')));
  db = await PGlite.create({ dataDir: folder, pgliteWasmModule: await compileProgram() });
});
afterAll(async () => {
  await db.close();
  rmSync(parent, { recursive: true });
});

describe('shared memory of the embedded database', () => {
  it('is not resident before it is used', () => {
    const before = process.memoryUsage.rss();
    const pointer = mapAnonymous(256 * megabyte);
    const grownBytes = process.memoryUsage.rss() - before;
    expect(
      program()
        .HEAPU8.subarray(pointer, pointer + 256 * megabyte)
        .every((byte) => byte === 0),
    ).toBe(true);
    expect(grownBytes).toBeLessThan(64 * megabyte);
  });

  it('is zero where something else was before', () => {
    const dirty = program()._malloc(8 * megabyte);
    program().HEAPU8.fill(0xff, dirty, dirty + 8 * megabyte);
    program()._free(dirty);
    const pointer = mapAnonymous(megabyte);
    expect(pointer).toBeGreaterThanOrEqual(dirty);
    expect(pointer + megabyte).toBeLessThan(dirty + 8 * megabyte);
    expect(
      program()
        .HEAPU8.subarray(pointer, pointer + megabyte)
        .every((byte) => byte === 0),
    ).toBe(true);
  });
});

it('a program without the known loop is left as it is', () => {
  const other = Buffer.from('0061736d01000000', 'hex');
  expect(leaveMemoryUntouched(other)).toBe(other);
});

/** Read anew each time: it is another array when the memory has grown. */
function program(): Program {
  return db.Module as unknown as Program;
}

function mapAnonymous(bytes: number): number {
  const [readAndWrite, privateAnonymous] = [3, 0x22];
  return program()._mmap(0, bytes, readAndWrite, privateAnonymous, -1, 0n);
}
