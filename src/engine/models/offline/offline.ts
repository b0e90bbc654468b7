import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FinishReason, Model, ModelDelta, ModelRequest } from '../port.ts';
import { withEnding } from '../prompts/ending.ts';
import { composeAnswer, readText } from './answer.ts';
import { planCall } from './tool-calls.ts';

/** A token of this model: a word with the space before it, or a part of a long word. */
const tokenPattern = /\s*\S{1,24}|\s+$/gu;

/**
 * The built-in model: no key, no weights, the same answer to the same request. It quotes the agent's passages with their citations, files and the
 * conversation, calls a function whose name the question holds, and searches documents where it may. For trying the service, and for tests.
 */
export const offlineModel: Model = {
  async *stream(request, signal) {
    signal.throwIfAborted();
    const call = planCall(request);
    if (call !== undefined) {
      // Derived from the request, so that answers repeat exactly; the place in the conversation keeps ids apart.
      const seed = [request.messages.length, call.arguments, ...request.messages.map(readText)].join('\n');
      const id = `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`;
      yield [{ type: 'tool.start', index: 0, id, name: call.name }];
      yield [{ type: 'tool.arguments', index: 0, json: JSON.stringify(call.arguments) }];
      yield ending('tool_calls', request, splitTokens(call.arguments).length + 1);
      return;
    }
    const answer = composeAnswer(request);
    const { tokens, reason } = cut(answer.text, request);
    for (const token of tokens) {
      yield [{ type: answer.isRefusal ? 'refusal' : 'text', json: JSON.stringify(token) }];
      // Lets readers see single words and aborts take effect.
      await nextTurn();
      signal.throwIfAborted();
    }
    yield ending(reason, request, tokens.length);
  },
};

function cut(answer: string, { parameters }: ModelRequest): { tokens: readonly string[]; reason: FinishReason } {
  const ends = (parameters.stop ?? []).flatMap((stop) => (stop !== '' && answer.includes(stop) ? [answer.indexOf(stop)] : []));
  const tokens = splitTokens(answer.slice(0, Math.min(answer.length, ...ends)));
  const most = parameters.maxTokens ?? tokens.length;
  return { tokens: tokens.slice(0, most), reason: tokens.length > most ? 'length' : 'stop' };
}

function ending(reason: FinishReason, request: ModelRequest, outputTokens: number): readonly ModelDelta[] {
  const inputTokens = withEnding(request).reduce((total, message) => total + splitTokens(readText(message)).length + 1, 0);
  return [
    { type: 'usage', usage: { inputTokens, outputTokens, cachedTokens: 0, reasoningTokens: 0 } },
    { type: 'finish', reason },
  ];
}

const splitTokens = (text: string): readonly string[] => text.match(tokenPattern) ?? [];
