import { messagesOf } from '../../engine/runs/prompt/transcript.ts';
import type { NewMessage } from '../../entities/chats/chat.ts';
import type { RunSnapshot } from '../../entities/runs/event.ts';

/**
 * What a connection remembers of responses that are not stored: the newest one, so that the next request can go on from it. A request
 * that goes on from it and fails makes it forgotten: the caller begins anew instead of going on from a state that nobody knows. So does one
 * that is too long to be remembered.
 */
export class ConnectionMemory {
  #newest: { readonly id: string; readonly messages: readonly NewMessage[] } | undefined;

  readonly #lengthMax: number;

  /** @param lengthMax  of all messages together as JSON, in UTF-16 code units. */
  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get(id: string): readonly NewMessage[] | undefined {
    return this.#newest?.id === id ? this.#newest.messages : undefined;
  }

  /** @param messages  all that the model was given for it. */
  keep(run: RunSnapshot, messages: readonly NewMessage[]): void {
    const all = [...messages, ...messagesOf(run)];
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
