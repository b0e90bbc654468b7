import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { html, startWeb } from '../../../../fixtures/upstreams/web.ts';
import { graphqlCompletion } from '../../../../support/apis/graphql-inputs.ts';
import { indexed } from '../../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../../support/make.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { isSubagent, messagesOf, questionOf, toolsOf } from '../../../../support/runs/research.ts';
import { withService } from '../../../../support/service.ts';
import { everyApi } from '../../../../support/tools/every-api.ts';
import type { UpstreamRequest, UpstreamScript } from '../../../../support/upstream.ts';

/** `deep_research` of one question: planned, looked up in the knowledge and on the web, cited by the answer. */
const web = await startWeb({
  '/bikes': {
    title: 'Bikes of the town',
    snippet: 'All bikes here are blue.',
    reply: html('Bikes of the town', '<main><p>All bikes here are blue.</p></main>'),
  },
});
afterAll(() => web.close());
const bench = await withService('model', { env: { SEARCH_URL: web.url } });
const { make, upstream } = bench;
const questions = ['What colour are the bikes?', 'What does a puncture repair cost?'];
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person();
  const enabledTools = [{ type: 'web_search' }];
  const shown = { generateCitations: true, intermediateStepsVisible: true };
  const agent = { owner: ann, modelId: 'openai/test-model', ...shown, enabledTools };
  ({ id: agentId } = await make.agent(agent));
  const data = { services: [{ name: 'Puncture repair', priceEuro: 15 }] };
  await indexed(ann, (await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data })).id);
});

const isPlan = (request: UpstreamRequest) => messagesOf(request)[0]?.content?.startsWith('You plan a research') === true;
const lastTold = (request: UpstreamRequest) => messagesOf(request).findLast(({ role }) => role === 'tool')?.content ?? '';
/** The number of a source that a report names. */
const numberOf = (report: string, title: string) => new RegExp(`\\[(\\d+)\\] [^;\n]*${title}`).exec(report)?.[1];

function research(request: UpstreamRequest): UpstreamScript {
  if (isPlan(request)) return { text: JSON.stringify({ questions }) };
  const told = lastTold(request);
  if (!isSubagent(request)) {
    if (told === '')
      return { toolCalls: [{ id: 'call_1', name: 'deep_research', arguments: '{"question":"Colour and cost?"}' }] };
    return { text: `Blue [${numberOf(told, 'Bikes')}], for 15 € [${numberOf(told, 'Prices')}].` };
  }
  if (questionOf(request) === questions[1]) return { text: 'It costs 15 € [1].' };
  if (told === '') return { toolCalls: [{ id: 'call_2', name: 'web_search', arguments: '{"query":"bikes"}' }] };
  return { text: `They are blue [${/ n="(\d+)"/.exec(told)?.[1]}].` };
}

describe.each(sampled(everyApi))('%s', (_name, askApi) => {
  it('plans, researches knowledge and web, and cites both', async () => {
    upstream.otherwise(research);
    const question = { tool: { type: 'deep_research' }, input: 'Hello', model: agentId, agentId };
    const { text, cited } = await askApi(ann, question, bench);
    expect(text).toBe('Blue [1], for 15 € [2].');
    expect(cited).toEqual([`${web.url}/bikes`, expect.stringMatching(/./)]);
    expect(upstream.requests.filter(isPlan)).toHaveLength(1);
    const asked = upstream.requests.filter(isSubagent);
    expect(new Set(asked.map(questionOf))).toEqual(new Set(questions));
    for (const one of asked) expect(toolsOf(one)).toEqual(['web_search', 'open_page']);
  });
});

describe.each(sampled(everyApi))('deep_research alone, %s', (_name, askApi) => {
  it('searches the web and cites it', async () => {
    const agent = await make.agent({ owner: ann, modelId: 'openai/test-model', generateCitations: true });
    const only = questions.slice(0, 1);
    upstream.otherwise((request) => (isPlan(request) ? { text: JSON.stringify({ questions: only }) } : research(request)));
    const question = { tool: { type: 'deep_research' }, input: 'Hello', model: agent.id, agentId: agent.id };
    const { cited } = await askApi(ann, question, bench);
    expect(cited).toEqual([`${web.url}/bikes`]);
    expect(toolsOf(upstream.requests[0])).toEqual(['deep_research']);
    for (const one of upstream.requests.filter(isSubagent)) expect(toolsOf(one)).toEqual(['web_search', 'open_page']);
  });
});

it('of a bare model cites the web on the responses API', async () => {
  upstream.otherwise((request) =>
    isPlan(request) ? { text: JSON.stringify({ questions: questions.slice(0, 1) }) } : research(request),
  );
  const { body } = await ann.post('/api/v2/responses', {
    model: 'openai/test-model',
    input: 'Hi',
    tools: [{ type: 'deep_research' }],
  });
  expect(body.output.at(-1).content[0].annotations).toMatchObject([{ type: 'url_citation', url: `${web.url}/bikes` }]);
});

describe('a budget out of its bounds', () => {
  const budgets = [
    [{ subagents: 0 }, 'subagents', 'from 1 to 5'],
    [{ subagents: 6 }, 'subagents', 'from 1 to 5'],
    [{ tokens: 999 }, 'tokens', 'from 1000 to 200000'],
    [{ tokens: 200_001 }, 'tokens', 'from 1000 to 200000'],
  ] as const;
  it.each(budgets)('%j is refused with them, on every API', async (budget, member, bounds) => {
    const tools = [{ type: 'deep_research', budget }];
    const messages = [{ role: 'user', content: 'Hi' }];
    const chat = await make.chat({ owner: ann, agentId });
    const replies = [
      await ann.post('/api/v2/responses', { model: agentId, input: 'Hi', tools }),
      await ann.post('/api/v1/chat/completions', { model: agentId, messages, tools }),
      await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', tools }),
      await ann.patch(`/api/v1/ais/${agentId}`, { enabledTools: tools }),
    ];
    for (const { status, body } of replies) {
      expect([status, body.error.param]).toEqual([400, expect.stringContaining(`budget.${member}`)]);
      expect(body.error.message).toContain(`budget.${member} must be an integer ${bounds}`);
    }
    const { errors } = await ann.graphql('mutation ($input: CompletionInput!) { createCompletion(input: $input) { id } }', {
      input: graphqlCompletion({ model: agentId, messages, tools }),
    });
    expect(errors?.[0].message).toContain(bounds);
    expect(upstream.requests).toEqual([]);
  });
});

it('that is called again without a budget ends with what it has, and no error', async () => {
  upstream.otherwise((request) => (isSubagent(request) ? { text: 'Found.' } : { text: 'Done.' }));
  const tools = [{ type: 'deep_research', budget: { subagents: 1 } }];
  const ask = (id: string) => ({
    toolCalls: [{ id, name: 'deep_research', arguments: JSON.stringify({ question: id, questions: [id] }) }],
  });
  upstream.next(ask('call_1'));
  const isSecond = (request: UpstreamRequest) => !isSubagent(request) && lastTold(request) === 'Found.';
  upstream.otherwise((request) => {
    if (isSubagent(request)) return { text: 'Found.' };
    return isSecond(request) ? ask('call_2') : { text: 'Done.' };
  });
  const { body } = await ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hi', tools });
  const outputs = body.output.filter(({ type }: { type: string }) => type === 'server_tool_call_output');
  expect([body.status, ...outputs.map(({ status }: { status: string }) => status)]).toEqual([
    'completed',
    'completed',
    'completed',
  ]);
  expect(outputs[1].output).toContain('(Not researched: the budget of the research allows no further subagent');
});

it('that runs out of tokens reports what was found', async () => {
  const usage = { prompt_tokens: 900, completion_tokens: 100 };
  upstream.otherwise((request) => {
    if (isPlan(request)) return { text: JSON.stringify({ questions }), usage };
    if (isSubagent(request)) return { text: 'Found.', usage };
    return lastTold(request) === '' ? research(request) : { text: 'Done.' };
  });
  for (const tokens of [1_000, 4_000]) {
    const tools = [{ type: 'deep_research', budget: { tokens } }];
    const { body } = await ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hi', tools });
    const output = body.output.find(({ type }: { type: string }) => type === 'server_tool_call_output');
    expect([body.status, output.status, output.error]).toEqual(['completed', 'completed', null]);
    expect(output.output).toMatch(tokens === 1_000 ? /Not researched: the tokens/ : /Found/);
  }
});

it('keeps to its budget and says what stayed open', async () => {
  upstream.otherwise((request) => (isSubagent(request) ? { text: 'Found.' } : research(request)));
  const tools = [{ type: 'deep_research', budget: { subagents: 1, tokens: 5_000 } }];
  const args = JSON.stringify({ question: 'Both', questions });
  upstream.next({ toolCalls: [{ id: 'call_1', name: 'deep_research', arguments: args }] });
  const { body } = await ann.post('/api/v2/responses', { model: agentId, input: 'Hello', tools, chat_mode: 'plan' });
  expect(body.status).toBe('completed');
  expect(upstream.requests.filter(isSubagent)).toHaveLength(1);
  expect(body.output.find(({ type }: { type: string }) => type === 'server_tool_call_output').output).toContain(
    `## ${questions[1]}\n(Not researched: the budget of the research allows no further subagent.`,
  );
});
