import { createHash } from 'node:crypto';

const blockChars = 32 * 1024;

/** Hashes visible text while it is read: with white space made even, so that it does not matter in which pieces the text comes. */
export class TextHash {
  readonly #whole = new EvenText();
  readonly #main = new EvenText();

  /** @param isAround  whether it belongs to a menu or footer. */
  add(text: string, isAround: boolean): void {
    this.#whole.add(text);
    if (!isAround) this.#main.add(text);
  }

  /** Text before and after are different words. */
  addBreak(): void {
    this.#whole.addBreak();
    this.#main.addBreak();
  }

  /** Of the text outside menus; of all text on a page that has no other; undefined where there is none. */
  digest(title: string): string | undefined {
    if (this.#whole.isEmpty) return undefined;
    return (this.#main.isEmpty ? this.#whole : this.#main).digest(title);
  }
}

class EvenText {
  readonly #hash = createHash('sha256');
  #block = '';
  #isAfterBreak = true;
  isEmpty = true;

  add(text: string): void {
    const words = text.split(/\s+/);
    for (const [index, word] of words.entries()) {
      if (index > 0) this.addBreak();
      if (word === '') continue;
      this.#block += word;
      this.#isAfterBreak = false;
      this.isEmpty = false;
    }
    if (this.#block.length > blockChars) this.#flush();
  }

  addBreak(): void {
    if (this.#isAfterBreak) return;
    this.#block += ' ';
    this.#isAfterBreak = true;
  }

  digest(title: string): string {
    if (!this.#isAfterBreak) this.addBreak();
    this.#flush();
    // The number changes when other text is hashed.
    return `text2-${this.#hash.update(`\n${title}`).digest('base64url')}`;
  }

  #flush(): void {
    this.#hash.update(this.#block);
    this.#block = '';
  }
}
