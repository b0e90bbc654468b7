import type { WireObject } from '../../entities/runs/response.ts';
import { isObject } from '../../lib/json.ts';
import type { Faults } from '../faults.ts';

export { isObject };

/** One of these values, or undefined where there is none; another one is a fault. */
export function readOneOf<const Value extends string>(
  param: string,
  given: unknown,
  values: readonly Value[],
  faults: Faults,
): Value | undefined {
  if (given === undefined || given === null) return undefined;
  const known = values.find((value) => value === given);
  if (known === undefined) faults.add(param, `${param} must be one of ${values.join(', ')}`);
  return known;
}

/** Whether an object is given; anything else but nothing is a fault. */
export function requireObject(param: string, given: unknown, faults: Faults): given is WireObject {
  if (given === undefined || given === null) return false;
  if (isObject(given)) return true;
  faults.add(param, `${param} must be an object`, 'INVALID_TYPE');
  return false;
}
