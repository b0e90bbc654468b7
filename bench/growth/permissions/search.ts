import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Embeddings } from '../../../src/engine/knowledge/embeddings/embeddings.ts';
import { fuse } from '../../../src/engine/knowledge/search/fuse.ts';
import { rankAll } from '../../../src/engine/knowledge/search/search.ts';
import { type AllowedSources, rankChunks } from '../../../src/engine/knowledge/search/words.ts';
import { loadSettings } from '../../../src/settings.ts';
import type { Database } from '../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../src/storage/ground/opening/open.ts';
import { SignalHub } from '../../../src/storage/ground/signals/hub.ts';
import { Signals } from '../../../src/storage/ground/signals/signals.ts';
import { EmbeddingStore } from '../../../src/storage/knowledge/embeddings/embeddings.ts';
import type { NearestPlan } from '../../../src/storage/knowledge/embeddings/nearest.ts';
import { ChunkRanking, type RankedChunk, type ScoredId } from '../../../src/storage/knowledge/passages/chunk-ranking.ts';
import type { AccessGate } from '../../../src/storage/knowledge/permissions/gate.ts';
import { AccessGates } from '../../../src/storage/knowledge/permissions/gates.ts';
import { nobody } from '../../support/knowledge-base.ts';
import {
  buffersSql,
  exactlyScored,
  itemPassages,
  loadPassages,
  makeQuestions,
  middle,
  orgId,
  type Question,
  questionText,
  type Scored,
  sourceId,
  wanted,
} from '../made-up-passages.ts';
import { exactlyNearest, loadVectors, questionVector, vectorModel } from './made-up-vectors.ts';

/**
 * What mirrored permissions cost a search by words and, with `--hybrid`, one by words and vectors together: each question is asked of one source as LENT, and as MIRRORED by persons who open different parts of it,
 * in turns. Prints, for each person, buffers and time beside the LENT search of the same question (medians of the ratios), and how many of the first
 * eight are those of exact BM25, and of exact vectors joined with it, over what the person may open. Ends with 1 when a ratio of medians is above 1.3.
 *
 *     DATABASE_URL=postgres://…/<disposable database> node bench/growth/permissions/search.ts [passages, default 1000000] [--hybrid]
 *
 * The source has 5,000 access lists, each of them with a group of its own and as many documents as the others. Every person is in 300 of these groups.
 */
const listCount = 5_000;
const groupsOfPerson = 300;
/** A prime: the number of topics shares no factor with it. */
const ruleSpread = 5_003;
/** What the persons open besides their 300 groups, as SQL on the number of a list. */
const persons = {
  everything: 'true',
  half: 'number % 2 = 0',
  quarter: 'number % 4 = 0',
  'the 300 groups': 'false',
} as const;
const ratioMax = 1.3;
const rounds = 2;
/** What the service ranks for eight passages, and what each way of searching finds before both are joined. */
const rankedMax = 32;
const legMax = 200;
const { RETRIEVAL_VECTOR_WEIGHT: weight } = loadSettings({ DATA_DIR: '/' });

type PersonName = keyof typeof persons;

/** Independent of what documents are about: each list has documents of all topics. */
const ruleSql = (item: string) => `((${item}) * 7919::bigint % ${ruleSpread} % ${listCount})::int + 1`;
const ruleOf = (item: number) => (((item * 7919) % ruleSpread) % listCount) + 1;
const userId = (name: string) => `user_growth_${name.replaceAll(' ', '_')}`;
/** The 300 groups are spread over all lists. */
const isOwnGroupSql = `number % ${Math.floor(listCount / groupsOfPerson)} = 0 and number / ${Math.floor(listCount / groupsOfPerson)} <= ${groupsOfPerson}`;

/** Permissions of the passages that are there. The rewrite of the table leaves no dead rows, as an update of all would. */
async function loadPermissions(db: Database): Promise<void> {
  await db.runAs('background', () =>
    db.transaction(async (tx) => {
      await tx.execute('SET LOCAL statement_timeout = 0');
      await tx.execute(`SET LOCAL maintenance_work_mem = '1GB'`);
      await tx.execute(`UPDATE data_sources SET access = 'MIRRORED', type = 'API' WHERE id = $1`, [sourceId]);
      for (const name of Object.keys(persons)) {
        await tx.execute(
          `INSERT INTO users (id, "updatedAt", "tenantId", name, email, "emailVerifiedAt")
           SELECT $1, now(), "tenantId", $1, $1 || '@example.org', now() FROM organizations WHERE id = $2`,
          [userId(name), orgId],
        );
        await tx.execute(`INSERT INTO memberships (id, "orgId", "userId", role) VALUES ('mem_' || $2, $1, $2, 'MEMBER')`, [
          orgId,
          userId(name),
        ]);
      }
      await tx.execute(
        `INSERT INTO permission_principals (id, "orgId", directory, kind, key, "membersReadAt")
         SELECT number, $1, $2, 'group', 'group ' || number, now() FROM generate_series(1, ${listCount}) AS number`,
        [orgId, `source:${sourceId}`],
      );
      await tx.execute(
        `INSERT INTO access_sets (id, "dataSourceId", principals, "contentHash")
         SELECT number, $1, array[number], number::text FROM generate_series(1, ${listCount}) AS number`,
        [sourceId],
      );
      await tx.execute(
        'INSERT INTO access_set_principals ("principalId", "setId") SELECT number, number FROM generate_series(1, $1::int) AS number',
        [listCount],
      );
      await tx.execute(
        `INSERT INTO access_rules (id, "dataSourceId", "setIds", "contentHash")
         SELECT number, $1, array[number], number::text FROM generate_series(1, ${listCount}) AS number`,
        [sourceId],
      );
      for (const [index, [name, sharedSql]] of Object.entries(persons).entries()) {
        const [person, shared] = [listCount + 1 + index, listCount + 101 + index];
        await tx.execute(
          `INSERT INTO permission_principals (id, "orgId", directory, kind, key, "membersReadAt")
           VALUES ($1, $3, $4, 'email', $5 || '@example.org', NULL), ($2, $3, $4, 'group', $5, now())`,
          [person, shared, orgId, `source:${sourceId}`, userId(name)],
        );
        await tx.execute(
          `INSERT INTO permission_members ("groupId", "memberId")
           SELECT number, $1 FROM generate_series(1, ${listCount}) AS number WHERE ${isOwnGroupSql} UNION ALL SELECT $2::int, $1::int`,
          [person, shared],
        );
        await tx.execute(
          `INSERT INTO access_set_principals ("principalId", "setId")
           SELECT $1, number FROM generate_series(1, ${listCount}) AS number WHERE ${sharedSql}`,
          [shared],
        );
      }
      await tx.execute(
        `UPDATE knowledge_items SET "accessRuleId" = ${ruleSql(`replace(id, 'ki_growth_', '')::bigint`)} WHERE "dataSourceId" = $1`,
        [sourceId],
      );
      await tx.execute(
        `ALTER TABLE chunks ALTER COLUMN access_rule_id TYPE int USING ${ruleSql(`replace(item_id, 'ki_growth_', '')::bigint`)}`,
      );
      await tx.execute('ANALYZE');
    }),
  );
  await db.execute(
    'VACUUM chunks, knowledge_items, permission_principals, permission_members, access_sets, access_set_principals, access_rules',
  );
}

interface Cost {
  readonly ids: readonly number[];
  readonly buffers: number;
  readonly ms: number;
}
/** How a question is searched: by words, or by words and vectors. */
type Way = 'words' | 'hybrid';

async function search(
  db: Database,
  store: EmbeddingStore,
  way: Way,
  question: Question,
  gate: AccessGate | undefined,
): Promise<Cost> {
  const scope = { orgId, dataSourceIds: [sourceId], ...(gate === undefined ? {} : { gate }) };
  const asked: VectorSearch[] = [];
  const startMs = performance.now();
  const chunks = await find(db, way, question, scope, async (plan) => {
    const found = await store.nearest(plan);
    asked.push({ plan, found });
    return found;
  });
  const ms = performance.now() - startMs;
  // Apart from each other: the search of vectors turns plans off for the rest of its transaction.
  const others = await countBuffers(db, () => find(db, way, question, scope, async () => asked[0]?.found ?? []));
  const nearest = asked.map(({ plan }) => countBuffers(db, () => store.nearest(plan)));
  const buffers = (await Promise.all(nearest)).reduce((sum, one) => sum + one, others);
  return { ids: chunks.slice(0, wanted).map(({ chunkId }) => Number(chunkId) - 1), buffers, ms };
}

interface VectorSearch {
  readonly plan: NearestPlan;
  readonly found: readonly ScoredId[];
}

function countBuffers(db: Database, work: () => Promise<unknown>): Promise<number> {
  return db.transaction(async (tx) => {
    const before = await tx.query<{ buffers: number }>(buffersSql);
    await work();
    const after = await tx.query<{ buffers: number }>(buffersSql);
    return (after[0]?.buffers ?? 0) - (before[0]?.buffers ?? 0);
  });
}

async function find(
  db: Database,
  way: Way,
  question: Question,
  scope: AllowedSources,
  nearest: (plan: NearestPlan) => Promise<readonly ScoredId[]>,
): Promise<readonly RankedChunk[]> {
  const ranking = new ChunkRanking(db);
  if (way === 'words') return rankChunks(ranking, scope, questionText(question), rankedMax);
  const model = { id: vectorModel, name: vectorModel, embed: () => Promise.reject(new Error('no model is asked')) };
  const embeddings: Embeddings = {
    store: Object.assign(new EmbeddingStore(db), { nearest }),
    model,
    modelOf: () => model,
    embed: async () => ({ tokens: 0, vectors: [questionVector(question.passage)] }),
    dimensions: undefined,
    timeoutMs: 60_000,
    weight,
  };
  const asked = { text: questionText(question), context: [], charge: nobody };
  const signal = AbortSignal.timeout(600_000);
  const { chunks, retrieval } = await rankAll({ ranking, embeddings, reranker: undefined }, scope, asked, rankedMax, signal);
  if (retrieval.mode !== 'hybrid') throw new Error(`searched by words alone: ${retrieval.reason}`);
  return chunks;
}

/** What a search of everything that a person may open finds first. */
function fuseExactly(way: Way, words: readonly Scored[], vectors: readonly Scored[]): readonly number[] {
  const toIds = (list: readonly Scored[]) => list.map(({ passage, score }) => ({ id: `${passage}`, score }));
  const ids = way === 'words' ? toIds(words) : fuse(toIds(words), [toIds(vectors)], weight);
  return ids.slice(0, wanted).map(({ id }) => Number(id));
}

const [size = '1000000'] = process.argv.slice(2).filter((word) => word !== '--hybrid');
const passages = Number(size);
const ways: readonly Way[] = process.argv.includes('--hybrid') ? ['words', 'hybrid'] : ['words'];
const { DATABASE_URL } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'parley-growth-permissions-'));
const where = {
  ...(DATABASE_URL === undefined ? {} : { DATABASE_URL }),
  ...(ways.includes('hybrid') ? { EMBEDDING_MODEL: vectorModel } : {}),
};
const db = await openDatabase(loadSettings({ DATA_DIR: folder, DATABASE_STATEMENT_TIMEOUT_MS: '600000', ...where }), {
  onError: (error) => {
    throw error;
  },
});
try {
  if ((await db.query('SELECT 1 FROM data_sources WHERE id = $1', [sourceId])).length === 0) await loadPassages(db, passages);
  if ((await db.query('SELECT 1 FROM access_rules LIMIT 1')).length === 0) await loadPermissions(db);
  await db.execute(`UPDATE data_sources SET access = 'MIRRORED' WHERE id = $1`, [sourceId]);
  const gates = await openGates(db);
  // Searched with and without a gate: a gate names it as MIRRORED, whatever it is.
  await db.execute(`UPDATE data_sources SET access = 'LENT' WHERE id = $1`, [sourceId]);
  if (ways.includes('hybrid')) {
    if (db.vectors.kind !== 'ready') throw new Error('the database keeps no vectors');
    if ((await db.query('SELECT 1 FROM source_embeddings LIMIT 1')).length === 0) await loadVectors(db, passages);
  }
  const questions = makeQuestions(passages, Number(process.env.QUESTIONS ?? 20));
  const store = new EmbeddingStore(db);
  const costs = new Map<string, Cost[][]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, question] of questions.entries()) {
      for (const way of ways) {
        for (const [name, gate] of [['LENT', undefined] as const, ...gates]) {
          const all = costs.get(`${way} ${name}`) ?? questions.map(() => []);
          all[index]?.push(await search(db, store, way, question, gate));
          costs.set(`${way} ${name}`, all);
        }
      }
    }
  }
  const readers = [undefined, ...gates.map(([, gate]) => gate)].map((gate) => {
    const rules = gate === undefined ? undefined : new Set(gate.ruleIds);
    return (passage: number) => rules === undefined || rules.has(ruleOf(Math.floor(passage / itemPassages)));
  });
  const words = exactlyScored(questions, passages, readers, legMax);
  const vectors = ways.includes('hybrid') ? exactlyNearest(questions, passages, readers, legMax) : [];
  for (const way of ways) {
    const toMedians = (name: string) =>
      (costs.get(`${way} ${name}`) ?? []).map((all) => ({
        ids: all[0]?.ids ?? [],
        buffers: middle(all.map(({ buffers }) => buffers)),
        ms: middle(all.map(({ ms }) => ms)),
      }));
    const lent = toMedians('LENT');
    for (const [place, name] of ['LENT', ...gates.map(([person]) => person)].entries()) {
      const own = toMedians(name);
      const exact = questions.map((_question, index) =>
        fuseExactly(way, words[index]?.[place] ?? [], vectors[index]?.[place] ?? []),
      );
      const ratio = (figure: 'buffers' | 'ms') => {
        const all = middle(own.map((one) => one[figure]));
        const p50 = all / middle(lent.map((one) => one[figure]));
        if (p50 > ratioMax + 0.005) process.exitCode = 1;
        const ratios = own.map((one, index) => one[figure] / Math.max(1e-9, lent[index]?.[figure] ?? 0));
        return `${figure} p50 ${all.toFixed(1)}, ${p50.toFixed(2)} × (of one question: median ${middle(ratios).toFixed(2)}, p90 ${middle(ratios, 0.9).toFixed(2)})`;
      };
      const same = own.map(
        ({ ids }, index) => ids.filter((id) => exact[index]?.includes(id)).length / Math.max(1, exact[index]?.length ?? 0),
      );
      console.log(
        `${way}, ${name}: ${ratio('buffers')}, ${ratio('ms')}, first ${wanted} as exact ${(same.reduce((sum, one) => sum + one, 0) / same.length).toFixed(3)}`,
      );
    }
  }
} finally {
  await db.close();
  rmSync(folder, { recursive: true, force: true });
}

/** What the persons open, as a search asks for it, with the cost of that: once in thirty seconds for a person who searches. */
async function openGates(db: Database): Promise<readonly (readonly [PersonName, AccessGate])[]> {
  const gates: (readonly [PersonName, AccessGate])[] = [];
  for (const name of Object.keys(persons) as PersonName[]) {
    const startMs = performance.now();
    const gate = await new AccessGates(db, new Signals(new SignalHub()), 86_400_000).open(
      { orgId, userId: userId(name), keyId: null },
      [sourceId],
    );
    if (gate === undefined || gate.ruleIds.length === 0) throw new Error(`${name} opens nothing`);
    console.log(
      `${name}: opens ${gate.ruleIds.length} of ${listCount} lists, found in ${(performance.now() - startMs).toFixed(1)} ms`,
    );
    gates.push([name, gate]);
  }
  return gates;
}
