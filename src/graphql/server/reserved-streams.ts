import { randomBytes } from 'node:crypto';
import type { AdmissionPool } from '../../engine/sharing/pools.ts';
import { DomainError } from '../../entities/errors.ts';
import type { CallContext } from '../../http/context.ts';
import { type Call, callerOf, type Reservation, type WatchKey } from './call.ts';
import { Outlet } from './outlet.ts';

/** A reservation whose stream is not opened in this time is dropped. */
const reservationMs = 30_000;
const operationsMax = 100;

/** A stream of the single connection mode of graphql-sse, which keeps what is sent on it. Here is who may use it, how much and how long. */
export class ReservedStream implements Reservation {
  readonly token = randomBytes(24).toString('base64url');
  /** The request that reserved it. */
  readonly call: Call;
  readonly outlet = new Outlet();
  readonly #operations = new Set<CallContext>();
  readonly #onEnd: () => void;
  readonly #timer: NodeJS.Timeout;
  /** Set while the stream is open. */
  #connection: Call | undefined;
  #isFinishing = false;
  #isEnded = false;

  constructor(call: Call, onEnd: () => void) {
    this.call = call;
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.end(), reservationMs).unref();
  }

  /** @throws DomainError CONFLICT */
  open(connection: Call): void {
    if (this.#connection !== undefined) throw new DomainError('CONFLICT', 'The event stream is open already');
    this.#connection = connection;
    clearTimeout(this.#timer);
    connection.afterwards.push(() => this.end());
  }

  /** @throws DomainError RATE_LIMIT_EXCEEDED when the stream is full, OVERLOADED when it takes nothing new. */
  requireRoom(): void {
    if (this.#isFinishing)
      throw new DomainError('OVERLOADED', 'The service is stopping; connect again', { retryAfterSeconds: 1 });
    if (this.#operations.size < operationsMax) return;
    throw new DomainError('RATE_LIMIT_EXCEEDED', `An event stream carries at most ${operationsMax} operations`);
  }

  join(operation: CallContext): () => void {
    this.#operations.add(operation);
    return () => {
      this.#operations.delete(operation);
      if (this.#isFinishing) this.finish();
    };
  }

  /** Takes nothing new: the stream ends as soon as the operations on it are over. */
  finish(): void {
    this.#isFinishing = true;
    // Behind the last frames of the operations.
    setImmediate(() => {
      if (this.#operations.size === 0) this.end();
    });
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    for (const operation of this.#operations) operation.abort();
    this.#connection?.stream.abort();
    this.#onEnd();
  }

  get isOpen(): boolean {
    return this.#connection !== undefined;
  }
}

/** The reserved streams of this process. Each belongs to the key that made it. */
export class ReservedStreams {
  readonly #byToken = new Map<string, ReservedStream>();
  readonly #admission: AdmissionPool;
  readonly #watchKey: WatchKey;
  /** Lets graphql-sse forget a stream that was never opened. */
  readonly #forget: (reserved: ReservedStream) => void;

  constructor(admission: AdmissionPool, watchKey: WatchKey, forget: (reserved: ReservedStream) => void) {
    this.#admission = admission;
    this.#watchKey = watchKey;
    this.#forget = forget;
  }

  /** Finds or makes the stream that a request belongs to, and opens it for a GET. @throws DomainError NOT_FOUND, and as ReservedStream. */
  admit(call: Call): void {
    const { method, headers, url = '' } = call.req;
    if (method === 'PUT') {
      call.reserved = this.#reserve(call);
      return;
    }
    const token = headers['x-graphql-event-stream-token'] ?? new URL(url, 'http://localhost').searchParams.get('token');
    const hasOwnStream = method === 'POST' && headers.accept?.includes('text/event-stream') === true;
    if (typeof token !== 'string' || hasOwnStream) return;
    const reserved = this.#byToken.get(token);
    if (reserved === undefined || callerOf(reserved.call).keyId !== callerOf(call).keyId) {
      throw new DomainError('NOT_FOUND', 'There is no such event stream');
    }
    call.reserved = reserved;
    if (method === 'POST') reserved.requireRoom();
    // The client has left already: the reservation ends with its time.
    if (method !== 'GET' || call.res.destroyed) return;
    reserved.open(call);
    call.afterwards.push(this.#watchKey(callerOf(call), () => reserved.finish()));
  }

  /** Takes nothing new. Each stream ends as soon as the operations on it are over. */
  finishAll(): void {
    for (const reserved of this.#byToken.values()) reserved.finish();
  }

  #reserve(call: Call): ReservedStream {
    const caller = callerOf(call);
    this.#admission.enter(caller);
    const reserved = new ReservedStream(call, () => {
      this.#byToken.delete(reserved.token);
      this.#admission.leave(caller);
      if (!reserved.isOpen) this.#forget(reserved);
    });
    this.#byToken.set(reserved.token, reserved);
    return reserved;
  }
}
