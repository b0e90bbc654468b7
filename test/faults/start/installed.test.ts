import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import type { CommandResult } from '../../support/processes/command-line.ts';
import { withService } from '../../support/service.ts';
import { newFolder } from '../../support/storage/databases.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const ofMachine = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);
const ofPackages = [join(root, 'node_modules/.bin'), ofMachine].join(delimiter);
const { service, make } = await withService();

/** A folder of a person who has linked the command, far from that of Parley. */
const folder = newFolder();
const linked = join(folder, 'parley');
const env = { PARLEY_URL: service.url, PARLEY_API_KEY: service.adminKey };

function run(command: string, words: readonly string[], path: string, more: Readonly<Record<string, string>> = {}) {
  return new Promise<CommandResult>((resolve) => {
    const options = { cwd: folder, env: { PATH: path, HOME: folder, ...more } };
    const child = execFile(command, words, options, (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }));
  });
}

describe.each([
  ['the Node of the packages', ofPackages],
  ['the Node of the machine', ofMachine],
])('the linked command, with %s', (_node, path) => {
  beforeAll(() => {
    // As "npm link" does.
    rmSync(linked, { force: true });
    symlinkSync(join(root, packageJson.bin.parley), linked);
    writeFileSync(join(folder, 'notes.md'), '# Opening hours\n\nThe workshop is open from nine to five.\n');
  });

  it('finds files where the person is, and asks', async () => {
    const agent = await make.agent({ owner: service.client(), modelId: 'parley/offline' });
    const added = await run(linked, ['sources', 'add', 'notes.md', '--agent', agent.id], path, env);
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining('1 of 1 indexed') });
    const { code, out } = await run(linked, ['ask', 'When is the workshop open?', '--agent', agent.id], path, env);
    expect([code, out]).toEqual([0, expect.stringContaining('nine to five')]);
  });
  it('checks the installation where Parley is, not where the person is', async () => {
    const { out } = await run(linked, ['doctor', '--json'], path, { DATA_DIR: 'nowhere-yet' });
    expect(out).toContain(JSON.stringify(join(root, 'nowhere-yet')).slice(1, -1));
    expect(out).not.toContain(folder);
  });
  it('is called parley in its help, and gives the exit code on', async () => {
    expect(await run(linked, ['help'], path)).toMatchObject({ code: 0, out: expect.stringContaining('\n  parley <command>') });
    expect(await run(linked, ['nonsense'], path)).toMatchObject({
      code: 2,
      err: expect.stringContaining('no command "nonsense"'),
    });
  });
});

describe('the command on a Node that is too old, without packages', () => {
  const version = execFileSync('node', ['--version'], { env: { PATH: ofMachine }, encoding: 'utf8' });
  const isOld = Number.parseInt(version.slice(1), 10) < 24;

  it.skipIf(!isOld)('says what is missing', async () => {
    const copy = join(folder, 'copy');
    for (const path of [packageJson.bin.parley, 'src/lib/node-version.js', 'package.json']) {
      mkdirSync(join(copy, path, '..'), { recursive: true });
      cpSync(join(root, path), join(copy, path));
    }
    const { code, err } = await run(join(copy, packageJson.bin.parley), ['help'], ofMachine);
    expect([code, err]).toEqual([1, expect.stringContaining('Parley needs Node.js 26 or newer')]);
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));
