import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Interval } from '../../entities/conversations/evaluation/experiment.ts';

/** What one case adds to a mean. */
export interface Observation {
  readonly value: number;
  readonly weight: number;
}

export const resamplesDefault = 2_000;
/** Drawings after which others get their turn: a few milliseconds. */
const drawingsAtOnce = 200_000;

/** The weighted mean; undefined for nothing. */
export function weightedMean(observations: readonly Observation[]): number | undefined {
  let sum = 0;
  let weights = 0;
  for (const { value, weight } of observations) {
    sum += value * weight;
    weights += weight;
  }
  return weights === 0 ? undefined : sum / weights;
}

/**
 * The interval in which 95 of 100 means lie when the cases are drawn anew, with the percentiles of a bootstrap. Of differences of pairs, it is a paired
 * bootstrap. The same seed gives the same interval.
 *
 * @returns undefined for nothing.
 *
 * Cost: one drawing for each case and resample; others get their turn between.
 */
export async function bootstrapInterval(
  observations: readonly Observation[],
  seed: number,
  resamples = resamplesDefault,
): Promise<Interval | undefined> {
  const count = observations.length;
  if (count === 0) return undefined;
  const random = createRandom(seed);
  const values = Float64Array.from(observations, ({ value }) => value);
  const weights = Float64Array.from(observations, ({ weight }) => weight);
  const means = new Float64Array(resamples);
  let drawings = 0;
  for (let resample = 0; resample < resamples; resample += 1) {
    let sum = 0;
    let weightSum = 0;
    for (let drawn = 0; drawn < count; drawn += 1) {
      const index = Math.floor(random() * count);
      const weight = weights[index] ?? 0;
      sum += (values[index] ?? 0) * weight;
      weightSum += weight;
    }
    means[resample] = sum / weightSum;
    drawings += count;
    if (drawings < drawingsAtOnce) continue;
    drawings = 0;
    await nextTurn();
  }
  means.sort();
  return { low: percentile(means, 0.025), high: percentile(means, 0.975) };
}

/** By the nearest rank. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

/** mulberry32: numbers from 0 to 1 that only the seed decides. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
