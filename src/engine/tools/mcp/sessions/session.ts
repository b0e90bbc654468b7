import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { DomainError } from '../../../../entities/errors.ts';
import { cutText, oneLine } from '../../../../lib/text.ts';
import { EgressError } from '../../../egress/error.ts';
import { BoundedTransport } from './bounded-transport.ts';
import { HttpTransport, idempotencyMember } from './http-transport.ts';

/** Answers are read member by member: one odd tool or content part must not spoil the rest. */
const anyPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const anyResult = z.looseObject({ content: z.array(z.unknown()).optional(), isError: z.boolean().optional() });

export type RawResult = z.infer<typeof anyResult>;

export interface SessionOptions {
  readonly version: string;
  readonly startTimeoutMs: number;
  /** Called when the server says that its tools have changed. */
  readonly onToolsChanged: () => void;
  /** Called once, when the session is over, by whomever. */
  readonly onClose: () => void;
}

export interface CallOptions {
  readonly key: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Pages and tools of one server that are read; further ones are left out. */
const pagesMax = 20;
const toolsReadMax = 1_000;
const messageMax = 500;

/** One session with an MCP server. */
export class McpSession {
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #bounded: BoundedTransport;
  readonly #options: SessionOptions;
  #isClosed = false;

  /** Use `open`. */
  constructor(client: Client, transport: Transport, options: SessionOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#bounded = new BoundedTransport(transport);
    this.#options = options;
  }

  /** @throws McpFailure when the server cannot be reached, or does not speak the protocol. */
  static async open(transport: Transport, options: SessionOptions): Promise<McpSession> {
    const client = new Client({ name: 'Parley', version: options.version }, { capabilities: {} });
    const session = new McpSession(client, transport, options);
    client.setNotificationHandler(ToolListChangedNotificationSchema, options.onToolsChanged);
    // Errors of single messages; what they break fails by itself.
    client.onerror = () => undefined;
    client.onclose = () => session.#end();
    try {
      await client.connect(session.#bounded, { timeout: options.startTimeoutMs });
    } catch (error) {
      await session.close();
      throw session.#failureOf(error);
    }
    return session;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The server's tools as it describes them, unchecked. */
  async list(): Promise<readonly unknown[]> {
    const tools: unknown[] = [];
    const { startTimeoutMs } = this.#options;
    const signal = AbortSignal.timeout(startTimeoutMs);
    let cursor: string | undefined;
    try {
      for (let page = 0; page < pagesMax && tools.length < toolsReadMax; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const read = await this.#client.request({ method: 'tools/list', params }, anyPage, { timeout: startTimeoutMs, signal });
        tools.push(...read.tools.slice(0, toolsReadMax - tools.length));
        if (read.nextCursor === undefined || read.nextCursor === cursor) break;
        cursor = read.nextCursor;
      }
    } catch (error) {
      throw this.#failureOf(error);
    }
    return tools;
  }

  /** @throws McpFailure; the reason of the signal. */
  async call(name: string, args: Readonly<Record<string, unknown>>, { key, timeoutMs, signal }: CallOptions): Promise<RawResult> {
    const params = { name, arguments: args, _meta: { [idempotencyMember]: key } };
    try {
      return await this.#client.request({ method: 'tools/call', params }, anyResult, { timeout: timeoutMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failureOf(error);
    }
  }

  /** Ends the session at the server, too. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#transport instanceof HttpTransport && this.#transport.sessionId !== undefined) {
      await Promise.race([this.#transport.end(), new Promise((resolve) => setTimeout(resolve, endingMs).unref())]);
    }
    await this.#client.close().catch(() => undefined);
    // A client that never connected does not close its transport.
    await this.#transport.close().catch(() => undefined);
    this.#end();
  }

  /** A session that was ended for a bound fails with that, and not with the end of its connection. */
  #failureOf(error: unknown): McpFailure {
    const { excess } = this.#bounded;
    return excess === undefined ? failureOf(error) : new McpFailure('UPSTREAM_ERROR', excess);
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onClose();
  }
}

/** A server gets this long to take the end of a session. */
const endingMs = 1_000;

/** Why a server did not answer as it should, in words for the model. May repeat what the server said: mask it. */
export class McpFailure extends DomainError {
  /** The server does not know the session any more, and has done nothing. */
  readonly isSessionLost: boolean;

  constructor(code: 'UPSTREAM_ERROR' | 'UPSTREAM_TIMEOUT', message: string, isSessionLost = false) {
    super(code, message);
    this.isSessionLost = isSessionLost;
  }
}

function failureOf(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error;
  if (error instanceof EgressError)
    return new McpFailure(error.code === 'TIMEOUT' ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_ERROR', error.message);
  if (error instanceof StreamableHTTPError) return httpFailure(error);
  if (error instanceof McpError) {
    if (error.code === ErrorCode.RequestTimeout) return new McpFailure('UPSTREAM_TIMEOUT', 'it did not answer in time');
    return new McpFailure('UPSTREAM_ERROR', shown(error.message.replace(/^MCP error -?\d+: /, '')));
  }
  if (error instanceof z.core.$ZodError || error instanceof SyntaxError) {
    return new McpFailure('UPSTREAM_ERROR', 'it does not answer as the protocol says');
  }
  return new McpFailure('UPSTREAM_ERROR', shown(error instanceof Error ? error.message : String(error)));
}

function httpFailure({ code = -1, message }: StreamableHTTPError): McpFailure {
  const text = shown(message.replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, ''));
  if (code === 401 || code === 403)
    return new McpFailure('UPSTREAM_ERROR', `it refuses the authorization it was given (${code})`);
  const isLost = code === 404 || (code === 400 && /session/i.test(text));
  return new McpFailure('UPSTREAM_ERROR', code < 0 ? text : `it answered ${code}${text === '' ? '' : `: ${text}`}`, isLost);
}

function shown(message: string): string {
  return cutText(oneLine(message), messageMax);
}
