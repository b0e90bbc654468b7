import { EgressError } from './error.ts';

/** For heads, small replies in large frames, and bytes read ahead. */
const slackBytes = 512 * 1024;
/** Written text compresses 5 to 20 times, logs 50 times. */
const ratioMax = 250;

/**
 * Counts the bytes that one call reads from the network, over all its redirects, and the bytes of its decoded body. Wire bytes are limited by the
 * body and the body by the wire bytes: a server may send endless data that decodes to nothing, or frames without content.
 */
export class WireCount {
  readonly #bodyBytesMax: number;
  #wireBytes = 0;
  #bodyBytes = 0;
  #isEncoded = false;

  /** @param bodyBytesMax  after decoding. */
  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  /** The following bytes belong to an encoded body. */
  beginDecoding(): void {
    this.#isEncoded = true;
  }

  /** @returns the error that ends the call once the limit is passed. */
  addWire(bytes: number): EgressError | undefined {
    this.#wireBytes += bytes;
    if (this.#wireBytes <= 2 * this.#bodyBytes + slackBytes) return undefined;
    if (this.#isEncoded) return new EgressError('BAD_ENCODING', 'the reply is longer encoded than decoded');
    return new EgressError(
      'BAD_REPLY',
      `the reply takes ${this.#wireBytes} bytes of traffic for ${this.#bodyBytes} bytes of content`,
    );
  }

  /** @throws EgressError TOO_LARGE, BAD_ENCODING. */
  addBody(bytes: number): void {
    this.#bodyBytes += bytes;
    if (this.#bodyBytes > this.#bodyBytesMax)
      throw new EgressError('TOO_LARGE', `the reply is larger than ${this.#bodyBytesMax} bytes`);
    if (this.#isEncoded && this.#bodyBytes > slackBytes && this.#bodyBytes > ratioMax * this.#wireBytes)
      throw new EgressError('BAD_ENCODING', `the reply decodes to more than ${ratioMax} times its size`);
  }
}
