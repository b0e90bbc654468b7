/** Counts what this browser learns: queries as they are sent, and what streams and mutations tell. */
let lastMoment = 0;

export function nextMoment(): number {
  lastMoment += 1;
  return lastMoment;
}

/** When the query was sent that brought an object. */
const sentMoments = new WeakMap<object, number>();

/** Remembers of all objects of a reply when its query was sent. */
export function stampReply(reply: unknown, moment: number): void {
  if (typeof reply !== 'object' || reply === null) return;
  sentMoments.set(reply, moment);
  for (const part of Object.values(reply)) stampReply(part, moment);
}

/** A query that is on its way, or was answered. */
export interface Reading {
  /** Whether something newer was told about `key` since the query was sent: then its reply says nothing about it. */
  readonly isOvertaken: (key: string) => boolean;
  /** Whether no query that was sent later has been answered yet. Asked once, when the reply is there. */
  readonly isNewest: () => boolean;
}

/**
 * Keeps what is older from taking the place of what is newer. A page learns from replies and from streams, and a reply that comes late describes an
 * earlier time than the events that came before it. Queries are numbered in the order in which they are sent, among what was told.
 */
export class Readings {
  readonly #toldMoments = new Map<string, number>();
  #lastTaken = 0;

  /** A query is being sent. */
  begin(): Reading {
    return this.#at(nextMoment());
  }

  /** The query that brought an object of a page. */
  find(thing: object): Reading {
    return this.#at(sentMoments.get(thing) ?? 0);
  }

  /** A stream, or the reply of a mutation, told something about `key`. */
  note(key: string): void {
    this.#toldMoments.set(key, nextMoment());
  }

  #at(moment: number): Reading {
    return {
      isOvertaken: (key) => (this.#toldMoments.get(key) ?? 0) > moment,
      isNewest: () => {
        if (moment < this.#lastTaken) return false;
        this.#lastTaken = moment;
        return true;
      },
    };
  }
}
