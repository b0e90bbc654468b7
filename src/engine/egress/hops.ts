import type { IncomingMessage } from 'node:http';
import { EgressError } from './error.ts';
import type { EgressRequest } from './request.ts';

/** One request to one address. */
export interface Hop {
  readonly url: URL;
  readonly method: NonNullable<EgressRequest['method']>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

const redirectsMaxDefault = 5;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
/** Never sent to another origin than the one they were given for. */
const originHeaders = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key']);
/** Set by the HTTP client, or able to smuggle a second request. */
export const forbiddenHeaders: ReadonlySet<string> = new Set([
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

/** The request as given. @throws EgressError BAD_URL. */
export function firstHop(request: EgressRequest): Hop {
  const { method = 'GET', headers = {}, body } = request;
  return { url: parseUrl(request.url), method, headers: cleanHeaders(headers), body };
}

/** The next hop; undefined when the reply is the answer. @throws EgressError TOO_MANY_REDIRECTS, BAD_URL. */
export function findRedirect(request: EgressRequest, hop: Hop, reply: IncomingMessage, redirects: number): Hop | undefined {
  const status = reply.statusCode ?? 0;
  const { location } = reply.headers;
  if (!redirectStatuses.has(status) || location === undefined || request.redirectsMax === 0) return undefined;
  if (redirects >= (request.redirectsMax ?? redirectsMaxDefault))
    throw new EgressError('TOO_MANY_REDIRECTS', `${hop.url.hostname} redirects more than ${redirects} times`);
  const next = parseUrl(location, hop.url);
  return staysWithin(request.redirectsWithin, hop.url, next) ? nextHop(hop, status, next) : undefined;
}

function staysWithin(place: EgressRequest['redirectsWithin'], from: URL, to: URL): boolean {
  if (place === undefined) return true;
  return place === 'host' ? isSameHost(from, to) : from.origin === to.origin;
}

/** After 303, and after 301 or 302 of a POST, the next request is a GET without a body. Credentials stay with their origin. */
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

/** The same origin, or the same host with http replaced by https. */
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
