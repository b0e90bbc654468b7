import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apis, type Question } from '../support/apis/questions.ts';
import { type ApiServer, startApiServer } from '../support/egress/api-server.ts';
import { indexed } from '../support/knowledge/knowledge.ts';
import type { Person } from '../support/make.ts';
import { inTurn } from '../support/property/sample.ts';
import { type Answer, unsigned, withoutDate } from '../support/runs/answers.ts';
import { withService } from '../support/service.ts';
import type { UpstreamScript } from '../support/upstream.ts';

/** One scripted model run sends the same requests to the model, and gives the same answer, on every API. */
const { make, upstream } = await withService('model');
let api: ApiServer;
let ann: Person;
const agents = { plain: '', instructed: '', knowing: '', acting: '', remembering: '' };
const model = 'openai/test-model';

beforeAll(async () => {
  api = await startApiServer();
  ann = await make.person();
  const agent = async (instructions: string, members = {}) =>
    (await make.agent({ owner: ann, modelId: model, instructions, generateCitations: true, ...members })).id;
  agents.plain = await agent('');
  agents.instructed = await agent('Answer briefly.', { options: { temperature: [0.3], maxTokens: [50] } });
  agents.knowing = await agent('Answer from the price list.');
  agents.acting = await agent('Look it up.');
  agents.remembering = await agent('Remember.', { enabledTools: [{ type: 'memory' }] });
  for (const memory of [{ text: 'Likes black tea', key: 'drink' }, { text: 'Lives in Oslo' }])
    expect((await ann.post('/api/v1/memories', memory)).status).toBe(200);
  const data = { services: [{ name: 'Puncture repair', priceEuro: 15 }] };
  const source = await make.apiDataSource({ owner: ann, agentId: agents.knowing, name: 'Prices', data });
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const weather = { description: 'Tells the weather', parameters, method: 'GET', url: `${api.url}/{city}` };
  const tool = { name: 'get_weather', type: 'API_FUNCTION', data: weather };
  expect((await ann.post(`/api/v1/ais/${agents.acting}/tools`, tool)).status).toBe(200);
  await indexed(ann, source.id);
});
afterAll(() => api.close());

interface Scenario {
  readonly name: string;
  readonly script: readonly UpstreamScript[];
  readonly question?: Partial<Question>;
  readonly agent?: keyof typeof agents;
  /** Members of the last answer. */
  readonly expected: Partial<Answer>;
  /** What the last request to the model says. */
  readonly lastAsked?: readonly string[];
  /** APIs whose contract has no such member. */
  readonly without?: RegExp;
}

const usage = { prompt_tokens: 11, completion_tokens: 4 };
const add = {
  name: 'add',
  description: 'Adds',
  parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
};
const calls = [
  { id: 'call_1', name: 'add', arguments: '{"a":1}' },
  { id: 'call_2', name: 'add', arguments: '{"a":2}' },
];
const picture = 'data:image/png;base64,iVBORw0KGgo=';
const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'], additionalProperties: false };
const said = { text: 'It is 3.', finish: 'stop', calls: [], citations: [], error: null } as const;

const scenarios: readonly Scenario[] = [
  { name: 'a plain model', script: [{ text: ['It ', 'is ', '3.'] }], expected: said },
  { name: 'an agent with instructions and options', agent: 'instructed', script: [{ text: 'It is 3.' }], expected: said },
  {
    name: 'an agent with knowledge, that cites',
    agent: 'knowing',
    question: { text: 'What does a puncture repair cost?' },
    script: [{ text: ['It costs 15 € [', '1', '].'] }],
    expected: { text: 'It costs 15 € [1].', citations: [expect.objectContaining({ start: 14, end: 17 })] },
  },
  {
    name: 'calls of functions and their outputs',
    question: { functions: [add], output: '3' },
    script: [{ text: 'One moment', toolCalls: calls }, { text: 'It is 3.' }],
    expected: said,
  },
  {
    name: 'calls without a word',
    question: { functions: [add] },
    script: [{ toolCalls: calls }],
    expected: { text: '', calls, finish: 'tool_calls' },
  },
  {
    name: 'a tool of the agent that runs here',
    agent: 'acting',
    script: [{ toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' }] }, { text: 'It is 3.' }],
    expected: said,
  },
  {
    name: 'an agent with memories, that replaces one and recalls them',
    agent: 'remembering',
    script: [
      { toolCalls: [{ id: 'call_1', name: 'remember', arguments: '{"text":"Likes green tea","key":"drink"}' }] },
      { toolCalls: [{ id: 'call_2', name: 'recall', arguments: '{"query":"tea"}' }] },
      { text: 'It is 3.' },
    ],
    expected: said,
    lastAsked: ['Remembered as memo_', 'in place of', 'Likes green tea'],
  },
  { name: 'an image', question: { image: picture }, script: [{ text: 'It is 3.' }], expected: said },
  { name: 'thinking, which is no part of the text', script: [{ reasoning: 'Let me see', text: 'It is 3.' }], expected: said },
  {
    name: 'a refusal, which is text in chats and has a member of its own elsewhere',
    script: [{ refusal: 'I will not.' }],
    expected: { text: 'I will not.', finish: 'stop' },
  },
  {
    name: 'an answer in a form',
    question: { format: { name: 'sum', schema, strict: true } },
    script: [{ text: '{"sum":3}' }],
    expected: { text: '{"sum":3}', finish: 'stop' },
    without: /^chat|^message|^AG-UI|^A2A/,
  },
  {
    name: 'an answer that is too long',
    script: [{ text: 'It is', finish: 'length' }],
    expected: { text: 'It is', finish: 'length' },
  },
  {
    name: 'a filtered answer',
    script: [{ text: 'It is', finish: 'content_filter' }],
    expected: { text: 'It is', finish: 'content_filter' },
  },
  { name: 'an upstream that fails', script: [{ status: 500 }], expected: { error: 'upstream_error' } },
  { name: 'an upstream that is busy', script: [{ status: 429 }], expected: { error: 'rate_limit_exceeded' } },
  {
    name: 'a prompt that is too long',
    script: [{ status: 400, body: '{"error":{"message":"too long","code":"context_length_exceeded"}}' }],
    expected: { error: 'context_length_exceeded' },
  },
];

describe.each(scenarios.map((scenario, turn) => [scenario.name, scenario, turn] as const))('%s', (_name, scenario, turn) => {
  let reference: { readonly answers: readonly Answer[]; readonly asked: readonly object[] } | undefined;
  const { script, question = {}, agent, expected, lastAsked = [], without } = scenario;
  const [first = '', ...others] = Object.keys(apis).filter((name) => without?.test(name) !== true);

  it.each([first, ...inTurn(others, turn)])('is the same on %s', async (name) => {
    upstream.next(...script.map((answer) => ({ usage, ...answer })));
    const whole = { model: agent === undefined ? model : agents[agent], agentOfModel: agents.plain, text: 'What is 1 + 2?' };
    const answers = (await apis[name]?.(ann, { ...whole, ...question }))?.map(withoutSignatures);
    const asked = upstream.requests.map(({ body }) => bare(body));
    const isCapped = name.startsWith('message');
    expect(answers?.at(-1)).toMatchObject(expected);
    if (expected.error === undefined) expect(answers?.at(-1)?.usage).toEqual([11 * script.length, 4 * script.length]);
    for (const text of lastAsked) expect(JSON.stringify(asked.at(-1))).toContain(text);
    reference ??= { answers: answers ?? [], asked };
    // Every request of the Messages format has a cap.
    expect({ answers, asked: isCapped ? asked.map(uncapped) : asked }).toEqual(
      isCapped ? { ...reference, asked: reference.asked.map(uncapped) } : reference,
    );
  });
});

/** Links of citations are signed anew each time. */
function withoutSignatures(answer: Answer): Answer {
  return { ...answer, citations: answer.citations.map((cited) => ({ ...cited, url: unsigned(cited.url) })) };
}

function uncapped({ max_tokens: _cap, ...asked }: { readonly max_tokens?: unknown }): object {
  return asked;
}

/**
 * Without the members about streaming: an API that answers in one piece asks the model for one piece.
 * Without the ids of memories: each run that remembers makes one.
 */
function bare(body: Readonly<Record<string, unknown>> | undefined): object {
  const { stream: _stream, stream_options: _options, messages, ...same } = body ?? {};
  const dated = withoutDate(messages as readonly { role: string; content: unknown }[]);
  return { ...same, messages: JSON.parse(JSON.stringify(dated).replaceAll(/memo_[a-z0-9]{26}/g, 'memo_')) };
}
