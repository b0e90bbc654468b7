import { describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { canHaveVectors, copyOf } from '../../../support/storage/databases.ts';

const onError = (error: Error) => {
  throw error;
};

describe.runIf(await canHaveVectors())('a space that is there before its table', () => {
  it.each([
    ['bits', { dimensions: 768, isQuantised: true }, 'bit_hamming_ops'],
    ['floats', { dimensions: 96, hasFloats: true }, 'vector_ip_ops'],
    ['halves', { dimensions: 96 }, 'halfvec_ip_ops'],
  ])('gets its index with the table: %s', async (_kind, members, operators) => {
    const place = await copyOf(inject('template'));
    const without = await openDatabase(loadSettings(place.env), { onError });
    expect(without.vectors.kind).toBe('unneeded');
    const { id } = await without.prisma.embeddingSpace.create({ data: { model: 'openai/moved', ...members } });
    await without.close();
    const db = await openDatabase(loadSettings({ ...place.env, EMBEDDING_MODEL: 'openai/moved' }), { onError });
    expect(db.vectors.kind).toBe('ready');
    const [index] = await db.query<{ definition: string }>('SELECT indexdef AS definition FROM pg_indexes WHERE indexname = $1', [
      `chunk_embeddings_space_${id}_idx`,
    ]);
    expect(index?.definition).toContain(operators);
    await db.close();
    await place.remove();
  });
});

describe.runIf(await canHaveVectors())('vectors that are there before their sketches', () => {
  it('get them, where their item has a rule', async () => {
    const place = await copyOf(inject('template'));
    const settings = loadSettings({ ...place.env, EMBEDDING_MODEL: 'openai/moved' });
    const before = await openDatabase(settings, { onError });
    // As a version without sketches left it.
    await before.execute('DROP TABLE chunk_sketches');
    await before.execute('DROP FUNCTION parley_sketch, parley_sketch_item CASCADE');
    const { id: space } = await before.prisma.embeddingSpace.create({ data: { model: 'openai/moved', dimensions: 3 } });
    const put = (text: string, ...values: readonly unknown[]) => before.execute(text, values);
    await put(`INSERT INTO tenants (id, name, "updatedAt") VALUES ('ten_sketch', 'sketch', now())`);
    await put(
      `INSERT INTO organizations (id, "tenantId", name, "updatedAt") VALUES ('org_sketch', 'ten_sketch', 'sketch', now())`,
    );
    await put(
      `INSERT INTO users (id, "tenantId", email, name, "updatedAt") VALUES ('user_sketch', 'ten_sketch', 'a@example.org', 'a', now())`,
    );
    await put(`INSERT INTO data_sources (id, "updatedAt", "orgId", "ownerUserId", name, type, access)
      VALUES ('ds_sketch', now(), 'org_sketch', 'user_sketch', 'Files', 'API', 'MIRRORED')`);
    for (const [chunk, item, rule] of [
      [7_001, 'ki_open', 5],
      [7_002, 'ki_unknown', null],
    ] as const) {
      await put(
        `INSERT INTO knowledge_items (id, "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, "indexStatus", "accessRuleId")
         VALUES ($1, now(), 'org_sketch', 'ds_sketch', $1, $1, 'FILE', 'INDEXED', $2)`,
        ...[item, rule],
      );
      await put(
        `INSERT INTO chunks (id, data_source_id, item_id, generation, ordinal, length, term_keys, term_counts)
         VALUES ($1, 'ds_sketch', $2, 1, 0, 1, '{1}', '{1}')`,
        ...[chunk, item],
      );
      await put(
        `INSERT INTO chunk_embeddings (chunk_id, space, data_source_id, item_id, generation, text_hash, embedding)
         VALUES ($1, $2, 'ds_sketch', $3, 1, gen_random_uuid(), '[0.6,0,-0.8]')`,
        ...[chunk, space, item],
      );
    }
    await before.close();
    const db = await openDatabase(settings, { onError });
    const sketches = () =>
      db.query('SELECT chunk_id::int AS chunk, access_rule_id AS rule, sketch::text FROM chunk_sketches ORDER BY chunk_id');
    // Five thresholds of three numbers, the lowest threshold last to be passed.
    expect(await sketches()).toEqual([{ chunk: 7_001, rule: 5, sketch: '110110100100100' }]);
    const setRule = (rule: number) =>
      db.execute(`UPDATE knowledge_items SET "accessRuleId" = $1 WHERE id = 'ki_unknown'`, [rule]);
    await setRule(6);
    expect(await sketches()).toMatchObject([{ rule: 5 }, { chunk: 7_002, rule: 6 }]);
    // As a backup leaves it that was restored where the extension is missing, until that is installed.
    await db.execute('DROP TABLE chunk_embeddings CASCADE');
    await db.execute('DROP FUNCTION parley_sketch');
    await setRule(7);
    await db.close();
    const again = await openDatabase(settings, { onError });
    expect(again.vectors.kind).toBe('ready');
    expect(
      await again.query(
        "SELECT parley_sketch('[1,0]'::halfvec)::text AS sketch, (SELECT count(*)::int FROM chunk_sketches) AS count",
      ),
    ).toEqual([{ sketch: '1111101010', count: 0 }]);
    await again.close();
    await place.remove();
  });
});
