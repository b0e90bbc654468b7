import type { ListedItem, ListedPage } from '../connector.ts';

const itemsMax = { first: 20, later: 100 };
const bytesMax = 4 * 1024 * 1024;
const waitMs = 5_000;
/** The place of a large crawl is large, so it is written less often. */
const largePages = 500;

/** What a crawl found since the last part of its listing. */
export class Batch {
  readonly items: ListedItem[] = [];
  readonly goneIds: string[] = [];
  readonly unchangedIds: string[] = [];
  /** Of the crawl's memory. */
  heldBytes = 0;

  get isEmpty(): boolean {
    return this.items.length + this.goneIds.length + this.unchangedIds.length === 0;
  }

  /**
   * @param pages  that the crawl has read.
   * @param ageMs  since the last part.
   */
  isDue(pages: number, ageMs: number): boolean {
    if (this.isEmpty) return false;
    const isLarge = pages > largePages;
    const count = this.items.length + this.goneIds.length + this.unchangedIds.length;
    if (count >= (isLarge ? itemsMax.later : itemsMax.first) || this.heldBytes >= bytesMax) return true;
    return ageMs >= (isLarge ? 4 * waitMs : waitMs);
  }

  /** Takes an item out of the listing again, which an earlier part may have told of. */
  retract(id: string): void {
    const isRetracted = ({ uniqueId }: ListedItem) => uniqueId === id;
    const [item, unchangedIndex] = [this.items.findIndex(isRetracted), this.unchangedIds.indexOf(id)];
    if (item >= 0) this.items.splice(item, 1);
    if (unchangedIndex >= 0) this.unchangedIds.splice(unchangedIndex, 1);
    if (item < 0) this.goneIds.push(id);
  }

  page(place: unknown): ListedPage {
    return { items: this.items, goneIds: this.goneIds, unchangedIds: this.unchangedIds, place };
  }
}
