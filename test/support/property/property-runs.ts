/** PROPERTY_RUNS=all tries all cases. */
const part = process.env.PROPERTY_RUNS === 'all' ? 1 : 0.25;
/** Which quarter of the cases a row begins with: `.ci/run` takes another one for each commit. */
const turnOfRun = Number(process.env.PROPERTY_TURN ?? 0);

/**
 * How many cases of a property that costs seconds are tried in this run: the first quarter, in the same order in every run.
 *
 * @param all  how many it has.
 */
export function propertyRuns(all: number): number {
  return Math.ceil(all * part);
}

/** Every how many-th step is tried where something is broken off after each step in turn. */
export const stepsApart = Math.round(1 / part);

/**
 * The cases that one row of a table tries in this run, where rows and cases meet in the same code: a quarter of them, and each row another
 * one, so that every case is tried by some row; never none. All of them with PROPERTY_RUNS=all.
 *
 * @param turn  the number of the row.
 */
export function inTurn<T>(cases: readonly T[], turn: number): readonly T[] {
  const tried = cases.filter((_case, index) => (index + turn + turnOfRun) % stepsApart === 0);
  return tried.length > 0 ? tried : cases.slice(turn % cases.length).slice(0, 1);
}
