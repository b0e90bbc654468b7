const firstBytes = 4 * 1024;
const [lineFeed, comma, openingBracket, closingBracket] = [0x0a, 0x2c, 0x5b, 0x5d];

/**
 * Lines of JSON that wait, as bytes outside of V8's heap: its collections of garbage move none of them, where texts and objects that wait by the
 * thousand are copied twice and fill the old generation. The bytes are those of a JSON array, whose text is made without a further copy: each line but
 * the first begins with a comma.
 */
export class JsonLines {
  #bytes = Buffer.allocUnsafeSlow(firstBytes).fill(openingBracket, 0, 1);
  #end = 1;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get sizeBytes(): number {
    return this.#end - 1;
  }

  /** @param json  one value, as JSON.stringify writes it: without line breaks. */
  add(json: string): void {
    // A unit of UTF-16 takes three bytes at most. Beside them: the comma, the line feed and the closing bracket.
    this.#reserve(this.#end + json.length * 3 + 3);
    if (this.#count > 0) this.#push(comma);
    this.#end += this.#bytes.write(json, this.#end);
    this.#push(lineFeed);
    this.#count += 1;
  }

  /** The bytes of the lines behind the first `sizeBytes`; valid until the next `add`. */
  after(sizeBytes: number): Uint8Array {
    return this.#bytes.subarray(sizeBytes + 1, this.#end);
  }

  /** All values, as the text of one JSON array. */
  toArrayText(): string {
    this.#bytes[this.#end] = closingBracket;
    return this.#bytes.toString('utf8', 0, this.#end + 1);
  }

  #push(byte: number): void {
    this.#bytes[this.#end] = byte;
    this.#end += 1;
  }

  #reserve(sizeBytes: number): void {
    if (sizeBytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(sizeBytes, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#end);
    this.#bytes = grown;
  }
}

/** The value of a line that `JsonLines` made. */
export function parseJsonLine(line: string): unknown {
  return JSON.parse(line.startsWith(',') ? line.slice(1) : line);
}
