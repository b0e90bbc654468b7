import { ExtractError } from '../knowledge/extract/error.ts';

/** A chat of a file as JSON text; or why it is not read. */
export type SplitChat = { readonly json: Buffer } | { readonly refusal: 'TOO_LONG' | 'TOO_DEEP' | 'NOT_AN_OBJECT' };

export interface SplitLimits {
  readonly chatMaxBytes: number;
  readonly depthMax: number;
}

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];
const byteOrderMark = [0xef, 0xbb, 0xbf];

/**
 * The elements of a JSON file whose outermost value is a list, or the one object that it is. Bytes are looked at once, and no more than one element is
 * kept, so a file is not bounded by the memory that all its chats take.
 *
 * @throws ExtractError CORRUPT for a file that is not JSON, or that ends too soon.
 */
export async function* splitChats(
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limits: SplitLimits,
): AsyncGenerator<SplitChat, void, void> {
  const splitter = new Splitter(limits);
  for await (const part of parts) yield* splitter.push(part);
  splitter.end();
}

class Splitter {
  readonly #limits: SplitLimits;
  /** Whether the outermost value is a list; undefined before it. */
  #isListed: boolean | undefined;
  #isOver = false;
  #markLength = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #refusal: 'TOO_LONG' | 'TOO_DEEP' | undefined;
  /** A number, a text or the like stands where a chat should. */
  #hasScalar = false;

  constructor(limits: SplitLimits) {
    this.#limits = limits;
  }

  /** The depth at which a chat begins and ends. */
  get #ground(): number {
    return this.#isListed === true ? 1 : 0;
  }

  *push(part: Uint8Array): Generator<SplitChat, void, void> {
    let begin = this.#depth > this.#ground ? 0 : -1;
    for (let index = 0; index < part.length; index += 1) {
      const byte = part[index] ?? 0;
      if (this.#isInText) {
        this.#readText(byte);
        continue;
      }
      if (byte <= 0x20) continue;
      const wasOutside = this.#depth === this.#ground;
      if (this.#isListed === undefined && !this.#readBeginning(byte)) continue;
      if (this.#isOver) throw notJson();
      if (byte === quote) this.#isInText = true;
      else if (byte === openObject || byte === openList) this.#depth += 1;
      else if (byte === closeObject || byte === closeList) this.#depth -= 1;
      if (this.#depth > this.#limits.depthMax) this.#refuse('TOO_DEEP');
      const isOutside = this.#depth === this.#ground;
      if (wasOutside && isOutside) yield* this.#readBetween(byte);
      else if (wasOutside && (byte === openObject || byte === openList)) begin = index;
      else if (isOutside) {
        this.#keep(part.subarray(begin, index + 1));
        begin = -1;
        yield this.#finish();
        if (this.#isListed === false) this.#isOver = true;
      } else if (this.#depth < this.#ground) {
        if (this.#hasScalar) yield { refusal: 'NOT_AN_OBJECT' };
        this.#isOver = true;
      }
    }
    if (begin >= 0) this.#keep(part.subarray(begin));
  }

  end(): void {
    if (this.#isListed === undefined) throw notJson();
    if (!this.#isOver) {
      throw new ExtractError('CORRUPT', 'The file ends in the middle of a chat: it was not downloaded to its end.');
    }
  }

  #readText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isInText = false;
  }

  /** @returns whether the outermost value begins here as a single object: a list is opened by this, and its byte is done. */
  #readBeginning(byte: number): boolean {
    if (byte === byteOrderMark[this.#markLength]) {
      this.#markLength += 1;
      return false;
    }
    if (byte !== openList && byte !== openObject) throw notJson();
    this.#isListed = byte === openList;
    if (!this.#isListed) return true;
    this.#depth = 1;
    return false;
  }

  /** Between two chats. */
  *#readBetween(byte: number): Generator<SplitChat, void, void> {
    if (byte === comma || byte === closeList) {
      if (this.#hasScalar) yield { refusal: 'NOT_AN_OBJECT' };
      this.#hasScalar = false;
    } else this.#hasScalar = true;
  }

  #keep(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#limits.chatMaxBytes) this.#refuse('TOO_LONG');
    // The part may be used anew by the stream that gave it.
    if (this.#refusal === undefined) this.#pieces.push(Uint8Array.from(piece));
  }

  #refuse(refusal: 'TOO_LONG' | 'TOO_DEEP'): void {
    this.#refusal ??= refusal;
    this.#pieces = [];
  }

  #finish(): SplitChat {
    const chat = this.#refusal === undefined ? { json: Buffer.concat(this.#pieces) } : { refusal: this.#refusal };
    this.#pieces = [];
    this.#bytes = 0;
    this.#refusal = undefined;
    return chat;
  }
}

function notJson(): ExtractError {
  return new ExtractError('CORRUPT', 'The file is not JSON, as exports of chats are.');
}
