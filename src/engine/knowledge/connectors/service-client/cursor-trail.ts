import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../../lib/bounded-map.ts';
import { SourceError } from '../error.ts';

/** BAD_REPLY. A page that names itself may be better later; a run that goes on within a circle counts as one that gets further, and would never end. */
export class RepeatedPageError extends SourceError {
  constructor(service: string, isCircle: boolean) {
    super('BAD_REPLY', `${service} names the same page of a list again and again.`, undefined, isCircle);
  }
}

/** Remembers the pages of the lists that one task reads: a service that names a page again would be followed for ever. */
export class CursorTrail {
  readonly #service: string;
  /** Hashes of cursors, by list. */
  readonly #read = new BoundedMap<string, Set<string>>(1_000);

  /** @param service  its name in messages, at the beginning of a sentence. */
  constructor(service: string) {
    this.#service = service;
  }

  /**
   * Notes that a page was read.
   *
   * @param list  tells the list from others of the task.
   * @param used  the cursor of the page; undefined for the first one, with which a list begins anew.
   * @returns `next`. @throws RepeatedPageError when that page was read before.
   */
  follow(list: string, usedCursor: string | undefined, next: string | undefined): string | undefined {
    const read = (usedCursor === undefined ? undefined : this.#read.get(list)) ?? new Set<string>();
    this.#read.set(list, read);
    if (usedCursor !== undefined) read.add(hash(usedCursor));
    if (next === undefined || next === '') return undefined;
    if (!read.has(hash(next))) return next;
    throw new RepeatedPageError(this.#service, next !== usedCursor);
  }
}

function hash(cursor: string): string {
  return createHash('sha256').update(cursor).digest('base64url').slice(0, 16);
}
