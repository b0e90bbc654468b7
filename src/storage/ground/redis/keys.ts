/**
 * The names of keys in Redis. The streams of one installation have one hash tag, because one blocking read has several of them, and a Redis Cluster
 * reads keys of one slot only. What belongs to a run or to a subject of a rate limit has a tag of its own, so that a cluster spreads it.
 */
export class RedisKeys {
  readonly #installation: string;

  /** @param installation  keeps the keys of several installations on one Redis apart. */
  constructor(installation: string) {
    this.#installation = installation;
  }

  /** What every process reads. */
  get control(): string {
    return `parley:{${this.#installation}}:control`;
  }

  /** What processes read in which somebody follows a list. */
  get lists(): string {
    return `parley:{${this.#installation}}:lists`;
  }

  /** All processes, each with the time until which it is there. */
  get instances(): string {
    return `parley:{${this.#installation}}:instances`;
  }

  /** What one process alone reads. */
  inbox(origin: string): string {
    return `parley:{${this.#installation}}:inbox:${origin}`;
  }

  /** The processes that watch a run, each with the time until which it does. */
  watchers(runId: string): string {
    return `parley:${this.#installation}:watchers:{${runId}}`;
  }

  rateBucket(id: string): string {
    return `parley:${this.#installation}:rate:{${id}}`;
  }
}
