import type { Passage, PassageCopy } from '../../../entities/knowledge/citation.ts';
import type { RankedChunk } from '../../../storage/knowledge/passages/chunk-ranking.ts';

export interface PassageLimits {
  readonly passagesMax: number;
  readonly tokensMax: number;
}
/** A passage with its place among the chunks of its item. */
export interface PassageMatch extends Passage {
  readonly chunkIds: readonly string[];
  readonly firstOrdinal: number;
  readonly lastOrdinal: number;
}
/** The address of a chunk's original document, for people. */
export type UrlOf = (chunk: RankedChunk) => string;

/** At most this many of one item, so that a long document does not displace the others. */
const chunksPerItemMax = 3;

/** Of eight places, so many are kept for the best passages by words, and as many for the best by meaning. */
const placesOfLeg = 2;

/**
 * Builds passages from ranked chunks: each text once, with all its places; at most three chunks of an item; as many as fit the
 * limits, skipping one that does not fit; neighbours joined. The best of each way of searching have places, whatever their sum is.
 *
 * @param ranked  best first; passages keep that order.
 */
export function choosePassages(
  rankedChunks: readonly RankedChunk[],
  limits: PassageLimits,
  urlOf: UrlOf,
): readonly PassageMatch[] {
  const groups = [...Map.groupBy(rankedChunks, ({ contentHash }) => contentHash).values()];
  const best = bestOfLegs(groups, limits.passagesMax);
  const chosenChunks = new Map<readonly RankedChunk[], ChosenChunk>();
  const perItem = new Map<string, number>();
  let tokens = 0;
  for (const group of new Set([...best, ...groups])) {
    const [chunk, ...copies] = group;
    if (chunk === undefined || chosenChunks.size >= limits.passagesMax) break;
    const ofItem = perItem.get(chunk.itemId) ?? 0;
    if (ofItem >= chunksPerItemMax || tokens + chunk.tokenCount > limits.tokensMax) continue;
    perItem.set(chunk.itemId, ofItem + 1);
    tokens += chunk.tokenCount;
    chosenChunks.set(group, { chunk, copies: copies.filter(({ itemId }) => itemId !== chunk.itemId) });
  }
  return joinNeighbours(groups.flatMap((group) => chosenChunks.get(group) ?? [])).map((run) => toPassage(run, urlOf));
}

/** The best by words and the best by meaning; none where one way alone searched, or a reranker has read the passages. */
function bestOfLegs(groups: readonly (readonly RankedChunk[])[], places: number): readonly (readonly RankedChunk[])[] {
  const count = Math.min(placesOfLeg, Math.floor(places / 4));
  const legs = (['lexical', 'vector'] as const).map((leg) =>
    groups
      .map((group) => ({ group, score: Math.max(...group.map(({ scores }) => scores[leg] ?? Number.NEGATIVE_INFINITY)) }))
      .filter(({ score }) => Number.isFinite(score))
      .sort((a, b) => b.score - a.score),
  );
  const isReranked = groups.some((group) => group.some(({ scores }) => scores.rerank !== null));
  if (isReranked || legs.some((leg) => leg.length === 0)) return [];
  return legs.flatMap((leg) => leg.slice(0, count).map(({ group }) => group));
}

interface ChosenChunk {
  readonly chunk: RankedChunk;
  readonly copies: readonly RankedChunk[];
}

/** Groups adjacent chunks of an item; a group has the rank of its best chunk. */
function joinNeighbours(chosenChunks: readonly ChosenChunk[]): (readonly ChosenChunk[])[] {
  const inOrder = chosenChunks.toSorted((a, b) =>
    a.chunk.itemId < b.chunk.itemId ? -1 : a.chunk.itemId > b.chunk.itemId ? 1 : a.chunk.ordinal - b.chunk.ordinal,
  );
  const runs: ChosenChunk[][] = [];
  for (const next of inOrder) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const follows =
      last !== undefined && last.chunk.itemId === next.chunk.itemId && last.chunk.ordinal + 1 === next.chunk.ordinal;
    if (run !== undefined && follows) run.push(next);
    else runs.push([next]);
  }
  const rank = new Map(chosenChunks.map((entry, index) => [entry, index]));
  const findRank = (run: readonly ChosenChunk[]) => Math.min(...run.map((entry) => rank.get(entry) ?? 0));
  return runs.sort((a, b) => findRank(a) - findRank(b));
}

function toPassage(run: readonly ChosenChunk[], urlOf: UrlOf): PassageMatch {
  const [first, ...rest] = run.map(({ chunk }) => chunk);
  if (first === undefined) throw new Error('a passage has at least one chunk');
  let { text, charEnd, lineEnd } = first;
  for (const next of rest) {
    const overlap = charEnd - next.charStart;
    text += overlap > 0 ? next.text.slice(overlap) : next.gapBefore + next.text;
    charEnd = Math.max(charEnd, next.charEnd);
    lineEnd = next.lineEnd;
  }
  // A copy of one of several chunks does not contain the whole passage.
  const copies = rest.length > 0 ? [] : run.flatMap((entry) => entry.copies).map((copy) => toCopy(copy, urlOf));
  return {
    ...toCopy({ ...first, lineEnd, charEnd }, urlOf),
    headingPath: first.headingPath,
    text,
    chunkIds: run.map(({ chunk }) => chunk.chunkId),
    firstOrdinal: first.ordinal,
    lastOrdinal: rest.at(-1)?.ordinal ?? first.ordinal,
    tokenCount: [first, ...rest].reduce((total, { tokenCount }) => total + tokenCount, 0),
    ...best(first, rest),
    ...(copies.length === 0 ? {} : { copies }),
  };
}

function best(first: RankedChunk, rest: readonly RankedChunk[]): Pick<Passage, 'score' | 'scores'> {
  const { score, scores } = rest.reduce((most, chunk) => (chunk.score > most.score ? chunk : most), first);
  return { score, scores };
}

function toCopy(chunk: RankedChunk, urlOf: UrlOf): PassageCopy {
  const { chunkId, itemId, dataSourceId, title, page, charStart, charEnd, itemType, mayCite } = chunk;
  return {
    chunkId,
    knowledgeItemId: itemId,
    dataSourceId,
    title,
    page,
    charStart,
    charEnd,
    url: urlOf(chunk),
    itemType,
    mayCite,
  };
}
