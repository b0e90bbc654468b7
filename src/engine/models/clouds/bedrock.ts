import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { AiSdkModel } from '../ai-sdk/ai-sdk-model.ts';
import { fitAnthropic, withJson } from '../ai-sdk/anthropic-fit.ts';
import type { CacheLife } from '../port.ts';
import type { AwsCredentials } from './aws-identity.ts';
import type { CloudIdentity } from './identity.ts';

export interface BedrockOptions {
  readonly region: string;
  readonly baseUrl: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof globalThis.fetch;
  readonly cacheLife: CacheLife | undefined;
}

/** The models of Amazon Bedrock by its Converse API. Each call is signed (SigV4) with the credentials of the identity. */
export async function loadBedrock(
  identity: CloudIdentity<AwsCredentials>,
  { region, baseUrl, headers, fetch, cacheLife }: BedrockOptions,
): Promise<(name: string) => AiSdkModel> {
  const [{ createAmazonBedrock }, { getModelCapabilities }] = await Promise.all([
    import('@ai-sdk/amazon-bedrock'),
    import('@ai-sdk/anthropic/internal'),
  ]);
  const bedrock = createAmazonBedrock({
    ...{ region, baseURL: baseUrl, headers, fetch },
    // Not the key that the SDK would take from the environment.
    apiKey: '',
    credentialProvider: async () => identity.get(),
  });
  return (name) => {
    const model = bedrock(name);
    if (!name.includes('anthropic.')) {
      return { model, adapt: (request) => ({ request: withJson(request), warnings: [] }), isUnreadable };
    }
    const { supportsAdaptiveThinking: isAdaptive, isKnownModel, maxOutputTokens } = getModelCapabilities(name);
    const thinking = { isAdaptive, outputTokensMax: isKnownModel ? maxOutputTokens : undefined };
    return { model: withCachePoints(model), adapt: (request) => fitAnthropic(request, thinking, cacheLife), isUnreadable };
  };
}

/** A frame that is cut or has a wrong checksum. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && /event-stream frame|checksum|message (?:length|too short)/.test(error.message);
}

type Message = LanguageModelV4CallOptions['prompt'][number];

/** Marks for the prompt cache are blocks of their own on this wire: one behind each message that has a mark. */
function withCachePoints(model: LanguageModelV4): LanguageModelV4 {
  const change = (options: LanguageModelV4CallOptions) => ({ ...options, prompt: options.prompt.map(withCachePoint) });
  return {
    ...{ specificationVersion: 'v4', provider: model.provider, modelId: model.modelId, supportedUrls: model.supportedUrls },
    doGenerate: (options) => model.doGenerate(change(options)),
    doStream: (options) => model.doStream(change(options)),
  };
}

function withCachePoint(message: Message): Message {
  const parts = typeof message.content === 'string' ? [] : message.content;
  const mark = [message, ...parts].map(({ providerOptions }) => providerOptions?.anthropic?.cacheControl).find((found) => found);
  if (mark === undefined) return message;
  const ttl = typeof mark === 'object' && mark !== null && 'ttl' in mark ? { ttl: mark.ttl } : {};
  const providerOptions = { ...message.providerOptions, amazonBedrock: { cachePoint: { type: 'default', ...ttl } } };
  return { ...message, providerOptions } as Message;
}
