import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '../../settings.ts';
import { blobFolderOf } from '../blobs/disk.ts';
import type { Database } from './database.ts';
import { confirmDatabase } from './embedded/data-folder.ts';
import { StartRefusal } from './start-refusal.ts';

/** Gives an embedded database a name at its first start, and compares it with the folder's note. @throws StartRefusal */
export async function identify({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>, { pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM installations LIMIT 1');
  const found = rows[0]?.id;
  const id = found ?? randomUUID();
  if (found === undefined) await pool.query('INSERT INTO installations (id) VALUES ($1)', [id]);
  confirmDatabase(resolve(DATA_DIR), id);
}

/**
 * Blobs without any tenant belong to another database: beside this one, they would be swept away as things that nobody refers to.
 *
 * @throws StartRefusal
 */
export async function refuseBlobsWithoutRows(settings: Settings, { pool }: Database): Promise<void> {
  const folder = blobFolderOf(settings);
  if (!readdirSync(folder).some((name) => name.startsWith('org_'))) return;
  const { rows } = await pool.query<{ isEmpty: boolean }>('SELECT NOT EXISTS (SELECT FROM tenants) AS "isEmpty"');
  if (rows[0]?.isEmpty !== true) return;
  throw new StartRefusal(
    `${folder} holds files of organizations, and the database is empty. Nothing was changed. Name the database they belong to with DATABASE_URL or DATA_DIR, restore it from a backup, or move that folder away.`,
  );
}
