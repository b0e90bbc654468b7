import { randomBytes } from 'node:crypto';
import type { AdmissionPool } from '../../engine/sharing/pools.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { CallContext } from '../../http/context.ts';
import { type Call, type Reservation, requireCaller, type WatchKey } from './call.ts';
import { ReplyBuffer } from './reply-buffer.ts';

/** The header by which the protocol of graphql-sse names a reserved stream. */
export const tokenHeader = 'x-graphql-event-stream-token';
/** A reservation whose stream is not opened in this time is dropped. */
const reservationMs = 30_000;
const operationsMax = 100;

export interface ReservedStreams {
  /** Finds or makes the stream that a request belongs to, and opens it for a GET. @throws DomainError NOT_FOUND, and as ReservedStream. */
  admit(call: Call): void;
  /** Takes nothing new. Each stream ends as soon as the operations on it are over. */
  finishAll(): void;
}

/**
 * The reserved streams of this process. Each belongs to the key that made it.
 *
 * @param forget  lets graphql-sse forget a stream that was never opened.
 */
export function createReservedStreams(
  admission: AdmissionPool,
  watchKey: WatchKey,
  forget: (reservedStream: ReservedStream) => void,
): ReservedStreams {
  const byToken = new Map<string, ReservedStream>();
  const reserve = (call: Call): ReservedStream => {
    const caller = requireCaller(call);
    admission.enter(caller);
    const reserved = new ReservedStream(call, (wasOpen) => {
      byToken.delete(reserved.token);
      admission.leave(caller);
      if (!wasOpen) forget(reserved);
    });
    byToken.set(reserved.token, reserved);
    return reserved;
  };
  return {
    admit: (call) => {
      const { method, headers, url = '' } = call.req;
      if (method === 'PUT') {
        call.reserved = reserve(call);
        return;
      }
      const token = headers[tokenHeader] ?? new URL(url, 'http://localhost').searchParams.get('token');
      const hasOwnStream = method === 'POST' && headers.accept?.includes('text/event-stream') === true;
      if (typeof token !== 'string' || hasOwnStream) return;
      const reserved = byToken.get(token);
      if (reserved === undefined || requireCaller(reserved.call).keyId !== requireCaller(call).keyId) {
        throw new DomainError('NOT_FOUND', 'There is no such event stream');
      }
      call.reserved = reserved;
      if (method === 'POST') reserved.requireRoom();
      // The client has left already: the reservation ends with its time.
      if (method !== 'GET' || call.res.destroyed) return;
      reserved.open(call);
      call.afterwards.push(watchKey(requireCaller(call), () => reserved.finish()));
    },
    finishAll: () => {
      for (const reserved of byToken.values()) reserved.finish();
    },
  };
}

/** A stream of the single connection mode of graphql-sse, which keeps what is sent on it. Here is who may use it, how much and how long. */
export class ReservedStream implements Reservation {
  readonly token = randomBytes(24).toString('base64url');
  readonly buffer = new ReplyBuffer();
  /** The request that reserved it. */
  readonly call: Call;
  readonly #operations = new Set<CallContext>();
  readonly #onEnd: (wasOpen: boolean) => void;
  readonly #timer = setTimeout(() => this.end(), reservationMs).unref();
  /** The request that reads it. */
  #connection: Call | undefined;
  #isFinishing = false;
  #isEnded = false;

  constructor(call: Call, onEnd: (wasOpen: boolean) => void) {
    this.call = call;
    this.#onEnd = onEnd;
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
    if (this.#isFinishing) throw stopping();
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
    this.#onEnd(this.#connection !== undefined);
  }
}

export function stopping(): DomainError {
  return new DomainError('OVERLOADED', 'The service is stopping; connect again', { retryAfterSeconds: 1 });
}
