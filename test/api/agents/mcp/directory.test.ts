import { Client, StreamableHTTPClientTransport, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** Which agents an MCP client sees under which names, and how its sessions end. */
const model = 'openai/test-model';
const { service, make, upstream } = await withService('model', {});
const open: Client[] = [];
let eve: Person;
let publicId: string;

beforeAll(async () => {
  eve = await make.person();
  publicId = (await make.agent({ owner: eve, modelId: model, name: 'Helper' })).id;
  const listed = await eve.patch(`/api/v1/ais/${publicId}`, { visibility: 'ANYONE_WITH_LINK', listInPublicCatalog: true });
  expect(listed.status, JSON.stringify(listed.body)).toBe(200);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connect(who: Person, path = '/mcp', url = service.url) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}${path}`), {
    requestInit: { headers: { authorization: `Bearer ${who.key}` } },
  });
  await client.connect(transport);
  open.push(client);
  return { client, transport };
}
const asks = async (who: Person, path?: string) => {
  const { tools } = await (await connect(who, path)).client.listTools();
  return tools.map(({ name }) => name).filter((name) => name.startsWith('ask_'));
};
const both = { accept: 'application/json, text/event-stream' };
const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });

describe('agents', () => {
  it('that are deleted leave their names to others', async () => {
    const ann = await make.person();
    const { id } = await make.agent({ owner: ann, modelId: model, name: 'Helper' });
    expect(await asks(ann)).toEqual(['ask_helper']);
    expect((await ann.call('DELETE', `/api/v1/ais/${id}`)).status).toBeLessThan(300);
    await make.agent({ owner: ann, modelId: model, name: 'Helper' });
    expect(await asks(ann)).toEqual(['ask_helper']);
  });

  it('of other organizations are not listed, also public ones, and take no name away', async () => {
    const ann = await make.person();
    expect(await asks(ann)).toEqual([]);
    await make.agent({ owner: ann, modelId: model, name: 'Helper' });
    expect(await asks(ann)).toEqual(['ask_helper']);
  });

  it('of other organizations are asked at an address of their own', async () => {
    const ann = await make.person();
    const [name = ''] = await asks(ann, `/mcp/agents/${publicId}`);
    expect(name).toBe(`ask_helper_${publicId.slice(-6)}`);
    upstream.next({ text: 'Here.' });
    const { client } = await connect(ann, `/mcp/agents/${publicId}`);
    expect(await client.callTool({ name, arguments: { question: 'Where?' } })).toMatchObject({
      structuredContent: { answer: 'Here.' },
    });
    const hidden = await make.agent({ owner: eve, modelId: model, name: 'Hidden' });
    const refused = await ann.post(`/mcp/agents/${hidden.id}`, rpc('tools/list'), both);
    expect(refused.body.error.message).toContain('no such');
  });

  it('keep their names when others of the same name come, go, or are renamed', async () => {
    const ann = await make.person();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await make.agent({ owner: ann, modelId: model, name: 'Same' })).id);
    const names = await asks(ann);
    expect(names).toEqual(['ask_same', `ask_same_${ids[1]?.slice(-6)}`, `ask_same_${ids[2]?.slice(-6)}`]);
    await ann.patch(`/api/v1/ais/${ids[0]}`, { name: 'Other' });
    expect(await asks(ann)).toEqual(['ask_other', names[1], names[2]]);
    await ann.delete(`/api/v1/ais/${ids[1]}`);
    expect(await asks(ann)).toEqual(['ask_other', names[2]]);
  });

  it('have one name for all who may use them', async () => {
    const ann = await make.person();
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    await make.agent({ owner: ann, modelId: model, name: 'Twice' });
    await make.agent({ owner: ann, modelId: model, name: 'Twice', visibility: 'ORGANIZATION' });
    const [, second] = await asks(ann);
    expect(await asks(bob)).toEqual([second]);
  });
});

describe('a session', () => {
  it('is over when its client ends it, for that client only', async () => {
    const [one, two] = [await connect(eve), await connect(eve)];
    await one.client.listTools();
    const session = { ...both, 'mcp-session-id': one.transport.sessionId ?? '' };
    await one.transport.terminateSession();
    for (const call of [
      eve.post('/mcp', rpc('tools/list'), session),
      eve.get('/mcp', session),
      eve.call('DELETE', '/mcp', undefined, session),
    ]) {
      expect((await call).status).toBe(404);
    }
    expect((await two.client.listTools()).tools.length).toBeGreaterThan(0);
    expect((await eve.call('DELETE', '/mcp', undefined, both)).status).toBe(400);
  });

  it('in a version that is not spoken is refused with the number of the request and the versions that are', async () => {
    const { status, body } = await eve.post('/mcp', rpc('tools/list'), { ...both, 'mcp-protocol-version': '1999-01-01' });
    expect([status, body]).toMatchObject([
      400,
      { id: 7, error: { data: { supported: ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS], requested: '1999-01-01' } } },
    ]);
  });
});

describe('an error', () => {
  it('says its code once, for the client and for the model', async () => {
    const { client } = await connect(eve);
    const error = await client.callTool({ name: 'ask_nobody', arguments: {} }).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: -32_602, message: 'There is no tool ask_nobody for this key' });
  });

  it('names the member that is wrong, with the code of wrong parameters', async () => {
    const { body } = await eve.post('/mcp', rpc('prompts/get'), both);
    expect(body).toMatchObject({ id: 7, error: { code: -32_602, message: expect.stringContaining('name') } });
  });

  it.each(['logging/setLevel', 'resources/subscribe', 'tasks/list', 'sampling/createMessage', 'nothing/here'])(
    'answers the method %s, which is not offered',
    async (method) => {
      const { body } = await eve.post('/mcp', rpc(method), both);
      expect(body).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32_601, message: 'Method not found' } });
    },
  );
});
