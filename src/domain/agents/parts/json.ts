import { secretForms } from '../../../engine/tools/secrets/secret-signs.ts';
import { hasMembers, isObject, type JsonObject } from '../../../lib/json/json.ts';
import type { Faults } from '../../ground/faults.ts';

export interface JsonBounds {
  readonly bytesMax: number;
  readonly depthMax: number;
  /** Member names that JavaScript treats specially. */
  readonly refusedNames?: readonly string[];
}
export const dataBounds: JsonBounds = { bytesMax: 64_000, depthMax: 32 };

const nameLengthMax = 200;
const refusedNamesDefault = ['__proto__', 'constructor', 'prototype'];

/**
 * Checks that a value is a JSON object within limits, with harmless member names. Walks without recursion.
 *
 * @returns the object, or an empty one with faults.
 */
export function readJsonObject(param: string, value: unknown, faults: Faults, bounds: JsonBounds = dataBounds): JsonObject {
  if (!isObject(value)) {
    faults.add(param, `${param} must be an object`, 'INVALID_TYPE');
    return {};
  }
  const { refusedNames = refusedNamesDefault } = bounds;
  let level: { readonly path: string; readonly value: object }[] = [{ path: param, value }];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > bounds.depthMax) {
      faults.add(param, `${param} must be at most ${bounds.depthMax} levels deep`);
      return {};
    }
    const next: typeof level = [];
    for (const { path, value: parent } of level) {
      for (const [name, child] of Object.entries(parent)) {
        const isList = Array.isArray(parent);
        if (!isList && (refusedNames.includes(name) || name.length > nameLengthMax)) {
          const place = refusedNames.includes(name) ? `${path}.${name}` : path;
          faults.add(
            place,
            `${place}: a member's name must have at most ${nameLengthMax} characters and be none of ${refusedNames.join(', ')}`,
          );
          return {};
        }
        if (hasMembers(child)) next.push({ path: isList ? `${path}[${name}]` : `${path}.${name}`, value: child });
      }
    }
    level = next;
  }
  if (Buffer.byteLength(JSON.stringify(value)) > bounds.bytesMax) {
    faults.add(param, `${param} must have at most ${bounds.bytesMax} bytes`);
    return {};
  }
  return value;
}

const shownNameChars = 100;

/**
 * Refuses members that nothing reads: a mistyped one would be stored as if it had an effect.
 *
 * @param owner  what the members belong to, for the message: `the data of API_FUNCTION`.
 */
export function checkMembers(
  param: string,
  owner: string,
  jsonObject: JsonObject,
  memberNames: readonly string[],
  faults: Faults,
): void {
  for (const name of Object.keys(jsonObject)) {
    // A name that is a secret itself is not repeated: it has a fault of its own.
    if (memberNames.includes(name) || secretForms.some((form) => name.search(form) >= 0)) continue;
    const place = `${param}.${name.slice(0, shownNameChars).toWellFormed()}`;
    faults.add(place, `${place} has no effect: ${owner} has ${memberNames.join(', ')}`, 'UNSUPPORTED_VALUE');
  }
}
