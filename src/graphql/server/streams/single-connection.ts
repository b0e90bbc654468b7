import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../../entities/accounts/caller.ts';
import { DomainError } from '../../../entities/errors.ts';
import { addressOf } from '../../../http/address.ts';
import { sendEmpty } from '../../../http/reply/reply.ts';
import type { SseStream } from '../../../http/reply/sse.ts';
import type { GraphContext } from '../../builder/builder.ts';
import { presentError } from '../../errors.ts';
import type { Call } from '../call.ts';
import { type DocumentRequest, isFaults, type Operation } from '../documents/documents.ts';
import { type Params, searchOf } from '../params.ts';
import { sendErrors, sendText } from '../reply.ts';
import { openInTurn, poolOf, type StreamParts } from './event-streams.ts';

const tokenHeader = 'x-graphql-event-stream-token';
/** A reservation whose stream is not opened in this time is dropped. */
const reservationMs = 30_000;
const operationsMax = 100;

/**
 * The single connection mode of the graphql-sse protocol: PUT reserves a stream, GET opens it, POST starts operations on it, DELETE ends
 * one. A reservation lives in this process and belongs to the key that made it.
 */
export class SingleConnections {
  readonly #parts: StreamParts;
  readonly #reservations = new Map<string, Reservation>();

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  /** The token of the reserved stream that a request belongs to. */
  static tokenOf(req: IncomingMessage): string | undefined {
    const header = req.headers[tokenHeader];
    return typeof header === 'string' ? header : (searchOf(req).get('token') ?? undefined);
  }

  /** PUT: reserves a stream and answers its token. */
  reserve(call: Call): void {
    const { caller } = call;
    this.#parts.admissions.subscriptions.enter(caller);
    const token = randomBytes(24).toString('base64url');
    const timer = setTimeout(() => this.#drop(token), reservationMs).unref();
    this.#reservations.set(token, new Reservation(caller, timer));
    sendText(call.res, 201, token, call.requestId);
  }

  /** GET: opens the reserved stream. */
  open(call: Call, token: string): void {
    const reservation = this.#find(call, token);
    // Who left already is not told of again; the reservation ends with its time.
    if (call.res.destroyed) return;
    if (reservation.isOpen) throw new DomainError('CONFLICT', 'The event stream is open already');
    const stream = this.#parts.sse.start(call.res, call.requestId, ['connection', 'keep-alive']);
    stream.flush();
    reservation.open(stream);
    const stopWatching = this.#parts.watchKey(call.caller, () => {
      const reason = new DomainError('INVALID_API_KEY', 'The API key was revoked or has expired');
      reservation.end(JSON.stringify({ errors: [presentError(reason, call.errors)] }));
    });
    call.res.once('close', () => {
      stopWatching();
      this.#drop(token);
    });
  }

  /** POST: starts an operation on the reserved stream. */
  async start(call: Call, token: string, params: Params, document: DocumentRequest): Promise<void> {
    const reservation = this.#find(call, token);
    const { operationId } = params.extensions;
    if (typeof operationId !== 'string' || operationId === '' || operationId.length > 200) {
      const message = 'extensions.operationId must be a string of 1 to 200 characters';
      throw new DomainError('MISSING_REQUIRED_PARAMETER', message, { param: 'extensions.operationId' });
    }
    const operation = document.operation();
    if (isFaults(operation)) return sendErrors(call.res, 400, operation, call.errors);
    const controller = reservation.add(operationId, operation.holdsRun);
    const { caller } = call;
    const pool = poolOf(operation, this.#parts.admissions);
    try {
      pool?.enter(caller);
    } catch (error) {
      reservation.remove(operationId);
      throw error;
    }
    sendEmpty(call.res, 202, call.requestId);
    const { signal } = controller;
    const { deps } = this.#parts;
    const address = addressOf(call.req, deps.settings.TRUSTED_PROXY_HOPS);
    const context = { deps, caller, requestId: call.requestId, address, signal };
    try {
      await this.#pump(reservation, operationId, operation, params, context);
    } finally {
      // Of one that was ended the id may be another operation's by now.
      if (!signal.aborted) reservation.remove(operationId);
      pool?.leave(caller);
    }
  }

  /** DELETE: ends an operation of the reserved stream. */
  stop(call: Call, token: string): void {
    const reservation = this.#find(call, token);
    const operationId = searchOf(call.req).get('operationId');
    if (operationId === null || operationId === '') {
      throw new DomainError('MISSING_REQUIRED_PARAMETER', 'operationId is missing', { param: 'operationId' });
    }
    reservation.remove(operationId);
    sendEmpty(call.res, 200, call.requestId);
  }

  /** Ends every stream as soon as the runs on it are over; what has no end of its own gets `result` as its last. */
  stopAll(result: string): void {
    for (const [token, reservation] of this.#reservations) if (reservation.stop(result)) this.#drop(token);
  }

  async #pump(
    reservation: Reservation,
    operationId: string,
    operation: Operation,
    params: Params,
    context: GraphContext,
  ): Promise<void> {
    const id = JSON.stringify(operationId);
    const { signal } = context;
    for await (const batch of await openInTurn(this.#parts, operation, params, context)) {
      const frames = batch.map((json) => nextFrame(id, json)).join('');
      await reservation.write(frames, signal);
    }
    await reservation.write(completeFrame(id), signal);
  }

  #find(call: Call, token: string): Reservation {
    const reservation = this.#reservations.get(token);
    if (reservation === undefined || reservation.caller.keyId !== call.caller.keyId) {
      throw new DomainError('NOT_FOUND', 'There is no such event stream');
    }
    return reservation;
  }

  #drop(token: string): void {
    const reservation = this.#reservations.get(token);
    if (reservation === undefined) return;
    this.#reservations.delete(token);
    this.#parts.admissions.subscriptions.leave(reservation.caller);
    reservation.close();
  }
}

/** A stream and the operations on it. What is written before it is opened waits. */
class Reservation {
  readonly caller: Caller;
  readonly #operations = new Map<string, RunningOperation>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #stream: SseStream | undefined;
  #isStopping = false;

  constructor(caller: Caller, timer: NodeJS.Timeout) {
    this.caller = caller;
    this.#timer = timer;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  open(stream: SseStream): void {
    clearTimeout(this.#timer);
    this.#stream = stream;
    this.#opened.resolve();
  }

  /** @throws DomainError CONFLICT for an id in use, RATE_LIMIT_EXCEEDED when the stream is full, OVERLOADED when the process stops. */
  add(operationId: string, holdsRun: boolean): AbortController {
    if (this.#isStopping) {
      throw new DomainError('OVERLOADED', 'The service is stopping; connect again', { retryAfterSeconds: 1 });
    }
    if (this.#operations.has(operationId)) {
      throw new DomainError('CONFLICT', 'An operation with this id is running', { param: 'extensions.operationId' });
    }
    if (this.#operations.size >= operationsMax) {
      throw new DomainError('RATE_LIMIT_EXCEEDED', `An event stream carries at most ${operationsMax} operations`);
    }
    const controller = new AbortController();
    this.#operations.set(operationId, { controller, holdsRun });
    return controller;
  }

  remove(operationId: string): void {
    const operation = this.#operations.get(operationId);
    this.#operations.delete(operationId);
    operation?.controller.abort();
    if (this.#isStopping && this.#operations.size === 0) this.#stream?.end('');
  }

  /** @param signal  of the operation: what was ended meanwhile says nothing any more. */
  async write(frames: string, signal?: AbortSignal): Promise<void> {
    if (this.#stream === undefined) await this.#opened.promise;
    if (signal?.aborted !== true) await this.#stream?.write(frames);
  }

  /** Gives every running operation a last result and ends the stream. */
  end(result: string): void {
    const ids = [...this.#operations.keys()].map((id) => JSON.stringify(id));
    this.#stream?.end(ids.map((id) => nextFrame(id, result) + completeFrame(id)).join(''));
    this.close();
  }

  /** The same for what has no end of its own; runs go on to theirs, and then the stream ends. @returns whether that is so already. */
  stop(result: string): boolean {
    const endless = [...this.#operations].filter(([, { holdsRun }]) => !holdsRun).map(([id]) => id);
    if (endless.length === this.#operations.size) {
      this.end(result);
      return true;
    }
    this.#isStopping = true;
    for (const operationId of endless) {
      const id = JSON.stringify(operationId);
      void this.write(nextFrame(id, result) + completeFrame(id));
      this.remove(operationId);
    }
    return false;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#opened.resolve();
    for (const operationId of [...this.#operations.keys()]) this.remove(operationId);
  }
}

interface RunningOperation {
  readonly controller: AbortController;
  readonly holdsRun: boolean;
}

function nextFrame(id: string, json: string): string {
  return `event: next\ndata: {"id":${id},"payload":${json}}\n\n`;
}

function completeFrame(id: string): string {
  return `event: complete\ndata: {"id":${id}}\n\n`;
}
