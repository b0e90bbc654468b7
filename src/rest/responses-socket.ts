import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type GraphQLSchema, isInputObjectType } from 'graphql';
import { type WebSocket, WebSocketServer } from 'ws';
import { authenticateKey, watchKey } from '../domain/api-keys.ts';
import type { Deps } from '../domain/deps.ts';
import { requireScope } from '../domain/policy.ts';
import { beginResponse } from '../domain/responses/create.ts';
import type { ResponseInput } from '../domain/responses/input.ts';
import { ConnectionMemory } from '../domain/responses/memory.ts';
import { RunFold } from '../engine/runs/fold.ts';
import type { Caller } from '../entities/caller.ts';
import { DomainError, errorBody, type PublicError } from '../entities/errors.ts';
import { authenticate } from '../http/authenticate.ts';
import { requestIdOf } from '../http/context.ts';
import { showError } from '../http/errors.ts';
import type { RunAdmission } from '../http/limits.ts';
import { compileReader, type Reader, throwFaults } from './body.ts';
import { ResponseProjection } from './encode/response.ts';
import { Faults } from './faults.ts';
import { type MemberNames, memberNames } from './member-names.ts';

const path = '/api/v2/responses';
/** Requests that may wait on one connection. */
const waitingMax = 32;
const pingEveryMs = 30_000;
const operation = 'Subscription.newResponseEvents';

export interface ResponseSocket {
  /** @returns false when the upgrade is none of ours. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  close(): void;
}

/**
 * The responses format over WebSocket, on the path of its REST operation: every message is one request or one event as plain JSON, one
 * event a write. Requests of a connection are answered one after the other; `store: false` responses can be gone on from within it.
 */
export function createResponseSocket(deps: Deps, schema: GraphQLSchema, admission: RunAdmission): ResponseSocket {
  const type = schema.getType('ResponseInput');
  if (!isInputObjectType(type)) throw new Error('the schema has no ResponseInput');
  const names = memberNames({ bodyCase: 'snake' });
  const read = compileReader(type, names, 'coerced');
  const server = new WebSocketServer({ noServer: true, maxPayload: deps.settings.BODY_MAX_BYTES, perMessageDeflate: false });
  return {
    upgrade(req, socket, head) {
      if ((req.url ?? '').split('?')[0] !== path) return false;
      socket.on('error', () => socket.destroy());
      open(deps, req).then(
        (caller) =>
          server.handleUpgrade(req, socket, head, (opened) => {
            new Connection({ deps, admission, read, names, caller, socket: opened, requestId: requestIdOf(req), req }).begin();
          }),
        (error: unknown) => refuse(socket, showError(error, deps.logger, requestIdOf(req))),
      );
      return true;
    },
    close() {
      for (const socket of server.clients) socket.close(1001, 'The service stops');
      server.close();
    },
  };
}

async function open(deps: Deps, req: IncomingMessage): Promise<Caller> {
  const caller = await authenticate(req, (secret) => authenticateKey(deps, secret));
  requireScope(caller, operation);
  return caller;
}

function refuse(socket: Duplex, shown: PublicError): void {
  const body = JSON.stringify(errorBody(shown));
  socket.end(
    `HTTP/1.1 ${shown.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

interface ConnectionParts {
  readonly deps: Deps;
  readonly admission: RunAdmission;
  readonly read: Reader;
  readonly names: MemberNames;
  readonly caller: Caller;
  readonly socket: WebSocket;
  readonly requestId: string;
  readonly req: IncomingMessage;
}

class Connection {
  readonly #parts: ConnectionParts;
  readonly #memory = new ConnectionMemory();
  readonly #left = new AbortController();
  #waiting = 0;
  #tail: Promise<void> = Promise.resolve();

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  begin(): void {
    const { socket, deps, caller } = this.#parts;
    const stopWatching = watchKey(deps, caller, () => socket.close(1008, 'The API key was revoked or has expired'));
    const ping = setInterval(() => socket.ping(), pingEveryMs).unref();
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(ping);
      stopWatching();
      this.#left.abort();
    });
    socket.on('message', (data, isBinary) => {
      if (isBinary || this.#waiting >= waitingMax) {
        const message = isBinary ? 'Messages must be text' : `At most ${waitingMax} requests may wait on one connection`;
        this.#error(new DomainError(isBinary ? 'INVALID_TYPE' : 'RATE_LIMIT_EXCEEDED', message));
        return;
      }
      this.#waiting += 1;
      this.#tail = this.#tail
        .then(() => this.#answer(String(data)))
        .finally(() => {
          this.#waiting -= 1;
        });
    });
  }

  async #answer(text: string): Promise<void> {
    if (this.#left.signal.aborted) return;
    const { caller, admission } = this.#parts;
    let input: ResponseInput | undefined;
    try {
      input = this.#read(text);
      admission.enter(caller.keyId);
      try {
        await this.#run(input);
      } finally {
        admission.leave(caller.keyId);
      }
    } catch (error) {
      this.#memory.forget(input?.previousResponseId);
      this.#error(error);
    }
  }

  async #run(input: ResponseInput): Promise<void> {
    const { deps, caller, req } = this.#parts;
    const { streamOptions } = input as { readonly streamOptions?: { readonly include_extensions?: unknown } | null };
    const isOff = req.headers['x-parley-extensions'] === 'off' || streamOptions?.include_extensions === false;
    // One event is one write: some clients parse each read on its own.
    const projection = new ResponseProjection(
      (_type, json) => {
        this.#send(json);
        return '';
      },
      { hasExtensions: !isOff, startingAfter: -1, seenSequence: -1 },
    );
    const begun = await beginResponse(deps, caller, { ...input, stream: true }, this.#left.signal, this.#memory);
    const fold = new RunFold();
    for await (const batch of begun.events.batches()) {
      projection.project(batch);
      if (!begun.isStored) fold.add(batch);
    }
    if (begun.transcript === undefined) return;
    const run = fold.snapshot();
    if (run.status === 'completed' || run.status === 'incomplete') this.#memory.keep(run, begun.transcript);
    else this.#memory.forget(input.previousResponseId);
  }

  /** @throws DomainError for a message that is no request. */
  #read(text: string): ResponseInput {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new DomainError('INVALID_JSON', 'A message must be one JSON object');
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new DomainError('INVALID_TYPE', 'A message must be one JSON object');
    }
    if (text.includes('\\u0000')) throw new DomainError('INVALID_VALUE', 'A message must not contain the NUL character');
    const { type, response, ...members } = value as Record<string, unknown>;
    if (type !== 'response.create') {
      throw new DomainError('INVALID_VALUE', 'type must be response.create', { param: 'type' });
    }
    const faults = new Faults();
    const body = typeof response === 'object' && response !== null ? response : members;
    const input = this.#parts.read(body, faults) as ResponseInput;
    if (faults.found.length > 0) throwFaults(faults);
    return input;
  }

  #error(error: unknown): void {
    const { deps, requestId, names } = this.#parts;
    const shown = showError(error, deps.logger, requestId);
    const { message, type, param, code } = errorBody({ ...shown, param: wireParam(shown.param, names) }).error;
    this.#send(
      JSON.stringify({ type: 'error', status: shown.status, code, message, param, error: { type, code, message, param } }),
    );
  }

  #send(json: string): void {
    const { socket, deps } = this.#parts;
    if (socket.readyState !== socket.OPEN) return;
    // A client that stops reading is cut off instead of being remembered without bound.
    if (socket.bufferedAmount > deps.settings.SSE_BUFFER_MAX_BYTES * 4) socket.terminate();
    else socket.send(json);
  }
}

function wireParam(param: string | null, names: MemberNames): string | null {
  return param?.replace(/[A-Za-z0-9_]+/g, names.wire) ?? null;
}
