import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createAiSdkModel } from '../ai-sdk/ai-sdk-model.ts';
import { createOpenAiClient } from '../openai/client.ts';
import { listModels, type Wire } from './listing.ts';
import type { ListedModel, Provider } from './provider.ts';

export interface ProviderOptions {
  readonly id: string;
  readonly wire: Wire;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** When given, the provider is not asked. */
  readonly models?: readonly ListedModel[];
}

export interface Timeouts {
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

const listTimeoutMs = 10_000;

export function createProvider(options: ProviderOptions, timeouts: Timeouts): Provider {
  const { id, wire, baseUrl, apiKey, models, headers = {} } = options;
  const list = async (signal: AbortSignal) =>
    models ?? listModels(wire, baseUrl, { ...keyHeaders(wire, apiKey), ...headers }, listTimeoutMs, signal);
  if (wire === 'openai-compatible') {
    const dialect = new URL(baseUrl).hostname === 'api.openai.com' ? 'openai' : 'compatible';
    const client = createOpenAiClient({ baseUrl, apiKey, headers, dialect, ...timeouts });
    return { id, model: client, list, close: () => client.close() };
  }
  const common = { baseURL: baseUrl, apiKey: apiKey ?? 'none', headers: { ...headers } };
  const sdk = wire === 'anthropic' ? createAnthropic(common) : createGoogle(common);
  return { id, model: createAiSdkModel((name) => sdk(name), timeouts), list, close: async () => {} };
}

function keyHeaders(wire: Wire, apiKey: string | undefined): Readonly<Record<string, string>> {
  if (wire === 'anthropic') return { 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' };
  if (apiKey === undefined) return {};
  return wire === 'google' ? { 'x-goog-api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}
