import { pino } from 'pino';
import type { ModelDelta, ModelRequest } from '../../../src/engine/models/port.ts';
import { createModelRouter, type ModelRouter } from '../../../src/engine/models/router.ts';
import { testSettings } from '../settings.ts';

/** A router over the given settings, without logs and with short time limits. */
export function makeRouter(environment: Readonly<Record<string, string>>, now: () => Date = () => new Date()): ModelRouter {
  const settings = testSettings({ MODEL_RETRIES_MAX: '0', ...environment });
  return createModelRouter(settings, pino({ level: 'silent' }), now, (name) => environment[name]);
}

export function ask(model: string, question: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return { model, messages: [{ role: 'user', content: question }], tools: [], parameters: {}, isStreaming: true, ...more };
}

/** Reads a stream to its end: texts joined, other deltas as they came. */
export async function collect(deltas: AsyncIterable<readonly ModelDelta[]>) {
  const all: ModelDelta[] = [];
  for await (const batch of deltas) all.push(...batch);
  const joined = (type: 'text' | 'reasoning') =>
    all.map((delta) => (delta.type === type ? (JSON.parse(delta.json) as string) : '')).join('');
  const calls = all
    .flatMap((delta) => (delta.type === 'tool.start' ? [delta] : []))
    .map(({ index, id, name }) => ({
      id,
      name,
      arguments: all
        .map((delta) => (delta.type === 'tool.arguments' && delta.index === index ? (JSON.parse(delta.json) as string) : ''))
        .join(''),
    }));
  const usage = all.find((delta) => delta.type === 'usage')?.usage;
  const finishes = all.flatMap((delta) => (delta.type === 'finish' ? [delta.reason] : []));
  return { all, text: joined('text'), reasoning: joined('reasoning'), calls, usage, finishes };
}

export async function failureOf(deltas: AsyncIterable<readonly ModelDelta[]>): Promise<unknown> {
  try {
    await collect(deltas);
  } catch (error) {
    return error;
  }
  return undefined;
}
