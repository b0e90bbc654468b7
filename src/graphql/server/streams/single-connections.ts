import { randomBytes } from 'node:crypto';
import type { Caller } from '../../../entities/accounts/caller.ts';
import { DomainError } from '../../../entities/errors.ts';
import { addressOf } from '../../../http/address.ts';
import { requireJsonType } from '../../../http/body/json.ts';
import { ReplyBudget } from '../../../http/reply/budget.ts';
import { sendEmpty } from '../../../http/reply/reply.ts';
import type { Call } from '../call.ts';
import type { DocumentRequest } from '../documents/documents.ts';
import { searchOf } from '../params.ts';
import { sendText } from '../reply.ts';
import type { RequestReader } from '../request-reader.ts';
import { type EventStreams, operationOf, type StreamParts } from './event-streams.ts';
import type { OperationResults, StreamContext } from './operation-results.ts';
import { Outlet } from './outlet.ts';
import { framesOf } from './protocol.ts';

const tokenHeader = 'x-graphql-event-stream-token';
/** A reservation whose stream is not opened in this time is dropped. */
const reservationMs = 30_000;
const operationsMax = 100;

/** A reserved stream. */
interface Reservation {
  readonly token: string;
  readonly caller: Caller;
  readonly timer: NodeJS.Timeout;
  readonly outlet: Outlet;
  /** Those that run, by the ids that the client gave them. */
  readonly operations: Map<string, OperationResults>;
  /** Of graphql-sse; undefined until the stream is open. */
  frames: AsyncGenerator<string> | undefined;
  /** Set once nothing new is taken: the stream ends with its last operation. */
  isFinishing: boolean;
}

/**
 * What is on `/graphql/stream`. In the single connection mode of graphql-sse, PUT reserves a stream, GET opens it, POST starts operations on
 * it, DELETE stops one. graphql-sse keeps the streams; here is who may use them, how many and how long. A reservation lives in this process
 * and belongs to the key that made it.
 */
export class SingleConnections {
  readonly #parts: StreamParts;
  readonly #streams: EventStreams;
  readonly #reader: RequestReader;
  readonly #reservations = new Map<string, Reservation>();

  constructor(parts: StreamParts, streams: EventStreams, reader: RequestReader) {
    this.#parts = parts;
    this.#streams = streams;
    this.#reader = reader;
  }

  async answer(call: Call): Promise<void> {
    const { req, res, accept } = call;
    call.measuredAs = 'connection';
    const token = tokenOf(call);
    const isStream = accept.includes('text/event-stream');
    if (req.method === 'PUT') return this.#reserve(call);
    if (req.method === 'DELETE') return this.#stop(call, this.#find(call, token));
    if (req.method === 'GET' && token !== undefined && isStream) return this.#open(call, this.#find(call, token));
    if (req.method !== 'GET' && req.method !== 'POST') {
      res.setHeader('allow', 'GET, POST, PUT, DELETE');
      throw new DomainError('METHOD_NOT_ALLOWED', 'Event streams take GET, POST, PUT and DELETE');
    }
    if (req.method === 'POST') requireJsonType(req);
    const document = await this.#reader.read(call);
    if (token === undefined || isStream) return this.#streams.answer(call, document);
    return this.#start(call, this.#find(call, token), document);
  }

  /** Takes nothing new. Each stream ends as soon as the operations on it are over. */
  finishAll(): void {
    for (const reservation of this.#reservations.values()) this.#finish(reservation);
  }

  async #reserve(call: Call): Promise<void> {
    const { caller } = call;
    this.#parts.admissions.subscriptions.enter(caller);
    const token = randomBytes(24).toString('base64url');
    const timer = setTimeout(() => this.#drop(reservation), reservationMs).unref();
    const reservation: Reservation = {
      token,
      caller,
      timer,
      outlet: new Outlet(),
      operations: new Map(),
      frames: undefined,
      isFinishing: false,
    };
    this.#reservations.set(token, reservation);
    await this.#parts.protocol('PUT', { token });
    sendText(call.res, 201, token, call.requestId);
  }

  async #open(call: Call, reservation: Reservation): Promise<void> {
    // The client has left already: the reservation ends with its time.
    if (call.res.destroyed) return;
    const { token, outlet, timer } = reservation;
    const reply = await this.#parts.protocol('GET', { token });
    if (reply[1].status === 409) throw new DomainError('CONFLICT', 'The event stream is open already');
    clearTimeout(timer);
    const frames = framesOf(reply);
    reservation.frames = frames;
    const stopWatching = this.#parts.watchKey(call.caller, () => this.#finish(reservation));
    try {
      await outlet.send(frames, this.#streams.startStream(call), call.res);
    } finally {
      stopWatching();
      this.#drop(reservation);
    }
  }

  async #start(call: Call, reservation: Reservation, document: DocumentRequest): Promise<void> {
    const { operationId } = document.params.extensions;
    if (typeof operationId !== 'string' || operationId === '' || operationId.length > 200) {
      const message = 'extensions.operationId must be a string of 1 to 200 characters';
      throw new DomainError('MISSING_REQUIRED_PARAMETER', message, { param: 'extensions.operationId' });
    }
    const operation = operationOf(call, document);
    if (operation === undefined) return;
    requireRoom(reservation, operationId);
    const { token, outlet, operations } = reservation;
    const results = this.#streams.begin(operation, document, this.#contextOf(call), outlet);
    operations.set(operationId, results);
    const onComplete = () => this.#remove(reservation, operationId);
    const { params } = document;
    const [, { status }] = await this.#parts.protocol('POST', { token, params, results, onComplete });
    if (status !== 202) {
      await results.return();
      this.#remove(reservation, operationId);
      throw idInUse();
    }
    sendEmpty(call.res, 202, call.requestId);
  }

  async #stop(call: Call, reservation: Reservation): Promise<void> {
    const operationId = searchOf(call.req).get('operationId');
    if (operationId === null || operationId === '') {
      throw new DomainError('MISSING_REQUIRED_PARAMETER', 'operationId is missing', { param: 'operationId' });
    }
    await this.#parts.protocol('DELETE', { token: reservation.token, operationId });
    this.#remove(reservation, operationId);
    sendEmpty(call.res, 200, call.requestId);
  }

  /** Of an operation, which outlives the request that starts it. */
  #contextOf({ req, caller, requestId }: Call): StreamContext {
    const { deps } = this.#parts;
    const controller = new AbortController();
    const address = addressOf(req, deps.settings.TRUSTED_PROXY_HOPS);
    const replyBudget = new ReplyBudget(deps.settings.REPLY_MAX_BYTES);
    return {
      deps,
      caller,
      requestId,
      address,
      replyBudget,
      signal: controller.signal,
      abort: (reason) => controller.abort(reason),
    };
  }

  #find(call: Call, token: string | undefined): Reservation {
    const reservation = this.#reservations.get(token ?? '');
    if (reservation === undefined || reservation.caller.keyId !== call.caller.keyId) {
      throw new DomainError('NOT_FOUND', 'There is no such event stream');
    }
    return reservation;
  }

  #remove(reservation: Reservation, operationId: string): void {
    reservation.operations.delete(operationId);
    if (reservation.isFinishing) this.#finish(reservation);
  }

  #finish(reservation: Reservation): void {
    reservation.isFinishing = true;
    if (reservation.operations.size === 0) this.#drop(reservation);
  }

  #drop({ token, caller, timer, operations, frames }: Reservation): void {
    if (!this.#reservations.delete(token)) return;
    clearTimeout(timer);
    this.#parts.admissions.subscriptions.leave(caller);
    for (const results of operations.values()) void results.return();
    if (frames !== undefined) void frames.return(undefined);
    // graphql-sse lets go of a stream only when it was open.
    else void this.#parts.protocol('GET', { token }).then((reply) => framesOf(reply).return(undefined));
  }
}

/** The token of the reserved stream that a request belongs to. */
function tokenOf({ req }: Call): string | undefined {
  const header = req.headers[tokenHeader];
  return typeof header === 'string' ? header : (searchOf(req).get('token') ?? undefined);
}

/** @throws DomainError CONFLICT for an id in use, RATE_LIMIT_EXCEEDED when the stream is full, OVERLOADED when it takes nothing new. */
function requireRoom({ operations, isFinishing }: Reservation, operationId: string): void {
  if (isFinishing) throw new DomainError('OVERLOADED', 'The service is stopping; connect again', { retryAfterSeconds: 1 });
  if (operations.has(operationId)) throw idInUse();
  if (operations.size < operationsMax) return;
  throw new DomainError('RATE_LIMIT_EXCEEDED', `An event stream carries at most ${operationsMax} operations`);
}

function idInUse(): DomainError {
  return new DomainError('CONFLICT', 'An operation with this id is running', { param: 'extensions.operationId' });
}
