import type { RunEvent, RunEventStream } from '../../../entities/conversations/runs/event.ts';

/** Makes a stream of events from a stream of batches. It can be read once, by events or by batches. */
export function eventStream(batches: AsyncIterable<readonly RunEvent[]>): RunEventStream {
  return new BatchedStream(batches);
}

class BatchedStream implements RunEventStream {
  readonly #source: AsyncIterable<readonly RunEvent[]>;

  constructor(source: AsyncIterable<readonly RunEvent[]>) {
    this.#source = source;
  }

  batches(): AsyncIterable<readonly RunEvent[]> {
    return this.#source;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
    for await (const batch of this.#source) yield* batch;
  }
}
