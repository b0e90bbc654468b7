import { isObject } from '../../../lib/json/json.ts';
import type { Faults } from '../../ground/faults.ts';

const secretsMax = 50;
const secretNameMax = 200;
const secretBytesMax = 4_096;

/** Names and values are checked; what they hold is never repeated in a message. */
export function readSecrets(secrets: unknown, faults: Faults, param = 'secrets'): Readonly<Record<string, string>> {
  if (secrets === undefined || secrets === null) return {};
  if (!isObject(secrets)) {
    faults.add(param, `${param} must be an object of strings`, 'INVALID_TYPE');
    return {};
  }
  const entries = Object.entries(secrets);
  if (entries.length > secretsMax) faults.add(param, `${param} must have at most ${secretsMax} members`);
  for (const [name, value] of entries.slice(0, secretsMax)) {
    if (name.length > secretNameMax) faults.add(param, `names of secrets must have at most ${secretNameMax} characters`);
    else if (typeof value !== 'string') faults.add(`${param}.${name}`, `${param}.${name} must be a string`, 'INVALID_TYPE');
    else if (Buffer.byteLength(value) > secretBytesMax) {
      faults.add(`${param}.${name}`, `${param}.${name} must have at most ${secretBytesMax} bytes`);
    }
  }
  return secrets as Readonly<Record<string, string>>;
}
