import { pathOf } from './address/address.ts';

/** Pages with the same text, after which it is taken for the page of an address that is not there. */
const sameTextMax = 20;

/** Finds pages that show what another page showed: with a session in the address, or for any address at all. */
export class TextCounts {
  readonly #counts = new Map<string, number>();
  readonly #atPaths = new Set<string>();

  /** Counts a page. @returns whether it only repeats others: its path with other parameters, or many pages with its text. */
  isRepeated(url: string, textHash: string): boolean {
    const count = this.#counts.get(textHash) ?? 0;
    const atPath = `${textHash} ${pathOf(url)}`;
    const isAtPath = this.#atPaths.has(atPath);
    this.#counts.set(textHash, count + 1);
    this.#atPaths.add(atPath);
    return isAtPath || count >= sameTextMax;
  }
}
