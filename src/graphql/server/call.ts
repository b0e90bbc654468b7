import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { ErrorContext } from '../errors.ts';
import type { DocumentRequest } from './documents/documents.ts';

/** One authenticated request on its way. */
export interface Call {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly caller: Caller;
  readonly requestId: string;
  /** What the client takes as an answer: the header accept. */
  readonly accept: string;
  readonly errors: ErrorContext;
  /** Set once the parameters of the request are read. */
  document: DocumentRequest | undefined;
  /** Removes the files that were uploaded with the request; set while there are some. */
  dispose: (() => Promise<void>) | undefined;
  /** What the metrics count the request as; known once its document is read. */
  measuredAs: MeasuredAs;
}

/** The kinds of requests in the metrics. Never the name of an operation: callers choose those. */
export const measuredKinds = ['query', 'mutation', 'subscription', 'connection', 'page', 'none'] as const;
export type MeasuredAs = (typeof measuredKinds)[number];

/** Calls `onEnd` when the key of a caller is revoked or expires; returns what stops watching. */
export type WatchKey = (caller: Caller, onEnd: () => void) => () => void;
