import { EgressError } from './error.ts';

/** Head, chunk sizes and trailers of a small reply take room too. */
const slackBytes = 1024 * 1024;

/**
 * Counts what one call reads from the network, over all of its redirects, and what that decodes to. A reply that decodes to nothing costs
 * as much time and traffic as any other: both sides have a limit, and so has the ratio between them.
 */
export class WireCount {
  readonly #decodedBytesMax: number;
  #wireBytes = 0;
  #decodedBytes = 0;
  #isEncoded = false;

  /** @param decodedBytesMax  for the body after decoding. */
  constructor(decodedBytesMax: number) {
    this.#decodedBytesMax = decodedBytesMax;
  }

  /** From here on the bytes are those of an encoded body. */
  beginDecoding(): void {
    this.#isEncoded = true;
  }

  /** @returns the error that the call ends with, once it is too much: TOO_LARGE or BAD_ENCODING. */
  addWire(bytes: number): EgressError | undefined {
    this.#wireBytes += bytes;
    const most = 2 * this.#decodedBytesMax + slackBytes;
    if (this.#isEncoded && this.#wireBytes > 2 * this.#decodedBytes + slackBytes)
      return new EgressError('BAD_ENCODING', 'the reply is longer encoded than decoded');
    return this.#wireBytes > most
      ? new EgressError('TOO_LARGE', `the reply takes more than ${most} bytes of traffic`)
      : undefined;
  }

  /** @throws EgressError TOO_LARGE, BAD_ENCODING. */
  addDecoded(bytes: number): void {
    this.#decodedBytes += bytes;
    if (this.#decodedBytes > this.#decodedBytesMax)
      throw new EgressError('TOO_LARGE', `the reply is larger than ${this.#decodedBytesMax} bytes`);
    if (this.#isEncoded && this.#decodedBytes > slackBytes && this.#decodedBytes > ratioMax * this.#wireBytes)
      throw new EgressError('BAD_ENCODING', `the reply decodes to more than ${ratioMax} times its size`);
  }
}

/** Text that people write packs 5 to 20 times, logs 50 times. */
const ratioMax = 250;
