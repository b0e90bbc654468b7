import { describe, expect, it } from 'vitest';
import type { AgentSecret } from '../../../../src/entities/agents/part.ts';
import { canary, withSharedAgents } from '../../../support/runs/shared-agents.ts';

const at = await withSharedAgents();

const headers = { 'X-Api-Key': '{{secret:CRM_KEY}}' };

describe('a stored secret goes to the origin that it was given for', () => {
  it('and not to another one when an editor changes the address alone', async () => {
    const agent = await at.sharedAgent();
    const tool = (await agent.addTool(at.owner, { url: `${at.home.url}/a`, headers: { 'X-Api-Key': canary } })).body;
    const [secret] = await agent.secrets();
    expect(secret).toMatchObject({ key: 'CRM_HEADERS_X_API_KEY', origins: [at.home.url] });
    const path = `${agent.path}/tools/${tool.id}`;
    for (const who of [at.editor, at.owner]) {
      const reply = await who.patch(path, { data: { ...tool.data, url: `${at.elsewhere.url}/a` } });
      at.expectRefused(reply, 'data.headers.X-Api-Key');
      expect(reply.body.error.message).toContain(`CRM_HEADERS_X_API_KEY was given for ${at.home.url}`);
    }
    const mutation = 'mutation ($t: ID!, $i: UpdateAgentToolInput!) { updateAgentTool(id: $t, input: $i) { id } }';
    const kept = { name: 'X-Api-Key', value: tool.data.headers['X-Api-Key'] };
    const apiFunction = { url: at.elsewhere.url.toUpperCase().replace('HTTP', 'http'), headers: [kept] };
    const overGraphql = await at.editor.graphql(mutation, { t: tool.id, i: { settings: { apiFunction } } });
    expect(overGraphql.errors?.[0]?.extensions).toMatchObject({
      faults: [{ path: 'input.settings.apiFunction.headers.0.value' }],
    });
    // Another path of the same origin, or another name, needs no new secret.
    expect((await at.editor.patch(path, { data: { ...tool.data, url: `${at.home.url}/b` } })).status).toBe(200);
    expect((await at.editor.patch(path, { name: 'crm2' })).status).toBe(200);
    await at.called(at.editor, agent.id, 'crm2');
    expect(at.home.requests).toMatchObject([{ path: '/b', headers: { 'x-api-key': canary } }]);
    expect(at.elsewhere.requests).toEqual([]);
  });

  it('and not to a new tool of an editor that names its key', async () => {
    const agent = await at.sharedAgent();
    await agent.addSecret(at.owner, { origins: [at.home.url] });
    at.expectRefused(await agent.addTool(at.editor, { url: at.elsewhere.url, headers }), 'data.headers.X-Api-Key');
    const auth = { type: 'bearerToken', secretKey: 'CRM_KEY' };
    at.expectRefused(await agent.addTool(at.editor, { url: at.elsewhere.url, auth }), 'data.auth.secretKey');
    const deep = { method: 'POST', body: { a: [{ b: 'x {{secret:CRM_KEY}}' }] } };
    at.expectRefused(await agent.addTool(at.editor, { url: at.elsewhere.url, ...deep }), 'data.body.a[0].b');
    const mcp = await at.editor.post(`${agent.path}/tools`, {
      name: 'm',
      type: 'MCP_SERVER',
      data: { url: at.elsewhere.url, headers },
    });
    at.expectRefused(mcp, 'data.headers.X-Api-Key');
    expect((await agent.addTool(at.editor, { url: `${at.home.url}/x`, headers })).status).toBe(200);
    await at.called(at.editor, agent.id);
    expect(at.home.requests).toMatchObject([{ headers: { 'x-api-key': canary } }]);
  });

  it('until it is given anew for another one', async () => {
    const agent = await at.sharedAgent();
    const tool = (await agent.addTool(at.owner, { url: at.home.url, headers: { 'X-Api-Key': canary } })).body;
    const path = `${agent.path}/tools/${tool.id}`;
    const moved = { data: { ...tool.data, url: at.elsewhere.url } };
    expect((await at.owner.patch(path, { data: { ...moved.data, headers: { 'X-Api-Key': `${canary}-2` } } })).status).toBe(200);
    await at.called(at.editor, agent.id);
    expect(at.elsewhere.requests).toMatchObject([{ headers: { 'x-api-key': `${canary}-2` } }]);
    const [secret] = await agent.secrets();
    expect(secret?.origins).toEqual([at.elsewhere.url]);
    const secretPath = `${agent.path}/secrets/${secret?.id}`;
    expect((await at.owner.patch(secretPath, { origins: [at.home.url] })).body.error.param).toBe('origins');
    for (const origins of [['ftp://a.example'], ['https://a.example/path'], ['https://ann@a.example'], ['a.example']]) {
      expect((await at.owner.patch(secretPath, { value: canary, origins })).body.error.param).toBe('origins[0]');
    }
    const both = await at.owner.patch(secretPath, { value: `${canary}-3`, origins: [`${at.home.url}/`, at.elsewhere.url] });
    expect(both.body.origins).toEqual([at.home.url, at.elsewhere.url].sort());
    expect((await at.editor.patch(path, { data: tool.data })).status).toBe(200);
    await at.called(at.editor, agent.id);
    expect(at.home.requests).toMatchObject([{ headers: { 'x-api-key': `${canary}-3` } }]);
  });

  it('which is the origin of the tools that name it when its value comes', async () => {
    const agent = await at.sharedAgent();
    await agent.addTool(at.editor, { url: at.home.url, headers });
    const [secret] = await agent.secrets();
    expect(secret).toMatchObject({ hasValue: false, origins: [] });
    const path = `${agent.path}/secrets/${secret?.id}`;
    expect((await at.owner.patch(path, { value: canary })).body).toMatchObject({ hasValue: true, origins: [at.home.url] });
    await at.called(at.editor, agent.id);
    expect(at.home.requests).toHaveLength(1);
    // After its value was removed and given again, a secret does not go to origins that were added meanwhile.
    await at.editor.patch(path, { value: null });
    expect((await agent.addTool(at.editor, { url: at.elsewhere.url, headers }, 'other')).status).toBe(200);
    const again = await at.owner.patch(path, { value: canary });
    at.expectRefused(again, 'origins');
    expect((await at.owner.patch(path, { value: canary, origins: [at.home.url] })).status).toBe(200);
    expect(await at.called(at.editor, agent.id, 'other')).toContain(
      `CRM_KEY was given for ${at.home.url}, not for ${at.elsewhere.url}`,
    );
    expect(at.elsewhere.requests).toEqual([]);
  });

  it('which the first tool of the user who gave it decides, and no other user', async () => {
    const agent = await at.sharedAgent();
    expect((await agent.addSecret(at.owner)).body.origins).toEqual([]);
    at.expectRefused(await agent.addTool(at.editor, { url: at.elsewhere.url, headers }), 'data.headers.X-Api-Key');
    expect((await agent.addTool(at.owner, { url: at.home.url, headers })).status).toBe(200);
    expect((await agent.secrets())[0]?.origins).toEqual([at.home.url]);
    at.expectRefused(await agent.addTool(at.owner, { url: at.elsewhere.url, headers }, 'second'), 'data.headers.X-Api-Key');
    await at.called(at.editor, agent.id);
    expect(at.home.requests).toMatchObject([{ headers: { 'x-api-key': canary } }]);
  });

  it('which is that of the tools of a bundle for what is given at its import', async () => {
    const tools = [at.home.url, at.elsewhere.url].map((url, index) => ({
      name: `t${index}`,
      type: 'API_FUNCTION',
      data: { url, headers: { 'X-Api-Key': `{{secret:KEY_${index}}}`, 'X-Own': `${canary}-${index}` } },
    }));
    const agent = { name: 'A', description: 'd', instructions: 'i', src: '', modelId: 'openai/test-model' };
    const bundle = { version: '1.0', agent, tools };
    const reply = await at.owner.post('/api/v1/ais/import', { bundle, secrets: { KEY_0: canary, KEY_1: canary } });
    const { data } = (await at.owner.get(`/api/v1/ais/${reply.body.aiId}/secrets`)).body;
    const origins = Object.fromEntries(data.map((secret: AgentSecret) => [secret.key, secret.origins]));
    expect(origins).toEqual({
      KEY_0: [at.home.url],
      KEY_1: [at.elsewhere.url],
      T0_HEADERS_X_OWN: [at.home.url],
      T1_HEADERS_X_OWN: [at.elsewhere.url],
    });
    const stolen = { url: at.elsewhere.url, headers: { A: '{{secret:KEY_0}}' } };
    const tool = await at.owner.post(`/api/v1/ais/${reply.body.aiId}/tools`, { name: 'new', type: 'API_FUNCTION', data: stolen });
    at.expectRefused(tool, 'data.headers.A');
    const both = { ...bundle, tools: tools.map((one) => ({ ...one, data: { ...one.data, headers } })) };
    const dry = await at.owner.post('/api/v1/ais/import?dryRun=true', { bundle: both, secrets: { CRM_KEY: canary } });
    expect(dry.body.warnings).toEqual([
      `secret sent to several places: CRM_KEY to ${[at.home.url, at.elsewhere.url].sort().join(', ')}`,
    ]);
  });

  it.each([301, 302, 303, 307, 308])('and follows no redirect (%i) away from it', async (status) => {
    const agent = await at.sharedAgent();
    await agent.addTool(at.owner, {
      method: 'POST',
      url: at.home.url,
      auth: { type: 'bearerToken', token: canary },
      body: { key: canary },
    });
    for (const location of [
      at.elsewhere.url,
      at.home.url.replace('127.0.0.1', 'localhost'),
      at.home.url.replace('http:', 'https:'),
    ]) {
      at.home.answer(() => ({ status, headers: { location: `${location}/next` } }));
      expect(await at.called(at.owner, agent.id)).toContain(`The service answered ${status}`);
    }
    expect(at.home.requests.map(({ path }) => path)).toEqual(['/', '/', '/']);
    expect(at.elsewhere.requests).toEqual([]);
  });
});

it('a secret of the caller goes to the tools whose stored data name its key, and nowhere else', async () => {
  const agent = await at.sharedAgent();
  await agent.addTool(at.editor, { url: `${at.elsewhere.url}/named`, headers: { 'X-User': '{{secret:USER_TOKEN}}' } });
  const open = { type: 'object', properties: { a: {} } };
  await agent.addTool(at.editor, { url: `${at.elsewhere.url}/unnamed?b={a}`, parameters: open }, 'unnamed');
  await at.called(at.owner, agent.id, 'crm', { USER_TOKEN: canary });
  expect(at.elsewhere.requests).toMatchObject([{ path: '/named', headers: { 'x-user': canary } }]);
  at.elsewhere.reset();
  at.upstream.reset();
  const args = JSON.stringify({ a: '{{secret:USER_TOKEN}}' });
  at.upstream.next({ toolCalls: [{ id: 'call_1', name: 'unnamed', arguments: args }] }, { text: 'Done.' });
  const chat = await at.make.chat({ owner: at.owner, agentId: agent.id });
  await at.owner.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', secrets: { USER_TOKEN: canary } });
  expect(at.elsewhere.requests).toHaveLength(1);
  expect(JSON.stringify(at.elsewhere.requests)).not.toContain('CANARY');
});
