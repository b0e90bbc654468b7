import type { AiSdkModel } from '../ai-sdk/ai-sdk-model.ts';
import { knownEventsOnly } from '../ai-sdk/anthropic-events.ts';
import { fitAnthropic } from '../ai-sdk/anthropic-fit.ts';
import type { CacheLife } from '../port.ts';
import type { CloudIdentity } from './identity.ts';

export interface VertexOptions {
  readonly project: string;
  readonly location: string;
  /** Before `/v1`. */
  readonly baseUrl: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof globalThis.fetch;
  readonly cacheLife: CacheLife | undefined;
}

/** Gemini and Claude at Google Vertex AI, with the access token of the identity. */
export async function loadVertex(
  identity: CloudIdentity<string>,
  { project, location, baseUrl, headers, fetch, cacheLife }: VertexOptions,
): Promise<(name: string) => AiSdkModel> {
  const [{ createGoogleVertex }, { createGoogleVertexAnthropic }, { getModelCapabilities }, { OAuth2Client }] = await Promise.all(
    [
      import('@ai-sdk/google-vertex'),
      import('@ai-sdk/google-vertex/anthropic'),
      import('@ai-sdk/anthropic/internal'),
      import('google-auth-library'),
    ],
  );
  const place = `projects/${project}/locations/${location}`;
  // Asks the identity before each call: the token of a client that keeps none is never old.
  const authClient = new OAuth2Client();
  authClient.refreshHandler = async () => ({ access_token: await identity.get(), expiry_date: 1 });
  const gemini = createGoogleVertex({
    ...{ project, location, headers, fetch, googleAuthOptions: { authClient } },
    baseURL: `${baseUrl}/v1beta1/${place}/publishers/google`,
    // Not the key that the SDK would take from the environment.
    apiKey: '',
  });
  const claude = createGoogleVertexAnthropic({
    ...{ project, location, headers, fetch: knownEventsOnly(fetch) },
    baseURL: `${baseUrl}/v1/${place}/publishers/anthropic/models`,
    generateAuthToken: async () => identity.get(),
  });
  return (name) => {
    if (!name.startsWith('claude-')) return { model: gemini(name) };
    const { supportsAdaptiveThinking: isAdaptive, isKnownModel, maxOutputTokens } = getModelCapabilities(name);
    const model = { isAdaptive, outputTokensMax: isKnownModel ? maxOutputTokens : undefined };
    return { model: claude(name), adapt: (request) => fitAnthropic(request, model, cacheLife) };
  };
}
