/** A query that is on its way. */
export interface Reading {
  /** Whether something newer was told about `key` since the query was sent: then its reply says nothing about it. */
  readonly isOvertaken: (key: string) => boolean;
  /** Whether no query that was sent later has been answered yet. Asked once, when the reply is there. */
  readonly isNewest: () => boolean;
  /** The reply was taken, or there is none. */
  readonly end: () => void;
}

/**
 * Keeps what is older from taking the place of what is newer. A page learns from replies and from streams, and a reply that comes late describes an
 * earlier time than the events that came before it. Queries are numbered in the order in which they are sent, and each remembers what was told since.
 */
export class Readings {
  readonly #toldKeys = new Map<number, Set<string>>();
  #lastSent = 0;
  #lastTaken = 0;

  /** A query is being sent. */
  begin(): Reading {
    this.#lastSent += 1;
    const number = this.#lastSent;
    const toldKeys = new Set<string>();
    this.#toldKeys.set(number, toldKeys);
    return {
      isOvertaken: (key) => toldKeys.has(key),
      isNewest: () => {
        if (number < this.#lastTaken) return false;
        this.#lastTaken = number;
        return true;
      },
      end: () => this.#toldKeys.delete(number),
    };
  }

  /** A stream, or the reply of a mutation, told something about `key`. */
  note(key: string): void {
    for (const toldKeys of this.#toldKeys.values()) toldKeys.add(key);
  }
}
