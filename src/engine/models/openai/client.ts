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
  /** Up to and without `/chat/completions`, or `/deployments` with an `apiVersion`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Gives the headers of an identity, which change; a promise only while they are fetched. */
  readonly authorize?: () => Headers | Promise<Headers>;
  /** Of Azure: each model is at a path of its own, and speaks the wire as it was at this date. */
  readonly apiVersion?: string | undefined;
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

  const { apiVersion, authorize = () => noHeaders } = options;
  const pathOf = (model: string, operation: string) =>
    apiVersion === undefined
      ? `${basePath}/${operation}`
      : `${basePath}/deployments/${encodeURIComponent(model)}/${operation}?api-version=${encodeURIComponent(apiVersion)}`;
  const bodyOptions = {
    isDated: apiVersion !== undefined,
    refusesThoughts: options.dialect === 'openai' || base.hostname === 'api.mistral.ai',
    ...(options.sendsCacheKey === undefined ? {} : { sendsCacheKey: options.sendsCacheKey }),
  };
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
          const send = (authorization: Headers) => {
            const sent = request.isStreaming ? streamHeaders : postHeaders;
            upstream.dispatcher.dispatch(
              {
                path: pathOf(request.model, 'chat/completions'),
                method: 'POST',
                headers: traced(authorization === noHeaders ? sent : { ...sent, ...authorization }, request),
                body: requestBody(request, options.dialect, bodyOptions),
              },
              reply,
            );
          };
          const authorization = authorize();
          if (authorization instanceof Promise) authorization.then(send).catch((error: unknown) => reply.fail(error));
          else send(authorization);
          return reply;
        },
      };
    },
    embed: async (request, signal) => {
      try {
        const sent = traced({ ...postHeaders, ...(await authorize()) }, request);
        return await requestEmbeddings(upstream, pathOf(request.model, 'embeddings'), sent, request, signal);
      } catch (error) {
        return throwNamed(error);
      }
    },
    makeImages: async (request, signal) => {
      try {
        const sent = { ...headers, ...(await authorize()) };
        return await requestImages(upstream, (operation) => pathOf(request.model, operation), sent, request, signal);
      } catch (error) {
        return throwNamed(error);
      }
    },
    close: () => upstream.dispatcher.destroy(),
  };
}

type Headers = Readonly<Record<string, string>>;

const noHeaders: Headers = {};

function traced(headers: Headers, { traceparent }: Pick<ModelRequest, 'traceparent'>): Headers {
  return traceparent === undefined ? headers : { ...headers, traceparent };
}
