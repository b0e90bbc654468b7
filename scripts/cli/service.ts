import { setTimeout as wait } from 'node:timers/promises';
import { isObject } from '../../src/lib/json/json.ts';
import { startCommand } from '../../src/lib/product.ts';
import { failed, misused } from './failure.ts';

/** Where a command is sent, and with which key. */
export interface Target {
  readonly url: string;
  readonly key: string;
}

const defaultUrl = 'http://127.0.0.1:4000';
const loopback = /^(localhost|127\.[\d.]+|\[::1\])$/;
/** A refused request that may be repeated is repeated so often. */
const repeatsMax = 20;
const repeatWaitMaxMs = 30_000;

/**
 * The service and key that a command line names: `--url` and `--key`, else PARLEY_URL and PARLEY_API_KEY. A service on this machine also
 * takes PARLEY_ADMIN_KEY: the first key, where the operator chose it in the environment or in `.env`.
 *
 * @throws Failure without a key, or for an address that is none.
 */
export function targetOf(options: ReadonlyMap<string, readonly string[]>, env: NodeJS.ProcessEnv): Target {
  const url = options.get('url')?.at(-1) ?? textOf(env.PARLEY_URL) ?? defaultUrl;
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw misused(`"${url}" is not an http(s) address. Give one like ${defaultUrl} with --url or PARLEY_URL.`);
  }
  const ofOperator = loopback.test(new URL(url).hostname) ? textOf(env.PARLEY_ADMIN_KEY) : undefined;
  const key = options.get('key')?.at(-1) ?? textOf(env.PARLEY_API_KEY) ?? textOf(env.PARLEY_KEY) ?? ofOperator;
  if (key === undefined || key === '') {
    throw misused(
      'No key was given. Give one with --key or PARLEY_API_KEY. Parley shows its first key once, at its first start, and keeps no copy. When all keys are lost, stop the service and make one with: parley keys create --local --name Recovery --scopes all --level INSTANCE',
    );
  }
  if (/[^\x21-\x7e]/.test(key)) throw misused('The key holds characters that no key has. Was it copied whole?');
  return { url: url.replace(/\/+$/, ''), key };
}

function textOf(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

/** The REST interface of a service, for commands. Every failure is a sentence. */
export class Service {
  readonly url: string;
  readonly #key: string;
  readonly #signal: AbortSignal;

  constructor({ url, key }: Target, signal: AbortSignal) {
    this.url = url;
    this.#key = key;
    this.#signal = signal;
  }

  /**
   * The JSON of a reply; its text where it is none. Waits and repeats when the service is busy.
   *
   * @param body  a form goes as it is, anything else as JSON.
   * @throws Failure with what the service says.
   */
  async send(method: string, path: string, body?: unknown): Promise<unknown> {
    for (let repeats = 0; ; repeats += 1) {
      const response = await this.open(method, path, body, repeats < repeatsMax);
      if (response !== undefined) {
        const text = await response.text();
        return parse(text) ?? text;
      }
    }
  }

  /** Sends what is to be said when the command was cancelled. Failures are not told: the command ends anyway. */
  async sendLast(method: string, path: string): Promise<void> {
    const headers = { authorization: `Bearer ${this.#key}` };
    await fetch(this.url + path, { method, headers, signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  }

  /**
   * A reply whose body the caller reads.
   *
   * @returns undefined after a wait, when the service was busy and `mayRepeat`.
   */
  async open(method: string, path: string, body: unknown, mayRepeat: true | boolean): Promise<Response | undefined> {
    const isForm = body instanceof FormData;
    const response = await fetch(this.url + path, {
      method,
      signal: this.#signal,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    }).catch((error: unknown) => {
      this.#signal.throwIfAborted();
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? ('code' in cause && String(cause.code)) || cause.message : String(cause);
      throw failed(
        `Nothing answers at ${this.url} (${reason}). Is the service running? Start it with ${startCommand}, or name another address with --url or PARLEY_URL.`,
      );
    });
    if (response.ok) return response;
    const text = await response.text();
    const retryAfterMs = Number(response.headers.get('retry-after') ?? Number.NaN) * 1_000;
    const isBusy = (response.status === 429 || response.status === 503) && retryAfterMs <= repeatWaitMaxMs;
    if (!isBusy || !mayRepeat) throw failed(refusal(response.status, parse(text), this.url));
    await wait(retryAfterMs, undefined, { signal: this.#signal });
    return undefined;
  }

  /** The `data` of the frames of a stream of events. */
  async *events(path: string, body: unknown): AsyncGenerator<string> {
    const response = await this.open('POST', path, body, false);
    let rest = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response?.body ?? []) {
        rest += decoder.decode(chunk, { stream: true });
        for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
          const frame = rest.slice(0, end);
          rest = rest.slice(end + 2);
          const data = frame.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
          if (data.length > 0) yield data.join('\n');
        }
      }
    } catch (error) {
      this.#signal.throwIfAborted();
      throw failed(`The answer broke off: ${error instanceof Error ? error.message : String(error)}.`);
    }
  }
}

/** Every fault that the service names, and what helps against a wrong key. */
function refusal(status: number, reply: unknown, url: string): string {
  const error = isObject(reply) ? reply.error : undefined;
  const several = isObject(error) && Array.isArray(error.errors) ? error.errors : [error];
  const messages = several.flatMap((fault) => (isObject(fault) && typeof fault.message === 'string' ? [fault.message] : []));
  if (status === 401)
    return `${url} does not know this key: it is wrong, revoked or expired (401). Check --key or PARLEY_API_KEY.`;
  if (messages.length === 0) return `${url} answered ${status}. Is it a Parley? Check --url or PARLEY_URL.`;
  return `${messages.join('.\n')} (${status}).`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
