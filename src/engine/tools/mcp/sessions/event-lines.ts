import { EgressError } from '../../../egress/error.ts';

const carriageReturn = 13;
const lineFeed = 10;
/** Lines of one event stream; a message has about three. A line that means nothing costs the SDK's reader an error. */
const linesMax = 100_000;

/**
 * The lines of an event stream from a server, block by block: bounded, and each with a line feed as its end. The SDK's reader looks for a
 * carriage return from each line to the end of its block: without any, it reads in linear time.
 */
export class EventLines {
  #count = 0;
  #isAfterReturn = false;

  /** @throws EgressError TOO_LARGE */
  read(block: Uint8Array): Uint8Array {
    const outputBytes = new Uint8Array(block.length);
    let length = 0;
    for (const byte of block) {
      const isRest = this.#isAfterReturn && byte === lineFeed;
      this.#isAfterReturn = byte === carriageReturn;
      if (isRest) continue;
      const isEnd = this.#isAfterReturn || byte === lineFeed;
      if (isEnd) this.#count += 1;
      outputBytes[length] = isEnd ? lineFeed : byte;
      length += 1;
    }
    if (this.#count > linesMax) throw new EgressError('TOO_LARGE', `the answer has more than ${linesMax} lines`);
    return outputBytes.subarray(0, length);
  }
}
