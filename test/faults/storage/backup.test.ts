import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { createDatabase, databaseUrl, dropDatabase, newFolder, testServerUrl } from '../../support/storage/databases.ts';

const adminKey = 'pk-test-administrator-key-of-40-characters';
const page = readFileSync(join(import.meta.dirname, '../../../docs/backup.md'), 'utf8');
const kind = testServerUrl === undefined ? 'embedded' : 'server';

/** The commands of the page below a mark, such as `backup: server`. */
function commandsOf(mark: string): string {
  const [, block] = new RegExp(`<!-- ${mark} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  if (block === undefined) throw new Error(`docs/backup.md has no commands "${mark}"`);
  return block;
}

describe(`docs/backup.md, on ${kind === 'server' ? 'a server' : 'the embedded database'}`, () => {
  const folders = [newFolder(), newFolder()] as const;
  const backupFolder = mkdtempSync(join(tmpdir(), 'parley-backup-'));
  const restoredName = `parley_restored_${process.pid}`;
  let database: string | undefined;
  beforeAll(async () => {
    if (testServerUrl !== undefined) database = await createDatabase();
  });
  afterAll(async () => {
    await killProcesses();
    for (const name of [database, restoredName]) if (testServerUrl !== undefined && name !== undefined) await dropDatabase(name);
    for (const folder of [...folders, backupFolder]) rmSync(folder, { recursive: true, force: true });
  });

  const settingsOf = (index: 0 | 1): Readonly<Record<string, string>> => {
    const name = index === 0 ? database : restoredName;
    const ofServer =
      name === undefined || testServerUrl === undefined
        ? {}
        : {
            ...{ DATABASE_URL: databaseUrl(name), PARLEY_MASTER_KEY: 'a master key for tests only' },
            BLOB_URL: `file://${join(folders[0], 'blobs')}`,
          };
    return { DATA_DIR: folders[index], PARLEY_ADMIN_KEY: adminKey, DEFAULT_MODEL: 'parley/offline', ...ofServer };
  };

  const run = (mark: string) =>
    execFileSync('sh', ['-e', '-c', commandsOf(mark)], {
      cwd: backupFolder,
      env: {
        ...{ PATH: process.env.PATH ?? '', ...settingsOf(0), RESTORED_DIR: folders[1], RESTORED_NAME: restoredName },
        ...(testServerUrl === undefined ? {} : { MAINTENANCE_URL: testServerUrl, RESTORED_URL: databaseUrl(restoredName) }),
      },
    });

  it('gives back what was there: agents, documents and their answers, but not what came later', {
    timeout: 180_000,
  }, async () => {
    const first = startProcess(settingsOf(0));
    const url = await first.url();
    const ann = new TestClient(() => url, adminKey);
    const { id } = (await ann.post('/api/v1/ais', { name: 'Ada', src: '', description: 'Knows', instructions: 'Answer.' })).body;
    const text = '# Shop\n\nThe marmalade costs nine euros.\n';
    const source = (await addFile(ann, id, 'shop.md', text, 'text/markdown')).body;
    await indexed(ann, source.id);
    // A server is backed up while it runs; an embedded database is not.
    if (kind === 'embedded') expect(await first.kill('SIGTERM')).toBe(0);
    run(`backup: ${kind}`);
    if (kind === 'server') {
      await ann.post('/api/v1/ais', { name: 'Later', src: '', description: 'Late', instructions: 'Answer.' });
      expect(await first.kill('SIGTERM')).toBe(0);
    }
    run(`restore: ${kind}`);
    const restored = startProcess(settingsOf(1));
    const restoredUrl = await restored.url();
    const again = new TestClient(() => restoredUrl, adminKey);
    const names = (await again.get('/api/v1/ais')).body.data.map(({ name }: { readonly name: string }) => name);
    expect([names.includes('Ada'), names.includes('Later')]).toEqual([true, false]);
    const messages = [{ role: 'user', content: 'What does the marmalade cost?' }];
    const reply = await again.post('/api/v1/chat/completions', { model: id, messages });
    expect(reply.body.choices[0].message.content).toContain('nine euros');
  });
});
