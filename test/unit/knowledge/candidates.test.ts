import { describe, expect, it } from 'vitest';
import { planCandidates, type WeighedTerm } from '../../../src/engine/knowledge/search/candidates.ts';
import { type CandidateTier, groupsMax } from '../../../src/storage/knowledge/passages/candidates.ts';
import { seededRandom } from '../../support/property/random.ts';

const chunks = 1_000_000;

/** Words with keys 1, 2, … that so many passages of the source hold. */
function termsOf(dataSourceId: string, dfs: readonly number[], firstKey = 1): WeighedTerm[] {
  return dfs.map((df, index) => ({
    term: `word${index}`,
    config: 'english',
    weight: Math.log(1 + (chunks - df + 0.5) / (df + 0.5)),
    keys: new Map([[dataSourceId, firstKey + index]]),
    df,
    dfs: new Map([[dataSourceId, df]]),
  }));
}

function isIn(tier: CandidateTier, keys: readonly number[]): boolean {
  return tier.every((group) => group.some((key) => keys.includes(key)));
}

function subsets(terms: readonly WeighedTerm[]): { readonly keys: readonly number[]; readonly weight: number }[] {
  return Array.from({ length: 2 ** terms.length }, (_, bits) => {
    const held = terms.filter((_term, index) => (bits & (1 << index)) !== 0);
    return {
      keys: held.flatMap(({ keys }) => [...keys.values()]),
      weight: held.reduce((sum, { weight }) => sum + weight, 0),
    };
  });
}

const source = (dataSourceId: string) => ({ dataSourceId, config: 'english', chunks });

describe('the plan of candidates', () => {
  it('takes a passage exactly when its words weigh enough, in every tier', () => {
    const random = seededRandom(3);
    for (let round = 0; round < 200; round += 1) {
      const terms = termsOf(
        'ds_1',
        Array.from({ length: 1 + Math.floor(random() * 6) }, () => 500 + Math.floor(chunks ** (0.3 + 0.7 * random()))),
      );
      const { tiers } = planCandidates(terms, [source('ds_1')]);
      for (const tier of tiers) {
        expect(tier.length).toBeLessThanOrEqual(groupsMax);
        const taken = subsets(terms).filter(({ keys }) => isIn(tier, keys));
        const left = subsets(terms).filter(({ keys }) => !isIn(tier, keys));
        expect(Math.min(...taken.map(({ weight }) => weight))).toBeGreaterThan(
          Math.max(...left.map(({ weight }) => weight)) - 1e-6,
        );
      }
    }
  });

  it('asks for several common words, and for a rare one alone', () => {
    const { tiers } = planCandidates(termsOf('ds_1', [20, 200_000, 250_000, 300_000]), [source('ds_1')]);
    expect(tiers.at(-1)).toSatisfy((tier: CandidateTier) => isIn(tier, [1]));
    expect(tiers.some((tier) => isIn(tier, [2]) || isIn(tier, [3, 4]))).toBe(false);
  });

  it('goes from strict to lax', () => {
    const terms = termsOf('ds_1', [3_000, 9_000, 27_000, 80_000, 240_000]);
    const { tiers } = planCandidates(terms, [source('ds_1')]);
    const counts = tiers.map((tier) => subsets(terms).filter(({ keys }) => isIn(tier, keys)).length);
    expect(counts.length).toBeGreaterThan(1);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  });

  it('begins with a wide tier where a part of the passages is open, and reads a wider one only to fill a page', () => {
    const terms = termsOf('ds_1', [3_000, 9_000, 27_000, 80_000, 240_000]);
    const [lent, gated] = [planCandidates(terms, [source('ds_1')]), planCandidates(terms, [source('ds_1')], true)];
    const countSets = (tier: CandidateTier = []) => subsets(terms).filter(({ keys }) => isIn(tier, keys)).length;
    expect(countSets(gated.tiers[0])).toBeGreaterThan(countSets(lent.tiers[0]));
    expect(countSets(gated.tiers[1])).toBeGreaterThan(countSets(gated.tiers[0]));
    expect([lent.rowsEnough, gated.rowsEnough]).toEqual([
      [250, 250, 250, 250],
      [250, 32, 32, 32],
    ]);
  });

  it('asks every source for its own words', () => {
    const terms = [...termsOf('ds_1', [3_000, 90_000, 200_000]), ...termsOf('ds_2', [4_000, 80_000], 11)];
    const { tiers } = planCandidates(terms, [source('ds_1'), source('ds_2')]);
    expect(tiers.at(-1)).toSatisfy((tier: CandidateTier) => isIn(tier, [1, 2, 3]) && isIn(tier, [11, 12]) && !isIn(tier, [3]));
  });

  it('takes any word where few passages hold one', () => {
    const { tiers } = planCandidates(termsOf('ds_1', [3, 40, 400]), [source('ds_1')]);
    expect(tiers).toEqual([[[1, 2, 3]]]);
  });

  it('takes all words where even these are common, rather than none', () => {
    const { tiers } = planCandidates(termsOf('ds_1', [500_000]), [source('ds_1')]);
    expect(tiers).toEqual([[[1]]]);
  });
});
