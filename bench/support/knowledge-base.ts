import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import type { Embeddings } from '../../src/engine/knowledge/embeddings/embeddings.ts';
import { embeddedText, hashOfText } from '../../src/engine/knowledge/embeddings/passage-text.ts';
import { requestEmbeddings } from '../../src/engine/models/openai/embeddings.ts';
import type { EmbeddingRequest } from '../../src/engine/models/port.ts';
import type { Charge } from '../../src/engine/plan/plan.ts';
import { makeId } from '../../src/entities/ground/ids.ts';
import { loadSettings } from '../../src/settings.ts';
import type { Database } from '../../src/storage/ground/database.ts';
import { openDatabase } from '../../src/storage/ground/opening/open.ts';
import { EmbeddingStore } from '../../src/storage/knowledge/embeddings/embeddings.ts';
import type { NewChunk } from '../../src/storage/knowledge/passages/chunks.ts';
import { ChunkStore } from '../../src/storage/knowledge/passages/chunks.ts';
import { serveStandIn, standIn } from './stand-in-model.ts';

/** Whoever pays for the vectors of questions. */
export const nobody: Charge = { tenantId: '', orgId: '', userId: '', keyId: null, agentId: null, runId: null };

/** A temporary database with one data source: the minimum for searches. `DATABASE_URL` of a disposable database replaces it. */
export interface KnowledgeBase {
  readonly db: Database;
  readonly chunks: ChunkStore;
  readonly allowed: { readonly orgId: string; readonly dataSourceIds: readonly string[] };
  /** Adds an item whose first generation is live at once. */
  addItem(name: string, config: string, chunks: readonly NewChunk[]): Promise<void>;
  /** Makes the vectors of all passages with the stand-in, over HTTP. @returns what searches need. */
  embed(): Promise<Embeddings>;
  close(): Promise<void>;
}

/** @param hasVectors  makes the tables of vectors. */
export async function openKnowledgeBase(hasVectors = false): Promise<KnowledgeBase> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-knowledge-'));
  const { DATABASE_URL } = process.env;
  const settings = loadSettings({
    DATA_DIR: folder,
    ...(hasVectors ? { EMBEDDING_MODEL: 'stand-in/hashing' } : {}),
    ...(DATABASE_URL === undefined ? {} : { DATABASE_URL }),
  });
  const db = await openDatabase(settings, {
    onError: (error) => {
      throw error;
    },
  });
  const chunks = new ChunkStore(db);
  const closers: (() => Promise<void>)[] = [];
  const suffix = Date.now().toString(36);
  const dataSourceId = `ds_${suffix}`;
  await db.prisma.tenant.create({ data: { id: `ten_${suffix}`, name: 'Measured' } });
  await db.prisma.organization.create({ data: { id: `org_${suffix}`, tenantId: `ten_${suffix}`, name: 'Measured' } });
  const source = {
    id: dataSourceId,
    updatedAt: new Date(),
    orgId: `org_${suffix}`,
    ownerUserId: 'user_0',
    name: 'Measured',
    type: 'FILE_UPLOAD',
  };
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
    async embed() {
      if (db.vectors.kind !== 'ready') throw new Error('the database keeps no vectors');
      const store = new EmbeddingStore(db);
      const served = await serveStandIn();
      const pool = new Pool(served.url);
      const upstream = { dispatcher: pool, proxyName: undefined };
      closers.push(async () => {
        await pool.close();
        served.close();
      });
      const model = {
        id: 'stand-in/hashing',
        name: 'hashing',
        embed: (request: EmbeddingRequest, signal: AbortSignal) =>
          requestEmbeddings(upstream, '/embeddings', {}, request, signal),
      };
      const embeddings: Embeddings = {
        store,
        model,
        modelOf: () => model,
        embed: async (_charge, { request }, signal) => {
          const { vectors } = await model.embed({ ...request, model: 'hashing' }, signal);
          return { vectors, tokens: 0 };
        },
        dimensions: undefined,
        timeoutMs: 60_000,
        weight: settings.RETRIEVAL_VECTOR_WEIGHT,
      };
      const space = await store.spaces.makeSpace(model.id, standIn.dimensions);
      for (;;) {
        const pending = await store.nextChunks(dataSourceId, space.id, 256);
        if (pending.length === 0) {
          const { isComplete, marked } = await store.settle(dataSourceId, space.id);
          if (isComplete) return embeddings;
          if (marked === 0) throw new Error('no passage waits for its vector, but the source is not complete');
          continue;
        }
        const texts = pending.map(({ title, headingPath, text }) => embeddedText(title, headingPath, text));
        const { vectors } = await model.embed({ model: 'hashing', input: texts }, AbortSignal.timeout(60_000));
        await store.addVectors(
          dataSourceId,
          space.id,
          pending.map(({ chunkId }, index) => ({
            chunkId,
            textHash: hashOfText(texts[index] ?? ''),
            embedding: vectors[index] ?? null,
          })),
        );
      }
    },
    close: async () => {
      for (const close of closers) await close();
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
