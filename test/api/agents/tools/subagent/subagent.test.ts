import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../../../support/egress/api-server.ts';
import { indexed } from '../../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../../support/make.ts';
import { eventually } from '../../../../support/processes/eventually.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { gate, messagesOf, toolsOf } from '../../../../support/runs/research.ts';
import { eventsOf, type WireEvent, walk } from '../../../../support/runs/response-walk.ts';
import { withService } from '../../../../support/service.ts';
import { everyApi } from '../../../../support/tools/every-api.ts';
import { graphqlTool } from '../../../../support/tools/graphql-tool.ts';
import type { UpstreamRequest, UpstreamScript } from '../../../../support/upstream.ts';

/** The tool `subagent`: a model asks other agents. */
const model = 'openai/test-model';
const bench = await withService('model');
const { make, upstream } = bench;
const path = '/api/v2/responses';
let api: ApiServer;
let ann: Person;
let travel: string;

beforeAll(async () => {
  api = await startApiServer();
  ann = await make.person();
  const agent = await make.agent({
    ...{ owner: ann, name: 'Travel desk', modelId: model, instructions: 'TRAVEL RULES: answer briefly.' },
  });
  travel = agent.id;
});
afterAll(() => api.close());
beforeEach(() => {
  api.reset();
  asks();
});

const systemOf = (request: UpstreamRequest) => messagesOf(request).find(({ role }) => role === 'system')?.content ?? '';
const isAsked = (request: UpstreamRequest) => systemOf(request).includes('TRAVEL RULES');
const askedRequests = () => upstream.requests.filter(isAsked);
const lastTold = () => messagesOf(upstream.requests.at(-1)).findLast(({ role }) => role === 'tool')?.content ?? '';
const question = (name: string, text = 'How do I get to Rome?') => ({
  ...{ id: 'call_1', name, arguments: JSON.stringify({ question: text }) },
});
const answered = (request: UpstreamRequest) => messagesOf(request).some(({ role }) => role === 'tool');

/** A model that asks the travel desk once; `answer` is what the desk says. */
function asks(answer: (request: UpstreamRequest) => UpstreamScript = () => ({ text: 'Take the night train.' })) {
  upstream.otherwise((request) => {
    if (isAsked(request)) return answer(request);
    const canAsk = toolsOf(request).includes('ask_Travel_desk');
    if (answered(request) || !canAsk) return { text: 'It is done.' };
    return { toolCalls: [question('ask_Travel_desk')] };
  });
}

const tool = () => ({ type: 'subagent', agents: [travel] });
const said = 'PRIVATE TALK: plan my holiday';
const ask = (members: object = {}, as = ann) => as.post(path, { model, input: said, tools: [tool()], ...members });
const log = async (id: string) => eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true`)));
const ended = (events: readonly WireEvent[]): readonly WireEvent[] =>
  events.flatMap(({ type, subagent }) => (type === 'response.subagent.completed' ? [subagent] : []));

describe.each(sampled(everyApi))('%s', (_name, askApi) => {
  it('asks the agent as itself, with the question alone', async () => {
    const { id: agentId } = await make.agent({ owner: ann, modelId: model });
    const { text } = await askApi(ann, { tool: tool(), input: said, model, agentId }, bench);
    expect(text).toBe('It is done.');
    const [asked, ...more] = askedRequests();
    expect(more).toEqual([]);
    expect(messagesOf(asked).at(-1)).toMatchObject({ role: 'user', content: 'How do I get to Rome?' });
    expect(JSON.stringify(asked?.body)).not.toContain('PRIVATE TALK');
    expect(lastTold()).toContain('<answer agent="Travel desk">\nTake the night train.\n</answer>');
  });
});

describe('the rights of the caller', () => {
  /** What each API says of an agent that the caller may not use. */
  async function refusals(who: Person, agents: readonly string[]) {
    const tools = [tool(), { type: 'subagent', agents }];
    const { id: agentId } = await make.agent({ owner: who });
    const chat = await make.chat({ owner: who, agentId });
    const replies = [
      await who.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', tools: [tools[1]] }),
      await who.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], tools: [tools[1]] }),
      await who.post(path, { model, input: 'Hi', tools: [tools[1]] }),
      await who.post(path, { model, input: 'Hi', tools: [tools[1]], stream: true, store: false }),
    ];
    const mutation = 'mutation ($input: CompletionInput!) { createCompletion(input: $input) { status } }';
    const input = { model, messages: [{ user: { text: 'Hi' } }], tools: [graphqlTool(tools[1] ?? {})] };
    const { errors } = await who.graphql(mutation, { input });
    return [
      ...replies.map(({ status, body }) => [status, body.error.param ?? body.error.details?.[0]?.param]),
      [404, errors?.[0]?.extensions.faults[0].path],
    ];
  }

  it.each(['of another organization', 'private, of the same one', 'missing', 'no id at all'])(
    'refuse an agent that is %s, on every API',
    async (which) => {
      const organization = await make.organization();
      const bob = await make.person({ organization });
      const colleague = await make.person({ organization });
      const own = (await make.agent({ owner: bob })).id;
      const other = {
        'of another organization': async () => travel,
        'private, of the same one': async () => (await make.agent({ owner: colleague, visibility: 'PRIVATE' })).id,
        missing: async () => `${travel.slice(0, -1)}${travel.endsWith('0') ? '1' : '0'}`,
        'no id at all': async () => 'Travel desk',
      }[which] as () => Promise<string>;
      const found = await refusals(bob, [own, await other()]);
      expect(found).toEqual([...Array(4).fill([404, 'tools[0].agents[1]']), [404, 'input.tools.0.subagent.agentIds.1']]);
      expect(upstream.requests).toEqual([]);
    },
  );

  it.each([
    ['no agents', {}, 'tools[0].agents'],
    ['an empty list', { agents: [] }, 'tools[0].agents'],
    ['a word', { agents: 'x' }, 'tools[0].agents'],
    ['too many', { agents: Array(21).fill('x') }, 'tools[0].agents'],
  ])('come after the form of the tool: %s', async (_what, members, param) => {
    const { status, body } = await ann.post(path, { model, input: 'Hi', tools: [{ type: 'subagent', ...members }] });
    expect([status, body.error.param]).toEqual([400, param]);
  });

  it('do not offer an agent of a standing tool that the user may not use', async () => {
    const bob = await make.person();
    const foreign = await make.agent({ owner: bob, name: 'Secret desk', modelId: model });
    const enabledTools = [{ type: 'subagent', agents: [travel, foreign.id] }];
    const lead = await make.agent({ owner: ann, name: 'Lead', modelId: model, enabledTools });
    const { body } = await ask({ model: lead.id, tools: [] });
    expect(body.status).toBe('completed');
    expect(toolsOf(upstream.requests[0])).toEqual(['ask_Travel_desk']);
    expect(askedRequests()).toHaveLength(1);
  });

  it('count when the agent is asked: access that was lost since is a tool error', async () => {
    const organization = await make.organization();
    const owner = await make.person({ organization });
    const bob = await make.person({ organization });
    const shared = await make.agent({
      ...{ owner, name: 'Travel desk', modelId: model, instructions: 'TRAVEL RULES', visibility: 'ORGANIZATION' },
    });
    const held = gate();
    asks();
    upstream.next({ toolCalls: [question('ask_Travel_desk')], gate: held.opened });
    const asking = ask({ tools: [{ type: 'subagent', agents: [shared.id] }] }, bob);
    await upstream.until(({ requests }) => requests.length === 1);
    await owner.patch(`/api/v1/ais/${shared.id}`, { visibility: 'PRIVATE' });
    held.open();
    expect((await asking).body.status).toBe('completed');
    expect(askedRequests()).toEqual([]);
    expect(lastTold()).toBe('Error: Travel desk is gone, or may not be asked any more');
  });
});

describe('an agent that is asked', () => {
  it('has its own knowledge, and its citations become those of the answer', async () => {
    const agent = await make.agent({
      ...{ owner: ann, name: 'Travel desk', modelId: model, instructions: 'TRAVEL RULES', generateCitations: true },
    });
    const data = { services: [{ name: 'Night train to Rome', priceEuro: 89 }] };
    await indexed(ann, (await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Fares', data })).id);
    const lead = await make.agent({ owner: ann, modelId: model, generateCitations: true });
    upstream.next({ toolCalls: [question('ask_Travel_desk', 'What does the night train to Rome cost?')] });
    upstream.next({ text: 'It costs 89 € [1].' }, { text: 'The train costs 89 € [1].' });
    const { body } = await ask({ model: lead.id, tools: [{ type: 'subagent', agents: [agent.id] }] });
    expect(JSON.stringify(messagesOf(askedRequests()[0]))).toContain('<passage n=');
    expect(lastTold()).toContain('It costs 89 € [1].\nSources: [1] ');
    const [part] = body.output.at(-1).content;
    expect(part.text).toBe('The train costs 89 € [1].');
    expect(part.annotations).toHaveLength(1);
  });

  it('calls its API tools, but none that waits for approval, and gets no secret of the caller', async () => {
    const agent = await make.agent({ owner: ann, name: 'Travel desk', modelId: model, instructions: 'TRAVEL RULES' });
    const parameters = { type: 'object', properties: { token: { type: 'string' } } };
    const data = { description: 'Books', parameters, method: 'POST', url: `${api.url}/book` };
    for (const [name, more] of [
      ['book', {}],
      ['pay', { requireApproval: true }],
    ] as const) {
      const made = await ann.post(`/api/v1/ais/${agent.id}/tools`, { name, type: 'API_FUNCTION', data: { ...data, ...more } });
      expect(made.status).toBe(200);
    }
    asks((request) =>
      answered(request) ? { text: 'Booked.' } : { toolCalls: [{ id: 'call_7', name: 'book', arguments: '{"token":"t"}' }] },
    );
    const { body } = await ask({
      ...{ tools: [{ type: 'subagent', agents: [agent.id] }], user_secrets: { token: 'tok-CANARY-1' } },
    });
    expect(body.status).toBe('completed');
    expect(toolsOf(askedRequests()[0])).toEqual(['book']);
    expect(api.requests).toHaveLength(1);
    expect(JSON.stringify([api.requests, askedRequests()])).not.toContain('CANARY');
    expect(lastTold()).toContain('Booked.');
  });

  it('that asks itself in a circle ends by depth, and every level is shown', async () => {
    const agent = await make.agent({ owner: ann, name: 'Circle', modelId: model, instructions: 'CIRCLE' });
    await ann.patch(`/api/v1/ais/${agent.id}`, { enabledTools: [{ type: 'subagent', agents: [agent.id] }] });
    upstream.otherwise((request) => {
      if (answered(request) || !toolsOf(request).includes('ask_Circle')) return { text: 'The end.' };
      return { toolCalls: [question('ask_Circle')] };
    });
    const frames = await ann.stream(path, { model: agent.id, input: 'Go', stream: true });
    const events = eventsOf(frames);
    expect(walk(events).status).toBe('completed');
    const started = events.flatMap(({ type, subagent }) => (type === 'response.subagent.started' ? [subagent] : []));
    expect(started.map(({ depth }) => depth)).toEqual([1, 2, 3]);
    expect(started.map(({ parent_id: parent }) => parent)).toEqual([null, started[0].id, started[1].id]);
    expect(ended(events).map(({ depth, status }) => [depth, status])).toEqual([3, 2, 1].map((depth) => [depth, 'completed']));
    const { total_tokens: total } = events.at(-1).response.usage;
    // Four levels: three make two calls each, the deepest makes one.
    expect(upstream.requests).toHaveLength(7);
    expect(ended(events)[2].usage.total_tokens).toBeLessThan(total);
    expect(toolsOf(upstream.requests[3])).toEqual([]);
    expect(await log(events.at(-1).response.id)).toEqual(events);
  });

  it('costs what it costs, once', async () => {
    const bob = await make.person();
    const desk = await make.agent({ owner: bob, name: 'Travel desk', modelId: model, instructions: 'TRAVEL RULES' });
    const { body } = await ask({ tools: [{ type: 'subagent', agents: [desk.id] }] }, bob);
    expect(body.usage.input_tokens).toBe(30);
    await eventually(async () => {
      const usage = await bob.get('/api/v1/usage');
      expect(usage.body.orgUsage.apiTokensUsed).toBe(body.usage.total_tokens);
    });
  });
});

describe('while an agent is asked', () => {
  async function begun() {
    const held = gate();
    asks(() => ({ text: 'Take the night train.', gate: held.opened }));
    const { body } = await ask({ background: true });
    await upstream.until(() => askedRequests().length === 1);
    for await (const { event } of ann.sse('GET', `${path}/${body.id}?stream=true`)) {
      if (event === 'response.subagent.started') break;
    }
    return { id: body.id as string, open: held.open };
  }

  it('cancel stops it at once, and everything is closed', async () => {
    const { id, open } = await begun();
    const { body } = await ann.post(`${path}/${id}/cancel`);
    await upstream.until(({ aborted }) => aborted === 1);
    open();
    expect(body.status).toBe('cancelled');
    const events = await log(id);
    expect(walk(events)).toEqual(body);
    expect(ended(events)).toMatchObject([{ agent_id: travel, status: 'cancelled' }]);
  });

  it('pause stops it at once, and resume goes on', async () => {
    const { id, open } = await begun();
    const { body: paused } = await ann.post(`${path}/${id}/pause`);
    await upstream.until(({ aborted }) => aborted === 1);
    open();
    expect(paused).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'paused' } });
    expect(paused.output.at(-1).output).toContain('(Not answered: the answer was paused.');
    const { body: end } = await ann.post(`${path}/${id}/resume`);
    expect(end.status).toBe('completed');
    walk(await log(id));
  });
});

it('offers no agent in chat_mode plan: it might act', async () => {
  const { body } = await ask({ chat_mode: 'plan' });
  expect(body.status).toBe('completed');
  expect(toolsOf(upstream.requests[0])).toEqual([]);
});
