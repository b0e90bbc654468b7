import { withUserAgent } from '../../../lib/product.ts';
import { createUpstream } from '../../egress/dispatchers.ts';
import { noProxies, type Proxies } from '../../egress/proxies.ts';
import { type Embed, type MakeImages, type Model, type ModelDelta, ModelError, type ModelRequest } from '../port.ts';
import { unservedSampling } from '../sampling.ts';
import { requestEmbeddings } from './embeddings.ts';
import { requestImages } from './images.ts';
import { type Dialect, requestBody } from './request.ts';
import { UpstreamReply } from './upstream-reply.ts';

export interface ClientOptions {
  /** The provider's id, which errors name. */
  readonly provider: string;
  /** Up to and without `/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  /** As in requestBody. */
  readonly sendsCacheKey?: boolean;
  /** Default: none. */
  readonly proxies?: Proxies;
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Limit of an answer in one piece; a longer one fails. */
  readonly bodyBytesMax: number;
}

export interface OpenAiClient extends Model {
  readonly embed: Embed;
  readonly makeImages: MakeImages;
  close(): Promise<void>;
}

/** A lean client for the OpenAI-compatible wire: undici's dispatch handlers on a keep-alive pool, without fetch or streams. */
export function createOpenAiClient(options: ClientOptions): OpenAiClient {
  const base = new URL(options.baseUrl);
  const basePath = base.pathname.replace(/(?<!\/)\/+$/, '');
  const upstream = createUpstream(options.proxies ?? noProxies, base, {
    connect: { timeout: options.connectTimeoutMs },
    headersTimeout: options.firstByteTimeoutMs,
    bodyTimeout: options.idleTimeoutMs,
    pipelining: 1,
  });
  const terms = { ...options, proxyName: upstream.proxyName };
  const headers = withUserAgent({
    ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    ...options.headers,
  });
  const postHeaders = { 'content-type': 'application/json', ...headers };
  const streamHeaders = { ...postHeaders, accept: 'text/event-stream' };

  const throwNamed = (error: unknown): never => {
    throw error instanceof ModelError ? error.of(options.provider) : error;
  };

  return {
    stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelDelta[]> {
      return {
        [Symbol.asyncIterator]() {
          const reply = new UpstreamReply(
            signal,
            request.isStreaming,
            terms,
            unservedSampling(request.parameters, options.dialect),
          );
          upstream.dispatcher.dispatch(
            {
              path: `${basePath}/chat/completions`,
              method: 'POST',
              headers: traced(request.isStreaming ? streamHeaders : postHeaders, request),
              body: requestBody(request, options.dialect, options.sendsCacheKey),
            },
            reply,
          );
          return reply;
        },
      };
    },
    embed: (request, signal) =>
      requestEmbeddings(upstream, `${basePath}/embeddings`, traced(postHeaders, request), request, signal).catch(throwNamed),
    makeImages: (request, signal) => requestImages(upstream, basePath, headers, request, signal).catch(throwNamed),
    close: () => upstream.dispatcher.destroy(),
  };
}

type Headers = Readonly<Record<string, string>>;

function traced(headers: Headers, { traceparent }: Pick<ModelRequest, 'traceparent'>): Headers {
  return traceparent === undefined ? headers : { ...headers, traceparent };
}
