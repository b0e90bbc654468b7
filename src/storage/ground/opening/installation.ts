// Raw SQL: the start runs these queries. Loading Prisma takes 130 ms of processor time, and a start does not wait for it.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Pool } from 'pg';
import type { Settings } from '../../../settings.ts';
import { readBlobAddress } from '../../blobs/address.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import type { Database } from '../database.ts';
import { confirmDatabase } from '../embedded/data-folder.ts';
import { StartRefusal } from './start-refusal.ts';

/** Gives an embedded database an id at its first start, and compares the id with the folder's note. @throws StartRefusal */
export async function identify({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>, db: Database): Promise<void> {
  const id = (await storedId(db.pool)) ?? (await storeId(db.pool, randomUUID()));
  confirmDatabase(resolve(DATA_DIR), id);
}

/** The id of the database; undefined before its first start. */
export async function storedId(client: Pick<Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>('select id from installations limit 1');
  return rows[0]?.id;
}

export async function storeId(client: Pick<Pool, 'query'>, id: string): Promise<string> {
  await client.query('insert into installations (id) values ($1)', [id]);
  return id;
}

/**
 * Blobs in the folder, but no tenant in the database: the blobs belong to another database. Refuse the start, because the sweep of orphans would
 * delete all of them.
 *
 * @throws StartRefusal
 */
export async function refuseBlobsWithoutRows(settings: Settings, blobs: Blobs, db: Database): Promise<void> {
  if (!(await blobs.holdsOrganizations())) return;
  if (!(await hasNoTenant(db.pool))) return;
  const address = readBlobAddress(settings);
  const place = address.kind === 'folder' ? address.path : `The bucket ${address.bucket} (BLOB_URL)`;
  throw new StartRefusal(
    `${place} holds files of organizations, and the database is empty. Nothing was changed. Name the database they belong to with DATABASE_URL or DATA_DIR, restore it from a backup, or move those files away.`,
  );
}

/** True until the first tenant is there. */
export async function hasNoTenant(client: Pick<Pool, 'query'>): Promise<boolean> {
  return (await client.query('select 1 from tenants limit 1')).rowCount === 0;
}
