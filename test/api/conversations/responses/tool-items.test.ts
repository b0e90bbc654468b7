import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { expectAccepted } from '../../../support/runs/accepted-request.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';

/** Items of hosted tools that a client sends back as input. */
const server = await startMcpUpstream();
const { make, upstream } = await withService('model');
const path = '/api/v2/responses';
const model = 'openai/test-model';
const question = { role: 'user', content: 'And now?' };

const ann = await make.person();

beforeEach(() => server.reset());
afterAll(() => server.close());

type Item = Readonly<Record<string, unknown>>;
const call = (name: string, args: object = {}) => ({
  toolCalls: [{ id: `call_${name}`, name, arguments: JSON.stringify(args) }],
});
const asked = () => messagesOf(upstream.requests.at(-1)) as readonly object[] as readonly Item[];
/** What the model is told of an item that stands between two messages. */
async function toldOf(item: Item, members: object = {}) {
  const { status, body } = await ann.post(path, {
    ...{ model, store: false, input: [{ role: 'user', content: 'Do it' }, item, question] },
    ...members,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expectAccepted(upstream.requests.at(-1));
  return asked().slice(1, -1);
}

describe('a call that is sent back is a call with its output for the model', () => {
  it.each<readonly [string, Item, readonly [string, object], readonly string[]]>([
    [
      'mcp_call',
      { id: 'mcpc_1', server_label: 'shop', name: 'order', arguments: '{"sku":7}', output: 'Order 4711', error: null },
      ['shop__order', { sku: 7 }],
      ['Order 4711'],
    ],
    [
      'mcp_call',
      { server_label: 'shop', name: 'order', arguments: '', output: null, error: 'Sold out' },
      ['shop__order', {}],
      ['Error: Sold out'],
    ],
    [
      'web_search_call',
      { action: { type: 'search', query: 'tea', sources: [{ type: 'url', url: 'https://tea.example/a' }] } },
      ['web_search', { query: 'tea' }],
      ['https://tea.example/a'],
    ],
    [
      'web_search_call',
      { action: { type: 'open_page', url: 'https://tea.example/a' } },
      ['open_page', { url: 'https://tea.example/a' }],
      ['not repeated'],
    ],
    [
      'file_search_call',
      { queries: ['leave'], results: [{ file_id: 'f', filename: 'rules.md', score: 1, text: '30 days </passage> off' }] },
      ['search_knowledge', { query: 'leave' }],
      ['title="rules.md"', '30 days &lt;/passage&gt; off'],
    ],
    ['file_search_call', { queries: ['leave'], results: null }, ['search_knowledge', { query: 'leave' }], ['not repeated']],
    [
      'code_interpreter_call',
      { code: 'print(6*7)', container_id: 'c', outputs: [{ type: 'logs', logs: '42' }] },
      ['python', { code: 'print(6*7)' }],
      ['42'],
    ],
    [
      'image_generation_call',
      { result: null, status: 'completed', revised_prompt: 'A cat' },
      ['generate_image', { prompt: 'A cat' }],
      ['shown to the user'],
    ],
  ])('%s %j', async (type, members, [name, args], texts) => {
    const [made, output, ...rest] = await toldOf({ type, ...members });
    expect(rest).toEqual([]);
    expect(made).toMatchObject({ role: 'assistant', tool_calls: [{ function: { name } }] });
    const [told] = (made as { tool_calls: [{ function: { arguments: string } }] }).tool_calls;
    expect(JSON.parse(told.function.arguments)).toEqual(args);
    expect(output?.role).toBe('tool');
    for (const text of texts) expect(output?.content).toContain(text);
  });

  it('with the image that it made, where the model sees images', async () => {
    const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
    const told = JSON.stringify(await toldOf({ type: 'image_generation_call', result: png, status: 'completed' }));
    expect(told).toContain(`data:image/png;base64,${png}`);
  });

  it('but not what belongs to tools that Parley does not have, and no call that does not say what was done', async () => {
    for (const type of ['computer_call', 'local_shell_call', 'reasoning', 'web_search_call']) {
      expect(await toldOf({ type, summary: [] })).toEqual([]);
    }
  });

  it.each([
    ['mcp_call', { name: 'order', arguments: '{}' }, 'input[0].server_label'],
    ['mcp_list_tools', { server_label: 'shop' }, 'input[0].tools'],
    ['file_search_call', { queries: 'tea' }, 'input[0].queries'],
  ])('and is refused when it is not well formed: %s', async (type, members, param) => {
    const { status, body } = await ann.post(path, { model, input: [{ type, ...members }, question] });
    expect([status, body.error.param]).toEqual([400, param]);
  });

  it('is listed and kept in the conversation as it was given, also for later turns', async () => {
    const item = { type: 'mcp_call', id: 'mcpc_9', server_label: 'shop', name: 'order', arguments: '{}', output: 'Order 4711' };
    const { status, body } = await ann.post(path, { model, input: [item, question] });
    expect(status, JSON.stringify(body)).toBe(200);
    const listed = await ann.get(`${path}/${body.id}/input_items?order=asc`);
    expect(listed.body.data[0]).toMatchObject(item);
    await ann.post(path, { model, input: 'More', previous_response_id: body.id });
    expect(JSON.stringify(asked())).toContain('Order 4711');
    expectAccepted(upstream.requests.at(-1));
    const conversation = await ann.post('/api/v1/conversations', { items: [item] });
    expect(conversation.status, JSON.stringify(conversation.body)).toBe(200);
    const items = await ann.get(`/api/v1/conversations/${conversation.body.id}/items`);
    expect(items.body.data).toMatchObject([{ ...item, id: expect.any(String) }]);
    await ann.post(path, { model, input: 'More', conversation: conversation.body.id });
    expect(JSON.stringify(asked())).toContain('Order 4711');
  });
});

describe('a stateless client that sends everything back', () => {
  const tool = { type: 'mcp', server_label: 'plain', server_url: server.url, allowed_tools: ['echo', 'act'] };
  const listings = () => server.requests.filter(({ rpc }) => rpc === 'tools/list').length;
  const respond = async (input: unknown, members: object = {}) => {
    const { status, body } = await ann.post(path, { model, store: false, input, tools: [tool], ...members });
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };

  it('saves the discovery of the tools with mcp_list_tools', async () => {
    const list = {
      type: 'mcp_list_tools',
      server_label: 'plain',
      tools: [{ name: 'echo', description: 'Says it again', input_schema: { type: 'object' }, annotations: null }],
      error: null,
    };
    upstream.next(call('plain__echo', { text: 'Seven' }), { text: 'Seven.' });
    const never = { ...tool, require_approval: 'never', server_url: `${server.url}?fresh` };
    const { output } = await respond([list, question], { tools: [never] });
    expect(output.map(({ type }: Item) => type)).toEqual(['mcp_call', 'message']);
    expect(listings()).toBe(0);
    expect(server.calls).toEqual([{ name: 'echo', args: { text: 'Seven' } }]);
    // A listing of a failure, and one of another server, list nothing.
    for (const other of [
      { ...list, error: 'gone' },
      { ...list, server_label: 'other' },
    ]) {
      upstream.next({ text: 'Hi.' });
      const asked = await respond([other, question], { tools: [never] });
      expect(asked.output[0]).toMatchObject({ type: 'mcp_list_tools', server_label: 'plain' });
    }
  });

  it('has an approved call made once, and its model reads what it gave', async () => {
    const input: Item[] = [{ role: 'user', content: 'Do it' }];
    upstream.next(call('plain__act'));
    input.push(...(await respond(input)).output);
    const request = input.at(-1);
    expect(request).toMatchObject({ type: 'mcp_approval_request', name: 'act' });
    input.push({ type: 'mcp_approval_response', approval_request_id: request?.id, approve: true });
    upstream.next({ text: 'Done.' });
    const second = (await respond(input)).output;
    expect(second).toMatchObject([{ type: 'mcp_call', approval_request_id: request?.id, name: 'act' }, { type: 'message' }]);
    expect(server.calls).toEqual([{ name: 'act', args: {} }]);
    input.push(...second, question);
    upstream.next({ text: 'As I said.' });
    await respond(input);
    expect(server.calls).toHaveLength(1);
    expectAccepted(upstream.requests.at(-1));
    const calls = asked().flatMap(({ tool_calls }) => (tool_calls ?? []) as Item[]);
    expect(calls.map(({ id }) => id)).toEqual([request?.id]);
    expect(asked().find(({ role }) => role === 'tool')?.content).toContain('mcp_result');
  });
});
