import { randomBytes } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type QueryResult } from 'pg';
import type { EmbeddedServer } from '../../../src/storage/ground/embedded/embedded.ts';
import { compileProgram } from '../../../src/storage/ground/embedded/program.ts';
import { takeDatabase } from './reused-databases.ts';

/** The PostgreSQL server of this test run; undefined when the tests run on the embedded database. */
export const testServerUrl = process.env.TEST_DATABASE_URL;

/** The database and folder of a service under test. */
export interface Place {
  readonly env: Readonly<Record<string, string>>;
  /** An embedded database that runs already, outside of the folder. */
  readonly embedded?: EmbeddedServer;
  /** Removes both. The service must be closed. */
  remove(): Promise<void>;
}
/** An empty, migrated database to copy. */
export interface Template {
  readonly folder: string;
  readonly database: string | undefined;
}

/** A place of its own with a database without tables. */
export async function emptyPlace(): Promise<Place> {
  return place(newFolder(), testServerUrl === undefined ? undefined : await createDatabase());
}

/** PostgreSQL, held for as long as this worker runs: each embedded database of the process then finds it compiled, which halves a start. */
let program: Promise<WebAssembly.Module> | undefined;

/** A place of its own that begins as a copy of the template: every table, no row. */
export async function copyOf(template: Template): Promise<Place> {
  if (template.database !== undefined) return place(newFolder(), await createDatabase(template.database));
  program ??= compileProgram();
  await program;
  return place(copyFolder(template), undefined);
}

/** As `copyOf`, with an embedded database that another service may have had before: cheaper, for tests to which the files of the database do not matter. */
export async function reusedCopyOf(template: Template): Promise<Place> {
  if (template.database !== undefined) return copyOf(template);
  program ??= compileProgram();
  await program;
  const { server, giveBack } = await takeDatabase(() => copyFolder(template));
  const { env, remove } = place(
    copyFolder(template, (path) => path !== join(template.folder, 'database')),
    undefined,
  );
  return {
    ...{ env, embedded: server },
    async remove() {
      await giveBack();
      await remove();
    },
  };
}

function copyFolder(template: Template, filter: (path: string) => boolean = () => true): string {
  const folder = newFolder();
  cpSync(template.folder, folder, { recursive: true, filter });
  return folder;
}

function place(folder: string, database: string | undefined): Place {
  return {
    env: {
      DATA_DIR: folder,
      ...(database === undefined
        ? {}
        : {
            DATABASE_URL: databaseUrl(database),
            PARLEY_MASTER_KEY: 'a master key for tests only',
            // As a volume that all processes of a test share, whatever DATA_DIR each has.
            BLOB_URL: `file://${join(folder, 'blobs')}`,
          }),
    },
    async remove() {
      rmSync(folder, { recursive: true, force: true });
      if (database !== undefined) await dropDatabase(database);
    },
  };
}

/** Whether databases of this test run can have vectors: the embedded one always can, a server with pgvector too. */
export async function canHaveVectors(): Promise<boolean> {
  if (testServerUrl === undefined) return true;
  return (await onServer("SELECT FROM pg_available_extensions WHERE name = 'vector'")).rowCount === 1;
}

/** A new folder; in memory where there is plenty, because an embedded database has a thousand files. */
export function newFolder(): string {
  return mkdtempSync(join(hasRoom(memory) ? memory : tmpdir(), folderPrefix()));
}

/** Removes everything that this test run left: shared services are not closed, and a failed test closes nothing. */
export async function removeEverything(): Promise<void> {
  for (const folder of [memory, tmpdir()].flatMap((parent) => globSync(join(parent, `${folderPrefix()}*`)))) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  if (testServerUrl === undefined) return;
  const { rows } = await onServer(`SELECT datname FROM pg_database WHERE datname LIKE '${databasePrefix()}%'`);
  for (const { datname } of rows) await dropDatabase(datname);
}

/** The name of this test run, which tells its process. */
export const newRunName = () => `${process.pid}x${randomBytes(4).toString('hex')}`;

/** Removes the folders of test runs that were killed: they stand in memory, and one run has had nine gigabytes of them. */
export function removeLeftovers(): void {
  const before = Date.now() - 6 * 3_600_000;
  for (const folder of [memory, tmpdir()].flatMap((parent) => globSync(join(parent, 'parley-test-*')))) {
    const pid = Number(/parley-test-(\d+)x/.exec(folder)?.[1]);
    const { mtimeMs = before } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    // A number that another process has meanwhile keeps a folder for six hours, which no run takes.
    if (mtimeMs < before || (pid > 0 && !isRunning(pid))) rmSync(folder, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Of another user, it runs.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

const memory = '/dev/shm';
/** How the folders of this test run begin. */
export const folderPrefix = () => `parley-test-${process.env.TEST_RUN}-`;
const databasePrefix = () => `parley_test_${process.env.TEST_RUN}_`;

function hasRoom(path: string): boolean {
  const neededBytes = 2 * 1024 ** 3;
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize > neededBytes;
  } catch {
    return false;
  }
}

/** @returns its name. */
export async function createDatabase(template?: string): Promise<string> {
  const name = `${databasePrefix()}${randomBytes(8).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${template}`}`);
  return name;
}

export async function dropDatabase(name: string): Promise<void> {
  await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

export function databaseUrl(database: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.href;
}

async function onServer(sql: string): Promise<QueryResult> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  if (testServerUrl === undefined) throw new Error('TEST_DATABASE_URL is not set');
  return testServerUrl;
}
