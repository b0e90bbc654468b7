import type { ParleyError } from '@parley/client';

/** What the service says about one value of a form, by the end of its path: `email` of `input.email`. For `error` of a Field. */
export function findFault(error: ParleyError | undefined, name: string): string | undefined {
  return error?.faults.find(({ path }) => path === name || path?.endsWith(`.${name}`) === true)?.message;
}

/** The error, unless all that it says stands beside the fields of these names. For the ErrorNote of a form. */
export function errorBeside(error: ParleyError | undefined, names: readonly string[]): ParleyError | undefined {
  if (error === undefined || error.faults.length === 0) return error;
  const isBeside = error.faults.every(({ path }) => names.some((name) => path === name || path?.endsWith(`.${name}`) === true));
  return isBeside ? undefined : error;
}
