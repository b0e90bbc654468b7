import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { CallContext } from '../../http/context.ts';
import type { ErrorContext } from '../errors.ts';
import type { Outlet } from './outlet.ts';

/** A stream that was reserved in the single connection mode of graphql-sse: `reserved-streams.ts`. */
export interface Reservation {
  readonly token: string;
  readonly outlet: Outlet;
  /** @returns what is called when the operation is over. */
  join(operation: CallContext): () => void;
}

/** One request on its way through Yoga and its plugins. */
export interface Call {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly errors: ErrorContext;
  readonly startedMs: number;
  /** Whether it came to `/graphql/stream`. */
  readonly isStreamPath: boolean;
  /** Ends the stream of the reply; fires also when the client of such a stream has left. */
  readonly stream: AbortController;
  /** Writes the stream of the reply. */
  readonly outlet: Outlet;
  /** What is to be done once the reply is sent. */
  readonly afterwards: (() => unknown)[];
  /** Set by the plugin that checks the key. */
  caller: Caller | undefined;
  /** The reserved stream that the request belongs to. */
  reserved: Reservation | undefined;
  /** Errors that are the whole answer, where Yoga or graphql-sse would show others, or show them in an event stream. */
  refusal: readonly unknown[] | undefined;
  /** What the metrics count the request as; known once its document is read. */
  measuredAs: MeasuredAs;
  /** The names of the schema's fields at the root of the operation; set when it is run. */
  rootFields: readonly string[];
}

/** What Yoga and its plugins know of a request. */
export interface ServerContext {
  readonly call: Call;
}
export type CallPlugin = Plugin<ServerContext & Record<string, unknown>, ServerContext, ServerContext>;

/** The kinds of requests in the metrics. Never the name of an operation: callers choose those. */
export const measuredKinds = ['query', 'mutation', 'subscription', 'connection', 'page', 'none'] as const;
export type MeasuredAs = (typeof measuredKinds)[number];

/** Calls `onEnd` when the key of a caller is revoked or expires; returns what stops watching. */
export type WatchKey = (caller: Caller, onEnd: () => void) => () => void;

/** The caller of a request whose key has been checked. */
export function callerOf({ caller }: Call): Caller {
  if (caller === undefined) throw new Error('the key has not been checked');
  return caller;
}
