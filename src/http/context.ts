import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConnectionMemory } from '../domain/conversations/responses/memory.ts';
import type { Deps } from '../domain/deps.ts';
import type { CallOrigin } from '../domain/ground/audit/origin.ts';
import { toReader } from '../domain/ground/audit/reads.ts';
import { DomainError } from '../entities/ground/errors.ts';
import { makeId } from '../entities/ground/ids.ts';
import type { Caller } from '../entities/people/caller.ts';
import { findAddress } from './address.ts';
import { ReplyBudget } from './reply/budget.ts';

/** The default reason of `abort`, made once: thousands of clients may leave at one time. */
const clientLeft = new DOMException('The client left', 'AbortError');

const saneRequestId = /^[\w.:@/+=-]{1,128}$/;

const idOfRequest = Symbol('requestId');

/** The id in logs and in the reply: the caller's own when it is short and plain, else a new one. Every call for a request returns the same. */
export function findRequestId(req: IncomingMessage & { [idOfRequest]?: string }): string {
  const knownId = req[idOfRequest];
  if (knownId !== undefined) return knownId;
  const givenId = req.headers['x-request-id'];
  const id = typeof givenId === 'string' && saneRequestId.test(givenId) ? givenId : makeId('request', Date.now());
  req[idOfRequest] = id;
  return id;
}

/** Where a request came from, for the audit log. */
export function toOrigin({ settings }: Pick<Deps, 'settings'>, req: IncomingMessage): CallOrigin {
  return { requestId: findRequestId(req), address: findAddress(req, settings.TRUSTED_PROXY_HOPS) };
}

/** What only REST says of a call, by name: the chat that a message must be in, or that a list is read whole. */
export type CallTerms = Readonly<Record<string, string | number | boolean | undefined>>;

/** What the resolver of a subscription gets of a call, whichever transport it came by. */
export interface SourceContext extends CallOrigin {
  readonly deps: Deps;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly notes: Map<string, string>;
  /** Over REST only: whether the reply is an event stream. */
  readonly isStreamed?: boolean | undefined;
  /** Of a WebSocket: its responses that are not stored. */
  readonly memory?: ConnectionMemory;
  header(name: string): string | undefined;
}

/**
 * What the resolvers get from either API: the same members as `GraphContext`. The signal is made at its first use:
 * most calls never use it.
 */
export class CallContext {
  readonly deps: Deps;
  readonly caller: Caller;
  readonly requestId: string;
  /** Over REST a look-up that finds nothing is an error, which becomes 404; over GraphQL it is null. */
  missIsError = false;
  /** Whether the reply is an event stream; undefined while nobody has said. */
  isStreamed: boolean | undefined;
  /** Over REST only. */
  terms: CallTerms | undefined;
  readonly #res: ServerResponse;
  #controller: AbortController | undefined;
  #notes: Map<string, string> | undefined;
  #replyBudget: ReplyBudget | undefined;

  /** @param actions  the root fields that the call runs, for the audit log. */
  constructor(deps: Deps, caller: Caller, actions: readonly string[], requestId: string, res: ServerResponse) {
    this.deps = deps;
    this.requestId = requestId;
    this.#res = res;
    this.caller = toReader(caller, actions, this);
  }

  get hasNotes(): boolean {
    return this.#notes !== undefined;
  }

  /** What a resolver tells the REST API besides its result; a name that begins with `x-` is a header of the reply. */
  get notes(): Map<string, string> {
    this.#notes ??= new Map();
    return this.#notes;
  }

  get replyBudget(): ReplyBudget {
    this.#replyBudget ??= new ReplyBudget(this.deps.settings.REPLY_MAX_BYTES);
    return this.#replyBudget;
  }

  /** A header of the request. */
  header(name: string): string | undefined {
    const value = this.#res.req.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  get address(): string | undefined {
    return findAddress(this.#res.req, this.deps.settings.TRUSTED_PROXY_HOPS);
  }

  /** Fires when the client is gone before its reply was complete, or when `abort` is called. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      // On a POST whose reply streams, 'close' of the request does not fire when the client leaves; that of the response does.
      if (this.#res.destroyed) controller.abort(clientLeft);
      else {
        this.#res.once('close', () => {
          if (!this.#res.writableFinished) controller.abort(clientLeft);
        });
      }
    }
    return this.#controller.signal;
  }

  /** Why the service ended the call early; undefined when it did not. */
  get endedBy(): DomainError | undefined {
    const reason: unknown = this.#controller?.signal.reason;
    return reason instanceof DomainError ? reason : undefined;
  }

  abort(reason?: unknown): void {
    void this.signal;
    this.#controller?.abort(reason);
  }
}
