import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model', { env: { TOOL_RESULT_MAX_CHARS: '500' } });
const strict = await withService('model', { env: { EGRESS_ALLOW: '' } });
const server = await startMcpUpstream();

const api = await startApiServer();
const organization = await make.organization();
const ann = await make.person({ organization });
const colleague = await make.person({ organization });
const agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;

beforeEach(() => {
  api.reset();
  server.reset();
});
afterAll(async () => {
  await api.close();
  await server.close();
});

const secret = 'CANARY-trial-4711';
const weather = (url = api.url) => ({
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  method: 'GET',
  url: `${url}/weather/{city}`,
  headers: { 'X-Api-Key': secret },
});
let count = 0;
async function toolOf(type: string, data: object, owner = ann, agent = agentId): Promise<string> {
  count += 1;
  const made = await owner.post(`/api/v1/ais/${agent}/tools`, { name: `tool_${count}`, type, data });
  expect(made.status).toBe(200);
  return made.body.id;
}

const mutation = `mutation ($id: ID!, $arguments: JSON, $tool: String) {
  tryAgentTool(id: $id, arguments: $arguments, tool: $tool) { output isError durationMs files { filename } }
}`;
async function tried(who: Person, id: string, args: unknown, tool?: string) {
  const data = await who.ask(mutation, { id, arguments: args, tool });
  return data.tryAgentTool;
}
const codeOf = async (who: Person, variables: Readonly<Record<string, unknown>>) =>
  (await who.graphql(mutation, variables)).errors?.[0]?.extensions.code;

describe('tryAgentTool with an API function', () => {
  it('makes the call of a run, with the secrets of the agent, and shows none of them', async () => {
    api.answer(({ headers }) => ({ body: `{"celsius":12,"key":"${headers['x-api-key']}"}` }));
    const trial = await tried(ann, await toolOf('API_FUNCTION', weather()), { city: 'Paris/x' });
    expect(trial).toEqual({
      output: '{"celsius":12,"key":"[secret]"}',
      isError: false,
      durationMs: expect.any(Number),
      files: [],
    });
    expect(api.requests).toMatchObject([{ method: 'GET', path: '/weather/Paris%2Fx', headers: { 'x-api-key': secret } }]);
    expect(upstream.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('says what is wrong with the arguments, and makes no call', async () => {
    const trial = await tried(ann, await toolOf('API_FUNCTION', weather()), { town: 'Paris' });
    expect(trial).toMatchObject({ isError: true, output: expect.stringMatching(/^The arguments do not fit the parameters: /) });
    expect(api.requests).toEqual([]);
  });

  it('shows the refusal of the service, cut as in a run', async () => {
    api.answer(() => ({ status: 404, body: `no such city ${'x'.repeat(2_000)}` }));
    const { isError, output } = await tried(ann, await toolOf('API_FUNCTION', weather()), { city: 'Nowhere' });
    expect({ isError, start: output.slice(0, 39) }).toEqual({ isError: true, start: 'The service answered 404: no such city ' });
    expect(output.length).toBeLessThan(600);
  });

  it('reaches no address that a run may not reach', async () => {
    const eve = await strict.make.person();
    const agent = await strict.make.agent({ owner: eve });
    const trial = await tried(eve, await toolOf('API_FUNCTION', weather(), eve, agent.id), { city: 'Paris' });
    expect(trial).toMatchObject({ isError: true, output: expect.stringMatching(/^The call failed: /) });
    expect(api.requests).toEqual([]);
  });

  it('has its entry in the audit log, without the arguments', async () => {
    const boss = await make.person({ role: 'ADMIN', organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const id = await toolOf('API_FUNCTION', weather());
    await tried(ann, id, { city: 'Atlantis' });
    const { data } = await boss.graphql(
      '{ auditLog(filter: { action: "tryAgentTool" }, first: 1) { nodes { outcome targetIds changes { member } } } }',
    );
    const [entry] = data.auditLog.nodes;
    expect(entry).toMatchObject({ outcome: 'SUCCEEDED', targetIds: [id] });
    expect(JSON.stringify(entry)).not.toContain('Atlantis');
  });

  it('is for editors, and for tools that run in the service', async () => {
    const id = await toolOf('API_FUNCTION', weather());
    expect(await codeOf(colleague, { id, arguments: { city: 'Paris' } })).toBe('FORBIDDEN');
    expect(await codeOf(await make.person(), { id })).toBe('NOT_FOUND');
    expect(await codeOf(ann, { id, tool: 'echo' })).toBe('INVALID_VALUE');
    const client = await toolOf('CLIENT_FUNCTION', { description: 'Opens a window' });
    const { errors } = await ann.graphql(mutation, { id: client });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('is a function of the client'),
      extensions: { code: 'INVALID_VALUE' },
    });
    expect(api.requests).toEqual([]);
  });
});

describe('the MCP server of an agent', () => {
  const listing = `query ($id: ID!) { agentToolTools(id: $id) {
    tools { isAllowed tool { name title description inputSchema isReadOnly } } leftOutCount unavailableReason
  } }`;
  const listed = async (who: Person, id: string) => (await who.graphql(listing, { id })).data.agentToolTools;
  type Offered = { readonly isAllowed: boolean; readonly tool: { readonly name: string } };

  it('lists its tools, as they are now', async () => {
    const id = await toolOf('MCP_SERVER', { url: server.url, allowedTools: ['echo'] });
    const { tools, unavailableReason } = await listed(ann, id);
    expect(unavailableReason).toBeNull();
    expect(tools.map(({ tool }: Offered) => tool.name)).toEqual(server.tools.map(({ name }) => name));
    expect(tools.filter(({ isAllowed }: Offered) => isAllowed).map(({ tool }: Offered) => tool.name)).toEqual(['echo']);
    const asked = () => server.requests.filter(({ rpc }) => rpc === 'tools/list').length;
    const before = asked();
    await listed(ann, id);
    expect(asked()).toBeGreaterThan(before);
  });

  it('is called, as a run calls it', async () => {
    const id = await toolOf('MCP_SERVER', { url: server.url });
    const trial = await tried(ann, id, { text: 'Good morning' }, 'echo');
    expect(trial).toMatchObject({ isError: false, output: expect.stringContaining('Good morning') });
    expect(server.calls).toEqual([{ name: 'echo', args: { text: 'Good morning' } }]);
  });

  it('is not called for a tool that it does not have, or that the agent may not call', async () => {
    const id = await toolOf('MCP_SERVER', { url: server.url, allowedTools: ['fail'] });
    for (const tool of ['nothing', 'echo']) expect(await codeOf(ann, { id, arguments: {}, tool })).toBe('INVALID_VALUE');
    expect(await codeOf(ann, { id, arguments: {} })).toBe('MISSING_REQUIRED_PARAMETER');
    expect(server.calls).toEqual([]);
  });

  it('that does not answer is no error of the request', async () => {
    const id = await toolOf('MCP_SERVER', { url: 'http://127.0.0.1:9/mcp' });
    const { tools, unavailableReason } = await listed(ann, id);
    expect(tools).toEqual([]);
    expect(unavailableReason).toEqual(expect.any(String));
    expect(await tried(ann, id, {}, 'echo')).toMatchObject({ isError: true, output: unavailableReason });
  });

  it('is listed for editors only', async () => {
    const id = await toolOf('MCP_SERVER', { url: server.url });
    expect((await colleague.graphql(listing, { id })).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    const api = await toolOf('API_FUNCTION', weather());
    expect((await ann.graphql(listing, { id: api })).errors?.[0]?.extensions.code).toBe('INVALID_VALUE');
  });
});
