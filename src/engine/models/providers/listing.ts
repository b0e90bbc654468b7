import { membersOf, readElements, readString } from '../../../lib/json/json.ts';
import { createAgent } from '../../egress/dispatchers.ts';
import type { Proxies } from '../../egress/proxies.ts';
import type { ListedModel } from './provider.ts';

const bodyCharactersMax = 8 * 1024 * 1024;
const notForChat = /embed|whisper|tts|dall-e|moderation|babbage|davinci|realtime|audio|transcribe|image|sora|rerank/i;

export type Wire = 'openai-compatible' | 'anthropic' | 'google';

/** Asks a provider for its models. @throws Error when it cannot be reached or its answer is not a list of models. */
export async function listModels(
  wire: Wire,
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
  signal: AbortSignal,
  proxies: Proxies,
): Promise<readonly ListedModel[]> {
  const page = wire === 'anthropic' ? '?limit=1000' : wire === 'google' ? '?pageSize=1000' : '';
  const url = new URL(`${baseUrl.replace(/(?<!\/)\/+$/, '')}/models${page}`);
  const reply = await get(url, headers, timeoutMs, signal, proxies);
  if (reply.status !== 200) throw new Error(`/models answered ${reply.status}`);
  const { body } = reply;
  if (body.length > bodyCharactersMax) throw new Error('/models answered too much');
  const listingJson: unknown = JSON.parse(body);
  const rows =
    wire === 'google'
      ? membersOf(listingJson).models
      : (membersOf(listingJson).data ?? membersOf(listingJson).models ?? listingJson);
  return readElements(rows).flatMap((row) => read(wire, membersOf(row)));
}

async function get(
  url: URL,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
  signal: AbortSignal,
  proxies: Proxies,
): Promise<{ readonly status: number; readonly body: string }> {
  const agent = createAgent(proxies, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  try {
    const { origin, pathname, search } = url;
    const reply = await agent.request({ origin, path: pathname + search, method: 'GET', headers: { ...headers }, signal });
    return { status: reply.statusCode, body: await reply.body.text() };
  } catch (error) {
    const proxy = proxies.proxyOf(url);
    if (proxy === undefined || signal.aborted) throw error;
    throw new Error(`not reached through the proxy ${proxy.name}`, { cause: error });
  } finally {
    await agent.destroy();
  }
}

function read(wire: Wire, row: Readonly<Record<string, unknown>>): readonly ListedModel[] {
  const name = (readString(row.id) ?? readString(row.name) ?? '').replace(wire === 'google' ? /^models\// : /^$/, '');
  const methods = readElements(row.supportedGenerationMethods);
  if (name === '' || notForChat.test(name)) return [];
  if (methods.length > 0 && !methods.includes('generateContent')) return [];
  const created = typeof row.created === 'number' ? row.created * 1000 : Date.parse(readString(row.created_at) ?? '');
  const context = [row.context_length, row.max_model_len, row.context_window, row.max_input_tokens, row.inputTokenLimit].find(
    (value): value is number => typeof value === 'number' && value > 0,
  );
  return [
    {
      name,
      ...(Number.isFinite(created) ? { createdAtMs: created } : {}),
      ...(context === undefined ? {} : { contextTokensMax: context }),
      ...(wire === 'openai-compatible' ? {} : { acceptsImages: true }),
    },
  ];
}
