import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { bareHost, readHost } from './allowance.ts';
import { EgressError } from './error.ts';
import { type ProxyServer, readPort } from './proxies.ts';
import type { ResolvedAddress } from './resolver.ts';

export interface TunnelOptions {
  /** Checked addresses: the proxy gets the first that it can reach. Undefined: it gets the name. */
  readonly addresses: readonly ResolvedAddress[] | undefined;
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal;
}

const headBytesMax = 16_384;
/** Addresses of one host that a proxy is asked for. */
const addressesMax = 3;

/**
 * Connects to the host of a URL through a proxy (CONNECT), with TLS for https. With checked addresses the proxy gets an address, not the name: it
 * cannot look up another one, whatever the name servers say meanwhile. The certificate is checked for the name.
 *
 * @throws EgressError UNREACHABLE or TIMEOUT that name the proxy; the errors of TLS; the signal's reason.
 */
export async function openTunnel(url: URL, proxy: ProxyServer, options: TunnelOptions): Promise<Socket> {
  const timeout = AbortSignal.timeout(options.connectTimeoutMs);
  const either = AbortSignal.any([options.signal, timeout]);
  try {
    const socket = await connectedSocket(url, proxy, options.addresses, either);
    return url.protocol === 'https:' ? await secured(socket, url, either) : socket;
  } catch (error) {
    options.signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new EgressError(
      'TIMEOUT',
      `${url.hostname} could not be connected to through the proxy ${proxy.name} within ${options.connectTimeoutMs} ms`,
    );
  }
}

async function connectedSocket(
  url: URL,
  proxy: ProxyServer,
  addresses: TunnelOptions['addresses'],
  signal: AbortSignal,
): Promise<Socket> {
  const hosts = addresses?.slice(0, addressesMax).map(({ address, family }) => (family === 6 ? `[${address}]` : address));
  let failure: unknown;
  for (const host of hosts ?? [url.hostname]) {
    try {
      return await connectThrough(proxy, `${host}:${readPort(url)}`, signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

/** @param target  host and port. */
function connectThrough(proxy: ProxyServer, target: string, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const request = (proxy.url.protocol === 'https:' ? requestHttps : requestHttp)({
    method: 'CONNECT',
    host: readHost(proxy.url),
    port: readPort(proxy.url),
    path: target,
    headers: {
      host: target,
      ...(proxy.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }),
    },
    agent: false,
    signal,
    maxHeaderSize: headBytesMax,
  });
  const fail = (message: string) => reject(new EgressError('UNREACHABLE', `the proxy ${proxy.name} ${message}`));
  request.on('connect', (reply, socket: Socket, head) => {
    // The other end may close the connection before somebody else listens.
    socket.on('error', () => {});
    if (reply.statusCode === 200 && head.length === 0) return resolve(socket);
    socket.destroy();
    if (reply.statusCode === 200) fail('sent data before the tunnel was used');
    else if (reply.statusCode === 407) fail('asks for a user name and a password');
    else fail(`refused the connection (${reply.statusCode ?? 0})`);
  });
  request.on('response', (reply) => {
    reply.destroy();
    fail(`answered no CONNECT (${reply.statusCode ?? 0})`);
  });
  request.on('error', (error: NodeJS.ErrnoException) => fail(`could not be reached (${error.code ?? error.name})`));
  request.on('close', () => fail('closed the connection'));
  request.end();
  return promise;
}

function secured(socket: Socket, url: URL, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const hostname = readHost(url);
  // A TLS server name is never an address and has no dot at its end. The certificate is checked for either.
  const tls = connectTls({ socket, host: hostname, ...(isIP(hostname) === 0 ? { servername: bareHost(hostname) } : {}) });
  const stop = () => tls.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  signal.addEventListener('abort', stop, { once: true });
  tls.once('secureConnect', () => {
    signal.removeEventListener('abort', stop);
    resolve(tls);
  });
  tls.on('error', (error) => {
    socket.destroy();
    reject(error);
  });
  tls.once('close', () => {
    signal.removeEventListener('abort', stop);
    reject(new EgressError('UNREACHABLE', `${hostname} closed the connection`));
  });
  if (signal.aborted) stop();
  return promise;
}
