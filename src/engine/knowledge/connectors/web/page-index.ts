import type { ExistingItem, ListTask } from '../connector.ts';

const lookAhead = 50;

/** What earlier runs know of the pages that come next, looked up for many at once. */
export class PageIndex {
  readonly #known: ListTask['known'];
  readonly #pages = new Map<string, ExistingItem | undefined>();

  constructor(findKnown: ListTask['known']) {
    this.#known = findKnown;
  }

  /** @param upcoming  the addresses that will be asked for next. */
  async get(url: string, upcoming: readonly string[]): Promise<ExistingItem | undefined> {
    if (!this.#pages.has(url)) {
      this.#pages.clear();
      const urls = [url, ...upcoming.slice(0, lookAhead)];
      const itemsByUrl = await this.#known(urls);
      for (const each of urls) this.#pages.set(each, itemsByUrl.get(each));
    }
    return this.#pages.get(url);
  }
}
