import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { withUserAgent } from '../../lib/product.ts';
import { bareHost, readHost } from './allowance.ts';
import { EgressError } from './error.ts';
import type { Hop } from './hops.ts';
import { type ProxyServer, readPort } from './proxies.ts';
import type { ResolvedAddress } from './resolver.ts';
import { openTunnel } from './tunnel.ts';
import type { WireCount } from './wire-count.ts';

export interface ExchangeOptions {
  /**
   * Checked addresses; no other is connected to. The URL's host is used only for the Host header and the certificate. Undefined, with a proxy only:
   * the proxy gets the name.
   */
  readonly addresses: readonly ResolvedAddress[] | undefined;
  readonly proxy: ProxyServer | undefined;
  readonly connectTimeoutMs: number;
  readonly count: WireCount;
  readonly signal: AbortSignal;
  /** Called when the connection is open and nothing was written. An error that it throws ends the call before it is sent. */
  readonly beforeSend?: (() => void) | undefined;
}

const headBytesMax = 32_768;
/** Most 1xx replies before the final one. */
const informationalMax = 10;

/**
 * Sends one request over a new connection and resolves with the reply once its head has arrived. Calls share no connection: none
 * waits for another organization, and no reply can leave bytes for the next call.
 *
 * @throws EgressError TIMEOUT while connecting, BAD_REPLY, TOO_LARGE, UNREACHABLE that names the proxy; and the errors of the connection.
 */
export async function exchange(hop: Hop, options: ExchangeOptions): Promise<IncomingMessage> {
  const { proxy } = options;
  if (proxy === undefined) return converse(hop, options, open(hop, options));
  if (options.addresses !== undefined || hop.url.protocol === 'https:') {
    const socket = await openTunnel(hop.url, proxy, options);
    return converse(hop, options, open(hop, options, socket), true);
  }
  const reply = await converse(hop, options, openForwarded(hop, proxy, options));
  if (reply.statusCode !== 407) return reply;
  reply.destroy();
  throw new EgressError('UNREACHABLE', `the proxy ${proxy.name} asks for a user name and a password`);
}

function converse(hop: Hop, options: ExchangeOptions, request: ClientRequest, isConnected = false): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let response: IncomingMessage | undefined;
  const stop = (error: Error) => {
    // Destroy the reply first: otherwise its error would only say that the connection is closed.
    response?.destroy(error);
    request.destroy(error);
    reject(error);
  };
  const fail = (code: 'BAD_REPLY' | 'TIMEOUT', message: string) => stop(new EgressError(code, message));
  let informational = 0;
  request.on('response', (reply) => {
    response = reply;
    // An abandoned reply emits an error later; without a listener that error would end the process.
    reply.on('error', () => {});
    resolve(reply);
  });
  request.on('error', (error) => {
    response?.destroy(error);
    reject(error);
  });
  request.on('information', () => {
    informational += 1;
    if (informational > informationalMax)
      fail('BAD_REPLY', `${hop.url.hostname} sent more than ${informationalMax} replies of status 1xx`);
  });
  request.on('upgrade', (_reply, socket) => {
    socket.destroy();
    fail('BAD_REPLY', `${hop.url.hostname} answered with another protocol`);
  });
  request.on('close', () => reject(new EgressError('UNREACHABLE', `${hop.url.hostname} closed the connection without a reply`)));
  const write = () => {
    try {
      options.beforeSend?.();
    } catch (error) {
      return stop(error instanceof Error ? error : new Error('not sent', { cause: error }));
    }
    request.end(hop.body);
  };
  request.on('socket', (socket: Socket) => {
    // Count every byte, also those that the parser drops: chunk sizes, extensions, trailers.
    socket.on('data', (chunk: Buffer) => {
      const excess = options.count.addWire(chunk.length);
      if (excess !== undefined) stop(excess);
    });
    if (isConnected) return write();
    const timer = setTimeout(() => {
      fail('TIMEOUT', `${hop.url.hostname} could not be connected to within ${options.connectTimeoutMs} ms`);
    }, options.connectTimeoutMs);
    socket.once(request.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      write();
    });
    socket.once('close', () => clearTimeout(timer));
  });
  return promise;
}

/** @param tunnel  a connection to the host, through a proxy and with TLS already. */
function open(hop: Hop, { addresses = [], signal }: ExchangeOptions, tunnel?: Socket): ClientRequest {
  const { url } = hop;
  const hostname = readHost(url);
  const lookup: LookupFunction = (_name, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
  const options: RequestOptions = {
    ...requestOptions(hop, signal),
    host: hostname,
    port: url.port === '' ? undefined : Number(url.port),
    path: url.pathname + url.search,
  };
  // With an agent, Node would not ask for the connection.
  const { agent: _agent, ...withoutAgent } = options;
  if (tunnel !== undefined) return requestHttp({ ...withoutAgent, createConnection: () => tunnel });
  if (url.protocol === 'http:') return requestHttp({ ...options, lookup });
  // A TLS server name is never an address and has no dot at its end.
  const servername = isIP(hostname) === 0 ? bareHost(hostname) : '';
  return requestHttps({ ...options, lookup, servername });
}

/** Asks a proxy for a page of an http address: the proxy looks up the name. */
function openForwarded(hop: Hop, proxy: ProxyServer, { signal }: ExchangeOptions): ClientRequest {
  const { headers, ...rest } = requestOptions(hop, signal);
  const { 'proxy-authorization': _ofCaller, ...own } = headers;
  const target = new URL(hop.url);
  target.hash = '';
  return (proxy.url.protocol === 'https:' ? requestHttps : requestHttp)({
    ...rest,
    host: readHost(proxy.url),
    port: readPort(proxy.url),
    path: target.href,
    headers: proxy.authorization === undefined ? own : { ...own, 'proxy-authorization': proxy.authorization },
  });
}

function requestOptions({ url, method, headers, body }: Hop, signal: AbortSignal) {
  return {
    method,
    headers: {
      host: url.host,
      'accept-encoding': 'gzip, deflate, br',
      ...withUserAgent(headers ?? {}),
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    } as Record<string, string | number>,
    agent: false,
    signal,
    maxHeaderSize: headBytesMax,
  } as const;
}
