import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { membersOf } from '../../../src/lib/json/json.ts';

/**
 * Providers that think before each answer, and that demand their thoughts back as the vendors do. A turn has three answers: two calls beside each
 * other, one call, a text. Without tools it has only the text.
 */
export interface ThinkingProvider {
  readonly url: string;
  /** The id of its model in Parley, and the settings that configure it. */
  readonly modelId: string;
  readonly env: Readonly<Record<string, string>>;
  readonly bodies: readonly Body[];
  /** Why requests were refused. */
  readonly refusals: readonly string[];
  /** How many thoughts of its own the last request had in the conversation. */
  readonly returned: number;
  /** The next answers wait until this resolves. */
  hold(gate: Promise<unknown> | undefined): void;
  reset(): void;
  close(): Promise<void>;
}
type Body = Readonly<Record<string, unknown>>;

interface Answer {
  readonly thought: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly text: string;
}
interface Wire {
  readonly base: string;
  readonly name: string;
  /** @returns what is wrong with the conversation; how many thoughts it has; how many answers with calls this turn has. */
  read(body: Body): { readonly fault: string | undefined; readonly thoughts: number; readonly rounds: number };
  toolsOf(body: Body): readonly string[];
  write(answer: Answer, body: Body): string;
  refuse(message: string): object;
}

type Part = Readonly<Record<string, unknown>>;
const list = (value: unknown) => (Array.isArray(value) ? (value as readonly Part[]) : []);
const sign = (text: string) => createHmac('sha256', 'of the vendor').update(text).digest('base64');
const sse = (events: readonly object[]) =>
  events
    .map((event) => {
      const { type } = membersOf(event);
      return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');

/** The tools that this many answers of a turn call. */
const callsOf = (round: number) => (round === 0 ? ['first', 'second'] : round === 1 ? ['third'] : []);

/**
 * Anthropic's: each answer with calls of the turn must begin with its thinking block, and every block must be as it was. It asks for nothing where
 * thinking is off.
 */
const anthropic: Wire = {
  base: '/v1',
  name: 'anthropic',
  toolsOf: ({ tools }) => list(tools).map(({ name }) => String(name)),
  read({ messages, thinking }) {
    const said = list(messages);
    const isOff = membersOf(thinking).type === 'disabled';
    const hasResults = (message: Part | undefined) => list(message?.content).some(({ type }) => type === 'tool_result');
    const turnFrom = said.findLastIndex((message) => message.role === 'user' && !hasResults(message));
    let [thoughts, rounds] = [0, 0];
    let fault: string | undefined;
    for (const [at, message] of said.entries()) {
      if (message.role !== 'assistant') continue;
      const blocks = list(message.content);
      for (const [place, block] of blocks.entries()) {
        if (block.type !== 'thinking' && block.type !== 'redacted_thinking') continue;
        thoughts += 1;
        const isRight =
          block.type === 'thinking' ? block.signature === sign(String(block.thinking)) : block.data === sign('hidden');
        if (!isRight) fault ??= `messages.${at}.content.${place}: Invalid \`signature\` in \`thinking\` block`;
      }
      const uses = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
      const results = list(said[at + 1]?.content).map(({ tool_use_id: id }) => id);
      if (uses.some((id) => !results.includes(id)))
        fault ??= `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks`;
      if (uses.length === 0 || at < turnFrom) continue;
      rounds += 1;
      const [first] = blocks;
      if (first?.type !== 'thinking' && first?.type !== 'redacted_thinking' && !isOff) {
        fault ??= `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first?.type)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block`;
      }
    }
    return { fault, thoughts, rounds };
  },
  write({ thought, calls, text }) {
    const usage = { input_tokens: 12, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const about = { type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage };
    const blocks: object[][] = [
      [
        { content_block: { type: 'thinking', thinking: '', signature: '' } },
        { delta: { type: 'thinking_delta', thinking: thought.slice(0, 3) } },
        { delta: { type: 'thinking_delta', thinking: thought.slice(3) } },
        { delta: { type: 'signature_delta', signature: sign(thought) } },
      ],
      [{ content_block: { type: 'redacted_thinking', data: sign('hidden') } }],
      ...(text === '' ? [] : [[{ content_block: { type: 'text', text: '' } }, { delta: { type: 'text_delta', text } }]]),
      ...calls.map(({ id, name, arguments: args }) => [
        { content_block: { type: 'tool_use', id, name, input: {} } },
        { delta: { type: 'input_json_delta', partial_json: args } },
      ]),
    ];
    return sse([
      { type: 'message_start', message: { id: 'msg_1', ...about } },
      ...blocks.flatMap((parts, index) => [
        ...parts.map((part) => ({
          type: 'content_block' in part ? 'content_block_start' : 'content_block_delta',
          index,
          ...part,
        })),
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 7 },
      },
      { type: 'message_stop' },
    ]);
  },
  refuse: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
};

/** Gemini's: the first call of each answer of the turn must have its signature. The sentinel that the SDK invents is refused here. */
const google: Wire = {
  base: '/v1beta',
  name: 'google',
  toolsOf: ({ tools }) => list(tools).flatMap((tool) => list(tool.functionDeclarations).map(({ name }) => String(name))),
  read({ contents }) {
    const said = list(contents);
    const isResult = (content: Part) => list(content.parts).some((part) => 'functionResponse' in part);
    const turnFrom = said.findLastIndex((content) => content.role === 'user' && !isResult(content));
    let [thoughts, rounds] = [0, 0];
    let fault: string | undefined;
    for (const [at, content] of said.entries()) {
      if (content.role !== 'model') continue;
      const calls = list(content.parts).filter((part) => 'functionCall' in part);
      const [first] = calls;
      const answers = list(said[at + 1]?.parts).filter((part) => 'functionResponse' in part);
      if (answers.length !== calls.length)
        fault ??= 'the number of function response parts must be that of the function call parts';
      if (first === undefined) continue;
      const isSigned = first.thoughtSignature === sign(JSON.stringify(membersOf(first.functionCall).args));
      if (isSigned) thoughts += 1;
      if (at < turnFrom) continue;
      rounds += 1;
      if (!isSigned) fault ??= `Function call is missing a thought_signature in functionCall parts (${at})`;
    }
    return { fault, thoughts, rounds };
  },
  write({ thought, calls, text }) {
    const parts: readonly object[] = [
      { text: thought, thought: true },
      ...(text === '' ? [] : [{ text }]),
      ...calls.map(({ name, arguments: args }, index) => ({
        functionCall: { name, args: JSON.parse(args) },
        ...(index === 0 ? { thoughtSignature: sign(args) } : {}),
      })),
    ];
    const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19 };
    return sse(
      parts.map((part, index) => ({
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [part] },
            ...(index === parts.length - 1 ? { finishReason: 'STOP' } : {}),
          },
        ],
        usageMetadata,
      })),
    );
  },
  refuse: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
};

/** DeepSeek's: an answer with calls must have its `reasoning_content`, and a turn without calls must have none. */
const deepSeek: Wire = {
  base: '/v1',
  name: 'openai',
  toolsOf: ({ tools }) => list(tools).map((tool) => String(membersOf(tool.function).name)),
  read({ messages }) {
    const said = list(messages);
    const turnFrom = said.findLastIndex(({ role }) => role === 'user');
    let [thoughts, rounds] = [0, 0];
    let fault: string | undefined;
    for (const [at, message] of said.entries()) {
      if (message.role !== 'assistant') continue;
      const calls = list(message.tool_calls).map((call) => String(membersOf(call.function).arguments));
      const turn = said.slice(said.slice(0, at).findLastIndex(({ role }) => role === 'user') + 1);
      const next = turn.findIndex(({ role }) => role === 'user');
      const hasCalls = (next < 0 ? turn : turn.slice(0, next)).some(({ role }) => role === 'tool');
      const thought = message.reasoning_content;
      if (thought !== undefined) thoughts += 1;
      if (thought !== undefined && !hasCalls) fault ??= `messages[${at}].reasoning_content is not allowed here`;
      if (calls.length === 0) continue;
      if (at > turnFrom) rounds += 1;
      if (thought !== thoughtFor(calls)) fault ??= 'The `reasoning_content` in the thinking mode must be passed back to the API.';
    }
    return { fault, thoughts, rounds };
  },
  write({ thought, calls, text }, { stream }) {
    const whole = calls.map(({ id, name, arguments: args }, index) => ({
      index,
      id,
      type: 'function',
      function: { name, arguments: args },
    }));
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 12, completion_tokens: 7 };
    if (stream !== true) {
      const message = {
        role: 'assistant',
        content: text,
        reasoning_content: thought,
        ...(calls.length > 0 ? { tool_calls: whole } : {}),
      };
      return JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: finish }],
        usage,
      });
    }
    const chunk = (delta: object, ending: string | null = null) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: ending }],
    });
    const events = [
      chunk({ role: 'assistant', content: null, reasoning_content: '' }),
      ...[...thought].map((letter) => chunk({ content: null, reasoning_content: letter })),
      ...(text === '' ? [] : [chunk({ content: text, reasoning_content: null })]),
      ...whole.map((call) => chunk({ tool_calls: [call] })),
      { ...chunk({}, finish), usage },
    ];
    return `${sse(events)}data: [DONE]\n\n`;
  },
  refuse: (message) => ({ error: { message, type: 'invalid_request_error', code: 'invalid_request_error' } }),
};

export const thinkingWires = { anthropic, google, deepSeek } as const;

/** What the model thinks before calls with these arguments. */
function thoughtFor(calls: readonly string[]): string {
  return calls.length === 0 ? 'It can be said.' : `It needs ${calls.join(' and ')}.`;
}

export async function startThinkingProvider(kind: keyof typeof thinkingWires): Promise<ThinkingProvider> {
  const wire: Wire = thinkingWires[kind];
  const model = kind === 'google' ? 'gemini-3-pro' : 'model-one';
  const bodies: Body[] = [];
  const refusals: string[] = [];
  let returned = 0;
  let count = 0;
  let gate: Promise<unknown> | undefined;
  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method === 'GET') {
      const models = [{ id: model, name: `models/${model}`, supportedGenerationMethods: ['generateContent'] }];
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: models, models }));
      return;
    }
    const body = JSON.parse(Buffer.concat(parts).toString()) as Body;
    bodies.push(body);
    await gate;
    const { fault, thoughts, rounds } = wire.read(body);
    if (fault !== undefined) {
      refusals.push(fault);
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(wire.refuse(fault)));
      return;
    }
    returned = thoughts;
    const [tool] = wire.toolsOf(body);
    const calls = (tool === undefined ? [] : callsOf(rounds)).map((item) => {
      count += 1;
      return { id: `call_${count}`, name: String(tool), arguments: JSON.stringify({ item: `${item} ${count}` }) };
    });
    const thought = thoughtFor(calls.map(({ arguments: args }) => args));
    const written = wire.write({ thought, calls, text: calls.length === 0 ? 'It is done.' : '' }, body);
    const type = written.startsWith('{') ? 'application/json' : 'text/event-stream';
    response.writeHead(200, { 'content-type': type }).end(written);
  };
  const server = createServer((request, response) => {
    answerTo(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${wire.base}`;
  const prefix = wire.name.toUpperCase();
  return {
    url,
    modelId: `${wire.name}/${model}`,
    env: { [`${prefix}_BASE_URL`]: url, [`${prefix}_API_KEY`]: 'key-of-the-vendor' },
    bodies,
    refusals,
    get returned() {
      return returned;
    },
    hold(next) {
      gate = next;
    },
    reset() {
      bodies.length = 0;
      refusals.length = 0;
      returned = 0;
      gate = undefined;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
