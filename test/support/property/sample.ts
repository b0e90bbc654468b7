/** Whether this run tries every case: `PROPERTY_RUNS=all`, as `.ci/run` does. */
export const triesAll = process.env.PROPERTY_RUNS === 'all';

/** Chooses the cases of properties and the samples of tables. The same in every run, so that a change does not fail because of an older fault. */
export const sampleSeed = Number(process.env.PROPERTY_SEED ?? 20_261_122);

/** Of long tables and properties, `npm test` tries one case in so many. */
const oneIn = triesAll ? 1 : 8;

/** The number of random cases of a property that costs seconds. */
export function propertyRuns(all: number): number {
  return Math.ceil(all / oneIn);
}

/** The distance between the steps that are tried, where something is broken off after each step in turn. */
export const stepsApart = oneIn;

/** The rows of a long table that this run tries, each a test; never none. */
export function sampled<T>(rows: readonly T[]): readonly T[] {
  return inTurn(rows, sampleSeed);
}

/**
 * The cases of one row of a table that this run tries, where rows and cases meet in the same code: each row tries other cases, so that some row tries
 * each; never none.
 *
 * @param turn  the number of the row.
 */
export function inTurn<T>(cases: readonly T[], turn: number): readonly T[] {
  const tried = cases.filter((_case, index) => (scattered(index) + turn) % oneIn === 0);
  return tried.length > 0 ? tried : cases.slice(turn % Math.max(1, cases.length)).slice(0, 1);
}

/** Neighbours of a table are alike, and so are every second or third: a hash of the place picks them evenly, whatever the order means. */
function scattered(index: number): number {
  const mixed = Math.imul((index + sampleSeed) ^ ((index + sampleSeed) >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
