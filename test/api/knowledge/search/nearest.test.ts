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
  const byIndex = (limits: ItemLimits = {}, limit = everything) =>
    new Nearest(db, { exactMax: 0, sketchesMax: 0 }).nearest(plan(limits, limit));
  const exactly = (limits: ItemLimits = {}, limit = everything) =>
    new Nearest(db, { exactMax: everything, sketchesMax: 0 }).nearest(plan(limits, limit));
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

    describe('by the sketches of what the person opens', () => {
      const bySketches = (limit: number, sketchesMax = everything, ruleIds = [rule]) =>
        new Nearest(db, { exactMax: 0, sketchesMax }).nearest({
          ...plan({ gate: { ...gate(), ruleIds } }, limit),
          dataSourceIds: [plain, marked],
        });
      const sketchedOf = async (dataSourceId: string) => {
        const counted = `SELECT count(*)::int AS vectors, count(sketched.chunk_id)::int AS sketches, array_agg(DISTINCT access_rule_id) AS rules
          FROM chunk_embeddings AS known LEFT JOIN chunk_sketches AS sketched USING (chunk_id, space) WHERE data_source_id = $1 AND space = $2`;
        return (await sql(counted, [dataSourceId, space.id])).rows[0];
      };

      it('finds the nearest', async () => {
        const found = await bySketches(5);
        const nearest = await exactly({ gate: gate() }, 5);
        expect(found).toHaveLength(5);
        expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
        // Sketches are no vectors: one of five may be missed.
        expect(nearest.filter(({ id }) => found.some((one) => one.id === id)).length).toBeGreaterThanOrEqual(4);
      });

      it('finds no passage whose sketch is far away: the index is not asked', async () => {
        const [best] = await bySketches(5);
        const turn = () => sql('UPDATE chunk_sketches SET sketch = ~sketch WHERE chunk_id = $1', [best?.id]);
        await turn();
        try {
          expect((await bySketches(5)).map(({ id }) => id)).not.toContain(best?.id);
        } finally {
          await turn();
        }
      });

      it('leaves it to the index where the person opens more, and where too few are left', async () => {
        for (const found of [await bySketches(5, 3), await bySketches(everything)])
          expect(found.length).toBe((await exactly({ gate: gate() }, Math.min(everything, found.length))).length);
        expect(inOrder(await bySketches(everything))).toEqual(inOrder(await exactly({ gate: gate() })));
      });

      it('finds nothing of an item whose rule the person does not open, although its sketches say so', async () => {
        const wrong = 'UPDATE chunk_sketches SET access_rule_id = $2 WHERE access_rule_id = $1';
        await sql(wrong, [rule, rule + 1_000]);
        try {
          expect(await bySketches(5, everything, [rule + 1_000])).toEqual([]);
        } finally {
          await sql(wrong, [rule + 1_000, rule]);
        }
      });

      it('has one of each vector whose item has a rule, and follows the rule', async () => {
        const all = (await sketchedOf(marked)).vectors;
        expect(await sketchedOf(marked)).toEqual({ vectors: all, sketches: all, rules: [rule] });
        expect(await sketchedOf(plain)).toMatchObject({ sketches: 0 });
        const setRule = (to: number | null) =>
          sql('UPDATE knowledge_items SET "accessRuleId" = $2 WHERE "dataSourceId" = $1', [marked, to]);
        await setRule(rule + 1);
        expect(await sketchedOf(marked)).toEqual({ vectors: all, sketches: all, rules: [rule + 1] });
        await setRule(null);
        expect(await sketchedOf(marked)).toMatchObject({ sketches: 0 });
        await setRule(rule);
        expect(await sketchedOf(marked)).toEqual({ vectors: all, sketches: all, rules: [rule] });
      });

      it('has statistics, by which the planner says how much a person opens', async () => {
        await service.deps.storage.knowledge.chunks.refreshStatistics();
        const [{ estimate }] = (await sql(`SELECT reltuples::int AS estimate FROM pg_class WHERE relname = 'chunk_sketches'`, []))
          .rows;
        expect(estimate).toBeGreaterThan(0);
      });

      it('has those of vectors that are added later, of what is copied too, and loses those of vectors that are gone', async () => {
        const one =
          'SELECT chunk_id::text AS id, text_hash AS hash, embedding::text FROM chunk_embeddings WHERE data_source_id = $1 AND space = $2';
        const [{ id, hash, embedding }, other] = (await sql(`${one} ORDER BY chunk_id LIMIT 2`, [marked, space.id])).rows;
        const all = await sketchedOf(marked);
        const remove = (chunkId: string) =>
          sql('DELETE FROM chunk_embeddings WHERE chunk_id = $1 AND space = $2', [chunkId, space.id]);
        const vector = { chunkId: id, textHash: hash, embedding: JSON.parse(embedding) as number[] };
        await remove(id);
        expect(await sketchedOf(marked)).toMatchObject({ vectors: all.vectors - 1, sketches: all.sketches - 1 });
        await embeddings?.addVectors(marked, space.id, [vector]);
        expect(await sketchedOf(marked)).toEqual(all);
        await remove(id);
        await embeddings?.copyVectors(marked, space.id, [{ chunkId: id, textHash: other.hash }]);
        expect(await sketchedOf(marked)).toEqual(all);
        await remove(id);
        await embeddings?.addVectors(marked, space.id, [vector]);
      });
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
