import { type ModelDelta, ModelError, type ModelRequest } from '../../../src/engine/models/port.ts';
import type { RoutedStream } from '../../../src/engine/models/route-stream.ts';
import type { ModelRouter } from '../../../src/engine/models/router.ts';
import type { Choices } from './random.ts';

/** What a message asks of the model: it stands in its text. */
export interface Script {
  /** Calls of tools before the answer, one a round. */
  readonly calls: readonly ('effect' | 'look')[];
  readonly words: number;
  /** Of each word. */
  readonly pauseMs: number;
  /** The model breaks off in this round instead. */
  readonly failsInRound?: number;
}

/** The one model of the world. It keeps what it was asked, and what it must be paid for. */
export class SimulatedModels implements ModelRouter {
  readonly embedding = undefined;
  readonly images = [];
  readonly #choices: Choices;
  readonly #now: () => number;
  /** Tokens of all calls that reached the model, also of those whose answer nobody got. */
  tokensServed = 0;
  callsServed = 0;

  constructor(choices: Choices, now: () => number) {
    this.#choices = choices;
    this.#now = now;
  }

  list = async () => [];
  problems = () => [];
  find = () => undefined;
  isConfigured = () => true;
  priceOf = () => ({ inputPerMillionTokens: 1, outputPerMillionTokens: 2 });
  chainOf = (modelId: string) => [modelId];
  defaultModelId = () => modelId;
  warm = async () => undefined;
  hasProvider = () => true;
  isRoutable = () => true;
  embeddingOf = () => undefined;
  close = async () => undefined;

  stream(request: ModelRequest, signal: AbortSignal): RoutedStream {
    const selection = { provider: 'world', model: 'speaker', fallbackChain: [], queueMs: 0, firstTokenMs: null as number | null };
    return { selection, deltas: this.#answer(request, signal, selection) };
  }

  async *#answer(
    request: ModelRequest,
    signal: AbortSignal,
    selection: { firstTokenMs: number | null },
  ): AsyncGenerator<readonly ModelDelta[]> {
    const beganMs = this.#now();
    const script = readScript(request);
    const round = request.messages.filter(({ role }) => role === 'tool').length;
    this.callsServed += 1;
    const answer = this.callsServed;
    await pause(script.pauseMs + this.#choices.fraction * 40, signal);
    if (script.failsInRound === round) throw new ModelError('UPSTREAM_ERROR', 'the model broke off', false);
    selection.firstTokenMs = Math.round(this.#now() - beganMs);
    const call = script.calls[round];
    let outputTokens = 1;
    if (call !== undefined && request.tools.some(({ name }) => name === call)) {
      yield [{ type: 'tool.start', index: 0, id: `call_${round}`, name: call }];
      yield [{ type: 'tool.arguments', index: 0, json: '"{}"' }];
    } else {
      const most = request.parameters.maxTokens ?? Number.POSITIVE_INFINITY;
      const words = Math.min(script.words, most);
      for (let word = 0; word < words; word += 1) {
        yield [{ type: 'text', json: JSON.stringify(`${answer}.${word} `) }];
        await pause(script.pauseMs, signal);
      }
      outputTokens = words;
    }
    const usage = { inputTokens: 5, outputTokens, cachedTokens: 0, reasoningTokens: 0 };
    this.tokensServed += usage.inputTokens + usage.outputTokens;
    yield [
      { type: 'usage', usage },
      { type: 'finish', reason: call === undefined ? 'stop' : 'tool_calls' },
    ];
  }
}

export const modelId = 'world/speaker';

function readScript({ messages }: ModelRequest): Script {
  for (const { role, content } of messages.toReversed()) {
    if (role === 'user' && typeof content === 'string' && content.startsWith('{')) return JSON.parse(content) as Script;
  }
  return { calls: [], words: 1, pauseMs: 1 };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
