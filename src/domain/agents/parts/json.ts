import { hasMembers, isObject, type JsonObject } from '../../../lib/json.ts';
import type { Faults } from '../../faults.ts';

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
