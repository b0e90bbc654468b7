import { DomainError } from '../../../entities/ground/errors.ts';
import type { FairQueue } from '../../../lib/flow/fair-queue.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { isObject } from '../../../lib/json/json.ts';
import { withUserAgent } from '../../../lib/product.ts';
import { cutText, oneLine, storableText } from '../../../lib/text/text.ts';
import { createAgent } from '../../egress/dispatchers.ts';
import { noProxies, type Proxies } from '../../egress/proxies.ts';
import { brave } from './providers/brave.ts';
import type { SearchProvider, WebQuery, WebResult } from './providers/provider.ts';
import { searxng } from './providers/searxng.ts';
import { tavily } from './providers/tavily.ts';

const providers = { searxng, brave, tavily } as const satisfies Readonly<Record<string, SearchProvider>>;
export type ProviderName = keyof typeof providers;

export interface SearchClientOptions {
  /** Base address; the operator's, so it is not subject to the egress guard. */
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly provider: ProviderName;
  /** Default: none. */
  readonly proxies?: Proxies;
  readonly timeoutMs: number;
  /** Concurrent searches; others wait, in turns of tenants and organizations. */
  readonly calls: FairQueue;
}

export interface SearchClient {
  /**
   * @returns pages with an http(s) address, each once, in the order of the service.
   * @throws DomainError that says what failed; it names neither the address nor the key. The signal's reason.
   */
  search(query: WebQuery, owner: ShareOwner, signal: AbortSignal): Promise<readonly WebResult[]>;
}

const replyBytesMax = 4 * 1024 * 1024;
const resultsReadMax = 100;
const titleMax = 300;
const snippetMax = 2_000;
const dateMax = 40;

/** Makes a client of one search service. Redirects are not followed: they would carry the key elsewhere. */
export function createSearchClient(options: SearchClientOptions): SearchClient {
  const { url, apiKey, timeoutMs, calls, proxies = noProxies } = options;
  const provider = providers[options.provider];
  const base = url.replace(/(?<!\/)\/+$/, '');
  // Nothing else than the time of the whole call ends a reply: undici's own limits would come at the same moment, and say something else.
  const agent = createAgent(proxies, { connect: { timeout: timeoutMs }, headersTimeout: 0, bodyTimeout: 0 });
  return {
    async search(query, owner, signal) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([signal, timeout]);
      let hasPlace = false;
      try {
        await calls.take(owner, either);
        hasPlace = true;
        const { path, headers, body } = provider.request(query, apiKey);
        const target = new URL(base + path);
        const reply = await agent.request({
          ...{ origin: target.origin, path: target.pathname + target.search },
          method: body === undefined ? 'GET' : 'POST',
          headers: withUserAgent({
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          }),
          body: body === undefined ? null : JSON.stringify(body),
          signal: either,
        });
        // A body that is not read to its end reports that as an error, which nobody else listens to.
        reply.body.on('error', () => undefined);
        const retryAfter = reply.headers['retry-after'];
        if (reply.statusCode !== 200) {
          reply.body.destroy();
          throw refusal(reply.statusCode, typeof retryAfter === 'string' ? retryAfter : undefined);
        }
        return parseResults(provider, await readBounded(reply.body));
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof DomainError) throw error;
        if (timeout.aborted) throw failed(`did not answer within ${timeoutMs} ms`);
        throw failed('could not be reached');
      } finally {
        if (hasPlace) calls.give(owner);
      }
    },
  };
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > replyBytesMax) throw failed(`answered more than ${replyBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseResults(provider: SearchProvider, text: string): readonly WebResult[] {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    throw failed('answered no JSON');
  }
  const givenResults = isObject(reply) ? provider.results(reply) : undefined;
  if (givenResults === undefined) throw failed('answered in another format than expected');
  const resultsByUrl = new Map<string, WebResult>();
  for (const result of givenResults.slice(0, resultsReadMax)) {
    if (!isObject(result)) continue;
    const { url: address, title, snippet, date } = provider.read(result);
    const url = typeof address === 'string' ? URL.parse(address) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') continue;
    if (resultsByUrl.has(url.href)) continue;
    resultsByUrl.set(url.href, {
      url: url.href,
      title: shortText(title, titleMax) || url.hostname,
      snippet: shortText(snippet, snippetMax),
      date: shortText(date, dateMax) || null,
    });
  }
  return [...resultsByUrl.values()];
}

function shortText(value: unknown, lengthMax: number): string {
  return typeof value === 'string' ? cutText(oneLine(storableText(value)), lengthMax) : '';
}

function refusal(status: number, retryAfter: string | undefined): DomainError {
  if (status === 429) {
    const seconds = retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? ` in ${retryAfter} seconds` : ' later';
    return failed(`takes no more searches now; try again${seconds}, or answer without it`);
  }
  if (status === 401 || status === 403) return failed(`refuses this instance (status ${status}): its key may be wrong`);
  return failed(`answered with status ${status}`);
}

function failed(what: string): DomainError {
  return new DomainError('UPSTREAM_ERROR', `The search service ${what}`);
}
