import type { Logger } from 'pino';
import { SearchIndexError } from '../../../storage/knowledge/search-index/search-index.ts';

const firstPauseMs = 1_000;
const pauseMsMax = 30_000;

/**
 * Whether the search index is asked. After a failure it is not, for a time that grows; then one call beside the searches tries it, so that no search
 * waits for an index that is gone. Nothing needs a restart.
 */
export class Circuit {
  readonly #logger: Logger;
  readonly #tryAgain: () => Promise<void>;
  #reason: string | undefined;
  #pauseMs = firstPauseMs;
  #triedAtMs = 0;
  #isTrying = false;

  /** @param tryAgain  fails while the index cannot answer. */
  constructor(logger: Logger, tryAgain: () => Promise<void>) {
    this.#logger = logger;
    this.#tryAgain = tryAgain;
  }

  /** Why the index is not asked; undefined while it is. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Whether to ask it now. */
  isClosed(): boolean {
    if (this.#reason === undefined) return true;
    if (!this.#isTrying && performance.now() - this.#triedAtMs >= this.#pauseMs) void this.#probe();
    return false;
  }

  fail(error: SearchIndexError): void {
    if (this.#reason === undefined)
      this.#logger.warn({ reason: error.message }, 'the search index fails; the database answers searches');
    this.#reason = error.message;
    this.#triedAtMs = performance.now();
  }

  async #probe(): Promise<void> {
    this.#isTrying = true;
    try {
      await this.#tryAgain();
      this.#reason = undefined;
      this.#pauseMs = firstPauseMs;
      this.#logger.info('the search index answers again');
    } catch (error) {
      this.#pauseMs = Math.min(pauseMsMax, this.#pauseMs * 2);
      this.#triedAtMs = performance.now();
      if (error instanceof SearchIndexError) this.#reason = error.message;
      else this.#logger.warn({ err: error }, 'the search index could not be tried');
    } finally {
      this.#isTrying = false;
    }
  }
}
