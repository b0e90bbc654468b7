import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Deps } from '../domain/deps.ts';
import type { Caller } from '../entities/accounts/caller.ts';
import { DomainError } from '../entities/errors.ts';
import { makeId } from '../entities/ids.ts';
import { addressOf } from './address.ts';

/** What `abort` gives by itself, made once: thousands of readers may leave at one time. */
const clientLeft = new DOMException('The client left', 'AbortError');

const saneRequestId = /^[\w.:@/+=-]{1,128}$/;

const idOfRequest = Symbol('requestId');

/** The id that logs and the reply carry: the caller's own when it is short and plain, else a new one. The same whenever it is asked. */
export function requestIdOf(req: IncomingMessage & { [idOfRequest]?: string }): string {
  const known = req[idOfRequest];
  if (known !== undefined) return known;
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && saneRequestId.test(given) ? given : makeId('request', Date.now());
  req[idOfRequest] = id;
  return id;
}

/**
 * What the resolvers get from either face: the same members as `GraphContext`. The signal is made when somebody asks for it, because
 * most calls never do.
 */
export class CallContext {
  readonly deps: Deps;
  readonly caller: Caller;
  readonly requestId: string;
  readonly #res: ServerResponse;
  #controller: AbortController | undefined;
  #notes: Map<string, string> | undefined;

  constructor(deps: Deps, caller: Caller, requestId: string, res: ServerResponse) {
    this.deps = deps;
    this.caller = caller;
    this.requestId = requestId;
    this.#res = res;
  }

  get hasNotes(): boolean {
    return this.#notes !== undefined;
  }

  /** What a resolver tells the REST face besides its result; a name that begins with `x-` is a header of the reply. */
  get notes(): Map<string, string> {
    this.#notes ??= new Map();
    return this.#notes;
  }

  /** A header of the request. */
  header(name: string): string | undefined {
    const value = this.#res.req.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  get address(): string | undefined {
    return addressOf(this.#res.req, this.deps.settings.TRUSTED_PROXY_HOPS);
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

  /** Why the call was ended before its time, by somebody else than its client. */
  get endedBy(): DomainError | undefined {
    const reason: unknown = this.#controller?.signal.reason;
    return reason instanceof DomainError ? reason : undefined;
  }

  abort(reason?: unknown): void {
    void this.signal;
    this.#controller?.abort(reason);
  }
}
