import { ParleyError } from '@parley/client';
import { noteSession } from '../client.ts';
import type { Document } from '../document.ts';
import { type Handlers, type Operation, Tabs } from './tabs.ts';

export interface LiveHandlers<Result> {
  readonly next: (result: Result) => void;
  /** The subscription is being sent: for the first time, or again after a break. */
  readonly begin?: () => void;
  /** The service refused the subscription, or ended it with an error. It is not tried again. */
  readonly error?: (error: ParleyError) => void;
  /** The service ended it: nothing more happens. Without this function it is sent again: a service that stops ends all subscriptions. */
  readonly complete?: () => void;
}

const tabs = new Tabs();

/** The one event stream of this browser: all subscriptions of all its tabs. */
export const live = {
  /**
   * Follows a subscription until the returned function is called. After a break it is sent again by itself, with what `variables` returns then: a
   * subscription with `after` goes on where it was.
   */
  subscribe<Result, Variables>(
    document: Document<Result, Variables>,
    variables: () => Variables,
    handlers: LiveHandlers<Result>,
  ): () => void {
    const operation: Operation = { query: document, variables: () => variables() as Readonly<Record<string, unknown>> };
    const own: Handlers = {
      begin: () => handlers.begin?.(),
      next: (data) => handlers.next(data as Result),
      error: ({ message, code }) => {
        const error = new ParleyError(message, { code });
        noteSession(error);
        handlers.error?.(error);
      },
      complete: handlers.complete,
    };
    return tabs.follow(operation, own);
  },
  /** Whether events arrive. */
  get state() {
    return tabs.state;
  },
  /** Calls back when `state` changes. @returns a function that stops it. */
  onState: (listener: () => void) => tabs.onState(listener),
  /** Ends the stream and all subscriptions: the session is over. */
  stop: () => tabs.stop(),
};
