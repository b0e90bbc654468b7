import type { ScoredId } from '../../../storage/knowledge/passages/chunk-ranking.ts';

/** A passage by its id, and what each way of searching says of it. */
export interface FusedId {
  readonly id: string;
  readonly score: number;
  readonly lexical: number | null;
  readonly vector: number | null;
}

/**
 * Joins the lists of two ways of searching: each is stretched from 0 to 1, and the sum is weighted. A passage that is missing from a list has 0 there.
 *
 * @param vectorLists  one for each embedding model: scores of two models cannot be compared, so each is stretched by itself.
 * @param weight  how much vectors count, 0 to 1.
 * @returns best first.
 * Source: docs/decisions/knowledge.md, "Meaning".
 */
export function fuse(
  lexical: readonly ScoredId[],
  vectorLists: readonly (readonly ScoredId[])[],
  weight: number,
): readonly FusedId[] {
  const fusedById = new Map<string, FusedId>();
  for (const { id, score, stretched: stretchedScore } of stretch(lexical)) {
    fusedById.set(id, { id, lexical: score, vector: null, score: (1 - weight) * stretchedScore });
  }
  for (const { id, score, stretched } of vectorLists.flatMap(stretch)) {
    const fusedId = fusedById.get(id) ?? { id, lexical: null, vector: null, score: 0 };
    fusedById.set(id, { ...fusedId, vector: score, score: fusedId.score + weight * stretched });
  }
  return [...fusedById.values()].sort((a, b) => b.score - a.score || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}

function stretch(list: readonly ScoredId[]): readonly (ScoredId & { readonly stretched: number })[] {
  const scores = list.map(({ score }) => score);
  const min = Math.min(...scores);
  const range = Math.max(...scores) - min;
  return list.map((entry) => ({ ...entry, stretched: range > 0 ? (entry.score - min) / range : 1 }));
}
