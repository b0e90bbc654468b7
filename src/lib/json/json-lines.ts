const firstBytes = 4 * 1024;
const [lineFeed, comma, openingBracket, closingBracket] = [0x0a, 0x2c, 0x5b, 0x5d];

/**
 * Lines of JSON that wait, as bytes outside of V8's heap: its collections of garbage move none of them, where texts and objects that wait by the
 * thousand are copied twice and fill the old generation. The bytes become those of a JSON array without a further copy: a comma takes the place of each
 * line feed but the last for so long.
 */
export class JsonLines {
  #bytes = Buffer.allocUnsafeSlow(firstBytes).fill(openingBracket, 0, 1);
  #end = 1;
  #taken = 1;
  readonly #lineFeeds: number[] = [];

  get count(): number {
    return this.#lineFeeds.length;
  }

  /** @param json  one value, as JSON.stringify writes it: without line breaks. */
  add(json: string): void {
    // A unit of UTF-16 takes three bytes at most. Beside them: the line feed and the closing bracket.
    this.#reserve(this.#end + json.length * 3 + 2);
    this.#end += this.#bytes.write(json, this.#end);
    this.#bytes[this.#end] = lineFeed;
    this.#lineFeeds.push(this.#end);
    this.#end += 1;
  }

  /** The bytes of the lines that came since the last call; valid until the next `add`. */
  takeNew(): Uint8Array {
    const bytes = this.#bytes.subarray(this.#taken, this.#end);
    this.#taken = this.#end;
    return bytes;
  }

  /** All values, as the text of one JSON array. */
  toArrayText(): string {
    this.#separate(comma);
    this.#bytes[this.#end] = closingBracket;
    const text = this.#bytes.toString('utf8', 0, this.#end + 1);
    this.#separate(lineFeed);
    return text;
  }

  #separate(byte: number): void {
    for (let line = 0; line < this.count - 1; line += 1) this.#bytes[this.#lineFeeds[line] ?? 0] = byte;
  }

  #reserve(sizeBytes: number): void {
    if (sizeBytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(sizeBytes, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#end);
    this.#bytes = grown;
  }
}
