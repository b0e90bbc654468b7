import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parley } from '../support/processes/command-line.ts';
import { killProcesses, type ParleyProcess, startProcess } from '../support/processes/process.ts';
import { emptyPlace, newFolder, type Place, testServerUrl } from '../support/storage/databases.ts';
import { startStore } from '../support/storage/s3.ts';

if (testServerUrl === undefined) {
  console.info('Folders of files with a database server are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database has its files beside it', () => expect(testServerUrl).toBeUndefined());
} else describe('local files with a database server', localFiles);

function localFiles(): void {
  let place: Place;
  let folders: string[];
  beforeEach(async () => {
    place = await emptyPlace();
    folders = [newFolder(), newFolder()];
  });
  afterEach(async () => {
    await killProcesses();
    await place.remove();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  /** Without BLOB_URL, unless it is named. */
  function envOf(folder: string | undefined, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
    const { BLOB_URL: _shared, ...env } = place.env;
    return { ...env, DATA_DIR: folder ?? '', PARLEY_ADMIN_KEY: 'k'.repeat(40), LOG_LEVEL: 'warn', ...more };
  }
  async function refusal(process: ParleyProcess): Promise<string> {
    expect(await process.ended()).toBe(1);
    expect(process.output()).toMatch(/^Parley cannot start: The /);
    return process.output();
  }
  async function started(env: Readonly<Record<string, string>>): Promise<ParleyProcess> {
    const process = startProcess(env);
    await process.url();
    return process;
  }

  it('belong to the machine that began, also after a restart; another folder is refused, and doctor says so', async () => {
    const first = await started(envOf(folders[0]));
    const words = /are in another folder or store than .*Set BLOB_URL to a store or folder that all instances share/;
    expect(await refusal(startProcess(envOf(folders[1])))).toMatch(words);
    await first.kill('SIGTERM');
    await (await started(envOf(folders[0]))).kill('SIGTERM');
    const { code, out } = await parley('doctor --json', envOf(folders[1], { PORT: '0' }));
    expect([code, out]).toEqual([1, expect.stringMatching(words)]);
    expect((await parley('doctor', envOf(folders[0], { PORT: '0' }))).out).toContain('Nothing is wrong');
  });

  it('may be a folder that all share: by its marker, or by BLOB_URL', async () => {
    await started(envOf(folders[0]));
    const marker = (folder: string | undefined) => join(folder ?? '', 'blobs', '.parley-installation');
    // The second sees the folder of the first, as on a shared volume.
    await started(envOf(folders[1], { BLOB_URL: `file://${join(folders[0] ?? '', 'blobs')}` }));
    expect(readFileSync(marker(folders[0]), 'utf8').trim()).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('of another database are refused, also with BLOB_URL', async () => {
    await (await started(envOf(folders[0]))).kill('SIGTERM');
    const other = await emptyPlace();
    const { BLOB_URL: _shared, ...env } = other.env;
    await (await started({ ...envOf(folders[1]), ...env, DATA_DIR: folders[1] ?? '' })).kill('SIGTERM');
    const words = /holds the files of another database/;
    expect(await refusal(startProcess(envOf(folders[1])))).toMatch(words);
    expect(await refusal(startProcess(envOf(folders[0], { BLOB_URL: `file://${join(folders[1] ?? '', 'blobs')}` })))).toMatch(
      words,
    );
    await other.remove();
  });

  it('are refused for a database that keeps its files in a bucket', async () => {
    const store = await startStore();
    await (await started(envOf(folders[0], store.env))).kill('SIGTERM');
    expect(await refusal(startProcess(envOf(folders[0])))).toMatch(/are in another folder or store/);
    await store.close();
  });

  it('are told how to be restored without their marker', async () => {
    await (await started(envOf(folders[0]))).kill('SIGTERM');
    const marker = join(folders[0] ?? '', 'blobs', '.parley-installation');
    rmSync(marker);
    const [, id = '', path = ''] = /write (\S+) into (\S+)\./.exec(await refusal(startProcess(envOf(folders[0])))) ?? [];
    expect(path).toBe(marker);
    writeFileSync(path, id);
    await started(envOf(folders[0]));
  });
}
