import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { FairQueue } from '../../lib/flow/fair-queue.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { Settings } from '../../settings.ts';
import { isPublicAddress } from './addresses.ts';
import { type Allowance, parseAllowance, readHost } from './allowance.ts';
import { decodedBlocks } from './body.ts';
import { parseDnsServers } from './dns-servers.ts';
import { EgressError } from './error.ts';
import { exchange } from './exchange.ts';
import { findRedirect, firstHop, type Hop } from './hops.ts';
import { createProxies, noProxies, type Proxies, type ProxySettings, readPort } from './proxies.ts';
import type { EgressRequest } from './request.ts';
import { NameResolver, type ResolvedAddress } from './resolver.ts';
import { createSystemNames, type SystemFiles, systemFiles } from './system-names.ts';
import { WireCount } from './wire-count.ts';

export interface EgressHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the last redirect led. */
  readonly url: string;
}

export interface EgressReply extends EgressHead {
  readonly body: Buffer;
}

/** The only way to call a URL that a user, a bundle, a page, a model or an MCP server can influence. */
export interface Egress {
  /**
   * Sends a request and reads the reply. Only http and https. On every hop the literal and the resolved addresses are checked, and
   * the connection goes to a checked address, through a proxy too. Limited: bytes of head and body, on the wire and decoded, and their ratio; time;
   * hops; 1xx replies; encodings; and for each tenant and organization, concurrent calls and look-ups.
   *
   * @throws EgressError, or the signal's reason.
   */
  send(request: EgressRequest, signal: AbortSignal): Promise<EgressReply>;
  /**
   * The same for a body that should not be in memory as a whole.
   *
   * @param take  reads the decoded body in blocks; blocks that it does not read are not fetched. Its time counts.
   * @throws like `send`, and what `take` throws.
   */
  receive<T>(
    request: EgressRequest,
    signal: AbortSignal,
    take: (head: EgressHead, content: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T>;
  /** Aborts all calls that are under way. */
  close(): Promise<void>;
}

export interface EgressOptions {
  /** The setting EGRESS_ALLOW. */
  readonly allow: string | undefined;
  /** The setting EGRESS_DNS_SERVERS. */
  readonly dnsServers?: readonly string[] | undefined;
  /** Default: none. */
  readonly proxies?: Proxies;
  readonly connectTimeoutMs: number;
  /** Time limit of one look-up. */
  readonly lookupTimeoutMs: number;
  /** Concurrent look-ups; others wait. */
  readonly lookups: FairQueue;
  /** Concurrent calls; others wait. */
  readonly calls: FairQueue;
  /** Default: the files of this system. */
  readonly systemFiles?: SystemFiles;
}

/** What the settings say of calls to the outside; the places for calls are the caller's. */
export function readEgressOptions(settings: EgressSettings): Omit<EgressOptions, 'lookups' | 'calls'> {
  return {
    allow: settings.EGRESS_ALLOW,
    dnsServers: parseDnsServers(settings.EGRESS_DNS_SERVERS),
    proxies: createProxies(settings),
    connectTimeoutMs: settings.EGRESS_CONNECT_TIMEOUT_MS,
    lookupTimeoutMs: settings.EGRESS_LOOKUP_TIMEOUT_MS,
  };
}

type EgressSettings = ProxySettings &
  Pick<Settings, 'EGRESS_ALLOW' | 'EGRESS_DNS_SERVERS' | 'EGRESS_CONNECT_TIMEOUT_MS' | 'EGRESS_LOOKUP_TIMEOUT_MS'>;

export function createEgress(options: EgressOptions): Egress {
  const allowance = parseAllowance(options.allow);
  const resolver = new NameResolver({
    servers: options.dnsServers,
    timeoutMs: options.lookupTimeoutMs,
    lookups: options.lookups,
    system: createSystemNames(options.systemFiles ?? systemFiles()),
    mayComplete: allowance.namesHost,
  });
  const proxies = options.proxies ?? noProxies;
  const way: Way = {
    proxies,
    calls: options.calls,
    connectTimeoutMs: options.connectTimeoutMs,
    underWay: new Set(),
    async addressesOf(url, owner, signal) {
      const isLeftToProxy = proxies.lookup === 'proxy' && proxies.proxyOf(url) !== undefined;
      const addressCheck = checkedAddresses(allowance, resolver, url, owner, signal);
      if (!isLeftToProxy) return await addressCheck;
      return await addressCheck.then(() => undefined, unknownToUs);
    },
  };
  return {
    send: (request, signal) =>
      call(way, request, signal, async (head, content) => ({ ...head, body: Buffer.concat(await Array.fromAsync(content)) })),
    receive: (request, signal, take) => call(way, request, signal, take),
    async close() {
      for (const ending of way.underWay) ending.abort(new EgressError('UNREACHABLE', 'the service is stopping'));
    },
  };
}

/** The proxy looks up a name that the name servers of this machine do not know. @throws EgressError for every other failure. */
function unknownToUs(error: unknown): undefined {
  if (error instanceof EgressError && error.code === 'UNREACHABLE') return undefined;
  throw error;
}

/** What all calls of a process share. */
interface Way {
  readonly proxies: Proxies;
  readonly calls: FairQueue;
  readonly connectTimeoutMs: number;
  readonly underWay: Set<AbortController>;
  /** Checked addresses; undefined where a proxy looks up the name. */
  addressesOf(url: URL, owner: ShareOwner, signal: AbortSignal): Promise<readonly ResolvedAddress[] | undefined>;
}

/** @throws EgressError FORBIDDEN_ADDRESS when an address of the host is neither public nor allowed; and like the resolver. */
async function checkedAddresses(
  allowance: Allowance,
  resolver: NameResolver,
  url: URL,
  owner: ShareOwner,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const hostname = readHost(url);
  const family = isIP(hostname);
  const isLiteral = family !== 0;
  const addresses: readonly ResolvedAddress[] = isLiteral
    ? [{ address: hostname, family: family === 6 ? 6 : 4 }]
    : await resolver.resolve(hostname, owner, signal);
  const port = readPort(url);
  const isOpen = ({ address }: ResolvedAddress) =>
    isPublicAddress(address) || allowance.allowsAddress(address, port) || allowance.allowsHost(hostname, port);
  if (addresses.every(isOpen)) return addresses;
  throw new EgressError('FORBIDDEN_ADDRESS', `${hostname} is not an address of the public internet; EGRESS_ALLOW can allow it`);
}

async function call<T>(
  way: Way,
  request: EgressRequest,
  signal: AbortSignal,
  take: (head: EgressHead, content: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  const { owner, timeoutMs } = request;
  const first = firstHop(request);
  const timeout = AbortSignal.timeout(timeoutMs);
  const ending = new AbortController();
  const either = AbortSignal.any([signal, timeout, ending.signal]);
  const toFailure = (error: unknown, hostname: string) => {
    if (signal.aborted) return signal.reason;
    if (timeout.aborted) return new EgressError('TIMEOUT', `${hostname} did not answer within ${timeoutMs} ms`);
    return ending.signal.aborted ? ending.signal.reason : toEgressError(error, hostname);
  };
  let hop = first;
  way.underWay.add(ending);
  let hasPlace = false;
  let reply: IncomingMessage | undefined;
  try {
    const count = new WireCount(request.bytesMax);
    try {
      if (request.isHeld !== true) {
        await way.calls.take(owner, either);
        hasPlace = true;
      }
      for (let redirects = 0; ; redirects += 1) {
        const addresses = await way.addressesOf(hop.url, owner, either);
        reply = await exchange(hop, {
          ...{ addresses, proxy: way.proxies.proxyOf(hop.url), connectTimeoutMs: way.connectTimeoutMs, count, signal: either },
          beforeSend: request.beforeSend,
        });
        const next = findRedirect(request, hop, reply, redirects);
        if (next === undefined) break;
        reply.destroy();
        hop = next;
      }
    } catch (error) {
      throw toFailure(error, hop.url.hostname);
    }
    const { hostname } = hop.url;
    const content = whole(readContent(reply, hop, count, request.isPrompt), either, (error) => toFailure(error, hostname));
    return await take(readHead(reply, hop), content);
  } finally {
    reply?.destroy();
    if (hasPlace) way.calls.give(owner);
    way.underWay.delete(ending);
  }
}

function readHead(reply: IncomingMessage, { url }: Hop): EgressHead {
  const headers = Object.entries(reply.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  return { status: reply.statusCode ?? 0, headers: Object.fromEntries(headers), url: url.href };
}

function readContent(
  reply: IncomingMessage,
  { method }: Hop,
  count: WireCount,
  isPrompt: EgressRequest['isPrompt'],
): AsyncIterable<Buffer> {
  const isBodiless = method === 'HEAD' || reply.statusCode === 204 || reply.statusCode === 304;
  return decodedBlocks(reply, isBodiless ? undefined : reply.headers['content-encoding'], count, isPrompt);
}

/** A body without a length ends with its connection: when the signal closed the connection, the body is incomplete. */
async function* whole(
  blocks: AsyncIterable<Buffer>,
  signal: AbortSignal,
  failureOf: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  try {
    yield* blocks;
    signal.throwIfAborted();
  } catch (error) {
    throw failureOf(error);
  }
}

function toEgressError(error: unknown, hostname: string): EgressError {
  if (error instanceof EgressError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'HPE_HEADER_OVERFLOW') return new EgressError('TOO_LARGE', `the head of the reply of ${hostname} is too large`);
  if (code.startsWith('HPE_')) return new EgressError('BAD_REPLY', `${hostname} does not answer in HTTP (${code})`);
  return new EgressError('UNREACHABLE', `${hostname} could not be reached (${code})`);
}
