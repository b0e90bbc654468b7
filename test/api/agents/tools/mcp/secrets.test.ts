import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../../fixtures/upstreams/mcp/server.ts';
import type { Person } from '../../../../support/make.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { withService } from '../../../../support/service.ts';
import { chatsOnGraphql, everyApi } from '../../../../support/tools/every-api.ts';

/** Secrets of a request go to the server that the request names, and to no other of the same name. */
const named = await startMcpUpstream();
const other = await startMcpUpstream();
const bench = await withService('model');
const { make, upstream } = bench;
const model = 'openai/test-model';
const secret = 'the-askers-own-secret-1';
let ann: Person;

beforeAll(async () => {
  ann = await make.person();
  const data = { name: 'tickets', url: named.url, headers: { 'X-Key': '{{secret:API_KEY}}' } };
  expect((await ann.post('/api/v1/connections/mcp-servers', data)).status).toBe(200);
});
beforeEach(() => {
  named.reset();
  other.reset();
});
afterAll(async () => {
  await named.close();
  await other.close();
});

const received = ({ requests }: typeof named) => JSON.stringify(requests.map(({ headers }) => headers));

describe('secrets of mcp_server', () => {
  const tool = { type: 'mcp_server', server: 'tickets', secrets: { API_KEY: secret } };
  it.each(sampled([...everyApi, ...chatsOnGraphql]))(
    "stay away from the agent's own server of that name: %s",
    async (api, ask) => {
      const agent = await make.agent({ owner: ann, modelId: model });
      const data = { url: `${other.url}?from=${api.length}${api.at(-1)}`, headers: { 'X-Key': '{{secret:API_KEY}}' } };
      await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'tickets', type: 'MCP_SERVER', data });
      upstream.next({ toolCalls: [{ id: 'call_1', name: 'tickets__echo', arguments: '{"text":"a"}' }] }, { text: 'Done.' });
      await ask(ann, { tool, input: 'Go', model: agent.id, agentId: agent.id }, bench);
      expect(received(named)).toContain(secret);
      expect(received(other)).not.toContain(secret);
    },
  );
});
