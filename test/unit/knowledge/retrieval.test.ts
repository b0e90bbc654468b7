import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../bench/eval.ts';
import { trigramSimilarity } from '../../../src/engine/knowledge/search/question.ts';

const fixture = fileURLToPath(new URL('../../fixtures/retrieval', import.meta.url));

describe('retrieval', () => {
  it('ranks a small collection as well as BM25 does, and finds everything that is relevant', async () => {
    const figures = await evaluate(fixture);
    expect(figures).toMatchObject({ documents: 16, queries: 8 });
    expect(figures.ndcgAt10).toBeGreaterThan(0.9);
    expect(figures.recallAt100).toBeGreaterThan(0.9);
  });

  it.each([
    ['word', 'word', 1],
    ['word', 'words', 4 / 7],
    ['cat', 'dog', 0],
  ])('the similarity of %s and %s is that of pg_trgm', (left, right, similarity) => {
    expect(trigramSimilarity(left, right)).toBeCloseTo(similarity, 6);
  });
});
