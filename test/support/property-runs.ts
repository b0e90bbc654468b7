/** `.ci/run` tries all cases of a property, once: PROPERTY_RUNS=all. */
const part = process.env.PROPERTY_RUNS === 'all' ? 1 : 0.25;

/**
 * How many cases of a property that costs seconds are tried in this run: the first quarter, in the same order in every run.
 *
 * @param all  how many it has.
 */
export function propertyRuns(all: number): number {
  return Math.ceil(all * part);
}
