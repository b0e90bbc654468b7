import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { BoundedMap } from '../../../../lib/bounded-map.ts';
import type { ShareOwner } from '../../../../lib/flow/fair-share.ts';
import { withUserAgent } from '../../../../lib/product.ts';
import { createAgent } from '../../../egress/dispatchers.ts';
import type { Egress } from '../../../egress/egress.ts';
import { EgressError } from '../../../egress/error.ts';
import { noProxies, type Proxies } from '../../../egress/proxies.ts';
import { SourceError } from '../error.ts';
import { withWords } from './words.ts';
import { tooLargeMessage, writeBounded } from './write-bounded.ts';

/** The right to call a service. */
export interface ServiceToken {
  /** Names the account: limits of speed count its calls. */
  readonly account: string;
  /** The value of the header `authorization`. @throws SourceError AUTH */
  authorization(signal: AbortSignal): Promise<string>;
  /** The service refused this value: gets another one, once. @throws SourceError AUTH */
  renew(refusedToken: string, signal: AbortSignal): Promise<void>;
}

export interface ServiceRequest {
  /** The name of the service in messages, such as "the drive". */
  readonly service: string;
  /** Below an address that the operator set. */
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; URLSearchParams as a form; a text as it is, with the `content-type` of `headers`. */
  readonly body?: unknown;
  readonly token?: ServiceToken;
  /** How often it is tried; fewer where a person waits for the answer. */
  readonly attempts?: number;
  /** Statuses besides 2xx that the caller reads itself. */
  readonly accept?: readonly number[];
  /** Whether a 403 is a limit of speed and not of rights. */
  readonly isSlowDown?: (reply: ServiceReply) => boolean;
  /** The same for services that say in their own way how long to wait; undefined: a matter of rights. */
  readonly slowDownMs?: (reply: ServiceReply) => number | undefined;
  /** What a refusal means where its body says more than its status; undefined: as the status says. */
  readonly refusal?: (reply: ServiceReply) => SourceError | undefined;
}

export interface ServiceReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ServiceDownload extends ServiceRequest {
  readonly owner: ShareOwner;
  readonly path: string;
  readonly bytesMax: number;
}

const attemptsMax = 5;
/** A longer wait is a matter of the job queue. */
const waitMaxMs = 60_000;
const replyBytesMax = 32 * 1024 * 1024;
const errorBytesMax = 64 * 1024;
const redirects = new Set([301, 302, 303, 307, 308]);

interface ServiceClientOptions {
  readonly egress: Egress;
  /** Default: none. */
  readonly proxies?: Proxies;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** The first wait after a failure, which doubles. Default 1 s. */
  readonly backoffMs?: number;
  /** Shortens the waits of tests. Default 1. */
  readonly waitFactor?: number;
}

/** Reads the body of a reply with a good status. */
type TakeBody<T> = (head: Omit<ServiceReply, 'body'>, body: AsyncIterable<Buffer>) => Promise<T>;

/** What one attempt came to. */
type Outcome<T> = { readonly taken: T } | { readonly refused: ServiceReply; readonly authorization: string | undefined };

/** Calls services at addresses that the operator set: they are not subject to the egress guard, and calls that fail are repeated. */
export class ServiceClient {
  readonly #options: ServiceClientOptions;
  readonly #proxies: Proxies;
  readonly #waitFactor: number;
  readonly #agent: Dispatcher;
  readonly #pauses = new Pauses();

  constructor(options: ServiceClientOptions) {
    const { proxies = noProxies, timeoutMs, connectTimeoutMs, waitFactor = 1 } = options;
    this.#options = options;
    this.#proxies = proxies;
    this.#waitFactor = waitFactor;
    this.#agent = createAgent(proxies, {
      connect: { timeout: connectTimeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  }

  /** @throws SourceError, or the signal's reason. */
  send(request: ServiceRequest, signal: AbortSignal): Promise<ServiceReply> {
    return this.#withRetries(request, signal, async (head, body) => ({ ...head, body: await readWhole(request, body) }));
  }

  /** The reply's JSON. @throws like `send`. */
  async json(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    const { body } = await this.send(request, signal);
    try {
      return JSON.parse(body.toString('utf8')) as unknown;
    } catch {
      throw new SourceError('BAD_REPLY', `${capital(request.service)} answered with something that is no JSON.`);
    }
  }

  /**
   * Writes the body to a file. A redirect to another place goes through the egress guard, without the token.
   *
   * @returns the headers of the last reply. @throws like `send`; TOO_LARGE.
   */
  async download({ owner, path, bytesMax, ...request }: ServiceDownload, signal: AbortSignal): Promise<ServiceReply> {
    const accept = [...(request.accept ?? []), ...redirects];
    const head = await this.#withRetries({ ...request, accept }, signal, async (reply, body) => {
      if (redirects.has(reply.status)) for await (const _ of body);
      else await writeBounded(body, path, bytesMax);
      return { ...reply, body: Buffer.alloc(0) };
    });
    const { location } = head.headers;
    if (!redirects.has(head.status)) return head;
    if (location === undefined) throw new SourceError('BAD_REPLY', `${capital(request.service)} redirects to nowhere.`);
    const { egress, timeoutMs } = this.#options;
    const url = new URL(location, request.url).href;
    try {
      return await egress.receive({ owner, url, bytesMax, timeoutMs }, signal, async (reply, content) => {
        if (reply.status === 429 || reply.status === 503) throw toRefusal(request, { ...reply, body: Buffer.alloc(0) });
        if (reply.status >= 300) {
          throw new SourceError(
            'BAD_REPLY',
            `${new URL(url).host}, where ${request.service} keeps the file, answered ${reply.status}.`,
          );
        }
        await writeBounded(content, path, bytesMax);
        return { ...reply, body: Buffer.alloc(0) };
      });
    } catch (error) {
      throw error instanceof EgressError ? ofEgress(error, bytesMax) : error;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #withRetries<T>(request: ServiceRequest, signal: AbortSignal, take: TakeBody<T>): Promise<T> {
    const { backoffMs = 1_000 } = this.#options;
    let isRenewed = false;
    for (let attempt = 1; ; attempt += 1) {
      let failure: SourceError;
      try {
        const outcome = await this.#attempt(request, signal, take);
        if ('taken' in outcome) return outcome.taken;
        const { refused: refusedReply, authorization } = outcome;
        if (refusedReply.status === 401 && request.token !== undefined && authorization !== undefined && !isRenewed) {
          isRenewed = true;
          attempt -= 1;
          await request.token.renew(authorization, signal);
          continue;
        }
        failure = withWords(
          request.refusal?.(refusedReply) ?? toRefusal(request, refusedReply),
          refusedReply.body,
          listSecrets(authorization),
        );
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SourceError) throw error;
        failure = this.#toUnreachable(request);
      }
      if (failure.retryAfterMs !== undefined) this.#pauses.begin(pauseKey(request), failure.retryAfterMs * this.#waitFactor);
      if (!failure.isRetryable || attempt >= (request.attempts ?? attemptsMax)) throw failure;
      const waitMs = failure.retryAfterMs ?? Math.random() * Math.min(waitMaxMs, backoffMs * 2 ** attempt);
      if (waitMs > waitMaxMs) throw failure;
      await sleep(waitMs * this.#waitFactor, undefined, { signal });
    }
  }

  async #attempt<T>(request: ServiceRequest, signal: AbortSignal, take: TakeBody<T>): Promise<Outcome<T>> {
    const { body, headers, token, url, method = body === undefined ? 'GET' : 'POST' } = request;
    const authorization = await token?.authorization(signal);
    await this.#waitForPauses(request, signal);
    const target = new URL(url);
    const reply = await this.#agent.request({
      origin: target.origin,
      path: target.pathname + target.search,
      method,
      headers: withUserAgent({
        accept: 'application/json',
        ...contentType(body),
        ...headers,
        ...(authorization === undefined ? {} : { authorization }),
      }),
      body: body === undefined ? null : writeBody(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs)]),
    });
    const head = { status: reply.statusCode, headers: plainHeaders(reply.headers) };
    const isGood = head.status < 300 || request.accept?.includes(head.status) === true;
    if (isGood) return { taken: await take(head, reply.body) };
    const text = await readBounded(reply.body, errorBytesMax).catch(() => Buffer.alloc(0));
    return { refused: { ...head, body: text }, authorization };
  }

  async #waitForPauses(request: ServiceRequest, signal: AbortSignal): Promise<void> {
    const key = pauseKey(request);
    // A pause may grow while it is waited for.
    for (let leftMs = this.#pauses.left(key); leftMs > 0; leftMs = this.#pauses.left(key)) {
      if (leftMs > waitMaxMs) throw slowedDown(request, leftMs);
      await sleep(leftMs, undefined, { signal });
    }
  }

  #toUnreachable({ service, url: address }: ServiceRequest): SourceError {
    const url = new URL(address);
    const proxy = this.#proxies.proxyOf(url);
    const through = proxy === undefined ? '' : ` through the proxy ${proxy.name}`;
    return new SourceError('UNREACHABLE', `${capital(service)} at ${url.host} did not answer${through}.`);
  }
}

/** The value of a token, with and without the name of its scheme. */
function listSecrets(authorization = ''): readonly string[] {
  return [authorization, authorization.replace(/^\S+ /, '')];
}

function pauseKey({ url, token }: ServiceRequest): string {
  return `${new URL(url).origin} ${token?.account ?? ''}`;
}

function writeBody(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof URLSearchParams ? body.toString() : JSON.stringify(body);
}

function contentType(body: unknown): Readonly<Record<string, string>> {
  if (body === undefined || typeof body === 'string') return {};
  return { 'content-type': body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'application/json' };
}

function toRefusal(request: ServiceRequest, reply: ServiceReply): SourceError {
  const { status, headers } = reply;
  const service = capital(request.service);
  const ownWait = status === 403 || status === 429 ? request.slowDownMs?.(reply) : undefined;
  const wait = ownWait ?? parseWait(headers['retry-after']);
  if (status === 401) return new SourceError('AUTH', `${service} does not accept the connection any more: connect it again.`);
  if (status === 429 || (status === 403 && (ownWait !== undefined || request.isSlowDown?.(reply) === true))) {
    return slowedDown(request, wait);
  }
  if (status >= 300 && status < 400) {
    const to = URL.parse(headers.location ?? '', request.url)?.host ?? 'nowhere';
    return new SourceError('FORBIDDEN', `${service} redirects to ${to}, where its answers are not read.`);
  }
  if (status === 403) return new SourceError('FORBIDDEN', `${service} does not let the connected account read this.`);
  if (status === 404 || status === 410)
    return new SourceError('NOT_FOUND', `${service} has no such thing, or hides it from the connected account.`);
  if (status >= 500)
    return new SourceError('UNREACHABLE', `${service} failed (status ${status}). It is tried again later.`, wait);
  return new SourceError('UNSUPPORTED', `${service} refused the request (status ${status}).`);
}

function slowedDown({ service }: ServiceRequest, waitMs: number | undefined): SourceError {
  return new SourceError('RATE_LIMITED', `${capital(service)} asks to be called less often. It is tried again later.`, waitMs);
}

/** Seconds or an HTTP date, as milliseconds from now. */
export function parseWait(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = Number(retryAfter);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** @param bytesMax  the limit that a document of the request has. */
export function ofEgress(error: EgressError, bytesMax?: number): SourceError {
  const limit = bytesMax === undefined ? 'The document is larger than the limit.' : tooLargeMessage(bytesMax);
  if (error.code === 'TOO_LARGE') return new SourceError('TOO_LARGE', limit);
  if (error.code === 'FORBIDDEN_ADDRESS' || error.code === 'BAD_URL') return new SourceError('FORBIDDEN', `${error.message}.`);
  return new SourceError('UNREACHABLE', `${error.message}.`);
}

async function readWhole(request: ServiceRequest, body: AsyncIterable<Buffer>): Promise<Buffer> {
  const whole = await readBounded(body, replyBytesMax);
  if (whole.length > replyBytesMax)
    throw new SourceError('BAD_REPLY', `${capital(request.service)} answered with more than can be read.`);
  return whole;
}

/** At most one block more than `bytesMax`. */
async function readBounded(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of body) {
    blocks.push(block);
    bytes += block.length;
    if (bytes > bytesMax) break;
  }
  return Buffer.concat(blocks);
}

function plainHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A service that asks for more is asked again after this time. */
const pauseMaxMs = 15 * 60_000;

/**
 * How long services asked to be left alone, by service and account. Whoever asks meanwhile for something else of the same account would be refused too,
 * and many services then make the wait longer.
 */
class Pauses {
  readonly #endsAtMs = new BoundedMap<string, number>(10_000);

  begin(key: string, waitMs: number): void {
    this.#endsAtMs.set(key, Math.max(this.#endsAtMs.get(key) ?? 0, performance.now() + Math.min(waitMs, pauseMaxMs)));
  }

  /** Milliseconds; 0 when there is nothing to wait for. */
  left(key: string): number {
    const endsAtMs = this.#endsAtMs.get(key);
    if (endsAtMs === undefined) return 0;
    const leftMs = endsAtMs - performance.now();
    if (leftMs > 0) return leftMs;
    this.#endsAtMs.delete(key);
    return 0;
  }
}
