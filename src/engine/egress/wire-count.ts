import { EgressError } from './error.ts';

/** For heads, small replies with large frames, and what is read ahead of the body's reader. */
const slackBytes = 512 * 1024;
/** Text that people write packs 5 to 20 times, logs 50 times. */
const ratioMax = 250;

/**
 * Counts what one call reads from the network, over all of its redirects, and what that comes to as a body. A server may send without end
 * what decodes to nothing, or is nothing but frames: so the traffic is held against the body, and the body against the traffic.
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

  /** From here on the bytes are those of an encoded body. */
  beginDecoding(): void {
    this.#isEncoded = true;
  }

  /** @returns the error that the call ends with, once it is too much. */
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
