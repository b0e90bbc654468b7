import { describe, expect, it } from 'vitest';
import { graphqlCompletion } from '../../../support/apis/graphql-inputs.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { sampled } from '../../../support/property/sample.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';

/** What a request names by itself asks for the scope that reads it; what the agent brings does not. */
const { make, upstream } = await withService('model');
const model = 'openai/test-model';
/** A key of ann that may only ask. */

const ann = await make.person();
const organization = { id: ann.orgId, tenantId: ann.tenantId };
const asker = await make.person({ organization, scopes: ['CHATS:READ', 'CHATS:WRITE', 'AGENTS:READ'] });
const agentId = (await make.agent({ owner: ann, modelId: model, visibility: 'ORGANIZATION' })).id;
const data = { repairs: 'A puncture repair costs fifteen euros.' };
const sourceId = (await make.apiDataSource({ owner: ann, agentId, name: 'Repairs', data })).id;
await ann.patch(`/api/v1/data-sources/${sourceId}`, { orgVisible: true });
await indexed(ann, sourceId);
const storeId = (await ann.post('/api/v1/vector_stores', { name: 'Letters' })).body.id;

const camel = (tool: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(tool).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
const said = { messages: [{ role: 'user', content: 'Go' }] };
const creating = 'mutation ($input: CompletionInput!) { createCompletion(input: $input) { status } }';
const surfaces: Readonly<Record<string, (who: Person, of: string, tool: Record<string, unknown>) => Promise<number>>> = {
  completions: async (who, of, tool) =>
    (await who.post('/api/v1/chat/completions', { model: of, ...said, tools: [tool] })).status,
  responses: async (who, of, tool) => (await who.post('/api/v2/responses', { model: of, input: 'Go', tools: [tool] })).status,
  chats: async (who, _of, tool) => {
    const chat = (await who.post(`/api/v1/ais/${agentId}/chats`, {})).body.id;
    return (await who.post(`/api/v1/chats/${chat}/messages`, { prompt: 'Go', tools: [camel(tool)] })).status;
  },
  GraphQL: async (who, of, tool) => {
    const { errors } = await who.graphql(creating, { input: graphqlCompletion({ model: of, ...said, tools: [tool] }) });
    return errors === undefined ? 200 : errors[0].extensions.code === 'INSUFFICIENT_SCOPE' ? 403 : 400;
  },
};

describe.each(sampled(Object.keys(surfaces)))('on %s', (name) => {
  const send = (who: Person, tool: Record<string, unknown>, of = agentId) => surfaces[name]?.(who, of, tool);

  it('a vector store and a connection of a request need the scope that reads them', async () => {
    upstream.otherwise(() => ({ text: 'Done.' }));
    expect(await send(asker, { type: 'file_search', vector_store_ids: [storeId] })).toBe(403);
    expect(await send(asker, { type: 'mcp_server', server: 'tickets' })).toBe(403);
    expect(upstream.requests).toEqual([]);
    expect(await send(ann, { type: 'file_search', vector_store_ids: [storeId] })).toBe(200);
  });

  it('what the agent brings needs only the right to ask it', async () => {
    upstream.otherwise(() => ({ text: 'Done.' }));
    expect(await send(asker, { type: 'file_search' })).toBe(200);
  });

  it('data sources on a bare model need the scope, and are refused when they are foreign', async () => {
    if (name === 'chats') return;
    upstream.otherwise(() => ({ text: 'Done.' }));
    const foreign = await make.person();
    expect(await send(asker, { type: 'file_search', data_source_ids: [sourceId] }, model)).toBe(403);
    expect(await send(foreign, { type: 'file_search', data_source_ids: [sourceId] }, model)).toBe(400);
    expect(await send(ann, { type: 'file_search', data_source_ids: [sourceId] }, model)).toBe(200);
  });
});

it('data sources on a bare model are searched like vector stores', async () => {
  const call = { id: 'call_1', name: 'search_knowledge', arguments: JSON.stringify({ query: 'puncture repair' }) };
  upstream.next({ toolCalls: [call] }, { text: 'Fifteen.' });
  const tools = [{ type: 'file_search', data_source_ids: [sourceId] }];
  const { status, body } = await ann.post('/api/v2/responses', { model, input: 'Go', tools });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(messagesOf(upstream.requests.at(-1)).findLast(({ role }) => role === 'tool')?.content).toContain('fifteen euros');
});

it('names data_source_ids when a source is none of the agent’s', async () => {
  const other = await make.agent({ owner: ann, modelId: model });
  const tools = [{ type: 'file_search', data_source_ids: [sourceId] }];
  for (const [path, body] of [
    ['/api/v2/responses', { model: other.id, input: 'Go', tools }],
    ['/api/v1/chat/completions', { model: other.id, ...said, tools }],
  ] as const) {
    const reply = await ann.post(path, body);
    expect([reply.status, reply.body.error.param]).toEqual([400, 'tools[0].data_source_ids']);
  }
});
