import { Agent } from 'undici';
import { membersOf, readString } from '../../../../lib/json/json.ts';
import { withUserAgent } from '../../../../lib/product.ts';
import { SearchIndexError } from '../search-index.ts';
import type { SearchIndexAddress } from './address.ts';

export interface OpenSearchRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With its query. */
  readonly path: string;
  /** A JSON value, or lines of JSON values, each with its end. */
  readonly body?: object | string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const answerMaxBytes = 32 * 1024 * 1024;
const connectionsMax = 16;
const connectTimeoutMs = 3_000;

/** Plain REST: time and bytes of every call are bounded. */
export class OpenSearchClient {
  readonly #origin: SearchIndexAddress['origin'];
  readonly #authorization: SearchIndexAddress['authorization'];
  readonly #agent = new Agent({
    connections: connectionsMax,
    // Over HTTP/2 a stream that the server cancels would look like the end of its answer.
    allowH2: false,
    connect: { timeout: connectTimeoutMs },
    maxResponseSize: answerMaxBytes,
  });

  constructor({ origin, authorization }: SearchIndexAddress) {
    this.#origin = origin;
    this.#authorization = authorization;
  }

  /** @returns the JSON of the answer. @throws SearchIndexError, or the reason of the request's signal. */
  async send({ method, path, body, timeoutMs, signal }: OpenSearchRequest): Promise<unknown> {
    const deadline = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
    const bodyText = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    let status: number;
    let text: string;
    try {
      const reply = await this.#agent.request({
        origin: this.#origin,
        path,
        method,
        headers: this.#headersOf(body),
        body: bodyText,
        signal: either,
      });
      status = reply.statusCode;
      text = await reply.body.text();
    } catch (error) {
      signal?.throwIfAborted();
      throw new SearchIndexError(
        'unreachable',
        deadline.aborted ? `it did not answer within ${timeoutMs} ms` : describeReason(error),
      );
    }
    const answer = parseJson(text);
    if (status >= 200 && status < 300 && answer !== undefined) return answer;
    throw toRefusal(status, answer);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #headersOf(body: object | string | undefined) {
    return withUserAgent({
      ...(body === undefined ? {} : { 'content-type': typeof body === 'string' ? 'application/x-ndjson' : 'application/json' }),
      ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }),
    });
  }
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describeReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'the connection broke';
  return `it cannot be reached (${code})`;
}

/** The error of an answer: `{"error": {"type": "…"}, "status": 404}`. Its reason may quote what was sent, and is left out. */
export function toRefusal(status: number, answer: unknown): SearchIndexError {
  const { error } = membersOf(answer);
  const type = readString(membersOf(error).type) ?? readString(error)?.slice(0, 100);
  const answerText = type === undefined ? `it answered ${status}` : `it answered ${status} (${type})`;
  if (status === 401 || status === 403) return new SearchIndexError('refused', answerText);
  if (status === 404) return new SearchIndexError('missing', answerText);
  if (status === 400) return new SearchIndexError('invalid', answerText);
  return new SearchIndexError(status === 429 || status >= 502 ? 'unreachable' : 'failed', answerText);
}
