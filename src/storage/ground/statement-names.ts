import { createHash } from 'node:crypto';
import { BoundedMap } from '../../lib/bounded-map.ts';

/**
 * Names of prepared statements, hashes of their texts: each connection plans a statement with a name once. The number of different texts is small,
 * because callers' values are parameters.
 */
export class StatementNames {
  /** Hashing costs more than the rest. */
  readonly #names = new BoundedMap<string, string>(1_000);
  #areOff = false;

  /** @returns undefined once names are off. */
  nameOf(text: string): string | undefined {
    if (this.#areOff) return undefined;
    let name = this.#names.get(text);
    if (name === undefined) {
      name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
      this.#names.set(text, name);
    }
    return name;
  }

  /** From now on no statement has a name: a newer program has changed a table, and a pooler may know the plans from before by their texts, too. */
  turnOff(): void {
    this.#areOff = true;
  }
}

/** Whether a prepared statement failed, before it did anything, because its columns have changed since: "cached plan must not change result type". */
export function isOfChangedTable(error: unknown): boolean {
  return error instanceof Error && 'routine' in error && error.routine === 'RevalidateCachedQuery';
}
