import type { Passage, PassageCopy } from '../../../entities/knowledge/citation.ts';
import type { RankedChunk } from '../../../storage/knowledge/chunk-ranking.ts';

export interface PassageLimits {
  readonly passagesMax: number;
  readonly tokensMax: number;
}
/** A passage with its place among the chunks of its item. */
export interface FoundPassage extends Passage {
  readonly chunkIds: readonly string[];
  readonly firstOrdinal: number;
  readonly lastOrdinal: number;
}
/** The address of a chunk's original document, for people. */
export type UrlOf = (chunk: RankedChunk) => string;

/** At most this many of one item, so that a long document does not displace the others. */
const chunksPerItemMax = 3;

/**
 * Builds passages from ranked chunks: each text once, with all its places; at most three chunks of an item; as many as fit the
 * limits, skipping one that does not fit; neighbours joined.
 *
 * @param ranked  best first; passages keep that order.
 */
export function choosePassages(ranked: readonly RankedChunk[], limits: PassageLimits, urlOf: UrlOf): readonly FoundPassage[] {
  const groups = [...Map.groupBy(ranked, ({ contentHash }) => contentHash).values()];
  const chosen: ChosenChunk[] = [];
  const perItem = new Map<string, number>();
  let tokens = 0;
  for (const [chunk, ...copies] of groups) {
    if (chunk === undefined || chosen.length >= limits.passagesMax) break;
    const ofItem = perItem.get(chunk.itemId) ?? 0;
    if (ofItem >= chunksPerItemMax || tokens + chunk.tokenCount > limits.tokensMax) continue;
    perItem.set(chunk.itemId, ofItem + 1);
    tokens += chunk.tokenCount;
    chosen.push({ chunk, copies: copies.filter(({ itemId }) => itemId !== chunk.itemId) });
  }
  return joinNeighbours(chosen).map((run) => passageOf(run, urlOf));
}

interface ChosenChunk {
  readonly chunk: RankedChunk;
  readonly copies: readonly RankedChunk[];
}

/** Groups adjacent chunks of an item; a group has the rank of its best chunk. */
function joinNeighbours(chosen: readonly ChosenChunk[]): (readonly ChosenChunk[])[] {
  const inOrder = chosen.toSorted((a, b) =>
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
  const rank = new Map(chosen.map((entry, index) => [entry, index]));
  const rankOf = (run: readonly ChosenChunk[]) => Math.min(...run.map((entry) => rank.get(entry) ?? 0));
  return runs.sort((a, b) => rankOf(a) - rankOf(b));
}

function passageOf(run: readonly ChosenChunk[], urlOf: UrlOf): FoundPassage {
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
  const copies = rest.length > 0 ? [] : run.flatMap((entry) => entry.copies).map((copy) => copyOf(copy, urlOf));
  return {
    ...copyOf({ ...first, lineEnd }, urlOf),
    headingPath: first.headingPath,
    text,
    charEnd,
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

function copyOf(chunk: RankedChunk, urlOf: UrlOf): PassageCopy {
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
