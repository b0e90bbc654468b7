import { beforeAll, beforeEach, expect, it } from 'vitest';
import { openSecrets } from '../../../../../src/engine/knowledge/connections/secrets.ts';
import { type GuardedMcp, startGuardedMcp } from '../../../../fixtures/upstreams/mcp/authorization.ts';
import type { Organization, Person } from '../../../../support/make.ts';
import { WalkingBrowser } from '../../../../support/people/walk.ts';
import { withService } from '../../../../support/service.ts';

/** A client of an MCP server that an administrator registered by hand, for all members of the organization. */
const { service, make, upstream } = await withService('model', {});
const path = '/api/v1/admin/mcp-clients';
const client = { clientId: 'of-acme', clientSecret: 'secret-of-acme' };
let guarded: GuardedMcp;
let acme: Organization;
let admin: Person;
let ann: Person;

beforeAll(async () => {
  const [grant_types, response_types] = [['authorization_code', 'refresh_token'], ['code' as const]];
  const redirect_uris = [`${service.url}/oauth/callback`];
  const common = { grant_types, response_types, redirect_uris, application_type: 'native' as const };
  guarded = await startGuardedMcp({
    clients: [
      { ...common, client_id: 'of-acme', client_secret: 'secret-of-acme' },
      { ...common, client_id: 'of-ann', client_secret: 'secret-of-ann' },
    ],
    features: { registration: { enabled: false } },
  });
  return () => guarded.close();
});
beforeEach(async () => {
  guarded.reset();
  acme = await make.organization();
  admin = await make.person({ organization: acme, role: 'ADMIN' });
  ann = await make.person({ organization: acme });
});

const save = (more: object = {}, who = admin) => who.call('PUT', path, { url: guarded.url, ...client, ...more });
const storeServer = async (who: Person): Promise<string> =>
  (await who.post('/api/v1/connections/mcp-servers', { name: 'Notes', url: guarded.url })).body.id;
const authorize = (who: Person, connectionId: string, more: object = {}) =>
  who.post('/api/v1/connections/authorize', { provider: 'MCP', connectionId, ...more });
async function signIn(who: Person, connectionId: string, more: object = {}): Promise<URLSearchParams> {
  const { body } = await authorize(who, connectionId, more);
  const page = await new WalkingBrowser(() => service.url).walk(body.url);
  const word = /name="word" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const confirmed = await fetch(`${service.url}/oauth/callback`, { method: 'POST', body: new URLSearchParams({ word }) });
  expect(confirmed.status).toBe(200);
  return new URL(body.url).searchParams;
}
async function run(who: Person, connectionId: string): Promise<string> {
  upstream.reset();
  upstream.next({ toolCalls: [{ id: 'call_1', name: 'Notes__echo', arguments: '{"text":"seven"}' }] }, { text: 'Done.' });
  await who.post('/api/v1/chat/completions', {
    model: 'openai/test-model',
    messages: [{ role: 'user', content: 'Go' }],
    tools: [{ type: 'mcp_server', server: connectionId }],
  });
  const messages = (upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[];
  return messages.findLast(({ role }) => role === 'tool')?.content ?? '';
}

it('signs each member in without a client of their own, and renews with the secret of the organization', async () => {
  const saved = await save();
  expect([saved.status, saved.body]).toMatchObject([
    200,
    { url: guarded.url, issuer: guarded.issuer, clientId: 'of-acme', hasSecret: true, scopes: [] },
  ]);
  expect(JSON.stringify(saved.body)).not.toContain(client.clientSecret);
  const bob = await make.person({ organization: acme });
  for (const who of [ann, bob]) {
    const id = await storeServer(who);
    expect((await signIn(who, id)).get('client_id')).toBe('of-acme');
    expect(await run(who, id)).toContain('seven');
    // The secret stays with the organization: a connection holds none.
    expect(JSON.stringify(await openSecrets(service.deps.storage, { id, orgId: acme.id }))).not.toContain(client.clientSecret);
    guarded.expire('access');
    expect(await run(who, id)).toContain('seven');
  }
});

it('asks for the scopes that were saved with it, and leaves a client that a member names in its place', async () => {
  await save({ scopes: ['mcp:write'] });
  const id = await storeServer(ann);
  expect((await signIn(ann, id)).get('scope')).toBe('mcp:write offline_access');
  const own = { clientId: 'of-ann', clientSecret: 'secret-of-ann' };
  expect((await signIn(ann, id, own)).get('client_id')).toBe('of-ann');
  // Without naming it again, the client of the organization is used.
  expect((await signIn(ann, id)).get('client_id')).toBe('of-acme');
});

it('has whoever signed in with it sign in again when it was deleted, or has another id', async () => {
  const { body } = await save();
  const id = await storeServer(ann);
  await signIn(ann, id);
  expect((await admin.delete(`${path}/${body.id}`)).body).toMatchObject({ id: body.id, clientId: 'of-acme' });
  guarded.expire('access');
  expect(await run(ann, id)).not.toContain('seven');
  expect((await ann.get(`/api/v1/connections/${id}`)).body.needsReauthorization).toBe(true);
  expect((await authorize(ann, id)).body.error.message).toContain('registers no clients by itself');
  await save({ clientId: 'of-ann', clientSecret: 'secret-of-ann' });
  expect((await signIn(ann, id)).get('client_id')).toBe('of-ann');
  expect(await run(ann, id)).toContain('seven');
});

it('sends the secret to no authorization server but the one that the MCP server named when it was saved', async () => {
  const { body } = await save();
  const issuer = 'https://before.example';
  await service.deps.storage.db.prisma.mcpOauthClient.update({ where: { id: body.id }, data: { issuer } });
  const refused = await authorize(ann, await storeServer(ann));
  expect([refused.status, refused.body.error]).toMatchObject([
    400,
    { param: 'connectionId', message: expect.stringMatching(/is for https:\/\/before\.example, .* an administrator/) },
  ]);
});

it('is of one organization, and is replaced by the next one for the same server', async () => {
  const first = await save();
  const second = await save({ clientId: 'of-ann', clientSecret: null });
  expect(second.body).toMatchObject({ id: first.body.id, clientId: 'of-ann', hasSecret: false });
  const { body } = await admin.get(path);
  expect(body.data).toEqual([second.body]);
  const eve = await make.person({ role: 'ADMIN' });
  expect((await authorize(eve, await storeServer(eve))).status).toBe(400);
  expect((await eve.get(`${path}/${first.body.id}`)).status).toBe(404);
});

it.each([
  ['an address of another kind', { url: 'ftp://a.example' }, 'url'],
  ['a server that does not answer', { url: 'http://127.0.0.1:1/mcp' }, 'url'],
  ['a server that names no authorization server', { url: `${service.url}/healthz` }, 'url'],
  ['an empty id', { clientId: '' }, 'clientId'],
  ['a secret with spaces', { clientSecret: 'a b' }, 'clientSecret'],
  ['a scope with a space', { scopes: ['a b'] }, 'scopes[0]'],
  ['a member that is not there', { secret: 'x' }, 'secret'],
])('refuses %s', async (_what, more, param) => {
  const { status, body } = await save(more);
  expect([status, body.error?.param]).toEqual([400, param]);
  expect((await admin.get(path)).body.data).toEqual([]);
});

it('is seen and saved by administrators only', async () => {
  const { body } = await save();
  const member = await make.withKey(ann, { scopes: ['ADMIN:READ', 'ADMIN:WRITE', 'CONNECTIONS:WRITE'] });
  expect((await save({}, member)).status).toBe(403);
  expect((await member.get(path)).status).toBe(403);
  expect((await member.get(`${path}/${body.id}`)).status).toBe(403);
  expect((await member.delete(`${path}/${body.id}`)).status).toBe(403);
});
