import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../lib/bounded-map.ts';

/** A statement as `pg` takes it. Without a name it is planned each time. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

/**
 * A statement that each connection plans once: its name is a hash of its text. The number of different texts is small, because callers' values are
 * parameters.
 */
export function prepared(text: string, values: unknown[]): Statement {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
    names.set(text, name);
  }
  return { name, text, values };
}

/** Names by text: hashing costs more than the rest of `prepared`. */
const names = new BoundedMap<string, string>(1_000);
