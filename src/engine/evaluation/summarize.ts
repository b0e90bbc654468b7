import type {
  CaseFigures,
  Comparison,
  ExperimentSummary,
  VariantSummary,
  Verdict,
} from '../../entities/conversations/evaluation/experiment.ts';
import { bootstrapInterval, type Observation, percentile, weightedMean } from './bootstrap.ts';

/** Fewer pairs tell nothing. */
const pairsMin = 5;

/** The rates of the variants with their intervals, and how the others differ from the first, case by case. */
export async function summarize(figures: readonly CaseFigures[], variantCount: number, seed: number): Promise<ExperimentSummary> {
  const byVariant = Map.groupBy(figures, ({ variant }) => variant);
  const ofVariants = Array.from({ length: variantCount }, (_, variant) => byVariant.get(variant) ?? []);
  const variants: VariantSummary[] = [];
  for (const [variant, ofVariant] of ofVariants.entries()) variants.push(await summarizeVariant(variant, ofVariant, seed));
  const comparisons: Comparison[] = [];
  for (let variant = 1; variant < variantCount; variant += 1)
    comparisons.push(await compare(variant, ofVariants[0] ?? [], ofVariants[variant] ?? [], seed));
  return { variants, comparisons };
}

async function summarizeVariant(variant: number, figures: readonly CaseFigures[], seed: number): Promise<VariantSummary> {
  const scored = figures.filter(({ scoredCount }) => scoredCount > 0);
  const observations = scored.map((one): Observation => ({ value: one.passedCount / one.scoredCount, weight: one.weight }));
  const durations = figures.flatMap(({ durationMs }) => durationMs ?? []).toSorted((one, other) => one - other);
  return {
    ...{ variant, caseCount: scored.length, rate: weightedMean(observations) ?? null },
    interval: (await bootstrapInterval(observations, seed)) ?? null,
    failedCount: sum(figures, ({ failedCount }) => failedCount),
    unscoredCount: sum(figures, ({ unscoredCount }) => unscoredCount),
    tokens: sum(figures, ({ tokens }) => tokens),
    cost: sum(figures, ({ cost }) => cost),
    durationMs:
      durations.length === 0
        ? null
        : { p50: Math.round(percentile(durations, 0.5)), p95: Math.round(percentile(durations, 0.95)) },
  };
}

/** Of the cases that both have scored answers to. */
async function compare(
  variant: number,
  first: readonly CaseFigures[],
  other: readonly CaseFigures[],
  seed: number,
): Promise<Comparison> {
  const ofFirst = new Map(first.filter(({ scoredCount }) => scoredCount > 0).map((one) => [one.caseId, one]));
  const pairs = other.flatMap((after) => {
    const before = ofFirst.get(after.caseId);
    return before === undefined || after.scoredCount === 0 ? [] : [{ before, after }];
  });
  const rates = pairs.map(({ before, after }): Observation => {
    const value = after.passedCount / after.scoredCount - before.passedCount / before.scoredCount;
    return { value, weight: after.weight };
  });
  const changes = pairs.map(({ before, after }) => Math.sign(round(mean(after) - mean(before))));
  const interval = (await bootstrapInterval(rates, seed)) ?? null;
  const costBefore = sum(pairs, ({ before }) => before.cost);
  return {
    variant,
    better: changes.filter((change) => change > 0).length,
    same: changes.filter((change) => change === 0).length,
    worse: changes.filter((change) => change < 0).length,
    difference: weightedMean(rates) ?? null,
    interval,
    verdict: judge(rates, interval),
    costRatio: costBefore === 0 ? null : sum(pairs, ({ after }) => after.cost) / costBefore,
  };
}

function judge(rates: readonly Observation[], interval: Comparison['interval']): Verdict {
  if (interval === null || rates.length < pairsMin) return 'NOT_ENOUGH_CASES';
  if (rates.every(({ value }) => value === 0)) return 'SAME';
  if (interval.low > 0) return 'BETTER';
  return interval.high < 0 ? 'WORSE' : 'NOT_ENOUGH_CASES';
}

/** The mean value of the answers to a case: also where none passes, one may be nearer to it. */
function mean({ valueSum, scoredCount }: CaseFigures): number {
  return valueSum / scoredCount;
}

function round(value: number): number {
  return Math.abs(value) < 1e-9 ? 0 : value;
}

function sum<T>(items: readonly T[], valueIn: (item: T) => number): number {
  return items.reduce((total, item) => total + valueIn(item), 0);
}
