import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ResponseInput } from '../domain/conversations/responses/input.ts';
import { ConnectionMemory } from '../domain/conversations/responses/memory.ts';
import type { Deps } from '../domain/deps.ts';
import { requireOperation } from '../domain/ground/audit/operation.ts';
import { toReader } from '../domain/ground/audit/reads.ts';
import { Faults } from '../domain/ground/faults.ts';
import { keyEnded, watchKey } from '../domain/people/api-keys.ts';
import { asSpan } from '../engine/tracing/tracing.ts';
import { isTerminal, type RunEvent, type RunSnapshot } from '../entities/conversations/runs/event.ts';
import { DomainError, type ErrorCode, isWithoutKey } from '../entities/ground/errors.ts';
import type { Caller } from '../entities/people/caller.ts';
import { authenticate, type KeyCheck } from '../http/authenticate/authenticate.ts';
import { createKeyCheck } from '../http/authenticate/key-check.ts';
import { findRequestId, type SourceContext, toOrigin } from '../http/context.ts';
import { showError } from '../http/errors.ts';
import { takesExtensions } from '../http/extensions.ts';
import type { Admissions } from '../http/limits.ts';
import { rateLimitError } from '../http/reply/rate-headers.ts';
import { refuseRaw } from '../http/reply/raw.ts';
import { responseError } from '../wire/responses/errors.ts';
import { errorMembers, ResponseProjection } from '../wire/responses/events.ts';
import type { Route } from './compile.ts';
import { renamedFault } from './input/error-params.ts';
import { memberNames } from './input/member-names.ts';
import { refusesExtensions } from './input/variables.ts';
import { listPaths } from './paths.ts';

/** Requests that may wait on one connection. */
const waitingMax = 32;
const pingEveryMs = 30_000;
const busyRetrySeconds = 5;
export interface ResponseSocket {
  takes(req: IncomingMessage): boolean;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The process stops: each connection is closed after its current response. */
  stop(): void;
  cutOff(): void;
}

/**
 * The responses format over WebSocket, a second transport of the route that creates a response: every message is one request or one event as
 * plain JSON, one event a write. Requests of a connection are answered one after the other; within it, `store: false` responses can be
 * continued.
 */
export function createResponseSocket(deps: Deps, route: Route, admissions: Admissions): ResponseSocket {
  const paths = listPaths(route.row);
  const connections = new Set<Connection>();
  const keyCheck = createKeyCheck(deps, admissions.failedKeys);
  const openOfKey = new Map<string, number>();
  const countOpen = (keyId: string, by: 1 | -1) => {
    const count = (openOfKey.get(keyId) ?? 0) + by;
    if (count === 0) openOfKey.delete(keyId);
    else openOfKey.set(keyId, count);
  };
  const server = new WebSocketServer({ noServer: true, maxPayload: deps.settings.BODY_MAX_BYTES, perMessageDeflate: false });
  return {
    takes({ url = '', headers, method }) {
      return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && paths.includes(url.split('?')[0] ?? '');
    },
    upgrade(req, socket, head) {
      socket.on('error', () => socket.destroy());
      const accept = (caller: Caller) => {
        requireFree(deps, openOfKey.get(caller.keyId) ?? 0);
        admissions.sockets.require(caller);
        server.handleUpgrade(req, socket, head, (webSocket) => {
          const requestId = findRequestId(req);
          const parts = { deps, admissions, route, caller, socket: webSocket, stream: socket, requestId, req };
          const connection = new Connection(parts);
          connections.add(connection);
          countOpen(caller.keyId, 1);
          admissions.sockets.share.take(caller);
          webSocket.once('close', () => {
            connections.delete(connection);
            countOpen(caller.keyId, -1);
            admissions.sockets.leave(caller);
          });
          connection.begin();
        });
      };
      open(deps, route, req, keyCheck)
        .then(accept)
        .catch((error: unknown) => {
          if (isWithoutKey(error)) deps.audit.refusals.noteWithoutKey();
          const requestId = findRequestId(req);
          refuseRaw(socket, responseError(showError(error, deps.logger, requestId)), requestId);
        });
    },
    stop() {
      for (const connection of connections) connection.stop();
    },
    cutOff() {
      for (const socket of server.clients) socket.terminate();
    },
  };
}

async function open(deps: Deps, { main }: Route, req: IncomingMessage, keyCheck: KeyCheck): Promise<Caller> {
  const caller = await authenticate(req, keyCheck);
  requireRate(deps, caller);
  requireOperation({ deps, caller, ...toOrigin(deps, req) }, `${main.rootType.name}.${main.rootField.name}`);
  return caller;
}

/** Counts an upgrade or a message as a request. @throws DomainError RATE_LIMIT_EXCEEDED. */
function requireRate({ rates }: Deps, caller: Caller): void {
  const verdict = rates.take(caller, performance.now());
  if (verdict?.isAllowed === false) throw rateLimitError(verdict);
}

/** Each connection keeps responses and waiting requests in memory, so one key may have a bounded number of them. */
function requireFree({ settings }: Deps, open: number): void {
  if (open < settings.SOCKETS_PER_KEY_MAX) return;
  const message = `This key has as many WebSockets open as it may (${settings.SOCKETS_PER_KEY_MAX}); close one, or use it for several requests`;
  throw new DomainError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: busyRetrySeconds });
}

interface ConnectionParts {
  readonly deps: Deps;
  readonly admissions: Admissions;
  readonly route: Route;
  readonly caller: Caller;
  readonly socket: WebSocket;
  /** The connection below the socket. */
  readonly stream: Duplex;
  readonly requestId: string;
  readonly req: IncomingMessage;
}

interface SocketRequest {
  readonly input: ResponseInput;
  /** The events hold nothing that the service adds to the format. */
  readonly isPlain: boolean;
}

class Connection {
  readonly #parts: ConnectionParts;
  readonly #memory: ConnectionMemory;
  readonly #left = new AbortController();
  #waiting = 0;
  #waitingBytes = 0;
  #tail: Promise<void> = Promise.resolve();
  #isStopping = false;
  #isOver = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    // As much as a client that keeps its own transcript could send again.
    this.#memory = new ConnectionMemory(parts.deps.settings.BODY_MAX_BYTES);
  }

  begin(): void {
    const { socket, deps, caller } = this.#parts;
    const stopWatching = watchKey(deps, caller, () => {
      const { code, message } = keyEnded();
      this.#end(code, message, 1008);
    });
    const ping = setInterval(() => socket.ping(), pingEveryMs).unref();
    const limit = setTimeout(() => this.#reachLimit(), deps.settings.SOCKET_LIFETIME_MS).unref();
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(ping);
      clearTimeout(limit);
      stopWatching();
      this.#left.abort();
    });
    socket.on('message', (data, isBinary) => {
      if (this.#isOver) return;
      const text = String(data);
      const sizeBytes = Buffer.byteLength(text);
      const refusal = isBinary ? new DomainError('INVALID_TYPE', 'Messages must be text') : this.#refusal(sizeBytes);
      if (refusal !== undefined) {
        this.#error(refusal);
        return;
      }
      this.#waiting += 1;
      this.#waitingBytes += sizeBytes;
      this.#tail = this.#tail
        .then(() => this.#answer(text))
        .finally(() => {
          this.#waiting -= 1;
          this.#waitingBytes -= sizeBytes;
          if (this.#isStopping && this.#waiting === 0) this.#close();
        });
    });
  }

  /** Why a request may not wait behind the others; undefined when it may. */
  #refusal(sizeBytes: number): DomainError | undefined {
    if (this.#waiting === 0) return undefined;
    const { BODY_MAX_BYTES: bytesMax } = this.#parts.deps.settings;
    if (this.#waiting < waitingMax && this.#waitingBytes + sizeBytes <= bytesMax) return undefined;
    const message = `At most ${waitingMax} requests, of ${bytesMax} bytes together, may wait on one connection`;
    return new DomainError('RATE_LIMIT_EXCEEDED', message);
  }

  /** Takes no new requests. Those that wait are answered. */
  stop(): void {
    this.#isStopping = true;
    if (this.#waiting === 0) this.#close();
  }

  /** As the format says: earlier requests are answered, later ones are not read. The client connects again. */
  #reachLimit(): void {
    this.#isOver = true;
    const message = 'This connection is as old as it may get; connect again';
    this.#tail = this.#tail.then(() => this.#end('WEBSOCKET_CONNECTION_LIMIT_REACHED', message, 1000));
  }

  /** Sends the reason, then closes. */
  #end(code: ErrorCode, message: string, closeCode: number): void {
    this.#error(new DomainError(code, message));
    this.#parts.socket.close(closeCode, message);
  }

  #close(): void {
    this.#parts.socket.close(1001, 'The service stops');
  }

  async #answer(text: string): Promise<void> {
    if (this.#left.signal.aborted) return;
    const { caller, admissions } = this.#parts;
    let request: SocketRequest | undefined;
    try {
      if (this.#isStopping) throw new DomainError('OVERLOADED', 'The service is stopping; connect again');
      requireRate(this.#parts.deps, caller);
      request = this.#read(text);
      admissions.runs.enter(caller);
      const run = this.#traced.bind(this, request);
      try {
        await this.#parts.deps.storage.db.runFor(() => caller, run);
      } finally {
        admissions.runs.leave(caller);
      }
    } catch (error) {
      this.#memory.forget(request?.input.previousResponseId);
      this.#error(error);
    }
  }

  /** Each message is a request: its trace goes on where the request for the connection said so. */
  #traced(request: SocketRequest): Promise<void> {
    const { deps, req, requestId } = this.#parts;
    const { tracing } = deps;
    if (tracing === undefined) return this.#run(request);
    const attributes = { 'parley.operation': 'responseSocket', 'parley.request.id': requestId };
    const span = tracing.beginRequest('WS /api/v2/responses', attributes, req.headers.traceparent);
    return asSpan(tracing, span, () => this.#run(request));
  }

  async #run({ input, isPlain }: SocketRequest): Promise<void> {
    const { route, req } = this.#parts;
    const isTaken = !isPlain && takesExtensions((name) => [req.headers[name]].flat()[0]);
    // One event is one write: some clients parse each read on its own.
    const projection = new ResponseProjection(
      (_type, json) => {
        this.#send(json);
        return '';
      },
      { takesExtensions: isTaken, startingAfter: -1, seenSequence: -1 },
    );
    // One for each request: listeners on the connection's own signal would pile up over its many requests.
    const request = new AbortController();
    const leave = () => request.abort();
    this.#left.signal.addEventListener('abort', leave, { once: true });
    try {
      const events = await route.stream?.({ input }, this.#contextOf(request.signal));
      if (events === undefined) throw new Error(`${route.row.operationId} has no stream`);
      let status: RunSnapshot['status'] | undefined;
      for await (const batch of events) {
        projection.project(batch);
        status = findEndStatus(batch) ?? status;
        if (this.#parts.stream.writableNeedDrain) await this.#drained();
      }
      if (status === undefined || status === 'failed') this.#memory.forget(input.previousResponseId);
    } catch (error) {
      leave();
      throw error;
    } finally {
      this.#left.signal.removeEventListener('abort', leave);
    }
  }

  #contextOf(signal: AbortSignal): SourceContext {
    const { deps, req, route } = this.#parts;
    const header = (name: string) => [req.headers[name]].flat()[0];
    const origin = toOrigin(deps, req);
    const caller = toReader(this.#parts.caller, [route.main.rootField.name], origin);
    return { deps, caller, ...origin, signal, notes: new Map(), memory: this.#memory, header };
  }

  /** Resolves when the client has read, or is gone. A client that does not read is cut off (http/connections/connections.ts). */
  async #drained(): Promise<void> {
    const { signal } = this.#left;
    await once(this.#parts.stream, 'drain', { signal }).catch(() => undefined);
  }

  /** @throws DomainError for a message that is no request. */
  #read(text: string): SocketRequest {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new DomainError('INVALID_JSON', 'A message must be one JSON object');
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new DomainError('INVALID_TYPE', 'A message must be one JSON object');
    }
    const { type, response, ...members } = value as Record<string, unknown>;
    if (type !== 'response.create') {
      throw new DomainError('INVALID_VALUE', 'type must be response.create', { param: 'type' });
    }
    const faults = new Faults();
    const body = typeof response === 'object' && response !== null ? response : members;
    const { readers } = this.#parts.route;
    const input = readers.body?.(body, faults) as ResponseInput;
    const isPlain = refusesExtensions({ ...(readers.replyMembers?.(body, faults) as object | undefined) });
    faults.throwIfAny();
    return { input, isPlain };
  }

  #error(error: unknown): void {
    const { deps, requestId, route } = this.#parts;
    const shownError = responseError(showError(error, deps.logger, requestId));
    const members = errorMembers(renamedFault(shownError, wireParam(shownError.param, route)));
    this.#send(JSON.stringify({ type: 'error', status: shownError.status, ...members }));
  }

  #send(json: string): void {
    const { socket, deps } = this.#parts;
    if (socket.readyState !== socket.OPEN) return;
    // Runs wait for a slow client, refusals do not: a client that sends and never reads is cut off.
    if (socket.bufferedAmount > deps.settings.SSE_BUFFER_MAX_BYTES * 4) socket.terminate();
    else socket.send(json);
  }
}

/** How a run ended with these events; undefined when it did not. */
function findEndStatus(batch: readonly RunEvent[]): RunSnapshot['status'] | undefined {
  const last = batch.at(-1);
  return last !== undefined && isTerminal(last) && 'run' in last ? last.run.status : undefined;
}

function wireParam(param: string | null, { row }: Route): string | null {
  return param?.replace(/[A-Za-z0-9_]+/g, memberNames(row).wire) ?? null;
}
