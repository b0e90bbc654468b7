import { beforeEach, describe, expect, it } from 'vitest';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { gate, isSubagent, messagesOf, questionOf, scriptResearch, toolsOf } from '../../../support/runs/research.ts';
import { eventsOf, type WireEvent, walk } from '../../../support/runs/response-walk.ts';
import { withService } from '../../../support/service.ts';

/** Subagents as every API shows them, and what reaches them while they work. */
const { service, make, upstream } = await withService('model');
const path = '/api/v2/responses';
const model = 'openai/test-model';
const tools = [{ type: 'deep_research' }];
const request = { model, input: 'Find it out', tools };
const questions = ['What is red?', 'What is green?'];

const ann = await make.person();

beforeEach(() => {
  scriptResearch(upstream, questions);
});

const get = async (id: string): Promise<WireEvent> => (await ann.get(`${path}/${id}`)).body;
const log = async (id: string, after = -1, headers = {}) =>
  eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true&starting_after=${after}`, undefined, headers)));
const typesOf = (response: WireEvent) => response.output.map((item: WireEvent) => item.type);
const subagentEvents = (events: readonly WireEvent[]) => events.filter(({ type }) => type.startsWith('response.subagent.'));
const endedOf = (events: readonly WireEvent[]): WireEvent[] =>
  events.flatMap(({ type, subagent }) => (type === 'response.subagent.completed' ? [subagent] : []));
const outputOf = (response: WireEvent): WireEvent =>
  response.output.find((item: WireEvent) => item.type === 'server_tool_call_output');
/** The calls in a model request that have no output. */
const openCalls = (messages: readonly WireEvent[]) => {
  const made = messages.flatMap((message) => (message.tool_calls ?? []).map((call: WireEvent) => call.id));
  const answered = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
  return made.filter((id) => !answered.includes(id));
};
const tokens = (usage: WireEvent): number => usage?.total_tokens ?? 0;

describe('a response with deep_research', () => {
  it.each([true, false])('shows each subagent within the call (store %s)', async (store) => {
    const events = eventsOf(await ann.stream(path, { ...request, store, stream: true }));
    const response = walk(events);
    expect(typesOf(response)).toEqual(['server_tool_call', 'server_tool_call_output', 'message']);
    expect(events.find(({ type }) => type === 'response.output_item.added')).toMatchObject({
      item: { type: 'server_tool_call', name: 'deep_research' },
      status_hints: ['Researching'],
    });
    expect(endedOf(events).sort((one, other) => (one.task < other.task ? 1 : -1))).toMatchObject(
      questions.map((task) => ({ task, agent_id: null, status: 'completed', summary: `About: ${task}` })),
    );
    expect(outputOf(response).output).toBe(questions.map((task) => `## ${task}\nAbout: ${task}`).join('\n\n'));
    expect(upstream.requests.filter(isSubagent)).toHaveLength(2);
    if (!store) return;
    expect(await log(response.id)).toEqual(events);
    expect(await get(response.id)).toEqual(response);
  });

  it('counts the tokens of its subagents, in its usage and once in the ledger', async () => {
    const bob = await make.person();
    const events = eventsOf(await bob.stream(path, { ...request, stream: true }));
    const { usage } = walk(events);
    const own = endedOf(events).map((subagent) => tokens(subagent.usage));
    expect(own).toEqual([11, 11]);
    // Two model calls of the run, with ten tokens in and one out each, in addition to those of the subagents.
    expect(usage).toMatchObject({ total_tokens: tokens(usage), input_tokens: 40 });
    await eventually(async () => {
      const { body } = await bob.get('/api/v1/usage');
      expect(body.orgUsage.apiTokensUsed).toBe(tokens(usage));
    });
  });

  it('starts no subagent without tokens left in the limit of the organization', async () => {
    const organization = await make.organization();
    const bob = await make.person({ organization });
    await service.client().patch(`/api/v1/admin/organizations/${organization.id}`, { apiUsageTokenLimit: 10_000 });
    const asks = { id: 'call_1', name: 'deep_research', arguments: '{"task":"Find it out"}' };
    upstream.next({ toolCalls: [asks], usage: { prompt_tokens: 9_990, completion_tokens: 1 } });
    const events = eventsOf(await bob.stream(path, { ...request, stream: true }));
    expect(walk(events)).toMatchObject({
      status: 'failed',
      error: { code: 'insufficient_quota' },
      usage: { total_tokens: 9_991 },
    });
    expect(endedOf(events)).toMatchObject([{ status: 'failed', summary: expect.stringContaining('10000 tokens'), usage: null }]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('is resumed behind any of their events', async () => {
    const events = eventsOf(await ann.stream(path, { ...request, stream: true }));
    const { id } = walk(events);
    for (const { sequence_number: after } of subagentEvents(events)) {
      expect(await log(id, after)).toEqual(events.slice(after + 1));
    }
  });

  it.each([
    ['header', {}, { 'x-parley-extensions': 'off' }],
    ['body', { stream_options: { include_extensions: false } }, {}],
  ])('shows nothing of it, without a gap, where extensions are off (%s)', async (_way, members, headers) => {
    const events = eventsOf(await ann.stream(path, { ...request, ...members, stream: true }, headers));
    const response = walk(events);
    expect(typesOf(response)).toEqual(['message']);
    expect(JSON.stringify(events)).not.toMatch(/subagent|server_tool/);
    const off = { 'x-parley-extensions': 'off' };
    expect(await log(response.id, 2, off)).toEqual(events.slice(3));
    expect(endedOf(await log(response.id))).toHaveLength(2);
  });

  it('is one body that says the same', async () => {
    const { status, body } = await ann.post(path, request);
    expect(status).toBe(200);
    expect(typesOf(body)).toEqual(['server_tool_call', 'server_tool_call_output', 'message']);
    expect(outputOf(body).output).toContain('About: What is green?');
  });

  it('continues when one subagent fails, and when all do', async () => {
    scriptResearch(upstream, questions, (question) => (question === questions[0] ? { status: 400 } : { text: 'Green.' }));
    const one = eventsOf(await ann.stream(path, { ...request, stream: true }));
    const partly = walk(one);
    expect(
      endedOf(one)
        .map(({ status }) => status)
        .sort(),
    ).toEqual(['completed', 'failed']);
    expect(partly.output[0].status).toBe('completed');
    scriptResearch(upstream, questions, () => ({ status: 500 }));
    const all = walk(eventsOf(await ann.stream(path, { ...request, stream: true })));
    expect(all).toMatchObject({ status: 'completed', error: null });
    expect(all.output[0].status).toBe('failed');
    expect(outputOf(all)).toMatchObject({ status: 'failed', output: '', error: { code: 'upstream_error' } });
  });

  it('needs no provider: parley/offline finds what the agent knows', async () => {
    const agent = await make.agent({ owner: ann, modelId: 'parley/offline' });
    const data = { services: [{ name: 'Puncture repair', priceEuro: 15 }] };
    await indexed(ann, (await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Prices', data })).id);
    const body = { model: agent.id, input: 'What does a puncture repair cost?', tools, tool_choice: { type: 'deep_research' } };
    const events = eventsOf(await ann.stream(path, { ...body, stream: true }));
    const response = walk(events);
    expect(endedOf(events)).toMatchObject([{ status: 'completed', summary: expect.stringContaining('15') }]);
    expect(response.output.at(-1).content[0].text).toContain('15');
  });

  it('shows no secret of its caller', async () => {
    scriptResearch(upstream, ['Where does tok-CANARY-1 lead?'], () => ({ text: 'tok-CANARY-1 leads home.' }));
    const body = { ...request, user_secrets: { token: 'tok-CANARY-1' }, stream: true };
    const events = eventsOf(await ann.stream(path, body));
    walk(events);
    expect(endedOf(events)).toMatchObject([{ summary: '[secret] leads home.' }]);
    expect(JSON.stringify(subagentEvents(events))).not.toContain('CANARY');
  });
});

describe('who is offered deep_research', () => {
  const python = { type: 'python' };
  const allowing = (type: string) => ({ tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type }] } });
  it.each([
    ['execute', { chat_mode: 'execute' }, ['deep_research', 'python'], ['python']],
    ['plan: what only reads', { chat_mode: 'plan' }, ['deep_research'], []],
    ['chat: none', { chat_mode: 'chat' }, [], undefined],
    ['allowed_tools with it alone', allowing('deep_research'), ['deep_research'], []],
    ['allowed_tools without it', allowing('python'), ['python'], undefined],
  ])('%s', async (_mode, members, offered, toSubagents) => {
    const { body } = await ann.post(path, { ...request, tools: [...tools, python], ...members });
    expect(body.status).toBe('completed');
    expect([...toolsOf(upstream.requests[0])].sort()).toEqual(offered);
    const asked = upstream.requests.filter(isSubagent);
    expect(asked.map((one) => [...toolsOf(one)])).toEqual(toSubagents === undefined ? [] : [toSubagents, toSubagents]);
  });
});

it.each([
  ['chat_mode chat', { chat_mode: 'chat', tool_choice: { type: 'deep_research' } }],
  ['chat_mode chat, any tool', { chat_mode: 'chat', tool_choice: 'required' }],
])('a tool that is not offered cannot be forced: %s', async (_why, members) => {
  const { status, body } = await ann.post(path, { ...request, ...members });
  expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'tool_choice']);
  expect(upstream.requests).toEqual([]);
});

describe('the knowledge of a subagent', () => {
  it('is what the sources of the agent hold, asked with its own question, and nothing else', async () => {
    const agent = await make.agent({ owner: ann, instructions: 'INNER RULES: be brief.', intermediateStepsVisible: true });
    const other = await make.agent({ owner: ann });
    const stranger = await make.person();
    const foreign = await make.agent({ owner: stranger });
    const price = (owner: Person, agentId: string, priceEuro: number) =>
      make.apiDataSource({ owner, agentId, name: 'Prices', data: { services: [{ name: 'Puncture repair', priceEuro }] } });
    const sources = [await price(ann, agent.id, 15), await price(ann, other.id, 77)];
    const strange = await price(stranger, foreign.id, 99);
    for (const { id } of sources) await indexed(ann, id);
    await indexed(stranger, strange.id);

    scriptResearch(upstream, ['What does a puncture repair cost?'], () => ({ text: 'It costs 15 € [1].' }));
    const events = eventsOf(await ann.stream(path, { ...request, model: agent.id, input: 'Hello', stream: true }));
    const response = walk(events);
    const asked = messagesOf(upstream.requests.find(isSubagent)).map(({ content }) => content);
    expect(asked.join('\n')).toMatch(/<passage n="1" [^>]*>[^<]*15/);
    expect(asked.join('\n')).not.toMatch(/77|99|INNER RULES|Hello/);
    expect(subagentEvents(events).map(({ message }) => message)).toContain('Reading 1 passage');
    expect(endedOf(events)).toMatchObject([{ agent_id: agent.id, summary: 'It costs 15 €.' }]);
    expect(outputOf(response).output).toMatch(/^It costs 15 € \[\d\]\.\nSources: \[\d\] .+$/);
    expect(JSON.stringify(subagentEvents(events))).not.toContain('INNER RULES');
    expect((await stranger.post(path, { ...request, model: agent.id })).status).toBe(404);
  });

  it('is there in a turn without a question of its own', async () => {
    const agent = await make.agent({ owner: ann });
    const data = { services: [{ name: 'Puncture repair', priceEuro: 15 }] };
    await indexed(ann, (await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Prices', data })).id);
    upstream.next({ toolCalls: [{ id: 'call_9', name: 'look', arguments: '{}' }] });
    const look = { type: 'function', name: 'look', parameters: { type: 'object' } };
    const { body: first } = await ann.post(path, { model: agent.id, input: 'Look', tools: [look] });
    scriptResearch(upstream, ['What does a puncture repair cost?']);
    const research = {
      toolCalls: [{ id: 'call_1', name: 'deep_research', arguments: '{"task":"the cost of a puncture repair"}' }],
    };
    upstream.next(research);
    const { body } = await ann.post(path, {
      ...{ model: agent.id, tools: [look, ...tools], previous_response_id: first.id },
      input: [{ type: 'function_call_output', call_id: 'call_9', output: 'a flat tyre' }],
    });
    expect(body.status).toBe('completed');
    expect(JSON.stringify(messagesOf(upstream.requests.find(isSubagent)))).toContain('<passage n=');
  });
});

describe('while subagents work', () => {
  /** Two work at one time. */
  const many = [...questions, 'What is blue?'];
  /** A background response whose first two subagents wait for the test. */
  async function begun() {
    const held = gate();
    scriptResearch(upstream, many, (question) => ({ text: `About: ${question}`, gate: held.opened }));
    const { body } = await ann.post(path, { ...request, background: true });
    await upstream.until(({ requests }) => requests.filter(isSubagent).length === 2);
    // Events that are not yet written when a run is cut are lost.
    for await (const { event } of ann.sse('GET', `${path}/${body.id}?stream=true`)) {
      if (event === 'response.subagent.started') break;
    }
    return { id: body.id as string, conversation: body.conversation.id as string, ...held };
  }
  const researched = () => upstream.requests.flatMap((one) => questionOf(one) ?? []).sort();
  const begunQuestions = [...questions].sort();
  const byTask = (ended: readonly WireEvent[]) => [...ended].sort((one, other) => (one.task < other.task ? -1 : 1));
  /** Checks that a provider would accept the next turn. */
  async function nextTurn(conversation: string): Promise<void> {
    const { body } = await ann.post(path, { model, input: 'Go on', conversation });
    expect(body.status).toBe('completed');
    expect(openCalls(messagesOf(upstream.requests.at(-1)))).toEqual([]);
  }

  it('cancel stops them at once, and everything is closed', async () => {
    const { id, conversation, open } = await begun();
    const { status, body } = await ann.post(`${path}/${id}/cancel`);
    expect([status, body.status]).toEqual([200, 'cancelled']);
    await upstream.until(({ aborted }) => aborted === 2);
    open();
    const events = await log(id);
    expect(walk(events)).toEqual(body);
    expect(byTask(endedOf(events))).toMatchObject(begunQuestions.map((task) => ({ task, status: 'cancelled' })));
    expect(outputOf(body)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    expect(tokens(body.usage)).toBeGreaterThan(11);
    expect(researched()).toEqual(begunQuestions);
    await nextTurn(conversation);
  });

  it('pause stops them at once, begins no further one, and resume asks again for what is open', async () => {
    const { id, conversation, open } = await begun();
    const { body: paused } = await ann.post(`${path}/${id}/pause`);
    await upstream.until(({ aborted }) => aborted === 2);
    open();
    expect(paused).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'paused' } });
    expect(typesOf(paused)).toEqual(['server_tool_call', 'server_tool_call_output']);
    for (const question of many) {
      expect(outputOf(paused).output).toContain(`## ${question}\n(Not researched: the answer was paused.`);
    }
    const before = await log(id);
    expect(endedOf(before)).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }]);
    const again = { id: 'call_2', name: 'deep_research', arguments: JSON.stringify({ task: 'Find it out', questions }) };
    upstream.next({ toolCalls: [again] });
    const after = eventsOf(await ann.stream(`${path}/${id}/resume`, { stream: true }));
    const end = walk(after, before.length);
    expect(end).toMatchObject({ id, status: 'completed' });
    expect(byTask(endedOf(after))).toMatchObject(begunQuestions.map((task) => ({ task, status: 'completed' })));
    expect(end.usage.total_tokens).toBeGreaterThan(paused.usage.total_tokens);
    walk([...before, ...after]);
    await nextTurn(conversation);
  });

  it('pause keeps what others had found', async () => {
    const held = gate();
    scriptResearch(upstream, questions, (question) =>
      question === questions[1] ? { text: 'Too late', gate: held.opened } : { text: `About: ${question}` },
    );
    const { body } = await ann.post(path, { ...request, background: true });
    await upstream.until(({ requests }) => requests.some((one) => questionOf(one) === questions[1]));
    for await (const { event } of ann.sse('GET', `${path}/${body.id}?stream=true`)) {
      if (event === 'response.subagent.completed') break;
    }
    const { body: paused } = await ann.post(`${path}/${body.id}/pause`);
    held.open();
    expect(outputOf(paused)).toMatchObject({ status: 'completed', output: expect.stringContaining(`About: ${questions[0]}`) });
    expect(outputOf(paused).output).toContain(`## ${questions[1]}\n(Not researched: the answer was paused.`);
    const { body: end } = await ann.post(`${path}/${body.id}/resume`);
    expect(end.status).toBe('completed');
    expect(messagesOf(upstream.requests.at(-1)).some(({ content }) => content?.includes(`About: ${questions[0]}`) === true)).toBe(
      true,
    );
  });

  it('steer is read when the subagents are over, before the next question', async () => {
    const { id, conversation, open } = await begun();
    await ann.post(path, { ...request, conversation, input: 'Only red matters', thread_mode: 'steer', background: true });
    open();
    const done = await eventually(async () => {
      const response = await get(id);
      expect(response.status).toBe('completed');
      return response;
    });
    walk(await log(id));
    expect(outputOf(done).output).toContain('(Not researched: the user said something else in the meantime.');
    expect(messagesOf(upstream.requests.at(-1)).at(-1)?.content).toContain('Only red matters');
    expect(researched()).toEqual(begunQuestions);
  });

  it.each(['interrupt', 'force'])('%s ends them, and its log is well formed', async (mode) => {
    const { id, conversation, open } = await begun();
    const next = await ann.post(path, { model, input: 'Never mind', conversation, thread_mode: mode });
    expect(next.body.status).toBe('completed');
    await upstream.until(({ aborted }) => aborted === 2);
    open();
    expect(openCalls(messagesOf(upstream.requests.at(-1)))).toEqual([]);
    const events = await log(id);
    expect(walk(events).status).toBe('cancelled');
    expect(endedOf(events)).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }]);
    expect(researched()).toEqual(begunQuestions);
  });

  it.each([true, false])('a reader that leaves stops them (store %s)', async (store) => {
    const held = gate();
    scriptResearch(upstream, questions, () => ({ text: 'Late.', gate: held.opened }));
    for await (const { event } of ann.sse('POST', path, { ...request, store, stream: true })) {
      if (event !== 'response.subagent.started') continue;
      await upstream.until(({ requests }) => requests.filter(isSubagent).length === 2);
      break;
    }
    await upstream.until(({ aborted }) => aborted === 2);
    held.open();
    expect(researched()).toEqual(begunQuestions);
  });
});

describe('other APIs', () => {
  const members = `__typename sequence
    ... on SubagentStarted { outputIndex itemId subagent { id name agentId parentId task status depth summary usage { totalTokens } } }
    ... on SubagentProgressed { outputIndex itemId subagentId message progress usageSoFar { totalTokens } }
    ... on SubagentCompleted { outputIndex itemId subagent { id task status summary usage { totalTokens } } }`;
  const ofResponse = async () => (await ann.post(path, request)).body.id;
  const ofChat = async () => {
    const agent = await make.agent({ owner: ann });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    return (await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Find out', tools })).body.runId;
  };

  it.each([
    ['a response', ofResponse],
    ['a chat', ofChat],
  ])('GraphQL has a type for each event (%s)', async (_of, begin) => {
    const subscription = `subscription ($id: ID!) { events: runEvents(runId: $id) { ${members} } }`;
    const results = await Array.fromAsync(ann.subscribe(subscription, { id: await begin() }));
    const events: WireEvent[] = results.map(({ data }) => data.events);
    const shown = events.filter(({ __typename }) => __typename.startsWith('Subagent'));
    const [started, ...rest] = shown;
    expect(started).toMatchObject({
      ...{ __typename: 'SubagentStarted', outputIndex: 0 },
      itemId: expect.stringMatching(/^stc_/),
      subagent: {
        ...{ id: expect.stringMatching(/^sub_/), name: 'Researcher', parentId: null, task: expect.any(String) },
        ...{ status: 'IN_PROGRESS', depth: 1, summary: null, usage: null },
      },
    });
    const { id } = started.subagent;
    const progress = shown.find(({ subagentId }) => subagentId === id);
    const completed = shown.find(({ __typename, subagent }) => __typename === 'SubagentCompleted' && subagent.id === id);
    expect(progress).toMatchObject({ __typename: 'SubagentProgressed', subagentId: id, message: 'Writing', progress: 0.5 });
    expect(completed).toMatchObject({
      __typename: 'SubagentCompleted',
      subagent: { id, status: 'COMPLETED', summary: `About: ${started.subagent.task}`, usage: { totalTokens: 11 } },
    });
    expect(rest).toHaveLength(5);
  });

  it('a chat shows the tool, and stays as it is', async () => {
    const agent = await make.agent({ owner: ann, intermediateStepsVisible: true });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const frames = await ann.stream(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Find out', tools, stream: true });
    const shown = frames.map(({ data }) => JSON.parse(data));
    expect(shown.map(({ sequence }) => sequence)).toEqual(shown.map((_frame, index) => index));
    expect(shown.map(({ type }) => type).filter((type) => type !== 'message.delta')).toEqual([
      ...['run.started', 'tool.started', 'tool.completed', 'message.started', 'message.completed', 'run.completed', 'done'],
    ]);
    expect(shown[2]).toMatchObject({ status: 'completed', output: expect.stringContaining('About: What is red?') });
    const { body } = await ann.get(`/api/v1/chats/${chat.id}`);
    expect(body.messages.map(({ role }: WireEvent) => role)).toEqual(['user', 'assistant']);
  });

  it.each([true, false])('a completion shows nothing of it (stream %s)', async (stream) => {
    const body = { model, messages: [{ role: 'user', content: 'Find out' }], tools, stream };
    if (!stream) {
      const reply = await ann.post('/api/v1/chat/completions', body);
      expect(reply.body.choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'It is done.' } }]);
      expect(reply.body.usage.prompt_tokens).toBe(40);
      return;
    }
    const frames = await ann.stream('/api/v1/chat/completions', body);
    expect(frames.at(-1)?.data).toBe('[DONE]');
    const chunks = frames.slice(0, -1).map(({ data }) => JSON.parse(data));
    expect(chunks.map(({ choices }) => choices[0].delta.content ?? '').join('')).toBe('It is done.');
    expect(chunks.at(-1).choices[0].finish_reason).toBe('stop');
  });
});
