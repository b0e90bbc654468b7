import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { DomainError } from '../../entities/ground/errors.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { CallContext } from '../../http/context.ts';
import type { RouteMeter } from '../../http/log/metrics.ts';
import type { ErrorContext } from '../ground/errors/present.ts';
import { ReplyBuffer } from './reply-buffer.ts';

/** A stream that was reserved in the single connection mode of graphql-sse: `reserved-streams.ts`. */
export interface Reservation {
  readonly token: string;
  readonly buffer: ReplyBuffer;
  /** @returns what is called when the operation is over. */
  join(operation: CallContext): () => void;
}

/** Counts requests by the kind of their operation. Never by its name: callers choose those. */
export type Meters = Readonly<Record<CallKind, RouteMeter>>;
/** `none` until the document is valid; `connection` is what manages the streams of graphql-sse. */
export type CallKind = 'query' | 'mutation' | 'subscription' | 'connection' | 'none';

/** What an operation may cost, and what an operation may cost at most: `extensions.cost` of a reply. */
export interface OperationCost {
  readonly asked: number;
  readonly allowed: number;
}

/** One request on its way through Yoga and its plugins. */
export class Call {
  readonly req: IncomingMessage;
  readonly res: Response;
  /** Whether it came to `/graphql/stream`. */
  readonly isStreamPath: boolean;
  readonly errors: ErrorContext;
  /** Ends the event stream of the reply. */
  readonly stream = new AbortController();
  /** What is to be done once the reply is sent. */
  readonly afterwards: (() => unknown)[] = [];
  /** Set by the plugin that checks the key. */
  caller: Caller | undefined;
  /** The reserved stream that the request belongs to. */
  reserved: Reservation | undefined;
  /** What the operation may cost, once that is known. */
  cost: OperationCost | undefined;
  /** The texts by hash that the organization has saved, of a caller who may run trusted documents only. */
  savedDocuments: ReadonlyMap<string, string> | undefined;
  /** What the reply streams: the results of a subscription. */
  results: AsyncIterable<ExecutionResult> | undefined;
  kind: CallKind = 'none';
  /** The names of the schema's fields at the root of the operation; set when it is run. */
  rootFields: readonly string[] = [];
  readonly #buffer = new ReplyBuffer();
  readonly #meters: Meters | undefined;

  /** @param meters  undefined: of another way in, which counts the request itself. */
  constructor(req: IncomingMessage, res: Response, isStreamPath: boolean, errors: ErrorContext, meters: Meters | undefined) {
    this.req = req;
    this.res = res;
    this.isStreamPath = isStreamPath;
    this.errors = errors;
    this.#meters = meters;
    this.measureAs('none');
  }

  measureAs(kind: CallKind): void {
    this.kind = kind;
    if (this.#meters !== undefined) this.res.locals.meter = this.#meters[kind];
  }

  /** What the header `x-parley-cost` asks for: a member `extensions` of the reply. */
  get extensions(): { readonly extensions?: { readonly cost: OperationCost } } {
    const isAsked = this.cost !== undefined && this.req.headers['x-parley-cost'] !== undefined;
    return isAsked && this.cost !== undefined ? { extensions: { cost: this.cost } } : {};
  }

  /** Writes the event stream that shows the results. */
  get buffer(): ReplyBuffer {
    return this.reserved?.buffer ?? this.#buffer;
  }
}

/** The caller of a request whose key has been checked. */
export function requireCaller({ caller }: Call): Caller {
  if (caller === undefined) throw new Error('the key has not been checked');
  return caller;
}

/** What Yoga and its plugins know of a request. */
export interface ServerContext {
  readonly call: Call;
}
export type CallPlugin = Plugin<ServerContext & Record<string, unknown>, ServerContext, ServerContext>;

/** Calls `onEnd`, perhaps with the reason, when the key of a caller is revoked; returns what stops watching. */
export type WatchKey = (caller: Caller, onEnd: (reason?: DomainError) => void) => () => void;
