import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { anonymousRefusal } from '../fixtures/upstreams/stand-in.ts';
import { startClock } from './processes/clock.ts';
import { chatBody, chatFrames } from './runs/upstream-frames.ts';

/** The reaction of the fake model provider to one request. */
export interface UpstreamScript {
  /** Text of the answer; each member of an array is one chunk. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string;
  /** The text of a refusal, which has its own member. */
  readonly refusal?: string;
  /** Calls the model makes; `arguments` is sent in two pieces. */
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** The logprobs of each chunk of text, in the wire form; sent only when the request asks for them. */
  readonly logprobs?: readonly object[];
  /** The service tier that the model reports; absent by default. */
  readonly serviceTier?: string;
  /** Default: `tool_calls` with calls, else `stop`. */
  readonly finish?: string;
  /** Default: 10 tokens in, one a chunk out. `null` sends none. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  /** Waits between chunks; 0 (default) writes the whole stream in one piece. */
  readonly chunkDelayMs?: number;
  /** Waits before the head. */
  readonly headDelayMs?: number;
  /** An error reply instead of an answer. */
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The event stream byte for byte, instead of one made from `text`. Several pieces are several writes. */
  readonly raw?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** Destroys the connection after this many bytes of the body. */
  readonly cutAtByte?: number;
  /** Stops sending after this many bytes of the body; the connection stays open. */
  readonly hangAtByte?: number;
  /** Delays the whole reply, with its head, until this resolves. */
  readonly gate?: Promise<unknown>;
  /** Delays the rest after the first piece of the text until this resolves; streams only. */
  readonly restGate?: Promise<unknown>;
  /** Cuts the body into writes of this many bytes. */
  readonly bytesPerWrite?: number;
}

export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON body; undefined for GET. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** A `gate` or `restGate` that never opens. */
export const never: Promise<never> = new Promise(() => undefined);

/** An answer that stops after its first piece of text until the test calls `goOn`. */
export function heldAnswer(script: UpstreamScript & { readonly text: readonly string[] }) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { script: { ...script, restGate: promise }, goOn: resolve };
}

export type UpstreamAnswer = UpstreamScript | ((request: UpstreamRequest) => UpstreamScript);

/** A local server for the OpenAI-compatible format, scripted by the test. */
export interface Upstream {
  /** The value of OPENAI_BASE_URL: ends in `/v1`. */
  readonly url: string;
  readonly requests: readonly UpstreamRequest[];
  /** Replies that began and that neither side has ended. */
  readonly openStreams: number;
  /** Requests whose client disconnected before the end. */
  readonly aborted: number;
  /** The answers of the next chat requests; several calls queue up. Requests beyond them get `otherwise`. */
  next(...answers: readonly UpstreamAnswer[]): void;
  /** The answer of every request without a script of its own. Default: the text `Hello from upstream`. */
  otherwise(answer: UpstreamAnswer): void;
  /** The models in `/models`. Default: `test-model`. */
  listModels(...ids: readonly string[]): void;
  /** Removes all scripts and records. */
  reset(): void;
  /** Ends all open replies. */
  abandon(): void;
  /** Resolves once `predicate` holds. @throws after `timeoutMs` in which this process could run. */
  until(predicate: (upstream: Upstream) => boolean, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startUpstream(): Promise<Upstream> {
  const upstream = new ScriptedUpstream();
  await upstream.listen();
  return upstream;
}

class ScriptedUpstream implements Upstream {
  url = '';
  requests: UpstreamRequest[] = [];
  aborted = 0;
  private queue: UpstreamAnswer[] = [];
  private fallback: UpstreamAnswer = { text: 'Hello from upstream' };
  private modelIds: readonly string[] = ['test-model'];
  private readonly sockets = new Set<Socket>();
  private readonly open = new Set<ServerResponse>();
  private readonly server = createServer((request, response) => {
    this.handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });

  get openStreams(): number {
    return this.open.size;
  }

  async listen(): Promise<void> {
    // Only the client closes idle connections. If both sides did, on a busy machine one side could close while the other one sends.
    this.server.keepAliveTimeout = 0;
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  next(...answers: readonly UpstreamAnswer[]): void {
    this.queue.push(...answers);
  }

  otherwise(answer: UpstreamAnswer): void {
    this.fallback = answer;
  }

  listModels(...ids: readonly string[]): void {
    this.modelIds = ids;
  }

  reset(): void {
    this.queue = [];
    this.requests = [];
    this.aborted = 0;
    this.fallback = { text: 'Hello from upstream' };
    this.modelIds = ['test-model'];
  }

  abandon(): void {
    for (const response of this.open) response.destroy();
  }

  async until(predicate: (upstream: Upstream) => boolean, timeoutMs = 60_000): Promise<void> {
    const clock = startClock();
    try {
      while (!predicate(this)) {
        if (clock.elapsedMs() > timeoutMs) throw new Error(`upstream: not reached in ${timeoutMs} ms`);
        await delay(5);
      }
    } finally {
      clock.stop();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const record = await readRequest(request);
    if (anonymousRefusal(request) !== undefined) return void response.writeHead(403).end();
    if (record.method === 'GET' && record.path.endsWith('/models')) {
      const data = this.modelIds.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'test' }));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
      return;
    }
    this.requests.push(record);
    const answer = this.queue.shift() ?? this.fallback;
    const script = typeof answer === 'function' ? answer(record) : answer;
    this.open.add(response);
    response.on('close', () => {
      this.open.delete(response);
      if (!response.writableFinished) this.aborted += 1;
    });
    await play(script, record, response);
  }
}

async function play(script: UpstreamScript, request: UpstreamRequest, response: ServerResponse): Promise<void> {
  if (script.headDelayMs !== undefined) await delay(script.headDelayMs);
  if (script.gate !== undefined) await script.gate;
  if (response.destroyed) return;
  if (script.status !== undefined && script.status !== 200) {
    response.writeHead(script.status, { 'content-type': 'application/json', ...script.headers });
    response.end(script.body ?? JSON.stringify({ error: { message: 'scripted failure', type: 'test', code: null } }));
    return;
  }
  const isStream = request.body?.stream === true;
  const model = typeof request.body?.model === 'string' ? request.body.model : 'test-model';
  const pieces = piecesOf(script, isStream, model, request);
  response.writeHead(200, {
    'content-type': isStream ? 'text/event-stream; charset=utf-8' : 'application/json',
    ...script.headers,
  });
  let written = 0;
  for (const piece of pieces) {
    if (written > 0 && (script.chunkDelayMs ?? 0) > 0) await delay(script.chunkDelayMs);
    if (written > 0) await script.restGate;
    if (response.destroyed) return;
    const stopAt = script.cutAtByte ?? script.hangAtByte;
    const part = stopAt === undefined ? piece : piece.subarray(0, Math.max(0, stopAt - written));
    if (part.length > 0) await new Promise<void>((resolve) => response.write(part, () => resolve()));
    written += part.length;
    if (stopAt !== undefined && written >= stopAt) {
      if (script.cutAtByte !== undefined) response.destroy();
      return;
    }
  }
  response.end();
}

function piecesOf(script: UpstreamScript, isStream: boolean, model: string, request: UpstreamRequest): readonly Buffer[] {
  let pieces: readonly Buffer[];
  if (script.raw !== undefined) {
    const raw = Array.isArray(script.raw)
      ? (script.raw as readonly (string | Uint8Array)[])
      : [script.raw as string | Uint8Array];
    pieces = raw.map((piece) => Buffer.from(piece as Uint8Array));
  } else if (script.body !== undefined) {
    pieces = [Buffer.from(script.body)];
  } else if (isStream) {
    const options = request.body?.stream_options as { include_usage?: boolean } | undefined;
    const frames = chatFrames(script, model, options?.include_usage === true).map((frame) => Buffer.from(frame));
    if (script.restGate !== undefined) pieces = [Buffer.concat(frames.slice(0, 2)), Buffer.concat(frames.slice(2))];
    else pieces = (script.chunkDelayMs ?? 0) > 0 ? frames : [Buffer.concat(frames)];
  } else {
    pieces = [Buffer.from(JSON.stringify(chatBody(script, model)))];
  }
  const size = script.bytesPerWrite;
  if (size === undefined) return pieces;
  const whole = Buffer.concat(pieces);
  return Array.from({ length: Math.ceil(whole.length / size) }, (_, index) => whole.subarray(index * size, (index + 1) * size));
}

async function readRequest(request: IncomingMessage): Promise<UpstreamRequest> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: request.headers,
    body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>),
  };
}
