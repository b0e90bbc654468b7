import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { html, startWeb } from '../../../fixtures/upstreams/web.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { isSubagent, messagesOf, questionOf, toolsOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';
import { everyApi } from '../../../support/tools/every-api.ts';
import type { UpstreamRequest, UpstreamScript } from '../../../support/upstream.ts';

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
  const agent = { owner: ann, modelId: 'openai/test-model', generateCitations: true, enabledTools };
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

describe.each(everyApi)('%s', (_name, askApi) => {
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
