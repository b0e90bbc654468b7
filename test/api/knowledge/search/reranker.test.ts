import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startMeaningServer } from '../../../support/knowledge/embedding-server.ts';
import { addFile, indexed, searchOf } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const server = await startMeaningServer();
const env = { RERANK_URL: server.rerankUrl, RERANK_API_KEY: 'rerank-key', RERANK_MODEL: 'judge', RERANK_TIMEOUT_MS: '1000' };
const { service, make } = await withService('plain', { env });
let ann: Person;
let sourceIds: string[];

beforeAll(async () => {
  ann = await make.person();
  const agent = await make.agent({ owner: ann });
  const texts = [
    'Lamps, lamps and lamps shine.',
    'A lamp shines exactly here, among many other things that are written in this text.',
  ];
  sourceIds = [];
  for (const text of texts) {
    const { body } = await addFile(ann, agent.id, 'lamp.txt', text);
    await indexed(ann, body.id);
    sourceIds.push(body.id);
  }
});
beforeEach(() => {
  server.rerankDown = undefined;
});
afterAll(() => server.close());

it('sorts the passages by its scores, and each carries both', async () => {
  const { passages, retrieval } = await searchOf(service, ann, sourceIds, 'lamps');
  expect(retrieval).toEqual({ mode: 'lexical', reason: null, isReranked: true, rerankReason: null });
  expect(passages).toMatchObject([
    { text: expect.stringContaining('exactly'), score: 0.9, scores: { lexical: expect.any(Number), vector: null, rerank: 0.9 } },
    { score: 0.1, scores: { rerank: 0.1 } },
  ]);
  expect(server.reranks.at(-1)).toMatchObject({ model: 'judge', query: 'lamps', top_n: 2, documents: { length: 2 } });
  expect(server.authorizations.at(-1)).toBe('Bearer rerank-key');
});

it.each([
  ['fails', { status: 500 }, 'provider'],
  ['takes too long', 'hang', 'timeout'],
] as const)('when it %s, the passages stay as they were, with the reason', async (_how, down, rerankReason) => {
  server.rerankDown = down;
  const { passages, retrieval } = await searchOf(service, ann, sourceIds, 'lamps');
  expect(retrieval).toEqual({ mode: 'lexical', reason: null, isReranked: false, rerankReason });
  expect(passages).toHaveLength(2);
  expect(passages[0]?.text).toContain('Lamps, lamps');
});

it('reads a question that goes on from others with what was said before', async () => {
  const rewrite = [{ role: 'user', text: 'Which lamps are there?' }];
  await ann.post('/api/v1/search', { dataSourceIds: sourceIds, query: 'And what of the other one?', rewrite });
  expect(server.reranks.at(-1)?.query).toBe('Which lamps are there?\nAnd what of the other one?');
});
