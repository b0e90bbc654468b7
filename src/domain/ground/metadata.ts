import type { WireObject } from '../../entities/conversations/runs/response.ts';
import { isObject } from '../../lib/json/json.ts';
import type { Faults } from './faults.ts';

const metadataMax = { keys: 16, keyLength: 64, valueLength: 512 };

/** Texts by name: at most 16 of 512 characters, with names of 64. */
export function readMetadata(input: unknown, faults: Faults): WireObject {
  if (input === undefined || input === null) return {};
  if (!isObject(input)) {
    faults.add('metadata', 'metadata must be an object', 'INVALID_TYPE');
    return {};
  }
  const entries = Object.entries(input);
  if (entries.length > metadataMax.keys) faults.add('metadata', `metadata must have at most ${metadataMax.keys} members`);
  for (const [name, value] of entries.slice(0, metadataMax.keys)) {
    if (name.length > metadataMax.keyLength) {
      faults.add('metadata', `names in metadata must have at most ${metadataMax.keyLength} characters`);
    } else if (typeof value !== 'string') faults.add('metadata', 'values in metadata must be strings', 'INVALID_TYPE');
    else faults.requireLength('metadata', value, metadataMax.valueLength);
  }
  return input;
}
