import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FinishReason, Model, ModelDelta, ModelRequest, TokenUsage } from '../port.ts';
import { composeAnswer } from './answer.ts';
import { readConversation, textOf } from './conversation.ts';
import { planCalls } from './tool-choice.ts';

/** A token of this model: a word with the space before it, or a part of a long word. */
const tokenPattern = /\s*\S{1,24}|\s+$/gu;

/**
 * The built-in model: no key, no weights, the same answer to the same request. It quotes the agent's passages and the conversation,
 * and calls a function that clearly fits. For trying the service, and for tests.
 */
export const offlineModel: Model = {
  async *stream(request, signal) {
    signal.throwIfAborted();
    const conversation = readConversation(request);
    const calls = planCalls(request, conversation);
    if (calls.length > 0) {
      yield* streamCalls(request, calls);
      return;
    }
    const answer = composeAnswer(request, conversation);
    const { text, reason } = cut(answer.text, request);
    const type = answer.isRefusal ? 'refusal' : 'text';
    const tokens = text.match(tokenPattern) ?? [];
    for (const token of tokens) {
      yield [{ type, json: JSON.stringify(token) }];
      // Lets readers see single words and aborts take effect.
      await nextTurn();
      signal.throwIfAborted();
    }
    yield ending(reason, request, tokens.length);
  },
};

async function* streamCalls(
  request: ModelRequest,
  calls: readonly { readonly name: string; readonly arguments: string }[],
): AsyncGenerator<readonly ModelDelta[]> {
  let tokens = 0;
  for (const [index, call] of calls.entries()) {
    yield [{ type: 'tool.start', index, id: callId(request, index, call.arguments), name: call.name }];
    const middle = Math.ceil(call.arguments.length / 2);
    for (const piece of [call.arguments.slice(0, middle), call.arguments.slice(middle)]) {
      if (piece !== '') yield [{ type: 'tool.arguments', index, json: JSON.stringify(piece) }];
    }
    tokens += countTokens(call.arguments) + 1;
  }
  yield ending('tool_calls', request, tokens);
}

/** Derived from the request, so that answers repeat exactly; the position in the conversation keeps ids apart. */
function callId(request: ModelRequest, index: number, args: string): string {
  const seed = `${request.messages.length}\n${index}\n${args}\n${request.messages.map(textOf).join('\n')}`;
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`;
}

function cut(answer: string, { parameters }: ModelRequest): { text: string; reason: FinishReason } {
  let text = answer;
  for (const stop of parameters.stop ?? []) {
    const at = stop === '' ? -1 : text.indexOf(stop);
    if (at >= 0) text = text.slice(0, at);
  }
  const tokens = text.match(tokenPattern) ?? [];
  const most = parameters.maxTokens;
  if (most === undefined || tokens.length <= most) return { text, reason: 'stop' };
  return { text: tokens.slice(0, most).join(''), reason: 'length' };
}

function ending(reason: FinishReason, request: ModelRequest, outputTokens: number): readonly ModelDelta[] {
  const inputTokens = request.messages.reduce((total, message) => total + countTokens(textOf(message)) + 1, 0);
  const usage: TokenUsage = { inputTokens, outputTokens, cachedTokens: 0, reasoningTokens: 0 };
  return [
    { type: 'usage', usage },
    { type: 'finish', reason },
  ];
}

function countTokens(text: string): number {
  return text.match(tokenPattern)?.length ?? 0;
}
