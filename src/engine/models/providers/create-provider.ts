import { withUserAgent } from '../../../lib/product.ts';
import type { Proxies } from '../../egress/proxies.ts';
import { createAiSdkImages } from '../ai-sdk/ai-sdk-images.ts';
import { type AiSdkModel, createAiSdkModel } from '../ai-sdk/ai-sdk-model.ts';
import { knownEventsOnly } from '../ai-sdk/anthropic-events.ts';
import { fitAnthropic } from '../ai-sdk/anthropic-fit.ts';
import { toAspectRatio } from '../ai-sdk/aspect-ratio.ts';
import { createOpenAiClient } from '../openai/client.ts';
import type { CacheLife, ImageBounds } from '../port.ts';
import { listModels, type Wire } from './listing.ts';
import type { ListedModel, Provider } from './provider.ts';
import { sdkFetch } from './sdk-fetch.ts';

export interface ProviderOptions {
  readonly id: string;
  readonly wire: Wire;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** When given, the provider is not asked for its models. */
  readonly models?: readonly ListedModel[];
}

export interface ProviderLimits {
  readonly proxies: Proxies;
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Limit of an answer in one piece, on the OpenAI-compatible wire. */
  readonly bodyBytesMax: number;
  /** As in FittedRequest. */
  readonly cacheLife: CacheLife | undefined;
  readonly cacheKeys: 'openai' | 'all' | 'off';
}

const listTimeoutMs = 10_000;

export function createProvider(options: ProviderOptions, limits: ProviderLimits): Provider {
  const { id, wire, baseUrl, apiKey, models } = options;
  const headers = withUserAgent(options.headers ?? {});
  const list = async (signal: AbortSignal) =>
    models ?? listModels(wire, baseUrl, { ...keyHeaders(wire, apiKey), ...headers }, listTimeoutMs, signal, limits.proxies);
  if (wire === 'openai-compatible') {
    const dialect = new URL(baseUrl).hostname === 'api.openai.com' ? 'openai' : 'compatible';
    const sendsCacheKey = limits.cacheKeys === 'all' || (limits.cacheKeys === 'openai' && dialect === 'openai');
    const client = createOpenAiClient({ provider: id, baseUrl, apiKey, headers, dialect, sendsCacheKey, ...limits });
    return { id, model: client, embed: client.embed, makeImages: client.makeImages, list, close: () => client.close() };
  }
  const common = {
    ...{ baseURL: baseUrl, apiKey: apiKey ?? 'none', headers: { ...headers } },
    fetch: sdkFetch(limits.proxies, new URL(baseUrl)),
  };
  // Loaded by the first call: most installations never make one.
  let sdk: Promise<Sdk> | undefined;
  const languageModel = async (name: string) => {
    sdk ??= wire === 'anthropic' ? loadAnthropic(common, limits.cacheLife) : loadGoogle(common);
    return (await sdk)(name);
  };
  const provider = { id, model: createAiSdkModel(id, languageModel, limits), list, close: async () => {} };
  if (wire !== 'google') return provider;
  const makeImages = createAiSdkImages(
    id,
    async (name) => {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle(common).image(name);
    },
    limits.firstByteTimeoutMs,
  );
  return { ...provider, makeImages, imageBounds: geminiBounds };
}

type Sdk = (name: string) => AiSdkModel;

interface CommonOptions {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof globalThis.fetch;
}

async function loadAnthropic(options: CommonOptions, cacheLife: CacheLife | undefined): Promise<Sdk> {
  const [{ createAnthropic }, { getModelCapabilities }] = await Promise.all([
    import('@ai-sdk/anthropic'),
    import('@ai-sdk/anthropic/internal'),
  ]);
  const anthropic = createAnthropic({ ...options, fetch: knownEventsOnly(options.fetch) });
  return (name) => {
    const { supportsAdaptiveThinking: isAdaptive, isKnownModel, maxOutputTokens } = getModelCapabilities(name);
    const model = { isAdaptive, outputTokensMax: isKnownModel ? maxOutputTokens : undefined };
    return { model: anthropic(name), adapt: (request) => fitAnthropic(request, model, cacheLife) };
  };
}

async function loadGoogle(options: CommonOptions): Promise<Sdk> {
  const { createGoogle } = await import('@ai-sdk/google');
  const google = createGoogle(options);
  return (name) => ({ model: google(name) });
}

function keyHeaders(wire: Wire, apiKey: string | undefined): Readonly<Record<string, string>> {
  if (wire === 'anthropic') return { 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' };
  if (apiKey === undefined) return {};
  return wire === 'google' ? { 'x-goog-api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}

/** Gemini takes a prompt, images to change and a shape. The SDK would drop the other options with a warning that nobody reads. */
const geminiBounds: ImageBounds = {
  unfit: (name) => (name.startsWith('gemini-') ? undefined : 'Google makes images with models whose names begin with gemini-'),
  refuses(option, value) {
    if (value === undefined || value === 'auto') return undefined;
    if (option !== 'size') return 'cannot be served by this model: leave it out';
    if (toAspectRatio(String(value)) !== undefined) return undefined;
    return 'must have a shape that this model makes: 1:1, 2:3, 3:2, 3:4, 4:3, 4:5, 5:4, 9:16, 16:9 or 21:9';
  },
};
