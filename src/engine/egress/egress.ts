import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type EgressAllowance, isPublicAddress, parseAllowance } from './addresses.ts';
import { readBody } from './body.ts';
import { EgressError } from './error.ts';

export interface EgressRequest {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Most bytes of the reply's body after decoding; more is TOO_LARGE. */
  readonly bytesMax: number;
  /** For the whole call with its redirects. */
  readonly timeoutMs: number;
  /** Redirects followed; 0 hands the redirect back. Default 5. */
  readonly redirectsMax?: number;
  /** `host`: a redirect to another host is handed back, not followed. For calls whose body, query or headers are for that host alone. */
  readonly redirectsWithin?: 'host';
}

export interface EgressReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the last redirect led. */
  readonly url: string;
  readonly body: Buffer;
}

export interface Egress {
  /**
   * The one way out for every URL that a user, a bundle, a page, a model or an MCP server can influence: http and https only, the literal
   * and the resolved address checked at connect on every hop, bytes, time, hops and decodings bounded.
   *
   * @throws EgressError, or the signal's reason.
   */
  send(request: EgressRequest, signal: AbortSignal): Promise<EgressReply>;
  close(): Promise<void>;
}

export interface EgressOptions {
  /** The setting EGRESS_ALLOW. */
  readonly allow: string | undefined;
  readonly connectTimeoutMs: number;
  /** Tests give their own to show that the resolved address is what counts. */
  readonly lookup?: LookupFunction;
}

const redirectsMaxDefault = 5;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
/** Never sent to another origin than the one they were meant for. */
const originHeaders = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key']);
/** Owned by the client below, or able to smuggle a second request. */
const forbiddenHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'keep-alive',
]);

export function createEgress(options: EgressOptions): Egress {
  const allowance = parseAllowance(options.allow);
  const agent = new Agent({
    connect: guardedConnector(allowance, options),
    connections: 32,
    pipelining: 1,
    maxHeaderSize: 32_768,
  });
  return {
    send: (request, signal) => follow(agent, request, signal),
    close: () => agent.close(),
  };
}

/** Checks the literal address itself, because a connector's lookup never runs for one, and every resolved address otherwise. */
function guardedConnector(allowance: EgressAllowance, options: EgressOptions): buildConnector.connector {
  const resolve = options.lookup ?? (systemLookup as LookupFunction);
  const check = (hostname: string, address: string) => {
    if (isPublicAddress(address) || allowance.allowsHost(hostname) || allowance.allowsAddress(address)) return undefined;
    return new EgressError(
      'FORBIDDEN_ADDRESS',
      `${hostname} is not an address of the public internet; EGRESS_ALLOW can allow it`,
    );
  };
  const connectors = new Map<string, buildConnector.connector>();
  const connectorFor = (hostname: string) => {
    const known = connectors.get(hostname);
    if (known !== undefined) return known;
    const lookup: LookupFunction = (name, lookupOptions, callback) => {
      resolve(name, { ...lookupOptions, all: true }, (error, found) => {
        if (error !== null) return callback(error, '', 0);
        const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found;
        const refused = addresses.map(({ address }) => check(hostname, address)).find((failure) => failure !== undefined);
        const first = addresses[0];
        if (refused !== undefined || first === undefined)
          return callback(refused ?? new EgressError('UNREACHABLE', `${hostname} has no address`), '', 0);
        if (lookupOptions.all === true) return callback(null, addresses);
        return callback(null, first.address, first.family);
      });
    };
    const connector = buildConnector({ lookup, timeout: options.connectTimeoutMs, autoSelectFamily: true });
    if (connectors.size >= 1_000) connectors.clear();
    connectors.set(hostname, connector);
    return connector;
  };
  return (target, callback) => {
    const hostname = target.hostname.replace(/^\[|\]$/g, '');
    const refused = isIP(hostname) === 0 ? undefined : check(hostname, hostname);
    if (refused !== undefined) return callback(refused, null);
    return connectorFor(hostname)(target, callback);
  };
}

async function follow(agent: Dispatcher, request: EgressRequest, signal: AbortSignal): Promise<EgressReply> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  let hop: Hop = {
    url: parseUrl(request.url),
    method: request.method ?? 'GET',
    headers: cleanHeaders(request.headers ?? {}),
    body: request.body,
  };
  try {
    for (let redirects = 0; ; redirects += 1) {
      const reply = await sendOnce(agent, hop, request.bytesMax, either);
      const location = reply.headers.location;
      if (!redirectStatuses.has(reply.status) || location === undefined || request.redirectsMax === 0) return reply;
      if (redirects >= (request.redirectsMax ?? redirectsMaxDefault)) {
        throw new EgressError('TOO_MANY_REDIRECTS', `${hop.url.hostname} redirects more than ${redirects} times`);
      }
      const next = parseUrl(location, hop.url);
      if (request.redirectsWithin === 'host' && !isSameHost(hop.url, next)) return reply;
      hop = nextHop(hop, reply.status, next);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (timeout.aborted) throw new EgressError('TIMEOUT', `${hop.url.hostname} did not answer within ${request.timeoutMs} ms`);
    throw toEgressError(error, hop.url.hostname);
  }
}

interface Hop {
  readonly url: URL;
  readonly method: NonNullable<EgressRequest['method']>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

async function sendOnce(agent: Dispatcher, hop: Hop, bytesMax: number, signal: AbortSignal): Promise<EgressReply> {
  const reply = await agent.request({
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method,
    headers: { 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'Parley', ...hop.headers },
    body: hop.body ?? null,
    signal,
  });
  const headers = Object.fromEntries(
    Object.entries(reply.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
  const body = await readBody(reply.body, headers['content-encoding'], bytesMax);
  return { status: reply.statusCode, headers, url: hop.url.href, body };
}

/** 303, and 301 and 302 after a POST, go on as a GET without a body; credentials stay with their origin. */
function nextHop(hop: Hop, status: number, url: URL): Hop {
  const becomesGet = status === 303 || ((status === 301 || status === 302) && hop.method === 'POST');
  const keepsOrigin = url.origin === hop.url.origin;
  const headers = Object.fromEntries(
    Object.entries(hop.headers).filter(
      ([name]) => (keepsOrigin || !originHeaders.has(name)) && !(becomesGet && name.startsWith('content-')),
    ),
  );
  return becomesGet && hop.method !== 'HEAD' ? { url, method: 'GET', headers, body: undefined } : { ...hop, url, headers };
}

/** The same origin, or the same host with the plain connection left for the safe one. */
function isSameHost(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  return from.hostname === to.hostname && from.port === '' && to.port === '' && to.protocol === 'https:';
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new EgressError('BAD_URL', 'the address is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new EgressError('BAD_URL', `only http and https are fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new EgressError('BAD_URL', 'a URL with a user name or password is not fetched');
  return url;
}

function cleanHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !forbiddenHeaders.has(name)),
  );
}

function toEgressError(error: unknown, hostname: string): unknown {
  if (error instanceof EgressError) return error;
  if (error instanceof Error && error.cause instanceof EgressError) return error.cause;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return new EgressError('UNREACHABLE', `${hostname} could not be reached (${code})`);
}
