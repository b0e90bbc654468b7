import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { html, startWeb } from '../../../fixtures/upstreams/web.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';
import { graphqlInput } from '../../../support/tools/graphql-tool.ts';

/** What GraphQL tells of calls of tools, typed: the items of a run while it happens, and of a response that is read later. */
const web = await startWeb({
  '/bikes': { title: 'Bikes', snippet: 'All bikes are blue.', reply: html('Bikes', '<p>All bikes are blue.</p>') },
});
const server = await startMcpUpstream();
const { make, upstream } = await withService('model', { env: { SEARCH_URL: web.url, EGRESS_ALLOW: '127.0.0.1' } });

const ann = await make.person();
const agentId = (await make.agent({ owner: ann, modelId: 'openai/test-model', intermediateStepsVisible: true })).id;
const data = { repair: 'A repair costs 15 euros.' };
await indexed(ann, (await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data })).id);

beforeEach(() => server.reset());
afterAll(() => Promise.all([web.close(), server.close()]));

const fields = `__typename status
  ... on CallItem { callId name arguments }
  ... on WebSearchItem { action query url sources { url title } error { code message } }
  ... on FileSearchItem { queries results { fileId filename score text } error { code message } }
  ... on McpCallItem { serverLabel tool isApproved output error { code message } }
  ... on McpToolsItem { serverLabel unavailableReason tools { name description inputSchema title isReadOnly isDestructive isIdempotent isOpenWorld } }
  ... on ToolOutputItem { output error { code message } }
  ... on ApprovalItem { mcpServerLabel tool }`;
// biome-ignore lint/suspicious/noExplicitAny: items of any form; what is found is what is checked.
type Item = any;

/** The items that a message leads to. Those of the events are those of the end. */
async function itemsOf(tools: readonly object[], calls: readonly (readonly [string, object])[]): Promise<readonly Item[]> {
  const toolCalls = calls.map(([name, args], index) => ({ id: `call_${index}`, name, arguments: JSON.stringify(args) }));
  upstream.next(...toolCalls.map((call) => ({ toolCalls: [call] })), { text: 'Done.' });
  const query = `subscription ($chatId: ID!, $input: SendMessageInput!) { messageEvents(chatId: $chatId, input: $input) {
    ... on ItemDone { item { ${fields} } } ... on RunEnded { run { output { ${fields} } } } } }`;
  const chat = await make.chat({ owner: ann, agentId });
  const results = await Array.fromAsync(ann.subscribe(query, { chatId: chat.id, input: graphqlInput({ prompt: 'Go', tools }) }));
  expect(results.flatMap(({ errors }) => errors ?? [])).toEqual([]);
  const events = results.map(({ data }) => data.messageEvents);
  const { output } = events.at(-1).run;
  expect(events.flatMap(({ item }) => item ?? [])).toEqual(output);
  return output;
}
const typesOf = (items: readonly Item[]) => items.map(({ __typename }) => __typename);
const mcp = (members: object = {}) => ({ type: 'mcp', serverLabel: 'shop', serverUrl: server.url, ...members });

describe('the items of a run', () => {
  it('say what a search of the web looked for and found, and which page was opened', async () => {
    const [searched, opened, said] = await itemsOf(
      [{ type: 'web_search' }],
      [
        ['web_search', { query: 'bikes' }],
        ['open_page', { url: `${web.url}/bikes` }],
      ],
    );
    const sources = [{ url: `${web.url}/bikes`, title: 'Bikes' }];
    expect(searched).toMatchObject({ action: 'SEARCH', query: 'bikes', url: null, sources });
    expect(opened).toMatchObject({ action: 'OPEN_PAGE', query: null, url: `${web.url}/bikes`, sources: [] });
    expect(typesOf([searched, opened, said])).toEqual(['WebSearchItem', 'WebSearchItem', 'MessageItem']);
  });

  it('say what a search of knowledge found', async () => {
    const [searched] = await itemsOf([{ type: 'file_search' }], [['search_knowledge', { query: 'repair' }]]);
    expect(searched).toMatchObject({
      __typename: 'FileSearchItem',
      queries: ['repair'],
      results: [{ filename: 'Prices', fileId: expect.any(String), text: expect.stringContaining('15 euros') }],
    });
  });

  it('say which tools a server has, which one was called, and why a call failed', async () => {
    const tool = mcp({ requireApproval: 'never', allowedTools: ['echo', 'fail'] });
    const [listing, called, failed] = await itemsOf(
      [tool],
      [
        ['shop__echo', { text: 'x' }],
        ['shop__fail', {}],
      ],
    );
    expect(listing).toMatchObject({
      ...{ serverLabel: 'shop', unavailableReason: null },
      tools: [
        { name: 'echo', inputSchema: { required: ['text'] }, isReadOnly: true, isIdempotent: true, isDestructive: null },
        { name: 'fail', description: 'Says that it failed.', isReadOnly: null, title: null },
      ],
    });
    expect(called).toMatchObject({ error: null, serverLabel: 'shop', tool: 'echo', isApproved: false });
    expect(failed.error).toMatchObject({ code: expect.any(String), message: expect.stringContaining('The order 7 is closed.') });
    expect(typesOf([listing, called, failed])).toEqual(['McpToolsItem', 'McpCallItem', 'McpCallItem']);
  });

  it('say why a server cannot be used', async () => {
    const [listing] = await itemsOf([mcp({ serverUrl: 'http://10.0.0.1/mcp' })], []);
    expect(listing).toMatchObject({ tools: [], unavailableReason: expect.stringContaining('10.0.0.1') });
  });

  it('say why a call of another tool failed', async () => {
    const items = await itemsOf([{ type: 'memory' }], [['forget', { id: 'memo_none' }]]);
    const output = items.find(({ __typename }) => __typename === 'ToolOutputItem');
    expect(output).toMatchObject({ status: 'FAILED', output: null, error: { code: 'not_found', message: expect.any(String) } });
    expect(items.filter(({ error }) => (error ?? null) !== null)).toEqual([output]);
  });

  it.each<[string, object, string, object]>([
    ['of a server', mcp(), 'shop__act', { mcpServerLabel: 'shop', tool: 'act' }],
    ['of the service', { type: 'memory', requireApproval: true }, 'remember', { mcpServerLabel: null, tool: 'remember' }],
  ])('say what a person is asked to approve: a tool %s', async (_case, tool, name, shown) => {
    const args = { text: 'Tea' };
    const items = await itemsOf([tool], [[name, args]]);
    const asking = items.filter(({ __typename }) => __typename === 'ApprovalItem');
    expect(asking).toMatchObject([{ callId: expect.any(String), arguments: JSON.stringify(args), ...shown }]);
  });
});

it('a response that was approved names the request', async () => {
  upstream.next({ toolCalls: [{ id: 'call_1', name: 'shop__act', arguments: '{}' }] }, { text: 'Done.' });
  const tools = [{ type: 'mcp', server_label: 'shop', server_url: server.url, allowed_tools: ['act'] }];
  const asked = (await ann.post('/api/v2/responses', { model: agentId, input: 'Go', tools })).body;
  const request = asked.output.at(-1);
  expect(request.type).toBe('mcp_approval_request');
  const input = [{ type: 'mcp_approval_response', approval_request_id: request.id, approve: true }];
  const more = { model: agentId, previous_response_id: asked.id, input, tools };
  const { body } = await ann.post('/api/v2/responses', more);
  const query = `query ($id: ID!) { response(id: $id) { output { ${fields} } } }`;
  const data = await ann.ask(query, { id: body.id });
  const calls = data.response.output.filter(({ __typename }: Item) => __typename === 'McpCallItem');
  expect(calls).toMatchObject([{ serverLabel: 'shop', tool: 'act', isApproved: true, callId: request.id }]);
});
