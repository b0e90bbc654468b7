import type { Fault, ParleyError } from '@parley/client';

/** What is wrong with the value at a place of the variables, such as `input.name`, without the name of the place. Undefined: nothing. */
export function faultAt(error: ParleyError | undefined, path: string): string | undefined {
  const fault = error?.faults.find(({ path: place }) => place === path || place?.startsWith(`${path}.`) === true);
  return fault === undefined ? undefined : getWords(fault);
}

/** What is wrong, without the name of the place that the message begins with. */
export function getWords({ path, message }: Fault): string {
  const words = message.startsWith(`${path} `) ? message.slice(`${path} `.length) : message;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The error as far as no field of the form shows it: undefined when each fault stands beside one of the fields at these places. */
export function errorBeside(error: ParleyError | undefined, paths: readonly string[]): ParleyError | undefined {
  if (error === undefined || error.faults.length === 0) return error;
  const isShown = (place: string | null) => paths.some((path) => place === path || place?.startsWith(`${path}.`) === true);
  return error.faults.every(({ path }) => isShown(path)) ? undefined : error;
}
