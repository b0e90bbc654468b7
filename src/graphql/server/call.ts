import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { ErrorContext } from '../errors.ts';

/** One admitted request on its way. */
export interface Call {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly caller: Caller;
  readonly requestId: string;
  readonly errors: ErrorContext;
  /** What the request counts as; known once its document is read. */
  measuredAs: MeasuredAs;
}

/** The faces of GraphQL in the metrics. Never the name of an operation: callers choose those. */
export const measuredKinds = ['query', 'mutation', 'subscription', 'connection', 'page', 'none'] as const;
export type MeasuredAs = (typeof measuredKinds)[number];

/** Calls `onEnd` when the key of a caller is revoked or expires; returns what stops watching. */
export type WatchKey = (caller: Caller, onEnd: () => void) => () => void;
