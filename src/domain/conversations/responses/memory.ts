import { eventStream } from '../../../engine/runs/events/stream.ts';
import { toTranscriptMessages } from '../../../engine/runs/events/transcript.ts';
import type { NewMessage } from '../../../entities/conversations/chats/chat.ts';
import { isTerminal, type RunEvent, type RunEventStream, type RunSnapshot } from '../../../entities/conversations/runs/event.ts';

/**
 * Keeps the newest response of a connection that is not stored, so that the next request can continue it. A failed request that continues it
 * removes it: the caller begins again instead of continuing an unknown state. A response that is too long is not kept either.
 */
export class ConnectionMemory {
  #newest: { readonly id: string; readonly messages: readonly NewMessage[] } | undefined;

  readonly #lengthMax: number;

  /** @param lengthMax  most UTF-16 code units of all messages together as JSON. */
  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get(id: string): readonly NewMessage[] | undefined {
    return this.#newest?.id === id ? this.#newest.messages : undefined;
  }

  /** The events of a response, which is kept when they end well. @param messages  all messages that the model got for it. */
  following(events: RunEventStream, messages: readonly NewMessage[]): RunEventStream {
    return eventStream(this.#watched(events.batches(), messages));
  }

  async *#watched(batches: AsyncIterable<readonly RunEvent[]>, messages: readonly NewMessage[]) {
    for await (const batch of batches) {
      const last = batch.at(-1);
      // The last event has the whole run.
      if (last !== undefined && isTerminal(last) && 'run' in last) this.#keep(last.run, messages);
      yield batch;
    }
  }

  #keep(run: RunSnapshot, messages: readonly NewMessage[]): void {
    if (run.status === 'failed' || run.status === 'cancelled') return;
    const all = [...messages, ...toTranscriptMessages(run)];
    this.#newest = isLonger(all, this.#lengthMax) ? undefined : { id: run.runId, messages: all };
  }

  forget(id: string | null | undefined): void {
    if (this.#newest !== undefined && this.#newest.id === id) this.#newest = undefined;
  }
}

function isLonger(messages: readonly NewMessage[], lengthMax: number): boolean {
  let length = 0;
  return messages.some((message) => {
    length += JSON.stringify(message).length;
    return length > lengthMax;
  });
}
