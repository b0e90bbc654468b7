import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareFolder } from '../../../src/storage/ground/opening/folders.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { newFolder } from '../../support/storage/databases.ts';

const sources = fileURLToPath(new URL('../../../src', import.meta.url));

const virtualFolders: readonly [string, (folder: string) => string, RegExp][] =
  process.platform === 'linux'
    ? [
        ['it is below /proc', () => '/proc/data/parley', /virtual file system/],
        ['it is a folder of /proc', () => '/proc/self/fd', /virtual file system/],
        ['it is below /sys', () => '/sys/kernel/data', /virtual file system/],
      ]
    : [];

describe('a folder that a setting names', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(async () => {
    await killProcesses();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is made with those above it, and may be there already', () => {
    const path = join(folder, 'a', 'b', 'c');
    prepareFolder(path, 'DATA_DIR');
    prepareFolder(path, 'DATA_DIR');
    expect(readdirSync(path)).toEqual([]);
  });

  it.each<[string, (folder: string) => string, RegExp]>([
    ['a file stands there', (at) => fileAt(at), /a file stands where a folder is needed/],
    ['a file stands on the way', (at) => join(fileAt(at), 'a', 'b'), /a file stands where a folder is needed/],
    ['links go round', (at) => loopAt(at), /circle of links/],
    ['its name is too long', (at) => join(at, 'x'.repeat(300)), /too long/],
    ...virtualFolders,
  ])('is refused in plain words when %s', (_case, pathIn, words) => {
    const path = pathIn(folder);
    expect(() => prepareFolder(path, 'DATA_DIR')).toThrow(words);
    expect(() => prepareFolder(path, 'DATA_DIR')).toThrow(`The folder ${path} (DATA_DIR) cannot be used`);
  });

  if (process.platform === 'linux') {
    it.each<[string, Readonly<Record<string, string>>]>([
      ['DATA_DIR', { DATA_DIR: '/proc/data/parley' }],
      ['BLOB_URL', { BLOB_URL: 'file:///proc/data/blobs' }],
    ])('ends the start at once, without a stack: %s below /proc', async (name, env) => {
      const parley = startProcess({ DATA_DIR: join(folder, 'data'), PARLEY_ADMIN_KEY: 'k'.repeat(40), ...env });
      expect(await parley.ended()).toBe(1);
      expect(parley.output()).toMatch(new RegExp(`^Parley cannot start: The folder /proc/data/.* \\(${name}\\) cannot be used`));
      expect(parley.output()).not.toContain('    at ');
    });
  }

  it('is never made by a call that may hang', () => {
    const recursive = /mkdir(?:Sync)?\([^;]*recursive/s;
    expect(filesWith(recursive)).toEqual([]);
  });
});

describe('a connection to a database', () => {
  it('is opened in one place, which gives it a listener for errors', () => {
    const opening = /new (?:pg\.)?(?:Pool|Client)\(|\.connect\(\)/;
    // Guarded requests, the clients of OpenAI-compatible models and of traces have pools of HTTP connections; a listener opens what `openClient` made;
    // transactions of Prisma, migrations, checks and moves take connections of a pool; the link to Redis listens for its errors; the client of an MCP server speaks HTTP or to a child process.
    const others = [
      'engine/egress/dispatchers.ts',
      'engine/models/openai/client.ts',
      'engine/tools/mcp/sessions/session.ts',
      'storage/ground/migrations/concurrent-migration.ts',
      'storage/ground/database.ts',
      // A kind of pool, which pool.ts makes.
      'storage/ground/embedded/yielding-pool.ts',
      'storage/ground/opening/server-check.ts',
      'storage/ground/opening/shared-files.ts',
      // Another kind.
      'storage/ground/opening/shared-pool.ts',
      'storage/ground/signals/postgres.ts',
      'storage/move/copy-table.ts',
      'storage/ground/redis/link.ts',
    ];
    expect(filesWith(opening).filter((path) => !others.includes(path))).toEqual(['storage/ground/opening/pool.ts']);
  });
});

function filesWith(pattern: RegExp): readonly string[] {
  return readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('generated'))
    .filter((path) => pattern.test(readFileSync(join(sources, path), 'utf8')))
    .sort();
}

function fileAt(folder: string): string {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  return path;
}

function loopAt(folder: string): string {
  mkdirSync(join(folder, 'links'));
  const [one, two] = [join(folder, 'links', 'one'), join(folder, 'links', 'two')];
  symlinkSync(one, two);
  symlinkSync(two, one);
  return join(one, 'data');
}
