import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunkOf } from '../../../bench/retrieval.ts';
import { type KnowledgeBase, openKnowledgeBase } from '../../../bench/support/knowledge-base.ts';
import { rankChunks } from '../../../src/engine/knowledge/search/words.ts';

const passages = 12_000;
const itemPassages = 400;
const unlikeMax = 8;

/** Every passage holds some of six common words; a passage has a number, so that none equals another. */
function textOf(number: number): string {
  const common = ['garden', 'harbour', 'lantern', 'meadow', 'orchard', 'pebble'].filter(
    (_, index) => (number >> index) % 3 === 0,
  );
  return `${common.join(' ')} filler${number % 700} number${number}`;
}

describe('word search over more passages than a search reads', () => {
  let base: KnowledgeBase;

  beforeAll(async () => {
    base = await openKnowledgeBase();
    await base.addItem('First', 'english', [chunkOf('garden harbour lantern meadow orchard pebble anvil', 0)]);
    for (let from = 0; from < passages; from += itemPassages) {
      const texts = Array.from({ length: itemPassages }, (_, index) => textOf(from + index));
      await base.addItem(`Document ${from / itemPassages}`, 'english', texts.map(chunkOf));
    }
    await base.addItem('Last', 'english', [
      chunkOf('garden harbour lantern meadow orchard pebble quarry', 0),
      chunkOf('meadow meadow meadow', 1),
    ]);
    await base.db.execute(
      `UPDATE knowledge_items SET "documentCount" = (SELECT count(*) FROM chunks WHERE item_id = knowledge_items.id)`,
    );
  });
  afterAll(() => base.close());

  async function titles(question: string, limits: { itemIds?: readonly string[]; filter?: { pathPrefix: string } } = {}) {
    const found = await rankChunks(base.chunks, { ...base.allowed, ...limits }, question, unlikeMax);
    return found.map(({ title }) => title);
  }

  it('finds the oldest and the newest passage by words that are common each, and rare together', async () => {
    expect(
      (await titles('Is the pebble of the orchard in the meadow, the lantern, the harbour or the garden?')).slice(0, 2).sort(),
    ).toEqual(['First', 'Last']);
  });

  it.each([
    ['anvil', 'First'],
    ['quarry', 'Last'],
  ])('finds a passage by one rare word beside common ones: %s', async (word, title) => {
    expect((await titles(`garden meadow pebble ${word}`))[0]).toBe(title);
  });

  it('finds the newest passage by one word that more passages hold than are read', async () => {
    expect((await titles('meadow'))[0]).toBe('Last');
  });

  it('finds a misspelled word beside common ones', async () => {
    expect((await titles('garden meadow pebble quarrry'))[0]).toBe('Last');
  });

  it('finds nothing by words that no passage holds, and ignores them beside others', async () => {
    expect(await titles('zzxqv')).toEqual([]);
    expect((await titles('zzxqv quarry'))[0]).toBe('Last');
  });

  it('finds the passages of one document by a word that most passages hold', async () => {
    const [last] = await base.db.query<{ id: string }>(`SELECT id FROM knowledge_items WHERE name = 'Last'`);
    expect(await titles('garden', { itemIds: [last?.id ?? ''] })).toEqual(['Last']);
    expect(new Set(await titles('garden', { filter: { pathPrefix: 'Document 29' } }))).toEqual(new Set(['Document 29']));
  });

  it('searches all documents that a filter fits when these have many passages', async () => {
    const filter = { pathPrefix: 'Document' };
    expect((await titles(`garden meadow pebble number${passages - 1}`, { filter }))[0]).toBe(
      `Document ${passages / itemPassages - 1}`,
    );
    const found = await titles('garden harbour lantern meadow orchard pebble', { filter });
    expect(found).toHaveLength(unlikeMax);
    expect(found.filter((title) => !title.startsWith('Document'))).toEqual([]);
  });
});
