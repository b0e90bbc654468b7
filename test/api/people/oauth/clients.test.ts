import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it } from 'vitest';
import { startMetadataServer } from '../../../support/people/metadata-server.ts';
import { AgreeingPerson, browserOf, callback, makeChallenge, openRequest, postForm } from '../../../support/people/oauth.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

/** Which clients may ask at all: those with a metadata document, those that register, and what the setting says. */
const site = await startMetadataServer();
const { service, make } = await withService('model', { env: { OAUTH_CLIENTS: 'all' } });

const ann = await make.person();
await make.agent({ owner: ann, name: 'Ada' });

afterAll(() => site.close());

const documentFor = (path: string, more: object = {}) => ({
  ...{ client_id: site.url + path, client_name: 'Helper of the site', redirect_uris: [callback] },
  ...{
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    ...more,
  },
});
const addressFor = (clientId: string) => {
  const query = { response_type: 'code', client_id: clientId, redirect_uri: callback, scope: 'AGENTS:READ' };
  return `/oauth/authorize?${new URLSearchParams({ ...query, code_challenge: makeChallenge().challenge, code_challenge_method: 'S256' })}`;
};
const refresh = (clientId: string, token: string) =>
  postForm(`${service.url}/oauth/token`, { grant_type: 'refresh_token', client_id: clientId, refresh_token: token });

async function connect(person: AgreeingPerson): Promise<void> {
  const url = new URL(`${service.url}/mcp`);
  const transport = new StreamableHTTPClientTransport(url, { authProvider: person });
  await expect(new Client({ name: 'test', version: '1.0.0' }).connect(transport)).rejects.toThrow(UnauthorizedError);
  await transport.finishAuth(person.answer?.searchParams ?? new URLSearchParams());
}

describe('a client with a metadata document', () => {
  it('is known by its address, and needs no registration', async () => {
    const id = site.serve('/client.json', documentFor('/client.json'));
    const person = new AgreeingPerson(await browserOf(service, ann), {}, id);
    await connect(person);
    expect(person.client?.client_id).toBe(id);
    expect(person.consent?.client).toMatchObject({ name: 'Helper of the site', host: new URL(id).host, registeredAt: null });
    expect((await refresh(id, person.stored?.refresh_token ?? '')).status).toBe(200);
    const again = await openRequest(person.browser, addressFor(id));
    expect(again.text).not.toContain('registeredAt&#34;:null');
  });

  it.each([
    ['names another client', () => site.serve('/other.json', documentFor('/client.json')), 'does not match'],
    [
      'is huge',
      () => site.serve('/huge.json', documentFor('/huge.json', { client_uri: `https://a.example/${'x'.repeat(100_000)}` })),
      'invalid_client',
    ],
    ['never comes', () => site.serve('/slow.json', undefined), 'invalid_client'],
    ['leads elsewhere', () => site.serve('/moved.json', '', 302, { location: '/client.json' }), 'invalid_client'],
    ['is no JSON', () => site.serve('/text.json', 'hello'), 'invalid_client'],
    ['is missing', () => `${site.url}/missing.json`, 'invalid_client'],
    [
      'holds a secret',
      () => site.serve('/secret.json', documentFor('/secret.json', { client_secret: 'x'.repeat(40) })),
      'client_secret',
    ],
    ['is at a private address', () => 'https://10.0.0.1/client.json', 'invalid_client'],
    ['is at the address of a cloud', () => 'https://169.254.169.254/client.json', 'invalid_client'],
    ['comes without TLS', () => 'http://127.0.0.1/client.json', 'invalid_client'],
  ])('that %s is refused', async (_case, makeId, words) => {
    const page = await openRequest(await browserOf(service, ann), addressFor(makeId()));
    expect(page.status).toBe(400);
    expect(page.text).toContain(words);
  });

  it('is not fetched for who is not signed in', async () => {
    const id = site.serve('/unasked.json', documentFor('/unasked.json'));
    await fetch(`${service.url}${addressFor(id)}`, { redirect: 'manual' });
    expect((await refresh(id, 'x'.repeat(43))).body.error).toBe('invalid_client');
    expect(site.asked).not.toContain('/unasked.json');
  });
});

it('a network registers so many clients, and then waits', async () => {
  const body = { client_name: 'One of many', redirect_uris: [callback] };
  for (let count = 0; count < 30; count += 1) await service.nobody.post('/oauth/register', body);
  const reply = await service.nobody.post('/oauth/register', body);
  expect(reply).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
});

it('clients that nobody has used for 90 days go, grants go with their keys, and the setting closes the door to new ones', async () => {
  const id = site.serve('/client.json', documentFor('/client.json'));
  const person = new AgreeingPerson(await browserOf(service, ann), {}, id);
  await connect(person);
  const { oauthClient, apiKey, oauthRecord } = service.deps.storage.db.prisma;
  const old = new Date(Date.now() - 91 * 86_400_000);
  const ofClient = { key: { clientId: id } };
  expect(await oauthRecord.count({ where: { kind: 'Grant', ...ofClient } })).toBeGreaterThan(0);
  await apiKey.updateMany({ where: { clientId: id }, data: { revokedAt: old } });
  await oauthClient.updateMany({ where: { name: 'One of many' }, data: { usedAt: old } });
  await service.restart({ OAUTH_CLIENTS: 'off' });
  await eventually(async () => {
    const rows = await service.deps.storage.db.prisma.oauthClient.findMany();
    expect(rows.map(({ name }) => name)).not.toContain('One of many');
    expect(await service.deps.storage.db.prisma.oauthRecord.count({ where: ofClient })).toBe(0);
  });
  const metadata = await (await fetch(`${service.url}/.well-known/oauth-authorization-server`)).json();
  expect(metadata).toMatchObject({ client_id_metadata_document_supported: false });
  expect(metadata).not.toHaveProperty('registration_endpoint');
  const registration = await service.nobody.post('/oauth/register', { redirect_uris: [callback] });
  expect(registration).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining('OAUTH_CLIENTS') } } });
  const browser = await browserOf(service, ann);
  expect((await openRequest(browser, addressFor(site.serve('/new.json', documentFor('/new.json'))))).text).toContain(
    'invalid_client',
  );
  expect((await openRequest(browser, addressFor(id))).status).toBe(200);
});

it('behind a proxy with TLS, addresses and cookies are those of PUBLIC_URL, whatever the request says', async () => {
  const base = 'https://parley.example.com';
  await service.restart({ OAUTH_CLIENTS: 'all', PUBLIC_URL: base });
  expect((await callMcp(undefined)).headers.get('www-authenticate')).toContain(`"${base}/.well-known/`);
  const client = { client_name: 'Behind a proxy', redirect_uris: [callback] };
  // The network of the tests has registered its share of clients.
  await service.deps.storage.db.prisma.signInAttempt.deleteMany();
  const { body } = await service.nobody.post('/oauth/register', client);
  const { verifier, challenge } = makeChallenge();
  const browser = await browserOf(service, ann);
  const query = { response_type: 'code', client_id: body.client_id, redirect_uri: callback, code_challenge: challenge };
  const address = `/oauth/authorize?${new URLSearchParams({ ...query, code_challenge_method: 'S256' })}`;
  const headers = { cookie: browser.cookie ?? '', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
  const reply = await fetch(service.url + address, { redirect: 'manual', headers });
  expect(reply.headers.getSetCookie().filter((text) => !/; secure/i.test(text))).toEqual([]);
  const page = await openRequest(browser, address);
  const sent = await browser.post(new URL(page.url).pathname, { isApproved: true });
  expect(sent.body.location).toMatch(new RegExp(`^${base}/oauth/authorize/`));
  const answer = new URL((await browser.walk(new URL(sent.body.location).pathname, callback)).url);
  expect(answer.searchParams.get('iss')).toBe(base);
  const code = answer.searchParams.get('code') ?? '';
  const form = {
    grant_type: 'authorization_code',
    client_id: body.client_id,
    code,
    code_verifier: verifier,
    redirect_uri: callback,
  };
  const { body: tokens } = await postForm(`${service.url}/oauth/token`, { ...form, resource: `${base}/mcp` });
  expect((await callMcp(tokens.access_token)).status).toBe(200);
});

function callMcp(token: string | undefined): Promise<Response> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  return fetch(`${service.url}/mcp`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });
}
