import { type BlockList, isIP } from 'node:net';
import { decodePercents } from '../../lib/text/text.ts';
import { blockList } from './addresses.ts';
import { bareHost, parseRange, readHost } from './allowance.ts';

/** The settings of these names. */
export interface ProxySettings {
  readonly HTTPS_PROXY?: string | undefined;
  readonly HTTP_PROXY?: string | undefined;
  readonly NO_PROXY?: string | undefined;
  readonly PROXY_LOOKUP?: 'service' | 'proxy';
}

/** A proxy of the operator. Its address never leaves this module with the password. */
export interface ProxyServer {
  /** `http://host:port` or `https://host:port`, without user and password. */
  readonly url: URL;
  /** What messages call it: host and port. */
  readonly name: string;
  /** The value of `proxy-authorization`; undefined for a proxy without a password. */
  readonly authorization: string | undefined;
}

/** The proxies of HTTPS_PROXY and HTTP_PROXY, and what NO_PROXY leaves out. */
export interface Proxies {
  /** The proxy that a call to this address goes through; undefined: none. */
  proxyOf(url: URL): ProxyServer | undefined;
  /** Who looks up the hosts of URLs from users: see PROXY_LOOKUP. */
  readonly lookup: 'service' | 'proxy';
}

export const proxyGrammar = 'an address such as http://proxy.example.com:3128; a user and a password stand before the host';
export const noProxyGrammar =
  'entries are host (with all hosts below it), host:port, .suffix, address, address:port, CIDR or *, separated by commas or blanks; IPv6 before a port stands in brackets';
const hostPattern = /^(?:\*?\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?\.?$/;
const entryPattern = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:[\]]+))(?::(?<digits>\d{1,5}))?$/;

export function createProxies(settings: ProxySettings): Proxies {
  const secure = settings.HTTPS_PROXY === undefined ? undefined : parseProxy(settings.HTTPS_PROXY, 'HTTPS_PROXY');
  const plain = settings.HTTP_PROXY === undefined ? undefined : parseProxy(settings.HTTP_PROXY, 'HTTP_PROXY');
  const exceptions = parseNoProxy(settings.NO_PROXY ?? '');
  return {
    proxyOf(url) {
      const proxy = url.protocol === 'https:' ? secure : plain;
      if (proxy === undefined) return undefined;
      const host = bareHost(readHost(url));
      const port = readPort(url);
      return isLoopback(host) || exceptions.some((isException) => isException(host, port)) ? undefined : proxy;
    },
    lookup: settings.PROXY_LOOKUP ?? 'service',
  };
}

export const noProxies = createProxies({});

/** @throws Error that names the setting and the grammar. It never shows the text, which may have a password. */
export function parseProxy(text: string, setting: string): ProxyServer {
  const url = URL.parse(/^[a-z0-9+.-]+:\/\//i.test(text) ? text : `http://${text}`);
  const isProxy = url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '';
  if (!isProxy || url.pathname !== '/' || url.search !== '') throw new Error(`${setting} must be ${proxyGrammar}`);
  const [user, password] = [url.username, url.password].map(decodePercents);
  const authorization =
    url.username === '' ? undefined : `Basic ${Buffer.from(`${user ?? ''}:${password ?? ''}`).toString('base64')}`;
  return { url: new URL(url.origin), name: `${url.hostname}:${readPort(url)}`, authorization };
}

export function readPort(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

type Exception = (host: string, port: number) => boolean;

/** Reads NO_PROXY. @throws Error with the first bad entry and the grammar. */
export function parseNoProxy(text: string): readonly Exception[] {
  return text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const exception = readException(entry);
      if (exception === undefined) throw new Error(`NO_PROXY: "${entry}" cannot be read: ${noProxyGrammar}`);
      return exception;
    });
}

function readException(entry: string): Exception | undefined {
  if (entry === '*') return () => true;
  const whole = readRange(entry);
  if (whole !== undefined) return (host) => isWithin(whole, host);
  const { bracketed: ipv6, plain = '', digits } = entryPattern.exec(entry)?.groups ?? {};
  const only = digits === undefined ? undefined : Number(digits);
  const isPort = (port: number) => only === undefined || only === port;
  const range = readRange(ipv6 ?? plain);
  if (range !== undefined) return (host, port) => isPort(port) && isWithin(range, host);
  if (ipv6 !== undefined || !hostPattern.test(plain)) return undefined;
  const name = bareHost(plain.replace(/^\*?\./, ''));
  return (host, port) => isPort(port) && (host === name || host.endsWith(`.${name}`));
}

function readRange(text: string): BlockList | undefined {
  const range = parseRange(text);
  return range === undefined ? undefined : blockList([range]);
}

/** Names are not looked up for NO_PROXY: a range holds for addresses in URLs only. */
function isWithin(range: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && range.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

const loopback = blockList(['127.0.0.0/8', '::1/128']);

/** A proxy on another machine would reach itself. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isWithin(loopback, host);
}
