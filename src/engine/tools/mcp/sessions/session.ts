import {
  Client,
  type jsonSchemaValidator,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { DomainError } from '../../../../entities/ground/errors.ts';
import { cutText, oneLine } from '../../../../lib/text/text.ts';
import { EgressError } from '../../../egress/error.ts';
import { SignInNeeded } from '../authorization/token-sources.ts';
import { BoundedTransport } from './bounded-transport.ts';

/** In `_meta` of a call: its key, also sent as the header `Idempotency-Key`. */
const idempotencyMember = 'idempotency-key';

/** Answers are read member by member: one odd tool or content part must not spoil the rest. Of the later era the SDK reads them. */
const anyPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const anyResult = z.looseObject({ content: z.array(z.unknown()).optional(), isError: z.boolean().optional() });

const anyContents = z.looseObject({ contents: z.array(z.unknown()) });

export type RawResult = z.infer<typeof anyResult>;

export interface SessionOptions {
  readonly version: string;
  readonly startTimeoutMs: number;
  /** Called when the server says that its tools have changed. */
  readonly onToolsChanged: () => void;
  /** Called once, when a session that was open is over, by whomever. */
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
/** A program of the era of sessions may not answer a request before `initialize`. */
const programProbeMs = 5_000;

/** Schemas of strangers are not compiled: the SDK would do it for the results of calls. */
const noValidator: jsonSchemaValidator = {
  getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
};

/** One session with an MCP server. */
export class McpSession {
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #bounded: BoundedTransport;
  readonly #options: SessionOptions;
  #isOpen = false;
  #isClosed = false;

  /** Use `open`. */
  constructor(client: Client, transport: Transport, options: SessionOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#bounded = new BoundedTransport(transport);
    this.#options = options;
  }

  /**
   * @param mode  `auto`: the revision of 2026-07-28 when the server speaks it, else `initialize`.
   * @throws McpFailure when the server cannot be reached, or does not speak the protocol.
   */
  static async open(transport: Transport, mode: VersionNegotiationMode, options: SessionOptions): Promise<McpSession> {
    const { startTimeoutMs: timeout } = options;
    const isHttp = transport instanceof StreamableHTTPClientTransport;
    const client = new Client(
      { name: 'Parley', version: options.version },
      {
        capabilities: {},
        versionNegotiation: { mode, probe: { timeoutMs: isHttp ? timeout : Math.min(timeout, programProbeMs) } },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: options.onToolsChanged } },
        listMaxPages: pagesMax,
        jsonSchemaValidator: noValidator,
      },
    );
    const session = new McpSession(client, transport, options);
    // Errors of single messages; what they break fails by itself.
    client.onerror = () => undefined;
    client.onclose = () => session.#end();
    try {
      await client.connect(session.#bounded, { timeout, signal: AbortSignal.timeout(2 * timeout) });
      session.#isOpen = true;
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
    const options = { timeout: startTimeoutMs, signal: AbortSignal.timeout(startTimeoutMs) };
    let cursor: string | undefined;
    try {
      if (this.#isModern) return (await this.#client.listTools(undefined, { ...options, cacheMode: 'refresh' })).tools;
      for (let page = 0; page < pagesMax && tools.length < toolsReadMax; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const read = await this.#client.request({ method: 'tools/list', params }, anyPage, options);
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
    const params = { name, arguments: { ...args }, _meta: { [idempotencyMember]: key } };
    // A server may ask to be asked again: all of it together is one call.
    const options = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal, headers: { [idempotencyMember]: key } };
    try {
      if (this.#isModern) return anyResult.parse(await this.#client.callTool(params, options));
      return await this.#client.request({ method: 'tools/call', params }, anyResult, options);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failureOf(error);
    }
  }

  /** Whether the server says that it has resources to read. */
  get hasResources(): boolean {
    return this.#client.getServerCapabilities()?.resources !== undefined;
  }

  /** The parts of a resource, unchecked. @throws like `call`. */
  async read(uri: string, { timeoutMs, signal }: Omit<CallOptions, 'key'>): Promise<readonly unknown[]> {
    try {
      const options = { timeout: timeoutMs, signal };
      return (await this.#client.request({ method: 'resources/read', params: { uri } }, anyContents, options)).contents;
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failureOf(error);
    }
  }

  /** Ends the session at the server, too. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#transport instanceof StreamableHTTPClientTransport) {
      const ending = this.#transport.terminateSession().catch(() => undefined);
      await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, endingMs).unref())]);
    }
    await this.#client.close().catch(() => undefined);
    // A client that never connected does not close its transport.
    await this.#transport.close().catch(() => undefined);
    this.#end();
  }

  get #isModern(): boolean {
    return this.#client.getProtocolEra() === 'modern';
  }

  /** A session that was ended for a bound fails with that, and not with the end of its connection. */
  #failureOf(error: unknown): McpFailure {
    const { excess } = this.#bounded;
    return excess === undefined ? toMcpFailure(error) : new McpFailure('UPSTREAM_ERROR', excess);
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isOpen) this.#options.onClose();
  }
}

/** A server gets this long to take the end of a session. */
const endingMs = 1_000;

/** Why a server did not answer as it should, in words for the model. May repeat what the server said: mask it. */
export class McpFailure extends DomainError {
  /** The server does not know the session any more, and has done nothing. */
  readonly isSessionLost: boolean;
  /** Where the owner of the connection has to sign in, before the server can be used. */
  readonly connectUrl: string | undefined;

  constructor(code: 'UPSTREAM_ERROR' | 'UPSTREAM_TIMEOUT', message: string, isSessionLost = false, connectUrl?: string) {
    super(code, message);
    this.isSessionLost = isSessionLost;
    this.connectUrl = connectUrl;
  }
}

function toMcpFailure(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error;
  if (error instanceof SignInNeeded) return new McpFailure('UPSTREAM_ERROR', error.message, false, error.connectUrl);
  if (error instanceof DomainError) return new McpFailure('UPSTREAM_ERROR', error.message);
  if (error instanceof EgressError)
    return new McpFailure(error.code === 'TIMEOUT' ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_ERROR', error.message);
  if (error instanceof SdkHttpError) return httpFailure(error);
  if (error instanceof ProtocolError) return new McpFailure('UPSTREAM_ERROR', shown(error.message));
  if (error instanceof SdkError) return sdkFailure(error);
  if (error instanceof z.core.$ZodError || error instanceof SyntaxError) return notTheProtocol();
  return new McpFailure('UPSTREAM_ERROR', shown(error instanceof Error ? error.message : String(error)));
}

function sdkFailure({ code, message, cause }: SdkError): McpFailure {
  if (code === SdkErrorCode.RequestTimeout) return new McpFailure('UPSTREAM_TIMEOUT', 'it did not answer in time');
  if (code === SdkErrorCode.InvalidResult) return notTheProtocol();
  if (code === SdkErrorCode.CapabilityNotSupported) {
    return new McpFailure(
      'UPSTREAM_ERROR',
      'it asks a person or a model something in the middle of the call, which is not served here',
    );
  }
  if (code === SdkErrorCode.InputRequiredRoundsExceeded) {
    return new McpFailure('UPSTREAM_ERROR', 'it was asked again and again, and came to no result');
  }
  // The first request of all: what became of it is the cause.
  return cause instanceof Error ? toMcpFailure(cause) : new McpFailure('UPSTREAM_ERROR', shown(message));
}

function notTheProtocol(): McpFailure {
  return new McpFailure('UPSTREAM_ERROR', 'it does not answer as the protocol says');
}

function httpFailure({ status, message }: SdkHttpError): McpFailure {
  if (status === 401 || status === 403)
    return new McpFailure('UPSTREAM_ERROR', `it refuses the authorization it was given (${status})`);
  const text = shown(message.replace(/^Error POSTing to endpoint: /, ''));
  const isLost = status === 404 || (status === 400 && /session/i.test(text));
  return new McpFailure('UPSTREAM_ERROR', `it answered ${status}${text === '' ? '' : `: ${text}`}`, isLost);
}

function shown(message: string): string {
  return cutText(oneLine(message), messageMax);
}
