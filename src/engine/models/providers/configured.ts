import type { Settings } from '../../../settings.ts';
import { createProxies, type ProxySettings } from '../../egress/proxies.ts';
import type { ReadEnvironment } from '../clouds/identity.ts';
import { offlineModel } from '../offline/offline.ts';
import { type CloudProvider, createCloudProvider } from './cloud-provider.ts';
import { createProvider, type ProviderOptions } from './create-provider.ts';
import type { ModelsFile } from './models-file.ts';
import type { Provider } from './provider.ts';

/** Time for a connection to a model provider. */
const connectTimeoutMs = 10_000;

export type ModelSettings = Pick<
  Settings,
  | 'OPENAI_API_KEY'
  | 'OPENAI_BASE_URL'
  | 'ANTHROPIC_API_KEY'
  | 'ANTHROPIC_BASE_URL'
  | 'GOOGLE_API_KEY'
  | 'GOOGLE_BASE_URL'
  | 'OLLAMA_BASE_URL'
  | 'MODELS_FILE'
  | 'DEFAULT_MODEL'
  | 'EMBEDDING_MODEL'
  | 'IMAGE_MODEL'
  | 'MODEL_FIRST_TOKEN_TIMEOUT_MS'
  | 'MODEL_IDLE_TIMEOUT_MS'
  | 'MODEL_RETRIES_MAX'
  | 'ANSWER_MAX_CHARS'
  | 'PROMPT_CACHE_LIFE'
  | 'PROMPT_CACHE_BY_CHAT'
> &
  ProxySettings;

/** Bytes for each character: room for other scripts and for the JSON around the text. */
const bytesPerChar = 2;
const envelopeBytes = 1024 * 1024;

/** All providers in the order of default models; the built-in one last. */
export function configuredProviders(
  settings: ModelSettings,
  file: ModelsFile,
  environment: ReadEnvironment,
  now: () => Date,
): readonly Provider[] {
  const limits = {
    proxies: createProxies(settings),
    connectTimeoutMs,
    firstByteTimeoutMs: settings.MODEL_FIRST_TOKEN_TIMEOUT_MS,
    firstTokenTimeoutMs: settings.MODEL_FIRST_TOKEN_TIMEOUT_MS,
    idleTimeoutMs: settings.MODEL_IDLE_TIMEOUT_MS,
    bodyBytesMax: settings.ANSWER_MAX_CHARS * bytesPerChar + envelopeBytes,
    cacheLife: settings.PROMPT_CACHE_LIFE === 'off' ? undefined : settings.PROMPT_CACHE_LIFE,
    cacheKeys: settings.PROMPT_CACHE_BY_CHAT,
  };
  const ids = new Set(file.providers.map((provider) => provider.id));
  // A provider of the models file replaces the settings' provider with the same id.
  const ofSettings = fromSettings(settings).filter((provider) => !ids.has(provider.id));
  const ofFile = file.providers.map((provider): Provider => {
    if ('instanceMetadata' in provider) {
      const cloud: CloudProvider = { ...withoutUndefined(provider), models: provider.models.map(withoutUndefined) };
      return createCloudProvider(cloud, limits, environment, now);
    }
    const { apiKeyEnv, models, ...rest } = withoutUndefined(provider);
    const apiKey = apiKeyEnv === undefined ? undefined : environment(apiKeyEnv);
    return createProvider({ ...rest, apiKey, ...(models === undefined ? {} : { models: models.map(withoutUndefined) }) }, limits);
  });
  return [...ofSettings.map((provider) => createProvider(provider, limits)), ...ofFile, builtIn];
}

function fromSettings(settings: ModelSettings): readonly ProviderOptions[] {
  const options: ProviderOptions[] = [];
  const { OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, GOOGLE_API_KEY, OLLAMA_BASE_URL } = settings;
  if (OPENAI_API_KEY !== undefined || OPENAI_BASE_URL !== undefined) {
    const baseUrl = OPENAI_BASE_URL ?? 'https://api.openai.com/v1';
    options.push({ id: 'openai', wire: 'openai-compatible', baseUrl, apiKey: OPENAI_API_KEY });
  }
  if (ANTHROPIC_API_KEY !== undefined) {
    const baseUrl = settings.ANTHROPIC_BASE_URL ?? 'https://api.anthropic.com/v1';
    options.push({ id: 'anthropic', wire: 'anthropic', baseUrl, apiKey: ANTHROPIC_API_KEY });
  }
  if (GOOGLE_API_KEY !== undefined) {
    const baseUrl = settings.GOOGLE_BASE_URL ?? 'https://generativelanguage.googleapis.com/v1beta';
    options.push({ id: 'google', wire: 'google', baseUrl, apiKey: GOOGLE_API_KEY });
  }
  if (OLLAMA_BASE_URL !== undefined) {
    const base = OLLAMA_BASE_URL.replace(/(?<!\/)\/+$/, '');
    options.push({
      id: 'ollama',
      wire: 'openai-compatible',
      baseUrl: base.endsWith('/v1') ? base : `${base}/v1`,
      apiKey: undefined,
    });
  }
  return options;
}

const builtIn: Provider = {
  id: 'parley',
  model: offlineModel,
  list: async () => [{ name: 'offline', createdAtMs: Date.UTC(2026, 10, 21), contextTokensMax: 1_000_000 }],
  close: async () => {},
};

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
