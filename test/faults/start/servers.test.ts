import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { parley } from '../../support/processes/command-line.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { newFolder, testServerUrl } from '../../support/storage/databases.ts';
import { startOwnPostgres } from '../../support/storage/postgres.ts';
import { startStore } from '../../support/storage/s3.ts';

const folder = newFolder();
afterEach(killProcesses);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = (more: Readonly<Record<string, string>>) => ({
  DATA_DIR: folder,
  PARLEY_MASTER_KEY: 'a master key for tests only',
  PARLEY_ADMIN_KEY: 'k'.repeat(40),
  ...more,
});

/** A start and `doctor` say the same. */
async function expectRefusal(values: Readonly<Record<string, string>>, words: string): Promise<void> {
  const process = startProcess(values);
  expect(await process.ended()).toBe(1);
  expect(process.output()).toContain('Parley cannot start: ');
  expect(process.output()).toContain(words);
  const doctor = await parley('doctor', { ...values, PORT: '0' });
  expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining(words)]);
}

if (testServerUrl === undefined)
  console.info('Database servers that cannot be used are tested on a server only: set TEST_DATABASE_URL.');
else
  describe('a database server that cannot be used', () => {
    it('is named: a user without rights, then a standby', { timeout: 300_000 }, async () => {
      const server = await startOwnPostgres();
      try {
        await onServer(
          server.url,
          'CREATE ROLE guest LOGIN; CREATE DATABASE empty; CREATE DATABASE closed; GRANT CREATE ON DATABASE empty TO guest',
        );
        await onServer(databaseOf(server.url, 'closed'), 'GRANT ALL ON SCHEMA public TO guest');
        const asGuest = (database: string) =>
          env({ DATABASE_URL: databaseOf(server.url, database).replace('parley@', 'guest@') });
        await expectRefusal(
          asGuest('empty'),
          'the user may not make tables. Give the user the right to: GRANT ALL ON SCHEMA public',
        );
        await expectRefusal(asGuest('closed'), 'the user may not make a schema for the job queue');
        await server.restartAsStandby();
        await expectRefusal(env({ DATABASE_URL: server.url }), 'it is a standby, which only reads. Name the primary server.');
      } finally {
        await server.close();
      }
    });
  });

describe('a bucket', () => {
  it('that lets nothing be deleted is refused, with the rights that are needed', { timeout: 120_000 }, async () => {
    const store = await startStore();
    store.fault = ({ method }) => (method === 'DELETE' ? { status: 403, code: 'AccessDenied' } : undefined);
    await expectRefusal(
      env({ ...store.env, DATA_DIR: newFolder() }),
      'the key may not do this. It needs s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject',
    );
    await store.close();
  });

  it('that is full can be started on: what is there is read', { timeout: 120_000 }, async () => {
    const store = await startStore();
    store.fault = ({ method }) => (method === 'PUT' ? { status: 507, code: 'XMinioStorageFull' } : undefined);
    const process = startProcess(env({ ...store.env, DATA_DIR: newFolder() }));
    expect(await process.url()).toMatch(/^http/);
    await process.kill('SIGTERM');
    await store.close();
  });
});

function databaseOf(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // One by one: CREATE DATABASE takes no company.
    for (const statement of sql.split('; ')) await client.query(statement);
  } finally {
    await client.end();
  }
}
