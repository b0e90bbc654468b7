import { describe, expect, it } from 'vitest';
import { bootstrapInterval, createRandom } from '../../../src/engine/evaluation/bootstrap.ts';
import { summarize } from '../../../src/engine/evaluation/summarize.ts';
import type { CaseFigures } from '../../../src/entities/conversations/evaluation/experiment.ts';

/** Every way to draw the cases anew, with the share of each mean: what a bootstrap draws from. */
function everyMean(values: readonly number[], weights: readonly number[]): readonly number[] {
  const count = values.length;
  return Array.from({ length: count ** count }, (_, way) => {
    const drawn = Array.from({ length: count }, (_each, place) => Math.floor(way / count ** place) % count);
    const weight = drawn.reduce((sum, index) => sum + (weights[index] ?? 0), 0);
    return drawn.reduce((sum, index) => sum + (values[index] ?? 0) * (weights[index] ?? 0), 0) / weight;
  }).toSorted((one, other) => one - other);
}
const quantile = (sorted: readonly number[], share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;

describe('the interval of a bootstrap', () => {
  it.each([
    ['differences of six pairs', [1, 0, 0, -1, 1, 0.5], [1, 1, 1, 1, 1, 1]],
    ['with weights', [1, 0, 0.25, -1, 0.75, 1], [1, 2, 1, 0.5, 3, 1]],
  ])('is that of all ways to draw the cases: %s', async (_what, values, weights) => {
    const means = everyMean(values, weights);
    const observations = values.map((value, index) => ({ value, weight: weights[index] ?? 1 }));
    const interval = await bootstrapInterval(observations, 7, 40_000);
    expect(interval?.low).toBeCloseTo(quantile(means, 0.025), 1);
    expect(interval?.high).toBeCloseTo(quantile(means, 0.975), 1);
    // A percentile of it lies where 2.5 of 100 of all means lie below, give or take what 40,000 drawings leave open.
    const below = means.filter((mean) => mean < (interval?.low ?? 0) - 1e-9).length / means.length;
    expect(below).toBeLessThanOrEqual(0.03);
  });

  it('is the same for the same seed, and nothing for nothing', async () => {
    const observations = Array.from({ length: 40 }, (_, index) => ({ value: index % 3, weight: 1 }));
    const once = await bootstrapInterval(observations, 20_261_129);
    expect(await bootstrapInterval(observations, 20_261_129)).toEqual(once);
    expect(await bootstrapInterval([], 1)).toBeUndefined();
    const random = createRandom(1);
    const numbers = Array.from({ length: 10_000 }, random);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(numbers.reduce((sum, one) => sum + one, 0) / numbers.length).toBeCloseTo(0.5, 1);
  });
});

const figures = (variant: number, passes: readonly number[], more: Partial<CaseFigures> = {}): readonly CaseFigures[] =>
  passes.map((value, index) => ({
    ...{ caseId: `case ${index}`, variant, weight: 1, scoredCount: 1, passedCount: value === 1 ? 1 : 0, valueSum: value },
    ...{ failedCount: 0, unscoredCount: 0, tokens: 10, cost: 0.5, durationMs: 100 + index, ...more },
  }));

describe('a summary', () => {
  it.each([
    ['BETTER', [0, 0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1]],
    ['WORSE', [1, 1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0.5]],
    ['NOT_ENOUGH_CASES', [1, 0, 1, 0, 1, 0], [0, 1, 1, 0, 1, 0]],
    ['NOT_ENOUGH_CASES', [0, 0, 0], [1, 1, 1]],
    ['SAME', [1, 0, 1, 0, 1], [1, 0, 1, 0, 1]],
  ])('says %s case by case', async (verdict, before, after) => {
    const { comparisons } = await summarize([...figures(0, before), ...figures(1, after, { cost: 0.55 })], 2, 7);
    const better = after.filter((value, index) => value > (before[index] ?? 0)).length;
    const worse = after.filter((value, index) => value < (before[index] ?? 0)).length;
    expect(comparisons).toEqual([
      {
        ...{ variant: 1, verdict, better, worse, same: after.length - better - worse },
        ...{ difference: expect.any(Number), interval: expect.any(Object), costRatio: expect.closeTo(1.1) },
      },
    ]);
  });

  it('weighs cases, and leaves out what was not scored', async () => {
    const all = figures(0, [1, 0, 1]).map((one, index) => ({
      ...one,
      ...[{ weight: 3 }, {}, { scoredCount: 0, passedCount: 0, valueSum: 0, unscoredCount: 1 }][index],
    }));
    const { variants } = await summarize(all, 1, 7);
    expect(variants).toEqual([
      {
        ...{ variant: 0, caseCount: 2, rate: 0.75, interval: { low: 0, high: 1 }, failedCount: 0, unscoredCount: 1 },
        ...{ tokens: 30, cost: 1.5, durationMs: { p50: 101, p95: 102 } },
      },
    ]);
  });
});
