import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeId } from '../../src/entities/ids.ts';
import { loadSettings } from '../../src/settings.ts';
import type { Database } from '../../src/storage/database/database.ts';
import { openDatabase } from '../../src/storage/database/open.ts';
import type { NewChunk } from '../../src/storage/knowledge/chunks.ts';
import { type ChunkStore, createChunkStore } from '../../src/storage/knowledge/chunks.ts';

/** A temporary database with one data source: the minimum for searches. `DATABASE_URL` of a disposable database replaces it. */
export interface KnowledgeBase {
  readonly db: Database;
  readonly chunks: ChunkStore;
  readonly allowed: { readonly orgId: string; readonly dataSourceIds: readonly string[] };
  /** Adds an item whose first generation is live at once. */
  addItem(name: string, config: string, chunks: readonly NewChunk[]): Promise<void>;
  close(): Promise<void>;
}

export async function openKnowledgeBase(): Promise<KnowledgeBase> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-knowledge-'));
  const { DATABASE_URL } = process.env;
  const settings = loadSettings({ DATA_DIR: folder, ...(DATABASE_URL === undefined ? {} : { DATABASE_URL }) });
  const db = await openDatabase(settings, {
    onError: (error) => {
      throw error;
    },
  });
  const chunks = createChunkStore(db);
  const suffix = Date.now().toString(36);
  const dataSourceId = `ds_${suffix}`;
  await db.prisma.tenant.create({ data: { id: `ten_${suffix}`, name: 'Measured' } });
  await db.prisma.organization.create({ data: { id: `org_${suffix}`, tenantId: `ten_${suffix}`, name: 'Measured' } });
  const source = { id: dataSourceId, orgId: `org_${suffix}`, ownerUserId: 'user_0', name: 'Measured', type: 'FILE_UPLOAD' };
  await db.prisma.dataSource.create({ data: source });
  return {
    db,
    chunks,
    allowed: { orgId: source.orgId, dataSourceIds: [dataSourceId] },
    addItem: (name, config, rows) =>
      db.transaction(async (client) => {
        const id = makeId('knowledgeItem', Date.now());
        await client.query(
          `INSERT INTO knowledge_items ("id", "updatedAt", "orgId", "dataSourceId", "name", "uniqueId", "type", "indexStatus", "liveGeneration", "lastGeneration")
           VALUES ($1, now(), $2, $3, $4, $1, 'FILE', 'INDEXED', 1, 1)`,
          [id, source.orgId, dataSourceId, name],
        );
        await chunks.add(client, { dataSourceId, itemId: id, generation: 1, config }, rows);
      }),
    close: async () => {
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
