import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model');
const model = 'openai/test-model';
const path = '/api/v2/responses';

const ann = await make.person();

const create = (members: Record<string, unknown>) => ann.post(path, { model, input: 'Hi', ...members });
const system = () => (upstream.requests.at(-1)?.body as { messages?: { role: string; content: string }[] })?.messages?.[0];

describe('options', () => {
  const apis: readonly [string, (options: unknown) => Promise<{ status: number; body: { error: Record<string, unknown> } }>][] = [
    ['responses', (options) => create({ options })],
    [
      'completions',
      (options) => ann.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], options }),
    ],
    [
      'messages of a chat',
      async (options) => {
        const agent = await make.agent({ owner: ann });
        const chat = await make.chat({ owner: ann, agentId: agent.id });
        return ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', options });
      },
    ],
  ];
  describe.each(apis)('of %s', (_name, send) => {
    it.each<[string, unknown]>([
      ['whole', { flow: { override: { force: false, id: null, version: null }, tracing: { enabled: false } } }],
      ['with tracing beside the flow', { tracing: { enabled: false }, flow: null }],
      ['with members nobody knows', { routing: 'fast', flow: { other: 1, override: { more: [] } } }],
    ])('are taken %s', async (_case, options) => {
      expect((await send(options)).status).toBe(200);
    });

    it.each<[string, unknown, string]>([
      ['options', 'fast', 'invalid_type'],
      ['options.flow', [], 'invalid_type'],
      ['options.flow.override', 'flow_1', 'invalid_type'],
      ['options.flow.override.force', { flow: { override: { force: 'yes' } } }, 'invalid_type'],
      ['options.flow.override.id', { flow: { override: { id: 7 } } }, 'invalid_type'],
      ['options.flow.override.version', { flow: { override: { version: '2' } } }, 'invalid_type'],
      ['options.flow.override.version', { flow: { override: { version: 0.5 } } }, 'invalid_value'],
      ['options.flow.tracing.enabled', { flow: { tracing: { enabled: 1 } } }, 'invalid_type'],
      ['options.tracing', { tracing: true }, 'invalid_type'],
    ])('are refused for a wrong %s', async (param, given, code) => {
      const depth = param.split('.').length;
      const options = typeof given === 'object' && !Array.isArray(given) ? given : depth === 1 ? given : nested(param, given);
      const { status, body } = await send(options);
      expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    });
  });
  const nested = (param: string, value: unknown) =>
    param
      .split('.')
      .slice(1)
      .reduceRight((inner, name) => ({ [name]: inner }), value);
});

describe('names of functions', () => {
  it.each([
    ['CLIENT_FUNCTION', false],
    ['API_FUNCTION', false],
    ['CLIENT_FUNCTION', true],
  ])('must not be those of the tools of the agent (%s, nested as in completions: %s)', async (type, isNested) => {
    const agent = await make.agent({ owner: ann });
    const call = type === 'API_FUNCTION' ? { method: 'GET', url: 'https://example.com/' } : {};
    const data = { description: 'Looks it up', ...call, parameters: { type: 'object' } };
    expect((await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'look_up', type, data })).status).toBe(200);
    const own = { name: 'look_up', parameters: { type: 'object' } };
    const tools = [
      { type: 'function', name: 'other' },
      isNested ? { type: 'function', function: own } : { type: 'function', ...own },
    ];
    const choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'other' }] };
    for (const members of [{}, { store: false }, { stream: true }, { chat_mode: 'plan' }, { tool_choice: choice }]) {
      const { status, body } = await create({ model: agent.id, tools, ...members });
      const param = isNested ? 'tools[1].function.name' : 'tools[1].name';
      expect([status, body.error.code, body.error.param]).toEqual([400, 'tool_name_conflict', param]);
    }
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('the user inputs of an agent', () => {
  it('are those of the chat that a response goes on in, also where it forks', async () => {
    const agent = await make.agent({ owner: ann, instructions: 'Speak {{language}}.' });
    const asked = { variableName: 'language', type: 'SHORT_TEXT', label: 'Language', configuration: { default: 'English' } };
    expect((await ann.post(`/api/v1/ais/${agent.id}/user-inputs`, asked)).status).toBe(200);
    const chat = (await ann.post(`/api/v1/ais/${agent.id}/chats`, { userInputs: { language: 'Welsh' } })).body;
    const first = (await create({ model: undefined, conversation: chat.id })).body;
    expect(system()).toEqual({ role: 'system', content: 'Speak Welsh.' });
    const goOn = { model: undefined, previous_response_id: first.id };
    await create(goOn);
    expect(system()?.content).toBe('Speak Welsh.');
    const fork = (await create(goOn)).body;
    expect([fork.conversation.id === chat.id, system()?.content]).toEqual([false, 'Speak Welsh.']);
    await ann.post(`/api/v1/chats/${fork.conversation.id}/messages`, { prompt: 'And now?' });
    expect(system()?.content).toMatch(/^Speak Welsh\.\n\nCurrent date: /);
    await create({ model: agent.id });
    expect(system()?.content).toBe('Speak English.');
  });

  it('of another agent keep their defaults', async () => {
    const welsh = await make.agent({ owner: ann, instructions: 'Speak {{language}}.' });
    const other = await make.agent({ owner: ann, instructions: 'Sing {{language}}.' });
    const asked = { variableName: 'language', type: 'SHORT_TEXT', label: 'Language', configuration: { default: 'English' } };
    for (const { id } of [welsh, other]) await ann.post(`/api/v1/ais/${id}/user-inputs`, asked);
    const chat = (await ann.post(`/api/v1/ais/${welsh.id}/chats`, { userInputs: { language: 'Welsh' } })).body;
    await create({ model: other.id, conversation: chat.id });
    expect(system()?.content).toBe('Sing English.');
  });
});

describe('tools of the service', () => {
  const good = [
    { type: 'python', container: { type: 'auto' } },
    { type: 'deep_research', budget: { subagents: 2 } },
  ];

  it('are accepted with their members and repeated unchanged', async () => {
    const { status, body } = await create({ tools: good });
    expect([status, body.status, body.tools]).toEqual([200, 'completed', good]);
  });

  it('are repeated without the credentials of the server of a tool', async () => {
    const secrets = { authorization: 'CANARY-1', headers: { 'x-api-key': 'CANARY-2' } };
    const server = { type: 'mcp', server_label: 'desk', server_url: 'https://mcp.invalid/mcp' };
    const { body } = await create({ tools: [{ ...server, ...secrets }] });
    expect(body.tools).toEqual([server]);
  });

  it.each<[object, string, string]>([
    [{ type: 'web_search', includeXSearch: 'yes' }, 'tools[0].includeXSearch', 'invalid_type'],
    [{ type: 'web_search', search_context_size: 'huge' }, 'tools[0].search_context_size', 'invalid_value'],
    [{ type: 'web_search', user_location: 'Oslo' }, 'tools[0].user_location', 'invalid_type'],
    [{ type: 'web_search', user_location: { city: 7 } }, 'tools[0].user_location.city', 'invalid_type'],
    [{ type: 'web_search', filters: { allowed_domains: 'example.com' } }, 'tools[0].filters.allowed_domains', 'invalid_type'],
    [{ type: 'image_generation', partial_images: 'two' }, 'tools[0].partial_images', 'invalid_type'],
    [{ type: 'image_generation', output_format: 'gif' }, 'tools[0].output_format', 'invalid_value'],
    [{ type: 'mcp_server', server_id: 'x'.repeat(2_001) }, 'tools[0].server_id', 'invalid_value'],
    [{ type: 'mcp_server', allowed_tools: 'find' }, 'tools[0].allowed_tools', 'invalid_type'],
    [{ type: 'python', container: 1 }, 'tools[0].container', 'invalid_type'],
    [{ type: 'sandbox', container: [] }, 'tools[0].container', 'invalid_type'],
    [{ type: 'memory', scope: {} }, 'tools[0].scope', 'invalid_type'],
    [{ type: 'spreadsheet', file_ids: [1] }, 'tools[0].file_ids', 'invalid_type'],
  ])('are refused: %j', async (tool, param, code) => {
    const { status, body } = await create({ tools: [tool] });
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });
});

describe('a request with very many faults', () => {
  it('is answered quickly, with some of them', async () => {
    const { status, body } = await create({ include: Array.from({ length: 200_000 }, () => 'nothing') });
    expect(status).toBe(400);
    expect(body.error.param).toBe('include[0]');
    expect(body.error.errors).toHaveLength(20);
  });
});
