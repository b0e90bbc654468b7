import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openSecrets, sealSecrets } from '../../../../../src/engine/knowledge/connections/secrets.ts';
import { type GuardedMcp, startGuardedMcp } from '../../../../fixtures/upstreams/mcp/authorization.ts';
import type { Person } from '../../../../support/make.ts';
import { WalkingBrowser } from '../../../../support/people/walk.ts';
import { withService } from '../../../../support/service.ts';

/** MCP servers that want OAuth, with a certified authorization server and the SDK's own check of tokens. */
const guarded: GuardedMcp = await startGuardedMcp();
const { service, make, upstream } = await withService('model', {});
const model = 'openai/test-model';
let ann: Person;

afterAll(() => guarded.close());
beforeEach(async () => {
  guarded.reset();
  ann = await make.person();
});

const storeServer = async (who = ann, more: object = {}) => {
  const reply = await who.post('/api/v1/connections/mcp-servers', { name: 'Notes', url: guarded.url, ...more });
  expect(reply.body).toMatchObject({ kind: 'MCP_SERVER' });
  return reply.body.id as string;
};
const authorize = (connectionId: string, more: object = {}, who = ann) =>
  who.post('/api/v1/connections/authorize', { provider: 'MCP', connectionId, ...more });
const walk = (address: string) => new WalkingBrowser(() => service.url).walk(address);
const wordIn = (page: string) => /name="word" value="([^"]+)"/.exec(page)?.[1] ?? '';
const confirm = (word: string) =>
  fetch(`${service.url}/oauth/callback`, { method: 'POST', body: new URLSearchParams({ word }), redirect: 'manual' });
async function signIn(connectionId: string, more: object = {}, who = ann): Promise<URLSearchParams> {
  const { status, body } = await authorize(connectionId, more, who);
  expect(body).toMatchObject({ url: expect.any(String) });
  expect(status).toBe(200);
  const page = await walk(body.url);
  expect(page.text).toContain('Notes');
  expect((await confirm(wordIn(page.text))).status).toBe(200);
  return new URL(body.url).searchParams;
}
const connectionOf = async (id: string, who = ann) => (await who.get(`/api/v1/connections/${id}`)).body;
const secretsOf = async (id: string) => (await openSecrets(service.deps.storage, { id, orgId: ann.orgId })) ?? {};
const tool = (connectionId: string) => ({ type: 'mcp_server', server: connectionId });
const call = (name: string, args: object = {}) => ({
  toolCalls: [{ id: `call_${name}`, name: `Notes__${name}`, arguments: JSON.stringify(args) }],
});
/** Has the model call a tool of the server. @returns the reply, and what the model got as the result. */
async function run(connectionId: string, name = 'echo', args: object = { text: 'seven' }, who = ann) {
  upstream.reset();
  upstream.next(call(name, args), { text: 'Done.' });
  const reply = await who.post('/api/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Go' }],
    tools: [tool(connectionId)],
  });
  const messages = (upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[];
  return { reply, result: messages.findLast(({ role }) => role === 'tool')?.content ?? '', system: messages[0]?.content ?? '' };
}
const tokenRequests = () => guarded.asked.filter(({ path }) => path === '/as/token').map(({ body }) => new URLSearchParams(body));

describe('a person who signs in to an MCP server', () => {
  it('is sent to its authorization server with PKCE and the resource, and has its tools', async () => {
    const id = await storeServer();
    const before = await run(id);
    expect(JSON.stringify(before.reply.body)).toContain(`${service.url}/account/connections`);
    expect(before.system).toContain(`${service.url}/account/connections`);
    expect(await connectionOf(id)).toMatchObject({ needsReauthorization: true });

    const sent = await signIn(id);
    expect(Object.fromEntries(sent)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${service.url}/oauth/callback`,
      resource: guarded.url,
      scope: 'mcp:read offline_access',
    });
    const [token] = tokenRequests();
    expect(token?.get('resource')).toBe(guarded.url);
    expect(token?.get('code_verifier')).toMatch(/^.{43,128}$/);
    const connection = await connectionOf(id);
    expect(connection).toMatchObject({ needsReauthorization: false, scopes: ['mcp:read', 'offline_access'] });
    expect(new Date(connection.expiresAt).getTime()).toBeGreaterThan(Date.now());

    const { result, reply } = await run(id);
    expect(result, JSON.stringify(reply.body)).toContain('seven');
    expect(reply.body.warnings ?? []).toEqual([]);
    // The server tells the headers of the call: the token is not shown to the model.
    const told = await run(id, 'whoami', {});
    const { accessToken = '' } = await secretsOf(id);
    expect(accessToken).not.toBe('');
    expect(told.result).toContain('authorization');
    expect(told.result).not.toContain(accessToken);
  });

  it('has tokens of its own: nobody else uses them', async () => {
    const organization = await make.organization();
    ann = await make.person({ organization });
    const bob = await make.person({ organization });
    const id = await storeServer();
    await signIn(id);
    const { reply } = await run(id, 'echo', { text: 'seven' }, bob);
    expect(reply.status).toBe(400);
    expect((await authorize(id, {}, bob)).status).toBe(404);
  });

  it('signs in once more with the client that was registered before', async () => {
    const id = await storeServer();
    const first = await signIn(id);
    const second = await signIn(id);
    expect(second.get('client_id')).toBe(first.get('client_id'));
    expect(guarded.asked.filter(({ path }) => path === '/as/reg')).toHaveLength(1);
    expect((await run(id)).result).toContain('seven');
  });

  it('renews a token that the server does not take any more, and keeps the rotated one', async () => {
    const id = await storeServer();
    await signIn(id);
    const before = await secretsOf(id);
    guarded.expire('access');
    expect((await run(id)).result).toContain('seven');
    const after = await secretsOf(id);
    expect(after.refreshToken).not.toBe(before.refreshToken);
    expect(after.accessToken).not.toBe(before.accessToken);
    guarded.expire('access');
    expect((await run(id)).result).toContain('seven');
  });

  it('renews a token before it ends, and uses it to its end while the authorization server fails', async () => {
    const id = await storeServer();
    await signIn(id);
    const { storage } = service.deps;
    const expireIn = (ms: number) => storage.knowledge.connections.update(id, { expiresAt: new Date(Date.now() + ms) });
    await expireIn(30_000);
    guarded.intercept = (path, res) => {
      if (path !== '/as/token') return false;
      res.writeHead(503).end();
      return true;
    };
    expect((await run(id)).result).toContain('seven');
    guarded.intercept = undefined;
    guarded.asked.length = 0;
    expect((await run(id)).result).toContain('seven');
    expect(tokenRequests().map((form) => form.get('grant_type'))).toEqual(['refresh_token']);
    await expireIn(-1_000);
    guarded.intercept = (path, res) => {
      if (path !== '/as/token') return false;
      res.writeHead(503).end();
      return true;
    };
    const failed = await run(id);
    expect(JSON.stringify([failed.result, failed.reply.body])).toContain('got no new token');
  });

  it('renews once for calls at the same time', async () => {
    const id = await storeServer();
    await signIn(id);
    guarded.expire('access');
    guarded.asked.length = 0;
    upstream.reset();
    const { signal } = new AbortController();
    const { storage, mcp } = service.deps;
    const connection = await storage.knowledge.connections.find(id, {});
    const source = mcp.tokens.open(connection as never, await secretsOf(id), { tenantId: 't', orgId: ann.orgId });
    const refused = (await source.authorization(signal)) ?? '';
    await Promise.all(Array.from({ length: 8 }, () => source.renew(refused, signal)));
    expect(tokenRequests().filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
    expect(await source.authorization(signal)).not.toBe(refused);
    expect((await run(id)).result).toContain('seven');
  });

  it('is asked again when the token ends and there is none to renew it, and the authorization server is not', async () => {
    const id = await storeServer();
    await signIn(id);
    const { refreshToken: _none, ...secrets } = await secretsOf(id);
    const sealed = await sealSecrets(service.deps.storage, { id, orgId: ann.orgId }, secrets);
    await service.deps.storage.db.prisma.connection.update({ where: { id }, data: { sealed } });
    guarded.expire('access');
    const before = tokenRequests().length;
    const { result, reply } = await run(id);
    expect(JSON.stringify([result, reply.body])).toContain('has to sign in at');
    expect(tokenRequests()).toHaveLength(before);
    expect(await connectionOf(id)).toMatchObject({ needsReauthorization: true });
  });

  it('is asked again when the refresh token is revoked', async () => {
    const id = await storeServer();
    await signIn(id);
    guarded.expire('all');
    const { result, reply } = await run(id);
    const words = JSON.stringify([result, reply.body]);
    expect(words).toContain('has to sign in at');
    expect(await connectionOf(id)).toMatchObject({ needsReauthorization: true });
    // Its token is sent no more, though the server might take it: the sign-in is over until the person comes.
    const asked = guarded.asked.length;
    const again = await run(id);
    expect(JSON.stringify([again.result, again.reply.body])).toContain('does not accept the sign-in any more');
    expect(guarded.asked).toHaveLength(asked);
    await signIn(id);
    expect((await run(id)).result).toContain('seven');
  });

  it('agrees to more when the server demands it, and keeps the rest until then', async () => {
    const id = await storeServer();
    await signIn(id);
    guarded.needed.set('act', 'mcp:write');
    const refused = await run(id, 'act', {});
    expect(refused.result).toContain('mcp:write');
    expect(refused.result).toContain(`${service.url}/account/connections`);
    expect(await connectionOf(id)).toMatchObject({ needsReauthorization: true });
    expect((await run(id)).result).toContain('seven');

    const sent = await signIn(id);
    expect(sent.get('scope')?.split(' ').toSorted()).toEqual(['mcp:read', 'mcp:write', 'offline_access']);
    expect((await run(id, 'act', {})).result).not.toContain('mcp:write');
    expect(await connectionOf(id)).toMatchObject({ needsReauthorization: false });
  });

  it('gives the tokens back with the connection, and ends its sessions', async () => {
    const id = await storeServer();
    await signIn(id);
    await run(id);
    const { sessions } = guarded.upstream;
    const { refreshToken } = await secretsOf(id);
    expect((await ann.delete(`/api/v1/connections/${id}`)).status).toBe(200);
    const [revocation] = guarded.asked.filter(({ path }) => path === '/as/token/revocation');
    expect(new URLSearchParams(revocation?.body).get('token')).toBe(refreshToken);
    await expect.poll(() => guarded.upstream.sessions).toBe(sessions - 1);
  });
});

describe('the tokens of somebody who goes', () => {
  const revoked = () =>
    guarded.asked.filter(({ path }) => path === '/as/token/revocation').map(({ body }) => new URLSearchParams(body).get('token'));
  beforeEach(async () => {
    ann = await make.person({ role: 'ADMIN' });
  });
  const memberOf = async () => {
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const id = await storeServer(bob);
    await signIn(id, {}, bob);
    const { refreshToken } = await secretsOf(id);
    return { bob, id, refreshToken };
  };
  const leave = async (userId: string) => {
    const members = (await ann.get('/api/v1/admin/memberships')).body.data as { id: string; userId: string }[];
    const membership = members.find((member) => member.userId === userId);
    expect((await ann.delete(`/api/v1/admin/memberships/${membership?.id}`)).status).toBe(200);
  };

  it('are given back when the person leaves, and stay gone when the person comes back', async () => {
    const { bob, id, refreshToken } = await memberOf();
    await leave(bob.userId);
    await expect.poll(revoked, { timeout: 15_000 }).toEqual([refreshToken]);
    await expect.poll(() => secretsOf(id)).not.toHaveProperty('accessToken');
    expect(await service.deps.storage.knowledge.connections.find(id, {})).toMatchObject({
      needsReauthorization: true,
      scopes: [],
    });
  });

  it('are forgotten too where the authorization server does not take them back', async () => {
    const { bob, id } = await memberOf();
    guarded.intercept = (path, res) => {
      if (path !== '/as/token/revocation') return false;
      res.writeHead(503).end();
      return true;
    };
    await leave(bob.userId);
    await expect.poll(() => secretsOf(id), { timeout: 15_000 }).not.toHaveProperty('refreshToken');
  });

  it('are given back when the person is erased', async () => {
    const { bob, refreshToken } = await memberOf();
    const erase = 'mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { status } }';
    expect((await ann.graphql(erase, { input: { userId: bob.userId } })).data.erasePerson.status).toBe('PENDING');
    await expect.poll(revoked, { timeout: 30_000 }).toContain(refreshToken);
  });

  it('are given back when the person is deleted', async () => {
    const { bob, refreshToken } = await memberOf();
    const operator = await make.person({ level: 'INSTANCE' });
    expect((await operator.delete(`/api/v1/admin/users/${bob.userId}`)).status).toBe(200);
    await expect.poll(revoked, { timeout: 15_000 }).toContain(refreshToken);
  });

  it('are given back when the organization is deleted, and kept where the deletion is refused', async () => {
    const { id, refreshToken } = await memberOf();
    const operator = await make.person({ level: 'INSTANCE' });
    const agent = await make.agent({ owner: ann, modelId: model });
    const remove = () => operator.delete(`/api/v1/admin/organizations/${ann.orgId}`);
    expect((await remove()).status).toBe(409);
    expect(await secretsOf(id)).toMatchObject({ refreshToken });
    expect(revoked()).toEqual([]);
    expect((await ann.delete(`/api/v1/ais/${agent.id}`)).status).toBe(200);
    expect((await remove()).status).toBe(200);
    expect(revoked()).toEqual([refreshToken]);
    expect(await service.deps.storage.knowledge.connections.find(id, {})).toBeUndefined();
  });

  it('do not keep an organization whose authorization server is away', async () => {
    await memberOf();
    guarded.intercept = (path, res) => {
      if (path !== '/as/token/revocation') return false;
      res.destroy();
      return true;
    };
    const operator = await make.person({ level: 'INSTANCE' });
    expect((await operator.delete(`/api/v1/admin/organizations/${ann.orgId}`)).status).toBe(200);
  });
});

describe('an agent with such a server', () => {
  const ask = (agentId: string, who: Person) => {
    upstream.reset();
    upstream.next(call('echo', { text: 'seven' }), { text: 'Done.' });
    return who.post('/api/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: 'Go' }] });
  };
  const calls = () => guarded.upstream.calls.length;

  it('uses the tokens of the person who asks, once that person has granted the connection', async () => {
    const organization = await make.organization();
    ann = await make.person({ organization });
    const bob = await make.person({ organization });
    const agent = await make.agent({ owner: ann, modelId: model, visibility: 'ORGANIZATION' });
    const { status } = await ann.post(`/api/v1/ais/${agent.id}/tools`, {
      name: 'Notes',
      type: 'MCP_SERVER',
      data: { server: 'Notes' },
    });
    expect(status).toBeLessThan(300);
    // The owner's connection is used without a sign-in of the person who asks, who is told nothing of its place.
    const ofOwner = await storeServer(ann);
    const told = JSON.stringify((await ask(agent.id, bob)).body.warnings);
    expect(told).toContain('mcp_unavailable');
    expect(told).not.toContain('/account/connections');
    expect(JSON.stringify((await ask(agent.id, ann)).body.warnings)).toContain('/account/connections');
    await signIn(ofOwner);
    await ask(agent.id, bob);
    expect(calls()).toBe(1);

    const own = await storeServer(bob);
    expect((await bob.put(`/api/v1/ais/${agent.id}/grants`, { connections: [own] })).status).toBe(200);
    expect(JSON.stringify((await ask(agent.id, bob)).body.warnings)).toContain('/account/connections');
    await signIn(own, {}, bob);
    await ask(agent.id, bob);
    expect(calls()).toBe(2);
    const { accessToken } = (await openSecrets(service.deps.storage, { id: own, orgId: bob.orgId })) ?? {};
    expect(guarded.upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${accessToken}`);
  });
});

describe('a server that a request names by its address', () => {
  it('says that it needs a connection', async () => {
    upstream.reset();
    upstream.next({ text: 'Done.' });
    const { body } = await ann.post('/api/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Go' }],
      tools: [{ type: 'mcp', server_label: 's', server_url: guarded.url, require_approval: 'never' }],
    });
    expect(JSON.stringify(body.warnings)).toContain('store it as a connection');
  });
});

describe('what is not stored', () => {
  it.each([
    ['another resource', () => (guarded.resource = { resource: 'https://other.example/mcp' }), 'another resource'],
    ['another issuer', () => (guarded.metadata = { issuer: 'https://other.example' }), 'another one than the MCP server names'],
    ['no PKCE', () => (guarded.metadata = { code_challenge_methods_supported: ['plain'] }), 'PKCE'],
    ['a token address without https', () => (guarded.metadata = { token_endpoint: 'http://as.example/token' }), 'without https'],
    ['no registration', () => (guarded.metadata = { registration_endpoint: undefined }), 'give its clientId'],
  ])('metadata with %s is refused before a person is sent anywhere', async (_case, change, words) => {
    const id = await storeServer();
    change();
    const { status, body } = await authorize(id);
    expect(body.error ?? body).toMatchObject({ code: 'invalid_value', message: expect.stringContaining(words) });
    expect(status).toBe(400);
  });

  it('a registration that is refused says what to do', async () => {
    const id = await storeServer();
    guarded.intercept = (path, res) => {
      if (path !== '/as/reg') return false;
      res.writeHead(403, { 'content-type': 'application/json' }).end('{"error":"invalid_client_metadata"}');
      return true;
    };
    const { status, body } = await authorize(id);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('refuses to register Parley (403)');
  });

  it.each([
    ['another issuer', (answer: URL) => answer.searchParams.set('iss', 'https://other.example'), 'another one than'],
    [
      'no issuer, where the server says that it names one',
      (answer: URL) => answer.searchParams.delete('iss'),
      'another one than',
    ],
    ['another state', (answer: URL) => answer.searchParams.set('state', 'another'), 'Begin again'],
    ['a refusal', (answer: URL) => answer.searchParams.set('error', 'access_denied'), 'was not allowed'],
  ])('an answer with %s', async (_case, change, words) => {
    const id = await storeServer();
    const { body } = await authorize(id);
    const browser = new WalkingBrowser(() => service.url);
    const answer = new URL((await browser.walk(body.url, `${service.url}/oauth/callback`)).url);
    change(answer);
    guarded.asked.length = 0;
    const page = await fetch(answer);
    expect(page.status).toBe(400);
    expect(await page.text()).toContain(words);
    expect(tokenRequests()).toEqual([]);
    expect((await secretsOf(id)).accessToken).toBeUndefined();
  });

  it('nothing of a consent whose code was lost, and the person begins again', async () => {
    const id = await storeServer();
    const { body } = await authorize(id);
    guarded.intercept = (path, res) => {
      if (path !== '/as/token') return false;
      res.destroy();
      return true;
    };
    const browser = new WalkingBrowser(() => service.url);
    const answer = (await browser.walk(body.url, `${service.url}/oauth/callback`)).url;
    expect((await fetch(answer)).status).toBe(400);
    guarded.intercept = undefined;
    expect(await (await fetch(answer)).text()).toContain('Begin again');
    expect(await connectionOf(id)).toMatchObject({ needsReauthorization: true });
    await signIn(id);
    expect((await run(id)).result).toContain('seven');
  });

  it('no failure of the token address: the connection stays, and the next call renews it', async () => {
    const id = await storeServer();
    await signIn(id);
    guarded.expire('access');
    guarded.intercept = (path, res) => {
      if (path !== '/as/token') return false;
      res.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Broken</h1>');
      return true;
    };
    const { result, reply } = await run(id);
    expect(JSON.stringify([result, reply.body])).toContain('got no new token');
    expect(await connectionOf(id)).toMatchObject({ needsReauthorization: false });
    guarded.intercept = undefined;
    expect((await run(id)).result).toContain('seven');
  });
});

describe('a client in its own name', () => {
  const client = { clientId: 'by-hand', clientSecret: 'secret-by-hand' };

  it('has tokens at once, new ones when they end, and more scopes when the server demands them', async () => {
    const id = await storeServer(ann, { ...client, scopes: ['mcp:read'] });
    expect(await connectionOf(id)).toMatchObject({ needsReauthorization: false, scopes: ['mcp:read'] });
    expect((await run(id)).result).toContain('seven');
    guarded.expire('access');
    expect((await run(id)).result).toContain('seven');
    guarded.needed.set('act', 'mcp:write');
    expect((await run(id, 'act', {})).result).not.toContain('refuses');
    expect(tokenRequests().at(-1)?.get('scope')).toBe('mcp:read mcp:write');
    expect(tokenRequests().every((form) => form.get('resource') === guarded.url)).toBe(true);
  });

  it.each([
    ['a wrong secret', { ...client, clientSecret: 'wrong' }, 'clientId'],
    ['no secret', { clientId: 'by-hand' }, 'clientSecret'],
    ['a secret alone', { clientSecret: 'secret-by-hand' }, 'clientId'],
    ['scopes alone', { scopes: ['mcp:read'] }, 'scopes'],
    ['a scope with a space', { ...client, scopes: ['a b'] }, 'scopes[0]'],
    ['a header authorization', { ...client, headers: { authorization: 'Bearer x' } }, 'headers.authorization'],
  ])('is refused with %s', async (_case, more, param) => {
    const reply = await ann.post('/api/v1/connections/mcp-servers', { name: 'Notes', url: guarded.url, ...more });
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain(`"${param}"`);
    expect((await ann.get('/api/v1/connections')).body.data).toEqual([]);
  });
});

describe('the members of authorizeConnection', () => {
  it.each([
    ['MCP without a connection', { provider: 'MCP' }, 'connectionId'],
    ['a connection of another kind of service', { provider: 'WIKI', connectionId: 'x' }, 'connectionId'],
    ['a client of another kind of service', { provider: 'WIKI', clientId: 'x' }, 'clientId'],
  ])('%s is refused', async (_case, input, param) => {
    const { status, body } = await ann.post('/api/v1/connections/authorize', input);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(`"${param}"`);
  });

  it('a connection with a header authorization of its own is refused', async () => {
    const id = await storeServer(ann, { headers: { authorization: 'Bearer x' } });
    expect((await authorize(id)).status).toBe(400);
  });
});
