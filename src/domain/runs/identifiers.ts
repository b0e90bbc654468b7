import type { ModelParameters } from '../../engine/models/port.ts';
import type { Faults } from '../faults.ts';

const names = ['user', 'safetyIdentifier', 'promptCacheKey'] as const;
const lengthMax = 512;

/** What a caller of either format names its end users and its caches by; it is handed on to the provider of the model. */
export interface RunIdentifiers {
  readonly user?: string | null | undefined;
  readonly safetyIdentifier?: string | null | undefined;
  readonly promptCacheKey?: string | null | undefined;
}

export function readIdentifiers(input: RunIdentifiers, faults: Faults): Pick<ModelParameters, (typeof names)[number]> {
  const read: { user?: string; safetyIdentifier?: string; promptCacheKey?: string } = {};
  for (const name of names) {
    const value = input[name];
    if (typeof value !== 'string') continue;
    faults.requireLength(name, value, lengthMax);
    read[name] = value;
  }
  return read;
}
