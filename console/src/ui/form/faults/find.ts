import type { Fault, ParleyError } from '@parley/client';

/**
 * What the service says about the value at a place, for `error` of a Field. The place is a member, or several: `email` finds the fault of
 * `input.email`, `input.options` that of `input.options.temperature`.
 */
export function findFault(error: ParleyError | undefined, place: string): Fault | undefined {
  return error?.faults.find(({ path }) => isAtPlace(path, place));
}

/** The error, unless all that it says stands beside the fields at these places. For the ErrorNote of a form. */
export function errorBeside(error: ParleyError | undefined, places: readonly string[]): ParleyError | undefined {
  if (error === undefined || error.faults.length === 0) return error;
  const isBeside = error.faults.every(({ path }) => places.some((place) => isAtPlace(path, place)));
  return isBeside ? undefined : error;
}

function isAtPlace(path: string | null, place: string): boolean {
  return path !== null && `.${path}.`.includes(`.${place}.`);
}
