import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Pool, PoolClient } from 'pg';
import { writeWhole } from '../../../lib/files/write-whole.ts';
import type { Settings } from '../../../settings.ts';
import { readBlobAddress } from '../../blobs/address.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import { storedId, storeId } from './installation.ts';
import { hasTable, withTurn } from './pool.ts';
import { StartRefusal } from './start-refusal.ts';

/** In a folder of files: the id of the database that names them. The dot keeps it out of what counts as a file of somebody. */
const markerName = '.parley-installation';
const lock = 7_215_536;

/**
 * Holds the files of a database server together. A database is used by several machines, a folder belongs to one of them: instances with a folder
 * each would not find one another's files. The first start of a database gives it an id and writes the id into the folder of its files; a later start
 * needs a folder with that id, which a shared volume and the folder of a single machine have. With BLOB_URL the operator has said where the files
 * are: then only the id of another database refuses the start.
 *
 * @throws StartRefusal
 */
export async function confirmFiles(settings: Settings, blobs: Blobs, pool: Pool): Promise<void> {
  const hasFiles = await blobs.holdsOrganizations();
  await withTurn(pool, lock, (client) => confirm(settings, client, hasFiles));
}

async function confirm(settings: Settings, client: PoolClient, hasFiles: boolean): Promise<void> {
  const folder = findFolder(settings);
  const markerId = folder === undefined ? undefined : readMarker(folder);
  const databaseId = await storedId(client);
  if (databaseId === undefined) {
    // A marker without files is of a start that ended before its database kept the id.
    if (folder !== undefined && markerId !== undefined && hasFiles) throw new StartRefusal(ofAnother(folder, markerId));
    const id = markerId ?? randomUUID();
    if (folder !== undefined && markerId === undefined) writeMarker(folder, id);
    await storeId(client, id);
    return;
  }
  const problem = filesProblem(settings, databaseId);
  if (problem !== undefined) throw new StartRefusal(problem);
  if (folder !== undefined && markerId === undefined) writeMarker(folder, databaseId);
}

/** Why a start would refuse the folder of the files, in sentences; undefined when it would not. Changes nothing. */
export async function checkSharedFiles(settings: Settings, pool: Pool): Promise<string | undefined> {
  const databaseId = (await hasTable(pool, 'installations')) ? await storedId(pool) : undefined;
  return databaseId === undefined ? undefined : filesProblem(settings, databaseId);
}

function filesProblem(settings: Settings, databaseId: string): string | undefined {
  const folder = findFolder(settings);
  if (folder === undefined) return undefined;
  const markerId = readMarker(folder);
  if (markerId === databaseId || (markerId === undefined && settings.BLOB_URL !== undefined)) return undefined;
  return markerId === undefined ? withoutMarker(folder, databaseId) : ofAnother(folder, markerId);
}

function withoutMarker(folder: string, id: string): string {
  return (
    `The files of this database (DATABASE_URL) are in another folder or store than ${folder}: other instances would not find what this one keeps. ` +
    'Nothing was changed. Set BLOB_URL to a store or folder that all instances share, or mount the shared folder there. ' +
    `If it is the right folder, restored without its hidden files, write ${id} into ${join(folder, markerName)}.`
  );
}

function ofAnother(folder: string, markerId: string): string {
  return (
    `The folder ${folder} holds the files of another database (${markerId}) than that of DATABASE_URL. Nothing was changed. ` +
    'Name the database that belongs to it with DATABASE_URL, or another place for files with BLOB_URL or DATA_DIR.'
  );
}

function findFolder(settings: Settings): string | undefined {
  const address = readBlobAddress(settings);
  return address.kind === 'folder' ? resolve(address.path) : undefined;
}

function readMarker(folder: string): string | undefined {
  const path = join(folder, markerName);
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  return text === '' ? undefined : text;
}

/** Says that the files of a folder belong to the database with this id. @throws StartRefusal when they belong to another. */
export function markFolder(folder: string, id: string): void {
  const markerId = readMarker(folder);
  if (markerId !== undefined && markerId !== id) throw new StartRefusal(ofAnother(folder, markerId));
  if (markerId === undefined) writeMarker(folder, id);
}

function writeMarker(folder: string, id: string): void {
  writeWhole(join(folder, markerName), `${id}\n`);
}
