import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../entities/ground/errors.ts';

/** Any of these shows that a browser has asked first whether it may send the request. Parley allows it for the origins of CORS_ORIGINS only. */
export const preflightHeaders = [
  'x-graphql-yoga-csrf',
  'apollo-require-preflight',
  'graphql-require-preflight',
  'x-requested-with',
];

/** Where TLS reaches the browser; with this prefix no other host, also no subdomain, can set the cookie. */
const secureName = '__Host-parley_session';
const plainName = 'parley_session';
/** Browsers keep a cookie for 400 days at most. When the session ends is decided by the service. */
const maxAgeSeconds = 400 * 86_400;
/** Of a sign-in at a provider that is under way. */
const attemptName = 'parley_attempt';

/** What decides whether the browser speaks TLS, and under which name it knows the service. */
export interface Addressing {
  /** Base of links to the service. */
  publicUrl(): string;
  /** Proxies of the operator in front of the service. */
  readonly proxyHops: number;
}

/** The secret of the session in a request; undefined when it has none. */
export function readSessionSecret(req: IncomingMessage, addressing: Addressing): string | undefined {
  // Another host of the same domain can set a cookie without the prefix. Over TLS none is taken.
  const plain = readCookie(req, plainName);
  return readCookie(req, secureName) ?? (plain === undefined || isTls(req, addressing) ? undefined : plain);
}

function readCookie({ headers: { cookie } }: IncomingMessage, name: string): string | undefined {
  if (cookie === undefined || !cookie.includes(name)) return undefined;
  const pairs = cookie.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** The header that gives a browser its session. @param secret  empty: the browser forgets it. */
export function sessionCookies(req: IncomingMessage, addressing: Addressing, secret: string): readonly string[] {
  return makeCookies(isTls(req, addressing), secret);
}

/** The same for a page to which another site led the browser, with no `Origin`: the other site was told PUBLIC_URL. */
export function sessionCookiesAt({ publicUrl }: Addressing, secret: string): readonly string[] {
  return makeCookies(publicUrl().startsWith('https:'), secret);
}

function makeCookies(isSecure: boolean, secret: string): readonly string[] {
  const rest = (isForgotten: boolean) => `Max-Age=${isForgotten ? 0 : maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax`;
  const cookies = [
    ...(isSecure ? [`${secureName}=${secret}; ${rest(secret === '')}; Secure`] : []),
    // After a move to TLS, the plain one goes.
    isSecure ? `${plainName}=; ${rest(true)}` : `${plainName}=${secret}; ${rest(secret === '')}`,
  ];
  return cookies.flatMap((cookie) => ['set-cookie', cookie]);
}

/** The secret of a sign-in at a provider that this browser has begun. Over TLS no other host can set it. */
export function readAttemptSecret(req: IncomingMessage, addressing: Addressing): string | undefined {
  return readCookie(req, attemptNameAt(addressing));
}

export function attemptCookie(addressing: Addressing, secret: string, maxAgeMs: number): readonly string[] {
  const attributes = `Max-Age=${Math.round(maxAgeMs / 1_000)}; Path=/; HttpOnly; SameSite=Lax`;
  const secure = addressing.publicUrl().startsWith('https:') ? '; Secure' : '';
  return ['set-cookie', `${attemptNameAt(addressing)}=${secret}; ${attributes}${secure}`];
}

function attemptNameAt({ publicUrl }: Addressing): string {
  return publicUrl().startsWith('https:') ? `__Host-${attemptName}` : attemptName;
}

/**
 * Refuses what another site makes a browser send. A session is in every request of its browser, whichever page asked for it, so the page must be one of
 * this service: `Origin` says so, and a header that no form sends.
 *
 * @throws DomainError FORBIDDEN.
 */
export function requireOwnPage(req: IncomingMessage, addressing: Addressing): void {
  const { origin } = req.headers;
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  if (origin === undefined ? !isRead : !isOwnOrigin(req, origin, addressing)) {
    throw new DomainError('FORBIDDEN', 'A session is for pages of this service: the header Origin must name it');
  }
  if (!isRead) requirePreflightHeader(req);
}

/** @throws DomainError FORBIDDEN. */
export function requirePreflightHeader({ headers }: IncomingMessage): void {
  if (preflightHeaders.some((name) => headers[name] !== undefined)) return;
  throw new DomainError('FORBIDDEN', `With a session this needs one of the headers ${preflightHeaders.join(', ')}`);
}

function isOwnOrigin(req: IncomingMessage, origin: string, { publicUrl, proxyHops }: Addressing): boolean {
  if (origin === new URL(publicUrl()).origin) return true;
  const { host } = req.headers;
  // A page over TLS of the same host is at least as safe as one without.
  return origin === `https://${host}` || (origin === `http://${host}` && !isForwardedTls(req, proxyHops));
}

/** Whether the browser speaks TLS with a proxy in front of this service, which itself speaks none. */
function isTls(req: IncomingMessage, { publicUrl, proxyHops }: Addressing): boolean {
  const { origin, host } = req.headers;
  const base = new URL(publicUrl());
  if (base.protocol === 'https:' && (base.host === host || base.origin === origin)) return true;
  return origin === `https://${host}` || isForwardedTls(req, proxyHops);
}

function isForwardedTls({ headers }: IncomingMessage, proxyHops: number): boolean {
  if (proxyHops === 0) return false;
  const schemes = String(headers['x-forwarded-proto'] ?? '').split(',');
  return (schemes.at(-proxyHops) ?? schemes[0])?.trim().toLowerCase() === 'https';
}
