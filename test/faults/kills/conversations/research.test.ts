import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { startWeb } from '../../../fixtures/upstreams/web.ts';
import type { SseFrame } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';
import { expectAccepted } from '../../../support/runs/accepted-request.ts';
import { messagesOf, questionOf, toolsOf } from '../../../support/runs/research.ts';
import { eventsOf, walk } from '../../../support/runs/response-walk.ts';
import { endedResponse } from '../../../support/runs/responses.ts';
import { heldAnswer, never, type UpstreamRequest, type UpstreamScript } from '../../../support/upstream.ts';

/** What happens to a research when the process is killed: its questions and findings stay, its researchers go on, and its budget counts on. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
const web = await startWeb({ '/red': { title: 'Red bikes', snippet: 'Some bikes are red.' } });
const env = { SEARCH_URL: web.url };
let world: Killable;
let isKilled: boolean;

beforeEach(async () => {
  world = await prepareKillable();
  isKilled = false;
});
afterEach(() => world.close());
afterAll(() => web.close());

const usage = (input: number, output: number) => ({ usage: { prompt_tokens: input, completion_tokens: output } });
const results = (request: UpstreamRequest) => messagesOf(request).filter(({ role }) => role === 'tool');
const isPlanning = (request: UpstreamRequest) => String(messagesOf(request)[0]?.content).startsWith('You plan a research');
const asked = (question: string) => world.upstream.requests.filter((request) => questionOf(request) === question);
/** What the model of the run has read of its calls. */
const read = () =>
  world.upstream.requests
    .filter((request) => questionOf(request) === undefined && !isPlanning(request))
    .flatMap(results)
    .map(({ content }) => String(content));

interface Script {
  readonly questions: readonly string[];
  readonly researcher: (question: string, request: UpstreamRequest) => UpstreamScript;
  /** How often the model calls the tool. */
  readonly calls?: number;
  readonly plan?: () => UpstreamScript;
}
/** The model researches, a plan divides the question, each part has a researcher. */
function script({ questions, researcher, calls = 1, plan = () => ({}) }: Script) {
  world.upstream.otherwise((request) => {
    if (isPlanning(request)) return { text: JSON.stringify({ questions }), ...usage(100, 10), ...plan() };
    const question = questionOf(request);
    if (question !== undefined) return researcher(question, request);
    const made = results(request).length;
    if (made >= calls || !toolsOf(request).includes('deep_research')) return { text: 'It is done [1].', ...usage(10, 1) };
    const args = JSON.stringify({ question: `Which colours? (${made})` });
    return { toolCalls: [{ id: `call_${made}`, name: 'deep_research', arguments: args }], ...usage(10, 1) };
  });
}
/** Begins a research, and kills its process once a reader has seen so many of its events: those are written. */
async function killed(tool: object, isThere: (seen: readonly SseFrame[]) => boolean, others: readonly object[] = []) {
  const { parley, ann } = await world.launch(env);
  const tools = [{ type: 'deep_research', ...tool }, ...others];
  const { body } = await ann.post(path, { model, input: 'Ask', tools, background: true });
  const seen: SseFrame[] = [];
  for await (const frame of ann.sse('GET', `${path}/${body.id}?stream=true`)) {
    seen.push(frame);
    if (isThere(seen)) break;
  }
  await parley.kill('SIGKILL');
  isKilled = true;
  return body.id as string;
}
const count = (seen: readonly SseFrame[], type: string) =>
  seen.filter(({ event }) => event === `response.subagent.${type}`).length;
async function ended(id: string) {
  const ann = await world.recover(env);
  const response = await endedResponse(ann, id);
  const events = eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true`)));
  expect(walk(events)).toEqual(response);
  for (const request of world.upstream.requests) expectAccepted(request);
  const completed = events.filter(({ type }) => type === 'response.subagent.completed').map(({ subagent }) => subagent);
  return { response, completed, ann };
}

it('findings stay, the researcher at work goes on, the other questions are researched, and all usage counts', async () => {
  script({
    questions: ['What is red?', 'What is green?', 'What is blue?'],
    researcher: (question) =>
      question === 'What is red?' || isKilled
        ? { text: `Found: ${question}`, ...usage(1_000, 3) }
        : { text: 'Late', gate: never },
  });
  const id = await killed({}, (seen) => count(seen, 'completed') === 1 && count(seen, 'started') === 3);
  const { response, completed, ann } = await ended(id);
  expect(response.status).toBe('completed');
  expect(world.upstream.requests.filter(isPlanning)).toHaveLength(1);
  expect(asked('What is red?')).toHaveLength(1);
  expect(completed.map(({ task, status }) => [task, status])).toEqual([
    ['What is red?', 'completed'],
    expect.arrayContaining(['completed']),
    expect.arrayContaining(['completed']),
  ]);
  for (const colour of ['red', 'green', 'blue']) expect(read().at(-1)).toContain(`Found: What is ${colour}?`);
  // Two calls of the run, the plan, and three researchers whose answers came.
  expect([response.usage.input_tokens, response.usage.output_tokens]).toEqual([2 * 10 + 100 + 3 * 1_000, 2 + 10 + 3 * 3]);
  await eventually(async () => {
    expect((await ann.get('/api/v1/usage')).body.orgUsage.apiTokensUsed).toBe(response.usage.total_tokens);
  });
});

it('a researcher that has searched does not search again, and the answer cites what it found before the kill', async () => {
  const hasSearched = (request: UpstreamRequest) => results(request).length > 0;
  script({
    questions: ['What is red?'],
    researcher: (_question, request) => {
      if (!hasSearched(request)) {
        return { toolCalls: [{ id: 'call_1', name: 'web_search', arguments: '{"query":"red bikes"}' }], ...usage(20, 2) };
      }
      return isKilled ? { text: 'Some are red [1].', ...usage(30, 3) } : heldAnswer({ text: ['Late', 'r'] }).script;
    },
  });
  const isWriting = ({ event, data }: SseFrame) => event === 'response.subagent.progress' && data.includes('Writing');
  const id = await killed({}, (seen) => seen.some(isWriting), [{ type: 'web_search' }]);
  const { response, completed } = await ended(id);
  expect(completed).toMatchObject([{ task: 'What is red?', status: 'completed', summary: 'Some are red.' }]);
  expect(asked('What is red?').filter((request) => !hasSearched(request))).toHaveLength(1);
  expect(response.output.at(-1).content[0].annotations).toMatchObject([{ type: 'url_citation', url: `${web.url}/red` }]);
  expect(response.usage.input_tokens).toBe(2 * 10 + 100 + 20 + 30);
});

it('a kill while the research is planned: it is planned again', async () => {
  script({
    questions: ['What is red?', 'What is green?'],
    plan: () => (isKilled ? {} : { gate: never }),
    researcher: (question) => ({ text: `Found: ${question}`, ...usage(5, 1) }),
  });
  const { parley, ann } = await world.launch(env);
  const { body } = await ann.post(path, { model, input: 'Ask', tools: [{ type: 'deep_research' }], background: true });
  await world.upstream.until(({ requests }) => requests.some(isPlanning));
  await eventually(async () => expect((await ann.get(`${path}/${body.id}`)).body.output).toHaveLength(1));
  await parley.kill('SIGKILL');
  isKilled = true;
  const { response, completed } = await ended(body.id);
  expect(response.status).toBe('completed');
  expect(completed.map(({ status }) => status)).toEqual(['completed', 'completed']);
});

it('tokens that were used before the kill count: what they do not cover stays open, also in the next call', async () => {
  script({
    questions: ['What is red?', 'What is green?'],
    calls: 2,
    researcher: (question) =>
      question === 'What is red?' ? { text: 'Red it is', ...usage(3_000, 900) } : { text: 'Late', gate: never },
  });
  const id = await killed({ budget: { tokens: 4_010 } }, (seen) => count(seen, 'completed') === 1);
  const { response } = await ended(id);
  expect(response.status).toBe('completed');
  expect(read()[0]).toContain('Red it is');
  expect(read()[0]).toMatch(/What is green\?\n\(Not researched: the tokens of the research are used up/);
  expect(read().at(-1)).toMatch(/^## [^\n]*\n\(Not researched: the tokens of the research are used up/);
});

it('subagents and calls of before the kill count', async () => {
  script({
    questions: ['What is red?', 'What is green?'],
    calls: 2,
    researcher: (question) => (isKilled ? { text: `Found: ${question}` } : { text: 'Late', gate: never }),
  });
  const id = await killed({ budget: { subagents: 2 } }, (seen) => count(seen, 'started') === 2);
  const { response, completed } = await ended(id);
  expect(response.status).toBe('completed');
  expect(completed.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(read().at(-1)).toContain('(Not researched: the budget of the research allows no further subagent');
});
