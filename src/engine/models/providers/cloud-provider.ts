import { withUserAgent } from '../../../lib/product.ts';
import { type AiSdkModel, createAiSdkModel } from '../ai-sdk/ai-sdk-model.ts';
import { type AwsCredentials, fetchAwsCredentials } from '../clouds/aws-identity.ts';
import { fetchAzureToken } from '../clouds/azure-identity.ts';
import { loadBedrock } from '../clouds/bedrock.ts';
import { fetchGoogleToken } from '../clouds/google-identity.ts';
import { type CloudIdentity, createIdentity, type ReadEnvironment } from '../clouds/identity.ts';
import { loadVertex } from '../clouds/vertex.ts';
import { createOpenAiClient } from '../openai/client.ts';
import type { ProviderLimits } from './create-provider.ts';
import type { ListedModel, Provider, ProviderIdentity } from './provider.ts';
import { sdkFetch } from './sdk-fetch.ts';

interface CloudOptions {
  readonly id: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly models: readonly ListedModel[];
  /** Whether the identity of the machine may be used. */
  readonly instanceMetadata: boolean;
}
export interface BedrockProvider extends CloudOptions {
  readonly wire: 'bedrock';
  readonly region: string;
  readonly baseUrl?: string;
}
export interface VertexProvider extends CloudOptions {
  readonly wire: 'vertex';
  readonly project: string;
  readonly location: string;
  readonly baseUrl?: string;
}
export interface AzureProvider extends CloudOptions {
  readonly wire: 'azure';
  /** Of the resource. */
  readonly baseUrl: string;
  readonly apiVersion?: string;
}
export type CloudProvider = BedrockProvider | VertexProvider | AzureProvider;

/** A provider at which this service signs in with the identity that its cloud gave it. */
export function createCloudProvider(
  options: CloudProvider,
  limits: ProviderLimits,
  environment: ReadEnvironment,
  now: () => Date,
): Provider {
  const { id, models, instanceMetadata: usesInstanceMetadata } = options;
  const list = async () => models;
  const { proxies, cacheLife } = limits;
  const headers = { ...withUserAgent(options.headers ?? {}) };
  if (options.wire === 'azure') {
    const { baseUrl: address, apiVersion } = options;
    const identity = createIdentity(fetchAzureToken(environment, { usesInstanceMetadata }, now), proxies, now);
    const baseUrl = `${address.replace(/(?<!\/)\/+$/, '').replace(/\/openai(?:\/v1)?$/, '')}/openai`;
    const client = createOpenAiClient({
      ...{ ...limits, provider: id, apiKey: undefined, headers, dialect: 'openai', apiVersion },
      baseUrl: apiVersion === undefined ? `${baseUrl}/v1` : baseUrl,
      sendsCacheKey: limits.cacheKeys !== 'off' && apiVersion === undefined,
      authorize: () => {
        const token = identity.get();
        return token instanceof Promise ? token.then(bearer) : bearer(token);
      },
    });
    const close = async () => void (await Promise.all([client.close(), identity.close()]));
    return { id, model: client, embed: client.embed, makeImages: client.makeImages, identity: checkOf(identity), list, close };
  }
  if (options.wire === 'bedrock') {
    const {
      region,
      baseUrl = `https://bedrock-runtime.${region}.${region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`,
    } = options;
    const fetchCredentials = fetchAwsCredentials(environment, { region, usesInstanceMetadata });
    const identity = createIdentity<AwsCredentials>(fetchCredentials, proxies, now);
    const fetch = sdkFetch(proxies, new URL(baseUrl));
    return withSdk(id, identity, models, limits, () => loadBedrock(identity, { region, baseUrl, headers, fetch, cacheLife }));
  }
  const { project, location, baseUrl = `https://${vertexHost(location)}` } = options;
  const identity = createIdentity(fetchGoogleToken(environment, { usesInstanceMetadata }, now), proxies, now);
  const fetch = sdkFetch(proxies, new URL(baseUrl));
  return withSdk(id, identity, models, limits, () =>
    loadVertex(identity, { project, location, baseUrl, headers, fetch, cacheLife }),
  );
}

/** A provider by its AI SDK package, which the first call loads: most installations never make one. */
function withSdk<T>(
  id: string,
  identity: CloudIdentity<T>,
  models: readonly ListedModel[],
  limits: ProviderLimits,
  load: () => Promise<(name: string) => AiSdkModel>,
): Provider {
  let sdk: ReturnType<typeof load> | undefined;
  const languageModel = async (name: string) => {
    // Before the SDK asks, which tells of a failure in words of its own.
    await identity.get();
    sdk ??= load();
    return (await sdk)(name);
  };
  const model = createAiSdkModel(id, languageModel, limits);
  return { id, model, identity: checkOf(identity), list: async () => models, close: () => identity.close() };
}

function checkOf<T>(identity: CloudIdentity<T>): ProviderIdentity {
  return {
    async check() {
      try {
        await identity.get();
        return undefined;
      } catch {
        return identity.problem;
      }
    },
    get problem() {
      return identity.problem;
    },
  };
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}

/** https://cloud.google.com/vertex-ai/docs/reference/rest: one host for everywhere, one for each multi-region, one for each region. */
function vertexHost(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com';
  return location === 'eu' || location === 'us'
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}
