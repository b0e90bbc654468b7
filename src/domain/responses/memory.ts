import { messagesOf } from '../../engine/runs/transcript.ts';
import type { NewMessage } from '../../entities/chat.ts';
import type { RunSnapshot } from '../../entities/run-event.ts';

/**
 * What a connection remembers of responses that are not stored: the newest one, so that the next request can go on from it. A request
 * that goes on from it and fails makes it forgotten: the caller begins anew instead of going on from a state that nobody knows.
 */
export class ConnectionMemory {
  private newest: { readonly id: string; readonly messages: readonly NewMessage[] } | undefined;

  get(id: string): readonly NewMessage[] | undefined {
    return this.newest?.id === id ? this.newest.messages : undefined;
  }

  /** @param messages  all that the model was given for it. */
  keep(run: RunSnapshot, messages: readonly NewMessage[]): void {
    this.newest = { id: run.runId, messages: [...messages, ...messagesOf(run)] };
  }

  forget(id: string | null | undefined): void {
    if (this.newest !== undefined && this.newest.id === id) this.newest = undefined;
  }
}
