import type { TestClient } from '../../support/client.ts';
import type { Upstream, UpstreamScript } from '../../support/upstream.ts';
import type { Steady } from './steady.ts';

/** `<agent>` in a path or a body is a value that an earlier request kept; `<x*300>` is a text of 300 x. */
export interface SentRequest {
  /** `POST /api/v1/ais` */
  readonly send: string;
  /** Who sends it; default: ann. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** A body that is sent as it stands, as JSON unless `headers` say otherwise. */
  readonly text?: string;
  readonly form?: Readonly<Record<string, string | FormFile>>;
  /** Names for texts of the reply: `{"agent": "id"}`, `{"answer": "messages.1.id"}`. */
  readonly keep?: Readonly<Record<string, string>>;
  /** What `openai/test-model` answers meanwhile. */
  readonly answers?: readonly UpstreamScript[];
}
interface FormFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** A request and its reply, as the files of test/fixtures/replies have them. */
export interface Exchange extends SentRequest {
  readonly status: number;
  /** Those that differ from what most replies have; null for one of them that is absent. */
  readonly replyHeaders?: Readonly<Record<string, string | null>> | undefined;
  /** The JSON, where its text is what JSON.stringify writes; the lines of an event stream; else the text. */
  readonly reply: unknown;
}

/** Sends requests one after the other and notes the replies, with one text for what differs from run to run. */
export class Recorder {
  readonly #people: Readonly<Record<string, TestClient>>;
  readonly #values: Map<string, string>;
  readonly #steady: Steady;
  readonly #upstream: Upstream;

  /** @param values  what requests may name before a reply is kept. */
  constructor(
    people: Readonly<Record<string, TestClient>>,
    values: Readonly<Record<string, string>>,
    steady: Steady,
    upstream: Upstream,
  ) {
    this.#people = people;
    this.#values = new Map(Object.entries(values));
    this.#steady = steady;
    this.#upstream = upstream;
  }

  async record(request: SentRequest): Promise<Exchange> {
    const [method = '', path = ''] = request.send.split(' ');
    const client = this.#people[request.as ?? 'ann'];
    if (client === undefined) throw new Error(`nobody is called ${request.as}`);
    this.#upstream.reset();
    this.#upstream.next(...(request.answers ?? []));
    const isJson = request.text !== undefined || request.body !== undefined;
    const headers = { ...(isJson ? { 'content-type': 'application/json' } : {}), ...request.headers };
    const response = await client.fetch(method, this.#fill(path), this.#bodyOf(request), headers);
    const text = await response.text();
    for (const [name, place] of Object.entries(request.keep ?? {})) {
      this.#values.set(name, textAt(text, place, request.send));
    }
    return {
      ...request,
      status: response.status,
      replyHeaders: this.#unusualHeaders(response.headers),
      reply: this.#shown(text, response.headers.get('content-type') ?? ''),
    };
  }

  #bodyOf({ body, text, form }: SentRequest): unknown {
    if (form === undefined) return this.#fill(text ?? (body === undefined ? undefined : JSON.stringify(body)));
    const data = new FormData();
    for (const [name, value] of Object.entries(form)) {
      if (typeof value === 'string') data.append(name, value);
      else data.append(name, new Blob([value.text], { type: value.type }), value.name);
    }
    return data;
  }

  #fill<Text extends string | undefined>(text: Text): string | Text {
    if (text === undefined) return text;
    return text
      .replaceAll(/<(\w)\*(\d+)>/g, (_all, letter: string, count: string) => letter.repeat(Number(count)))
      .replaceAll(/<(\w+)>/g, (all, name: string) => this.#values.get(name) ?? all);
  }

  #shown(text: string, type: string): unknown {
    const steady = this.#steady.text(text);
    // Comments are heartbeats.
    if (type.startsWith('text/event-stream')) return steady.split('\n').filter((line) => !line.startsWith(':'));
    if (!type.includes('json')) return steady;
    const value: unknown = JSON.parse(steady);
    return JSON.stringify(value) === steady ? value : steady;
  }

  #unusualHeaders(headers: Headers): Readonly<Record<string, string | null>> | undefined {
    const unusual: Record<string, string | null> = {};
    for (const [name, value] of headers) {
      const text = this.#steady.text(value);
      if (!varyingHeaders.has(name) && usualHeaders[name] !== text) unusual[name] = text;
    }
    for (const name of Object.keys(usualHeaders)) if (!headers.has(name)) unusual[name] = null;
    return Object.keys(unusual).length === 0 ? undefined : unusual;
  }
}

const varyingHeaders = new Set([
  ...['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'],
  ...['remaining', 'remaining-requests', 'reset', 'reset-requests'].map((name) => `x-ratelimit-${name}`),
]);
const usualHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'content-type': 'application/json; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-ratelimit-limit': '1200000',
  'x-ratelimit-limit-requests': '1200000',
  'x-request-id': '<request>',
};

function textAt(json: string, place: string, what: string): string {
  let value: unknown = JSON.parse(json);
  for (const name of place.split('.')) value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  if (typeof value !== 'string') throw new Error(`${what}: no text at ${place} of ${json.slice(0, 2_000)}`);
  return value;
}

/** The text of a fixture file: the request in one line, the reply in the next ones. */
export function printExchanges(exchanges: readonly Exchange[]): string {
  return `[\n${exchanges.map(printExchange).join(',\n')}\n]\n`;
}

export function printExchange({ status, replyHeaders, reply, ...request }: Exchange): string {
  const head = JSON.stringify({ status, replyHeaders }).slice(1, -1);
  const lines = Array.isArray(reply) && reply.every((line) => typeof line === 'string') ? reply : undefined;
  const body =
    lines === undefined ? JSON.stringify(reply) : `[\n${lines.map((line) => `  ${JSON.stringify(line)}`).join(',\n')}\n ]`;
  return `${JSON.stringify(request).slice(0, -1)},\n ${head},\n "reply":${body}}`;
}
