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
