import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import {
  AgreeingPerson,
  browserOf,
  callback,
  decide,
  makeChallenge,
  openRequest,
  postForm,
  readConsent,
} from '../../../support/people/oauth.ts';
import type { WalkingBrowser } from '../../../support/people/walk.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

/** OAuth for /mcp: with the flow of the stock client, and step by step. */
const { service, make, upstream } = await withService('model', {});
const open: Client[] = [];
let ann: Person;
let browser: WalkingBrowser;
let agentId: string;

beforeAll(async () => {
  ann = await make.person();
  agentId = (await make.agent({ owner: ann, modelId: 'openai/test-model', name: 'Ada' })).id;
  browser = await browserOf(service, ann);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const both = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const callMcp = (token: string | undefined, path = '/mcp') =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(rpc),
    headers: { ...both, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });

const register = (metadata: object = {}) =>
  service.nobody.post('/oauth/register', { client_name: 'By hand', redirect_uris: [callback], ...metadata });

let shared: Promise<string> | undefined;
/** A client that these tests share: registrations are limited. */
function sharedClient(): Promise<string> {
  shared ??= register().then(({ body }) => body.client_id as string);
  return shared;
}

/** An address as a client makes it. */
function addressFor(clientId: string, challenge: string, more: Readonly<Record<string, string>> = {}): string {
  const query = {
    ...{ response_type: 'code', client_id: clientId, redirect_uri: callback, state: 'its state' },
    ...{ code_challenge: challenge, code_challenge_method: 'S256', resource: `${service.url}/mcp` },
    ...{ scope: 'AGENTS:READ CHATS:WRITE DATA_SOURCES:READ', ...more },
  };
  return `/oauth/authorize?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))}`;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}
/** From the registration to the tokens. */
async function authorize(
  more: Readonly<Record<string, string>> = {},
): Promise<{ clientId: string; code: string; form: Record<string, string>; tokens: Tokens }> {
  const clientId = await sharedClient();
  const { verifier, challenge } = makeChallenge();
  const page = await openRequest(browser, addressFor(clientId, challenge, more));
  expect(page).toMatchObject({ status: 200 });
  const answer = await decide(browser, page.url, true);
  const code = answer.searchParams.get('code') ?? '';
  const form = {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: callback,
  };
  const { status, body: tokens } = await postForm(`${service.url}/oauth/token`, form);
  expect([status, tokens]).toEqual([200, expect.objectContaining({ token_type: 'Bearer', expires_in: 3_600 })]);
  return { clientId, code, form, tokens };
}
const refresh = (clientId: string, token: string, more: Readonly<Record<string, string>> = {}) =>
  postForm(`${service.url}/oauth/token`, { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more });

describe('the stock client', () => {
  it('finds everything by itself, has its person asked, calls an agent, and refreshes', async () => {
    const person = new AgreeingPerson(browser);
    const url = new URL(`${service.url}/mcp`);
    const first = new StreamableHTTPClientTransport(url, { authProvider: person });
    await expect(new Client({ name: 'test', version: '1.0.0' }).connect(first)).rejects.toThrow(UnauthorizedError);
    expect(person.answer?.searchParams.get('iss')).toBe(service.url);
    expect(person.consent).toMatchObject({
      client: {
        name: 'Stock client',
        host: null,
        sendsTo: '127.0.0.1:33418',
        network: '127.0.0.1',
        registeredAt: expect.any(String),
      },
      scopes: ['AGENTS:READ', 'CHATS:WRITE', 'DATA_SOURCES:READ'],
      person: { email: ann.email },
    });
    await first.finishAuth(person.answer?.searchParams ?? new URLSearchParams());
    const client = new Client({ name: 'test', version: '1.0.0' });
    open.push(client);
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: person }));
    upstream.next({ text: 'At nine.' });
    const result = await client.callTool({ name: 'ask_ada', arguments: { question: 'When?' } });
    expect(JSON.stringify(result)).toContain('At nine.');
    const before = person.stored;
    person.stored = { ...before, access_token: 'x'.repeat(43), token_type: 'Bearer' };
    await client.listTools();
    expect(person.stored.access_token).not.toBe(before?.access_token);
    expect(person.stored.refresh_token).not.toBe(before?.refresh_token);
  });
});

describe('who has no token', () => {
  it('is told where to get one, for /mcp and for one agent', async () => {
    for (const path of ['/mcp', `/mcp/agents/${agentId}`]) {
      const reply = await callMcp(undefined, path);
      expect(reply.status).toBe(401);
      const header = reply.headers.get('www-authenticate') ?? '';
      const address = /resource_metadata="([^"]+)"/.exec(header)?.[1] ?? '';
      expect(await (await fetch(address)).json()).toMatchObject({
        resource: `${service.url}${path}`,
        authorization_servers: [service.url],
      });
      expect((await callMcp('y'.repeat(43), path)).headers.get('www-authenticate')).toContain('error="invalid_token"');
    }
    const reply = await fetch(`${service.url}/.well-known/oauth-authorization-server`);
    expect(reply.headers.get('cache-control')).toBe('public, max-age=300');
    const metadata = await reply.json();
    expect(metadata).toMatchObject({
      issuer: service.url,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
    });
  });
});

describe('a token', () => {
  it('opens its address only, and nothing but what was agreed to', async () => {
    const { tokens } = await authorize({ scope: 'AGENTS:READ' });
    expect((await callMcp(tokens.access_token)).status).toBe(200);
    expect((await callMcp(tokens.access_token, `/mcp/agents/${agentId}`)).status).toBe(401);
    expect((await service.client(tokens.access_token).get('/api/v1/ais')).status).toBe(401);
    expect((await service.client(tokens.access_token).graphql('{ viewer { keyId } }')).errors).toBeDefined();
    const one = await authorize({ resource: `${service.url}/mcp/agents/${agentId}` });
    expect((await callMcp(one.tokens.access_token, `/mcp/agents/${agentId}`)).status).toBe(200);
    expect((await callMcp(one.tokens.access_token)).status).toBe(401);
  });

  it('is checked without a statement once it is known', async () => {
    const { tokens } = await authorize();
    // The word of the new token may come behind the first call, and has it read once more.
    await eventually(async () => {
      await callMcp(tokens.access_token);
      const found = service.deps.storage.people.apps.findCaller(tokens.access_token, `${service.url}/mcp`, Date.now());
      expect(found).toMatchObject({ userId: ann.userId, orgId: ann.orgId, level: 'ORGANIZATION' });
    });
  });

  it('is listed with its client, and ends when its person revokes it, with an entry each', async () => {
    const { clientId, tokens } = await authorize();
    const list = () =>
      browser.graphql(
        '{ viewer { connectedApps(first: 5) { nodes { id name clientId scopes resource lastUsedAt expiresAt } } } }',
      );
    await callMcp(tokens.access_token);
    const [app] = (await list()).data.viewer.connectedApps.nodes;
    expect(app).toMatchObject({
      name: 'By hand',
      clientId,
      scopes: ['AGENTS_READ', 'CHATS_WRITE', 'DATA_SOURCES_READ'],
      resource: `${service.url}/mcp`,
    });
    expect((await browser.graphql('{ apiKeys { nodes { id } } }')).data.apiKeys.nodes).not.toContainEqual({ id: app.id });
    await browser.graphql(`mutation { revokeApiKey(id: "${app.id}") { id } }`);
    expect((await callMcp(tokens.access_token)).status).toBe(401);
    expect((await refresh(clientId, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await list()).data.viewer.connectedApps.nodes).not.toContainEqual(expect.objectContaining({ id: app.id }));
    const entries = await service.deps.storage.db.prisma.auditEntry.findMany({ where: { targetId: app.id } });
    expect(entries.map(({ action, actorUserId }) => [action, actorUserId])).toEqual(
      expect.arrayContaining([
        ['approveApp', ann.userId],
        ['revokeApiKey', ann.userId],
      ]),
    );
  });

  it.each([
    [
      'its client gives back',
      async ({ clientId, tokens }: Awaited<ReturnType<typeof authorize>>) => {
        const reply = await postForm(`${service.url}/oauth/revoke`, { client_id: clientId, token: tokens.refresh_token });
        expect(reply.status).toBe(200);
      },
    ],
    [
      'its person ends by signing out everywhere',
      async () => void (await browser.graphql('mutation { endOtherSessions { count } }')),
    ],
    [
      'whose code is used again',
      async ({ form }: Awaited<ReturnType<typeof authorize>>) => {
        expect((await postForm(`${service.url}/oauth/token`, form)).body).toMatchObject({ error: 'invalid_grant' });
      },
    ],
    [
      'whose refresh token is used again',
      async ({ clientId, tokens }: Awaited<ReturnType<typeof authorize>>) => {
        const next = await refresh(clientId, tokens.refresh_token);
        expect(next.status).toBe(200);
        expect((await callMcp(next.body.access_token)).status).toBe(200);
        expect((await refresh(clientId, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
        expect((await callMcp(next.body.access_token)).status).toBe(401);
        expect((await refresh(clientId, next.body.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
      },
    ],
    [
      'whose refresh token is used twice at one moment',
      async ({ clientId, tokens }: Awaited<ReturnType<typeof authorize>>) => {
        const both = await Promise.all([refresh(clientId, tokens.refresh_token), refresh(clientId, tokens.refresh_token)]);
        expect(both.filter(({ status }) => status === 200).length).toBeLessThan(2);
        for (const { body } of both)
          if (body.access_token !== undefined) expect((await callMcp(body.access_token)).status).toBe(401);
      },
    ],
  ])('opens nothing more %s', async (_case, end) => {
    const granted = await authorize();
    expect((await callMcp(granted.tokens.access_token)).status).toBe(200);
    await end(granted);
    expect((await callMcp(granted.tokens.access_token)).status).toBe(401);
  });

  it('ends with the membership of its person, and with all ways of somebody who was in the account before', async () => {
    const organization = await make.organization();
    const boss = await make.person({ organization, role: 'ADMIN' });
    const bob = await make.person({ organization });
    const own = browser;
    const authorizeAsBob = async () => {
      browser = await browserOf(service, bob);
      return authorize().finally(() => {
        browser = own;
      });
    };
    const stolen = await authorizeAsBob();
    expect((await callMcp(stolen.tokens.access_token)).status).toBe(200);
    // A provider has shown whose mailbox it is: what was made before goes.
    await service.deps.storage.people.ways.takeAway(bob.userId, new Date());
    expect((await callMcp(stolen.tokens.access_token)).status).toBe(401);
    const { clientId, tokens } = await authorizeAsBob();
    expect((await callMcp(tokens.access_token)).status).toBe(200);
    await boss.graphql(`mutation { deactivateUser(id: "${bob.userId}") { id } }`);
    expect((await callMcp(tokens.access_token)).status).toBe(401);
    expect((await refresh(clientId, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('a request', () => {
  it.each([
    ['another address than those registered', { redirect_uri: 'https://evil.example/callback' }, 'invalid_redirect_uri'],
    ['a path of another letter case', { redirect_uri: 'http://127.0.0.1:33418/Callback' }, 'invalid_redirect_uri'],
    ['no PKCE', { code_challenge: '', code_challenge_method: '' }, 'PKCE'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'code_challenge_method'],
    ['another resource', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['scopes that nobody has', { scope: 'openid ADMIN:WRITE' }, 'invalid_scope'],
    ['a client that nobody knows', { client_id: 'oac_00000000000000000000000000' }, 'invalid_client'],
    ['a silent answer', { prompt: 'none' }, 'consent_required'],
  ])('with %s is explained here and leads nowhere', async (_case, more, words) => {
    const clientId = await sharedClient();
    const page = await openRequest(browser, addressFor(clientId, makeChallenge().challenge, more));
    expect(page.status).toBe(400);
    expect(new URL(page.url).origin).toBe(service.url);
    expect(page.text).toContain(words);
  });

  it('may name another port of this machine, and is bound to the browser that began it', async () => {
    const clientId = await sharedClient();
    const address = addressFor(clientId, makeChallenge().challenge, { redirect_uri: 'http://127.0.0.1:9/callback' });
    const page = await openRequest(browser, address);
    expect(readConsent(page.text).client.sendsTo).toBe('127.0.0.1:9');
    const other = await browserOf(service, ann);
    const { pathname } = new URL(page.url);
    expect(await other.post(pathname, { isApproved: true })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_value' } },
    });
    expect((await other.walk(pathname)).status).toBe(400);
  });

  it('is decided by a page of this service only, which nobody can frame', async () => {
    const clientId = await sharedClient();
    const page = await openRequest(browser, addressFor(clientId, makeChallenge().challenge));
    const { pathname } = new URL(page.url);
    const cookie = browser.cookie ?? '';
    const shown = await fetch(page.url, { headers: { cookie, accept: 'text/html' } });
    expect(shown.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const foreign = await browser.call('POST', pathname, { isApproved: true }, { origin: 'https://evil.example' });
    expect(foreign).toMatchObject({ status: 403 });
    const form = await browser.call('POST', pathname, { isApproved: true }, { 'graphql-require-preflight': '' });
    expect(form).toMatchObject({ status: 403 });
    expect(await browser.post(pathname, { isApproved: 'yes' })).toMatchObject({
      status: 400,
      body: { error: { param: 'isApproved' } },
    });
    const refused = await decide(browser, page.url, false);
    expect(Object.fromEntries(refused.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'its state',
      iss: service.url,
    });
    expect(await browser.post(pathname, { isApproved: true })).toMatchObject({ status: 400 });
  });

  it.each([
    ['is longer than 8,000 characters', `&state=${'x'.repeat(8_000)}`, undefined],
    ['asks for a form that sends itself', '&response_mode=form_post', 'response_mode'],
    ['asks for an answer behind #', '&response_mode=fragment', 'response_mode'],
    ['names two resources', '&resource=https://a.example&resource=https://b.example', 'resource'],
  ])('that %s is refused before anybody signs in for it', async (_case, more, param) => {
    const address = addressFor(await sharedClient(), makeChallenge().challenge) + more;
    const reply = await fetch(`${service.url}${address}`, { redirect: 'manual', headers: { accept: 'application/json' } });
    expect([reply.status, reply.headers.get('location')]).toEqual([400, null]);
    expect(JSON.parse(await reply.text()).error).toMatchObject({
      code: 'invalid_value',
      ...(param === undefined ? {} : { param }),
    });
  });

  it('of nobody leads to the page that signs in, and keeps nothing', async () => {
    const clientId = await sharedClient();
    const address = addressFor(clientId, makeChallenge().challenge);
    const reply = await fetch(`${service.url}${address}`, { redirect: 'manual' });
    expect([reply.status, reply.headers.get('location')]).toEqual([303, `/sign-in?${new URLSearchParams({ next: address })}`]);
    expect(reply.headers.getSetCookie()).toEqual([]);
  });

  it('gets a code for its own client, verifier and address only', async () => {
    const clientId = await sharedClient();
    const { body: other } = await register();
    const { verifier, challenge } = makeChallenge();
    const ask = async () => {
      const page = await openRequest(browser, addressFor(clientId, challenge));
      const code = (await decide(browser, page.url, true)).searchParams.get('code') ?? '';
      return {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        code_verifier: verifier,
        redirect_uri: callback,
      };
    };
    const wrong = [
      { client_id: other.client_id },
      { code_verifier: makeChallenge().verifier },
      { redirect_uri: `${callback}?x=1` },
    ];
    for (const change of wrong) {
      const reply = await postForm(`${service.url}/oauth/token`, { ...(await ask()), ...change });
      expect([change, reply.status, reply.body.error]).toEqual([change, 400, 'invalid_grant']);
    }
    const resource = await postForm(`${service.url}/oauth/token`, {
      ...(await ask()),
      resource: `${service.url}/mcp/agents/${agentId}`,
    });
    expect(resource.body.error).toBe('invalid_target');
  });
});

describe('a registration', () => {
  it.each([
    ['without addresses', { redirect_uris: [] }, 'redirect_uris'],
    ['with an address of a script', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris'],
    ['with plain HTTP to another machine', { redirect_uris: ['http://evil.example/callback'], application_type: 'web' }, 'http'],
    ['with a fragment', { redirect_uris: ['https://app.example/#x'] }, 'fragment'],
    [
      'with too many addresses',
      { redirect_uris: Array.from({ length: 21 }, (_, at) => `https://app.example/${at}`) },
      'at most 20',
    ],
    ['with another grant', { grant_types: ['client_credentials'] }, 'grant_types'],
  ])('%s is refused', async (_case, metadata, words) => {
    const { status, body } = await register(metadata);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(words);
  });

  it('of a client with a secret keeps a hash of it, and asks for it', async () => {
    const { body } = await register({ token_endpoint_auth_method: 'client_secret_post' });
    const { verifier, challenge } = makeChallenge();
    const page = await openRequest(browser, addressFor(body.client_id, challenge));
    const code = (await decide(browser, page.url, true)).searchParams.get('code') ?? '';
    const form = {
      grant_type: 'authorization_code',
      client_id: body.client_id,
      code,
      code_verifier: verifier,
      redirect_uri: callback,
    };
    expect((await postForm(`${service.url}/oauth/token`, form)).body.error).toBe('invalid_client');
    expect((await postForm(`${service.url}/oauth/token`, { ...form, client_secret: 'another' })).body.error).toBe(
      'invalid_client',
    );
    expect((await postForm(`${service.url}/oauth/token`, { ...form, client_secret: body.client_secret })).status).toBe(200);
    const rows = await service.deps.storage.db.prisma.oauthClient.findMany();
    expect(JSON.stringify(rows)).not.toContain(body.client_secret);
  });
});

it('no token and no code stands in the database', async () => {
  const { tokens, code } = await authorize();
  const rows = await service.deps.storage.db.prisma.oauthRecord.findMany();
  for (const secret of [tokens.access_token, tokens.refresh_token, code]) expect(JSON.stringify(rows)).not.toContain(secret);
});
