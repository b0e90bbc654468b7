import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeVectorIndexes } from '../../../../src/storage/ground/vectors/vector-indexes.ts';
import { Nearest } from '../../../../src/storage/knowledge/embeddings/nearest.ts';
import type { ServingSpace } from '../../../../src/storage/knowledge/embeddings/spaces.ts';
import type { ItemLimits } from '../../../../src/storage/knowledge/items/filter.ts';
import { startMeaningServer } from '../../../support/knowledge/embedding-server.ts';
import { addFile, indexed, itemsOf } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const meaning = await startMeaningServer();
const env = { OPENAI_BASE_URL: meaning.url, EMBEDDING_MODEL: 'openai/first', RETRIEVAL_EMBEDDING_TIMEOUT_MS: '60000' };
const { service, make } = await withService('plain', { env });
const {
  db,
  knowledge: { embeddings },
} = service.deps.storage;
afterAll(() => meaning.close());

/** Sections with different words, each a passage of its own. */
const sections = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => {
    const words = Array.from({ length: 24 }, (_, word) => letters((n + 3) * (word + 5) * (name.length + 11))).join(' ');
    return `# ${name} ${letters(n)}\n\n${words}.`;
  }).join('\n\n');
const letters = (number: number) => [...`${number}`].map((digit) => 'abcdefghij'[Number(digit)]).join('');

const kinds = [
  { kind: 'numbers', dimensions: 64, operators: db.kind === 'embedded' ? 'vector_ip_ops' : 'halfvec_ip_ops' },
  { kind: 'halves, made anew', dimensions: 96, operators: 'halfvec_ip_ops' },
  { kind: 'bits', dimensions: 768, operators: 'bit_hamming_ops' },
];

describe.runIf(embeddings !== undefined).each(kinds)('the index of vectors, by $kind', ({ kind, dimensions, operators }) => {
  const everything = 1_000;
  let ann: Person;
  let plain: string;
  let marked: string;
  let others: string;
  let space: ServingSpace;
  let question: readonly number[];

  beforeAll(async () => {
    meaning.dimensions = dimensions;
    ann = await make.person();
    const bob = await make.person();
    const add = async (who: Person, file: string, type: string, content: string) => {
      const { body } = await addFile(who, (await make.agent({ owner: who })).id, file, content, type);
      await indexed(who, body.id);
      return body.id as string;
    };
    plain = await add(ann, 'plain.txt', 'text/plain', sections('Plain', 40));
    marked = await add(ann, 'marked.md', 'text/markdown', sections('Marked', 30));
    others = await add(bob, 'others.txt', 'text/plain', sections('Others', 20));
    const spaces = await eventually(async () => {
      const serving = (await embeddings?.spaces.serving([plain, marked, others])) ?? [];
      expect(serving[0]?.dataSourceIds).toHaveLength(3);
      return serving;
    });
    space = spaces[0] as ServingSpace;
    if (kind === 'halves, made anew') space = await copiedSpace(space);
    // The vector of a passage: nearest to itself, and near to others.
    const { rows } = await db.pool.query<{ embedding: string }>(
      'SELECT embedding::text AS embedding FROM chunk_embeddings WHERE data_source_id = $1 ORDER BY chunk_id LIMIT 1',
      [plain],
    );
    question = JSON.parse(rows[0]?.embedding ?? '[]') as number[];
  });

  /** The space as an earlier version made it, with the index that a move to another database builds. */
  const copiedSpace = async (made: ServingSpace): Promise<ServingSpace> => {
    await db.pool.query('UPDATE embedding_spaces SET "hasFloats" = false WHERE id = $1', [made.id]);
    await db.pool.query(`DROP INDEX chunk_embeddings_space_${made.id}_idx`);
    await makeVectorIndexes(db.pool);
    return { ...made, hasFloats: false };
  };

  const plan = (limits: ItemLimits, limit: number) => ({
    ...{ orgId: ann.orgId, dataSourceIds: [plain, marked, others], space, question, limit, allowedChunks: everything },
    ...limits,
  });
  const byIndex = (limits: ItemLimits = {}, limit = everything) => new Nearest(db, 0).nearest(plan(limits, limit));
  const exactly = (limits: ItemLimits = {}, limit = everything) => new Nearest(db, everything).nearest(plan(limits, limit));
  const scoreOf = ({ id, score }: { id: string; score: number }) => [id, score.toFixed(3)];
  const inOrder = (found: readonly { id: string; score: number }[]) => found.map(scoreOf).sort();
  const scans = async () => {
    const { rows } = await db.pool.query<{ scans: number }>(
      `SELECT coalesce(sum(idx_scan), 0)::int AS scans FROM pg_stat_user_indexes WHERE indexrelname LIKE 'chunk_embeddings_space_%'`,
    );
    return rows[0]?.scans ?? 0;
  };

  it('gives what the comparison of every vector gives, best first, without passages of other organizations', async () => {
    const found = await byIndex();
    expect(inOrder(found)).toEqual(inOrder(await exactly()));
    expect(found.length).toBeGreaterThan(30);
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
    const { rows } = await db.pool.query(
      'SELECT DISTINCT data_source_id FROM chunk_embeddings WHERE chunk_id = ANY($1::bigint[])',
      [found.map(({ id }) => id)],
    );
    expect(rows.map((row) => row.data_source_id).sort()).toEqual([plain, marked].sort());
  });

  it('has what its dimensions need', async () => {
    const { rows } = await db.pool.query<{ definition: string }>(
      'SELECT indexdef AS definition FROM pg_indexes WHERE indexname = $1',
      [`chunk_embeddings_space_${space.id}_idx`],
    );
    expect(space.dimensions).toBe(dimensions);
    expect(rows[0]?.definition).toContain(operators);
  });

  it('is what answers', async () => {
    const before = await scans();
    await byIndex({}, 5);
    await eventually(async () => expect(await scans()).toBeGreaterThan(before));
  });

  it('holds the limits of items', async () => {
    const [item] = await itemsOf(ann, marked);
    for (const limits of [{ itemIds: [item.id] }, { filter: { mimeTypes: ['text/markdown'] } }]) {
      const found = await byIndex(limits);
      expect(found.length).toBeGreaterThan(10);
      expect(inOrder(found)).toEqual(inOrder(await exactly(limits)));
    }
    expect(await byIndex({ filter: { mimeTypes: ['application/pdf'] } })).toEqual([]);
  });

  it('is searched on until enough passages have passed the limits, although nearer ones do not', async () => {
    const [item] = await itemsOf(ann, marked);
    const limits = { itemIds: [item.id] };
    const allowed = new Set((await exactly(limits)).map(({ id }) => id));
    const found = await byIndex(limits, 3);
    expect(found).toHaveLength(3);
    expect(found.filter(({ id }) => !allowed.has(id))).toEqual([]);
  });

  describe('of MIRRORED sources', () => {
    const sql = (text: string, values: readonly unknown[]) => db.pool.query(text, [...values]);
    let rule: number;
    const gate = () => ({ mirroredIds: [plain, marked], ruleIds: [rule], recheckedIds: [] });

    beforeAll(async () => {
      await sql(`UPDATE data_sources SET access = 'MIRRORED' WHERE id = ANY($1::text[])`, [[plain, marked]]);
      const added = `INSERT INTO access_rules ("dataSourceId", "setIds", "contentHash") VALUES ($1, '{1}', $2) RETURNING id`;
      rule = (await sql(added, [marked, `${kind}`])).rows[0].id;
      await sql('UPDATE knowledge_items SET "accessRuleId" = $2 WHERE "dataSourceId" = $1', [marked, rule]);
      return async () => {
        await sql('UPDATE knowledge_items SET "accessRuleId" = NULL WHERE "dataSourceId" = $1', [marked]);
        await sql(`UPDATE data_sources SET access = 'LENT' WHERE id = ANY($1::text[])`, [[plain, marked]]);
      };
    });

    it('finds what the person opens and nothing else, whatever is nearer', async () => {
      for (const limit of [3, everything]) {
        const found = await byIndex({ gate: gate() }, limit);
        expect(found.length).toBeGreaterThanOrEqual(3);
        const { rows } = await sql('SELECT DISTINCT data_source_id FROM chunk_embeddings WHERE chunk_id = ANY($1::bigint[])', [
          found.map(({ id }) => id),
        ]);
        expect(rows).toEqual([{ data_source_id: marked }]);
        expect(found.length).toBe((await exactly({ gate: gate() }, limit)).length);
      }
    });

    it('finds nothing for a person who opens nothing, or of whom it is not known', async () => {
      for (const limits of [{ gate: { ...gate(), ruleIds: [] } }, {}]) {
        expect(await byIndex(limits)).toEqual([]);
        expect(await exactly(limits)).toEqual([]);
      }
    });
  });

  it('finds no passage of a generation that was replaced', async () => {
    const best = (await byIndex({}, 1))[0];
    const replace = (by: number) =>
      db.pool.query('UPDATE knowledge_items SET "liveGeneration" = "liveGeneration" + $2 WHERE "dataSourceId" = $1', [plain, by]);
    await replace(1);
    try {
      const found = await byIndex();
      expect(found.map(({ id }) => id)).not.toContain(best?.id);
      expect(inOrder(found)).toEqual(inOrder(await exactly()));
    } finally {
      await replace(-1);
    }
  });
});
