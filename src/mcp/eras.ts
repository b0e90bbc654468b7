import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  type McpHttpHandler,
  ProtocolErrorCode,
  type ServerEventBus,
  type StandardSchemaV1,
  SUPPORTED_PROTOCOL_VERSIONS,
  specTypeSchemas,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isObject } from '../lib/json/json.ts';
import type { Signals } from '../storage/ground/signals/signals.ts';
import { createServer, type McpCall } from './server.ts';

/** An answer, and what is to be done when it has been sent or its client is gone. */
interface McpAnswer {
  readonly response: Response;
  close(): Promise<void>;
}

const sessionlessVersion = '2026-07-28';

/**
 * Both eras of the protocol, by the SDK's own transports: the revision of 2026-07-28, whose requests stand for themselves, and those before it, which
 * begin with `initialize`. A server is made for each request, so any instance answers any of them.
 */
export class ProtocolEras {
  /** The calls of requests of the later era on their way through the SDK to the factory of the server. */
  readonly #calls = new WeakMap<Request, McpCall>();
  readonly #bus: ServerEventBus;
  readonly #stopWatching: () => void;
  readonly #keepAliveMs: number;
  readonly #json: McpHttpHandler;
  readonly #streams: McpHttpHandler;

  constructor(signals: Pick<Signals, 'subscribe' | 'onReset'>, keepAliveMs: number) {
    const { bus, stop } = watchChanges(signals);
    this.#bus = bus;
    this.#stopWatching = stop;
    this.#keepAliveMs = keepAliveMs;
    this.#json = this.#sessionless('auto');
    this.#streams = this.#sessionless('sse');
  }

  /**
   * Answers one request.
   *
   * @param res  may have headers already.
   * @param message  the JSON of a POST; undefined for a GET.
   */
  async serve(req: IncomingMessage, res: ServerResponse, message: unknown, call: McpCall): Promise<void> {
    const { signal } = call.context;
    let answer: McpAnswer | undefined;
    const close = () => void answer?.close();
    const handler = toNodeHandler({
      fetch: async (request) => {
        answer = await this.#answer(new Request(request, { signal }), message, call);
        signal.addEventListener('abort', close, { once: true });
        if (signal.aborted) close();
        // The head of a stream leaves before its first event.
        setImmediate(() => res.flushHeaders());
        return answer.response;
      },
    });
    try {
      await handler(withPlainAddress(req), res, message);
    } finally {
      await answer?.close();
    }
  }

  stop(): void {
    this.#stopWatching();
  }

  async #answer(request: Request, message: unknown, call: McpCall): Promise<McpAnswer> {
    const isLegacy = await isLegacyRequest(request, message);
    // Without sessions there is no `initialize`.
    const faulty = isLegacy || call.method !== 'initialize' ? await faultyParams(message, call) : undefined;
    if (faulty !== undefined) return { response: Response.json(faulty), close: async () => undefined };
    if (!isLegacy) return this.#answerSessionless(request, message, call);
    const refusal = unspokenVersion(request.headers.get('mcp-protocol-version'), call.id);
    if (refusal !== undefined) return { response: Response.json(refusal, { status: 400 }), close: async () => undefined };
    return request.method === 'GET' ? this.#listen(request, call) : this.#answerInSession(request, message, call);
  }

  #sessionless(responseMode: 'auto' | 'sse'): McpHttpHandler {
    return createMcpHandler(
      ({ requestInfo }) => {
        const call = requestInfo === undefined ? undefined : this.#calls.get(requestInfo);
        if (call === undefined) throw new Error('a request of MCP came without its caller');
        return createServer(call, true);
      },
      // The places for open streams are counted for all transports together.
      {
        legacy: 'reject',
        bus: this.#bus,
        responseMode,
        keepAliveMs: this.#keepAliveMs,
        maxSubscriptions: Number.MAX_SAFE_INTEGER,
      },
    );
  }

  async #answerSessionless(request: Request, message: unknown, call: McpCall): Promise<McpAnswer> {
    this.#calls.set(request, call);
    // An answer that may take long is a stream from its begin, so that it has heartbeats.
    const handler = call.method === 'tools/call' ? this.#streams : this.#json;
    return { response: await handler.fetch(request, { parsedBody: message }), close: async () => undefined };
  }

  async #answerInSession(request: Request, message: unknown, call: McpCall): Promise<McpAnswer> {
    const isStream = call.method === 'tools/call';
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !isStream,
      keepAliveMs: isStream ? this.#keepAliveMs : 0,
    });
    const server = createServer(call, false);
    await server.connect(transport);
    return { response: await transport.handleRequest(request, { parsedBody: message }), close: () => server.close() };
  }

  /** The stream of a session, on which the server tells that its lists have changed. */
  async #listen(request: Request, call: McpCall): Promise<McpAnswer> {
    const transport = new WebStandardStreamableHTTPServerTransport({ keepAliveMs: this.#keepAliveMs });
    const server = createServer(call, false);
    await server.connect(transport);
    const stop = this.#bus.subscribe((event) => {
      if (event.kind === 'resource_updated') return;
      // A client that has left is told nothing.
      server.notification({ method: changeMethods[event.kind] }).catch(() => undefined);
    });
    const close = async () => {
      stop();
      await server.close();
    };
    return { response: await transport.handleRequest(request), close };
  }
}

/** The SDK makes an address of the host, which may be any text, and fails for one that is none. */
function withPlainAddress(req: IncomingMessage) {
  const { method = 'GET', headers } = req;
  return {
    method,
    url: '/mcp',
    headers: { ...headers, host: 'parley' },
    [Symbol.asyncIterator]: () => req[Symbol.asyncIterator](),
  };
}

/** The refusal of a version of the protocol that is not spoken here, with the number of the request, which that of the SDK lacks. */
function unspokenVersion(requestedVersion: string | null, id: string | number | null): object | undefined {
  if (requestedVersion === null || SUPPORTED_PROTOCOL_VERSIONS.includes(requestedVersion)) return undefined;
  const supportedVersions = [sessionlessVersion, ...SUPPORTED_PROTOCOL_VERSIONS];
  const message = `Unsupported protocol version; supported are ${supportedVersions.join(', ')}`;
  const error = {
    code: ProtocolErrorCode.InvalidParams,
    message,
    data: { supported: supportedVersions, requested: requestedVersion.slice(0, 100) },
  };
  return { jsonrpc: '2.0', id, error };
}

/** Params that the SDK itself checks, whose faults it tells as a list of its schema library, and those of `initialize` as an internal error. */
const checkedParams = new Map<string | undefined, StandardSchemaV1>([
  ['initialize', specTypeSchemas.InitializeRequestParams],
  ['tools/call', specTypeSchemas.CallToolRequestParams],
]);

/** The refusal of such params, in the words that the SDK has for those of other methods. */
async function faultyParams(message: unknown, { method, id }: McpCall): Promise<object | undefined> {
  const schema = checkedParams.get(method);
  if (schema === undefined || id === null) return undefined;
  const { issues } = await schema['~standard'].validate(isObject(message) ? message.params : undefined);
  if (issues === undefined) return undefined;
  const faults = issues.map(({ path = [], message: fault }) => {
    const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
    return `${names.length === 0 ? 'params' : names.join('.')}: ${fault}`;
  });
  const error = { code: ProtocolErrorCode.InvalidParams, message: `Invalid params for ${method}: ${faults.join('; ')}` };
  return { jsonrpc: '2.0', id, error };
}

/** Changes that come within this time are told at once. */
const gatherMs = 1_000;
/** All lists show agents; documents that were saved are tools only. */
const changedLists = ['tools_list_changed', 'prompts_list_changed', 'resources_list_changed'] as const;

/** What clients are told on their open streams in the era of `initialize`; the later revision does it in the SDK. */
const changeMethods = {
  tools_list_changed: 'notifications/tools/list_changed',
  prompts_list_changed: 'notifications/prompts/list_changed',
  resources_list_changed: 'notifications/resources/list_changed',
} as const;

/**
 * Tells all open streams that agents have changed, here or in another instance. Which agents is not looked up: the client lists them again, and
 * gets those that its key may use.
 */
function watchChanges(signals: Pick<Signals, 'subscribe' | 'onReset'>): { readonly bus: ServerEventBus; stop(): void } {
  const bus = new InMemoryServerEventBus();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const kind of changedLists) bus.publish({ kind });
    }, gatherMs).unref();
  };
  const tellOfTools = () => void bus.publish({ kind: 'tools_list_changed' });
  const stops = [
    signals.subscribe('saved-documents-changed', tellOfTools),
    signals.subscribe('agent-changed', tell),
    signals.subscribe('group-changed', tell),
    signals.onReset(tell),
  ];
  return {
    bus,
    stop() {
      clearTimeout(timer);
      for (const stop of stops) stop();
    },
  };
}
