import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

/** Nothing is accepted without effect: what this version does not serve is refused by name, and a forced call is kept to or refused. */
const { make, upstream } = await withService('model');
const model = 'openai/test-model';
const add = { name: 'add', parameters: { type: 'object', properties: {} } };

const ann = await make.person();
const agentId = (await make.agent({ owner: ann, modelId: model })).id;
const chatId = (await make.chat({ owner: ann, agentId })).id;

/** A request with some members, in each format. */
const surfaces = {
  chats: (members: object) => ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', ...members }),
  completions: (members: object) =>
    ann.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], ...members }),
  responses: (members: object) => ann.post('/api/v2/responses', { model, input: 'Hi', ...members }),
};
/** The tools that the model was offered. */
const offered = () =>
  ((upstream.requests[0]?.body?.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
type Surface = keyof typeof surfaces;
const names = Object.keys(surfaces) as Surface[];

/** Tools that need a setting, which this instance does not have. */
const unserved = [
  ['web_search', 'SEARCH_URL'],
  ['image_generation', 'IMAGE_MODEL'],
] as const;

describe.each(names)('%s', (surface) => {
  it.each(unserved)('refuse the tool %s, and name the setting that would switch it on', async (type, setting) => {
    const { status, body } = await surfaces[surface]({ tools: [{ type: 'python' }, { type }] });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'tool_not_available', 'tools[1].type']);
    expect(body.error.message).toMatch(
      new RegExp(`^tools\\[1\\]\\.type: ${type} cannot be served here: .*; the setting ${setting} switches it on$`),
    );
    expect(upstream.requests).toEqual([]);
  });

  it('refuse a flow that does not exist, and providers that cannot answer', async () => {
    const override = { force: true, id: 'flow_1', version: 1 };
    for (const [param, code, options] of [
      ['options.flow.override', 'flow_not_found', { flow: { override } }],
      ['options.provider.order[1]', 'invalid_value', { provider: { order: ['openai', 'nobody'] } }],
      ['options.provider.order', 'unsupported_value', { provider: { order: ['parley'], allow_fallbacks: false } }],
    ] as const) {
      const { status, body } = await surfaces[surface]({ options });
      expect([status, body.error.code]).toEqual([400, code]);
      expect(body.error.param).toMatch(surface === 'chats' && code === 'flow_not_found' ? /^options\.flow\.override/ : param);
    }
    expect(upstream.requests).toEqual([]);
    for (const options of [
      { provider: { order: ['parley', 'openai'], allow_fallbacks: true } },
      { tracing: { enabled: true } },
    ]) {
      expect((await surfaces[surface]({ options })).status).toBe(200);
    }
    expect(upstream.requests).toHaveLength(2);
  });

  it('take the tools that work', async () => {
    const { status, body } = await surfaces[surface]({ tools: [{ type: 'python' }, { type: 'deep_research' }] });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(offered()).toEqual(['python', 'deep_research']);
  });
});

describe('a malformed tool of the service', () => {
  it.each<[Surface, object, string]>([
    ['responses', { type: 'python', container: 1 }, 'tools[0].container'],
    ['completions', { type: 'python', container: 1 }, 'tools[0].container'],
    ['chats', { type: 'python', container: 1 }, 'tools[0].container'],
    ['responses', { type: 'web_search', search_context_size: 'huge' }, 'tools[0].search_context_size'],
    ['completions', { type: 'web_search', search_context_size: 'huge' }, 'tools[0].search_context_size'],
    ['chats', { type: 'web_search', searchContextSize: 'huge' }, 'tools[0].searchContextSize'],
    ['completions', { type: 'web_search', includeXSearch: 'yes' }, 'tools[0].includeXSearch'],
  ])('is refused by name: %s %j', async (surface, tool, param) => {
    const { status, body } = await surfaces[surface]({ tools: [tool] });
    expect([status, body.error.param]).toEqual([400, param]);
  });

  it('is refused over GraphQL as well, whose inputs have the members of each tool', async () => {
    const sending = 'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }';
    const completing = 'mutation ($input: CompletionInput!) { createCompletion(input: $input) { id } }';
    const send = (webSearch: object) =>
      ann.graphql(sending, { chatId, input: { prompt: { text: 'Hi' }, tools: [{ webSearch }] } });
    for (const [webSearch, code] of [
      [{ contextSize: 'HUGE' }, 'INVALID_VALUE'],
      [{ size: '1024x1024' }, 'UNSUPPORTED_VALUE'],
    ] as const) {
      const { errors } = await send(webSearch);
      expect(errors?.[0].extensions).toMatchObject({ code });
      expect(errors?.[0].extensions.faults[0].path).toMatch(/^input\.tools\.0\.webSearch\./);
    }
    const tools = [{ mcpServer: { server: 'weather', allowedTools: { names: ['find'] } } }, { imageGeneration: { count: 2 } }];
    const input = { model, messages: [{ user: { text: 'Hi' } }], tools };
    const { errors: others } = await ann.graphql(completing, { input });
    expect(others?.[0].extensions).toMatchObject({ code: 'TOOL_NOT_AVAILABLE' });
    expect(others?.[0].extensions.faults.at(-1).path).toBe('input.tools.1.imageGeneration');
  });
});

describe('a forced call', () => {
  const flat = (name: string) => ({ type: 'function', name });
  const nested = (name: string) => ({ type: 'function', function: { name } });
  const tools = { completions: [{ type: 'function', function: add }], responses: [{ type: 'function', ...add }] };
  const allowing = (mode: string, name: string) => ({
    completions: { type: 'allowed_tools', allowed_tools: { mode, tools: [nested(name)] } },
    responses: { type: 'allowed_tools', mode, tools: [flat(name)] },
  });

  it.each(['completions', 'responses'] as const)('is refused without its tool: %s', async (surface) => {
    const ask = surfaces[surface];
    const choices: [object, string][] = [
      [{ tool_choice: 'required' }, 'tool_choice'],
      [{ tool_choice: nested('other'), tools: tools[surface] }, 'tool_choice'],
      [{ tool_choice: { type: 'python' }, tools: tools[surface] }, 'tool_choice'],
    ];
    for (const [members, param] of choices) {
      const { status, body } = await ask(members);
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', param]);
    }
    const { status, body } = await ask({ tool_choice: allowing('required', 'other')[surface], tools: tools[surface] });
    expect([status, body.error.code]).toEqual([400, 'invalid_value']);
    expect(body.error.param).toBe(surface === 'responses' ? 'tool_choice.tools[0]' : 'tool_choice.allowed_tools.tools[0]');
    expect(upstream.requests).toEqual([]);
  });

  it.each(['completions', 'responses'] as const)('of a tool of the agent needs that tool: %s', async (surface) => {
    const bare = await make.agent({ owner: ann, modelId: model });
    const armed = await make.agent({ owner: ann, modelId: model });
    await ann.post(`/api/v1/ais/${armed.id}/tools`, {
      name: 'get_stock',
      type: 'CLIENT_FUNCTION',
      data: { description: 'Counts', parameters: { type: 'object', properties: {} } },
    });
    for (const tool_choice of ['required', surface === 'responses' ? flat('get_stock') : nested('get_stock')]) {
      const refused = await surfaces[surface]({ model: bare.id, tool_choice });
      expect([refused.status, refused.body.error.param]).toEqual([400, 'tool_choice']);
      upstream.next({ toolCalls: [{ id: 'call_1', name: 'get_stock', arguments: '{}' }] });
      expect((await surfaces[surface]({ model: armed.id, tool_choice })).status).toBe(200);
    }
  });

  it('of completions may name a tool of the service, and the allowed ones are a hard limit', async () => {
    upstream.next({ text: 'Hi' });
    const two = [
      { type: 'function', function: add },
      { type: 'function', function: { ...add, name: 'sub' } },
    ];
    await surfaces.completions({ tools: two, tool_choice: allowing('auto', 'sub').completions });
    expect(offered()).toEqual(['sub']);
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'python', arguments: '{"code":"print(1)"}' }] }, { text: 'Done' });
    const { status } = await surfaces.completions({ tools: [{ type: 'python' }], tool_choice: { type: 'python' } });
    expect(status).toBe(200);
    expect(upstream.requests[1]?.body?.tool_choice).toEqual({ type: 'function', function: { name: 'python' } });
  });

  it.each([
    ['chat', { type: 'deep_research' }],
    ['chat', 'required'],
    ['plan', { type: 'python' }],
  ])('is refused where chat_mode %s does not offer it', async (chat_mode, tool_choice) => {
    const { status, body } = await surfaces.responses({
      chat_mode,
      tool_choice,
      tools: [{ type: 'python' }, { type: 'deep_research' }],
    });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'tool_choice']);
    expect(body.error.message).toContain(`chat_mode "${chat_mode}"`);
  });
});

describe('include', () => {
  it.each(['web_search_call.results', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs'])(
    'refuses %s by name',
    async (name) => {
      const { status, body } = await surfaces.responses({ include: ['message.output_text.logprobs', name] });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_value', 'include[1]']);
      expect(body.error.message).toContain(`no ${name.split('.')[0]}`);
    },
  );
});

describe('an agent with parts that this version does not serve', () => {
  it('keeps and shows them, says so, and warns in every reply of its runs', async () => {
    const agent = await make.agent({ owner: ann, modelId: model });
    const part = (kind: string, body: object) => ann.post(`/api/v1/ais/${agent.id}/${kind}`, body);
    const steps = [{ id: 'a', type: 'model', prompt: 'Answer.' }];
    const flow = await part('flows', { name: 'F', versions: [{ version: 1, active: true, data: { steps } }] });
    const skill = await part('skills', { name: 'S', content: 'Rhyme.' });
    const server = await part('tools', { name: 'mcp', type: 'MCP_SERVER', data: { command: 'mcp-server' } });
    expect([flow.body.warnings, skill.body.warnings]).toEqual([[], []]);
    expect([server.status, server.body.warnings?.[0]?.code]).toEqual([200, 'tool_not_available']);
    expect(server.body.warnings[0].message).toContain('only the operator');
    expect((await ann.get(`/api/v1/ais/${agent.id}/flows/${flow.body.id}`)).body.versions).toHaveLength(1);

    const codes = ['tool_not_available'];
    const codesOf = (warnings: readonly { code: string }[] | undefined) => warnings?.map(({ code }) => code);
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const place = `/api/v1/chats/${chat.id}/messages`;
    expect(codesOf((await ann.post(place, { prompt: 'Hi' })).body.warnings)).toEqual(codes);
    const [started] = await ann.stream(place, { prompt: 'Hi', stream: true });
    expect(codesOf(JSON.parse(started?.data ?? '{}').warnings)).toEqual(codes);
    const { data } = await ann.graphql(
      'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { warnings { code message param } } }',
      { chatId: chat.id, input: { prompt: { text: 'Hi' } } },
    );
    expect(codesOf(data.sendMessage.warnings)).toEqual(codes);

    const off = { 'x-parley-extensions': 'off' };
    const completion = { model: agent.id, messages: [{ role: 'user', content: 'Hi' }] };
    expect(codesOf((await ann.post('/api/v1/chat/completions', completion)).body.warnings)).toEqual(codes);
    expect((await ann.post('/api/v1/chat/completions', completion, off)).body).not.toHaveProperty('warnings');
    const chunks = await ann.stream('/api/v1/chat/completions', { ...completion, stream: true });
    expect(codesOf(JSON.parse(chunks.at(-2)?.data ?? '{}').warnings)).toEqual(codes);
    const response = { model: agent.id, input: 'Hi' };
    expect(codesOf((await ann.post('/api/v2/responses', response)).body.warnings)).toEqual(codes);
    expect((await ann.post('/api/v2/responses', response, off)).body).not.toHaveProperty('warnings');
  });

  it('warns of nothing else', async () => {
    const chat = await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' });
    expect(chat.body).not.toHaveProperty('warnings');
    expect((await surfaces.responses({})).body).not.toHaveProperty('warnings');
    expect((await surfaces.completions({})).body).not.toHaveProperty('warnings');
  });
});
