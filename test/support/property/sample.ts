/** Whether this run tries every case: `PROPERTY_RUNS=all`, as `.ci/run` does. */
export const triesAll = process.env.PROPERTY_RUNS === 'all';

/** Chooses the cases of properties. The same in every run, so that a change does not fail because of an older fault. */
export const propertySeed = Number(process.env.PROPERTY_SEED ?? 20_261_122);

/** Chooses the samples of tables: another in each run (global-setup.ts), because all rows hold whenever `.ci/run` passes. */
export const sampleSeed = Number(process.env.SAMPLE_SEED ?? propertySeed);

/** Of long tables and properties, `npm test` tries one case in so many. */
const oneIn = triesAll ? 1 : 8;

/** Of tables of all operations, which have hundreds of rows: each row makes the things that its operation needs. */
const oneOperationIn = triesAll ? 1 : 32;

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
 * The operations that this run tries, each a test: some of each kind (`Query.agents`, `GET /api/v1/ais`), which the first word of the title tells.
 * Never none.
 */
export function sampledOperations<T extends readonly [title: string, ...unknown[]]>(rows: readonly T[]): readonly T[] {
  const kinds = Map.groupBy(rows, ([title]) => title.split(/[. ]/, 1)[0]);
  return [...kinds.values()].flatMap((kind) => oneInSo(kind, oneOperationIn, sampleSeed));
}

/**
 * The cases of one row of a table that this run tries, where rows and cases meet in the same code: each row tries other cases, so that some row tries
 * each; never none.
 *
 * @param turn  the number of the row.
 */
export function inTurn<T>(cases: readonly T[], turn: number): readonly T[] {
  return oneInSo(cases, oneIn, turn);
}

function oneInSo<T>(cases: readonly T[], distance: number, turn: number): readonly T[] {
  const tried = cases.filter((_case, index) => (scattered(index) + turn) % distance === 0);
  return tried.length > 0 ? tried : cases.slice(turn % Math.max(1, cases.length)).slice(0, 1);
}

/** Neighbours of a table are alike, and so are every second or third: a hash of the place picks them evenly, whatever the order means. */
function scattered(index: number): number {
  const mixed = Math.imul((index + sampleSeed) ^ ((index + sampleSeed) >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
