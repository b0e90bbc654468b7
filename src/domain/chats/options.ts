import { readWire } from '../../wire/read.ts';
import { chatOptions } from '../../wire/responses/request.ts';
import type { Faults } from '../faults.ts';

/** Checks the options of a message, a completion or a response, and refuses those that would have no effect in this version. */
export function checkOptions(given: unknown, faults: Faults): void {
  const options = readWire(chatOptions.nullish(), given, 'options', faults);
  const { override, tracing } = options?.flow ?? {};
  if (override?.force === true || isGiven(override?.id) || isGiven(override?.version)) {
    const message = 'options.flow.override cannot be kept to: this version of Parley stores flows and does not run them';
    faults.add('options.flow.override', message, 'UNSUPPORTED_VALUE');
  }
  const traced = { 'options.flow.tracing': tracing, 'options.tracing': options?.tracing };
  for (const [at, asked] of Object.entries(traced)) {
    if (asked?.enabled !== true) continue;
    faults.add(`${at}.enabled`, `${at}.enabled must be false: this version of Parley keeps no traces`, 'UNSUPPORTED_VALUE');
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
