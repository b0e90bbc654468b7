import type { RerankReason } from '../../../entities/knowledge/retrieval.ts';
import { membersOf, readElements } from '../../../lib/json/json.ts';
import { withUserAgent } from '../../../lib/product.ts';
import type { Settings } from '../../../settings.ts';
import type { RankedChunk } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import { createAgent } from '../../egress/dispatchers.ts';
import { noProxies, type Proxies } from '../../egress/proxies.ts';
import type { Charge, ChargedSearch } from '../../plan/plan.ts';
import { isQuota } from '../embeddings/embeddings.ts';
import { embeddedText } from '../embeddings/passage-text.ts';

/** Sorts passages anew by a model that reads question and passage together. */
export interface Reranker {
  /**
   * Reranks the first passages; the others follow.
   *
   * @returns the same passages as before, and why, when the service fails or takes too long. @throws the signal's reason only.
   */
  rerank(charge: Charge, question: string, rankedChunks: readonly RankedChunk[], signal: AbortSignal): Promise<Reranked>;
  close(): Promise<void>;
}
export interface Reranked {
  readonly ranked: readonly RankedChunk[];
  readonly reason: RerankReason | null;
}

/** Passages that are reranked. */
export const rerankedMax = 50;
const replyMaxBytes = 1024 * 1024;

type RerankSettings = Pick<Settings, 'RERANK_URL' | 'RERANK_API_KEY' | 'RERANK_MODEL' | 'RERANK_TIMEOUT_MS'>;

/** @returns undefined while RERANK_URL is not set. */
export function createReranker(
  settings: RerankSettings,
  charged: ChargedSearch,
  proxies: Proxies = noProxies,
): Reranker | undefined {
  const { RERANK_URL, RERANK_API_KEY, RERANK_MODEL, RERANK_TIMEOUT_MS } = settings;
  if (RERANK_URL === undefined) return undefined;
  const modelId = `rerank/${RERANK_MODEL ?? 'default'}`;
  const agent = createAgent(proxies, { connections: 8, connect: { timeout: RERANK_TIMEOUT_MS }, maxResponseSize: replyMaxBytes });
  const { origin, pathname, search } = new URL(RERANK_URL);
  const headers = withUserAgent({
    'content-type': 'application/json',
    ...(RERANK_API_KEY === undefined ? {} : { authorization: `Bearer ${RERANK_API_KEY}` }),
  });

  async function loadScores(
    question: string,
    documents: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, number>> {
    const model = RERANK_MODEL === undefined ? {} : { model: RERANK_MODEL };
    const body = JSON.stringify({ ...model, query: question, documents, top_n: documents.length });
    const reply = await agent.request({ origin, path: pathname + search, method: 'POST', headers, body, signal });
    if (reply.statusCode !== 200) {
      await reply.body.dump();
      throw new Error(`the reranker answered ${reply.statusCode}`);
    }
    const scores = new Map<number, number>();
    for (const row of readElements(membersOf(await reply.body.json()).results)) {
      const { index, relevance_score: score } = membersOf(row);
      if (typeof index === 'number' && index in documents && typeof score === 'number') scores.set(index, score);
    }
    if (scores.size === 0) throw new Error('the reranker answered without scores');
    return scores;
  }

  return {
    async rerank(charge, question, rankedChunks, signal) {
      const first = rankedChunks.slice(0, rerankedMax);
      if (first.length === 0) return { ranked: rankedChunks, reason: null };
      const documents = first.map(({ title, headingPath, text }) => embeddedText(title, headingPath, text));
      const deadline = AbortSignal.timeout(RERANK_TIMEOUT_MS);
      try {
        const either = AbortSignal.any([signal, deadline]);
        const scores = await charged(charge, modelId, () => loadScores(question, documents, either));
        return { ranked: sortByScore(scores, rankedChunks), reason: null };
      } catch (error) {
        signal.throwIfAborted();
        return { ranked: rankedChunks, reason: deadline.aborted ? 'timeout' : isQuota(error) ? 'quota' : 'provider' };
      }
    },
    close: () => agent.close(),
  };
}

/** Passages that were not reranked come last, with the score of the last one, so that scores fall with the rank. */
function sortByScore(scores: ReadonlyMap<number, number>, rankedChunks: readonly RankedChunk[]): readonly RankedChunk[] {
  const least = Math.min(...scores.values());
  const scoredChunks = rankedChunks.map((chunk, index): RankedChunk => {
    const rerank = scores.get(index) ?? null;
    return { ...chunk, score: rerank ?? least, scores: { ...chunk.scores, rerank } };
  });
  const isScored = ({ scores: { rerank } }: RankedChunk) => rerank !== null;
  return [
    ...scoredChunks.filter(isScored).sort((a, b) => b.score - a.score),
    ...scoredChunks.filter((chunk) => !isScored(chunk)),
  ];
}
