import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openSecrets } from '../../../../src/engine/knowledge/connections/secrets.ts';
import { anonymousRefusal } from '../../../fixtures/upstreams/stand-in.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** The token and account addresses of four vendors. */
const vendor = {
  url: '',
  requests: [] as { path: string; body: string; authorization: string }[],
  tokens: { status: 200, body: {} as object },
  installations: [{ id: 4711, account: { login: 'acme' } }] as object[],
};
const accounts: Readonly<Record<string, () => object>> = {
  '/drive/v3/about': () => ({ user: { displayName: 'Ann', emailAddress: 'ann@drive.example' } }),
  '/me': () => ({ userPrincipalName: 'ann@cloud.example' }),
  '/oauth/token/accessible-resources': () => [{ id: 'c1', name: 'acme', url: 'https://acme.example' }] as object,
  '/user/installations': () => ({ total_count: vendor.installations.length, installations: vendor.installations }),
};
const server = createServer(async (req, res) => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const { pathname } = new URL(req.url ?? '/', 'http://localhost');
  vendor.requests.push({
    path: pathname,
    body: Buffer.concat(chunks).toString(),
    authorization: req.headers.authorization ?? '',
  });
  if (anonymousRefusal(req) !== undefined) return void res.writeHead(403).end();
  const account = accounts[pathname];
  res.writeHead(account === undefined ? vendor.tokens.status : 200, { 'content-type': 'application/json' });
  res.end(JSON.stringify(account === undefined ? vendor.tokens.body : account()));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
vendor.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => server.close());

const client = (name: string) => ({ [`${name}_CLIENT_ID`]: `${name}-id`, [`${name}_CLIENT_SECRET`]: `${name}-secret` });
const urls = (name: string) => ({
  [`${name}_API_URL`]: vendor.url,
  [`${name}_AUTHORIZE_URL`]: `${vendor.url}/authorize`,
  [`${name}_TOKEN_URL`]: `${vendor.url}/token`,
});
const { service, make } = await withService('plain', {
  env: {
    ...client('GOOGLE'),
    ...urls('GOOGLE'),
    ...client('ATLASSIAN'),
    ...urls('ATLASSIAN'),
    ...urls('MICROSOFT'),
    ...client('GITHUB'),
    GITHUB_API_URL: vendor.url,
    GITHUB_APP_SLUG: 'parley',
    CORS_ORIGINS: 'https://app.example.com',
  },
});
let ann: Person;
beforeEach(async () => {
  vendor.requests = [];
  vendor.tokens = {
    status: 200,
    body: { access_token: 'CANARY-access', refresh_token: 'CANARY-refresh', expires_in: 3600, scope: 'read' },
  };
  ann = await make.person({ name: 'Ann' });
});

const authorize = (input: object, who = ann) => who.post('/api/v1/connections/authorize', input);
const connectionsOf = async (who: Person) => (await who.get('/api/v1/connections')).body.data;
async function stateOf(input: object): Promise<URLSearchParams> {
  const { status, body } = await authorize(input);
  expect(status).toBe(200);
  return new URL(body.url).searchParams;
}
const callback = (query: Readonly<Record<string, string>>) =>
  fetch(`${service.url}/oauth/callback?${new URLSearchParams(query)}`);
const wordOf = (page: string) => /name="word" value="([^"]+)"/.exec(page)?.[1] ?? '';
const confirm = (word: string) =>
  fetch(`${service.url}/oauth/callback`, { method: 'POST', body: new URLSearchParams({ word }), redirect: 'manual' });

describe('the page that asks for the confirmation', () => {
  it('names who is served by what nobody else can choose: e-mail, organization and tenant, escaped', async () => {
    const { data } = await service.client().graphql('mutation { createTenant(input: { name: "Acme <Works>" }) { id } }');
    const organization = await make.organization({ tenant: { id: data.createTenant.id } });
    const eve = await make.person({ organization, name: 'Ann <b>Admin</b>', email: 'eve@example.com' });
    const { url } = (await authorize({ provider: 'DRIVE_A' }, eve)).body;
    const state = new URL(url).searchParams.get('state') ?? '';
    const html = await (await callback({ state, code: 'c' })).text();
    expect(html).toContain('<strong>eve@example.com</strong>');
    expect(html).toContain('<strong>Acme &#60;Works&#62;</strong>');
    expect(html).toContain('<strong>Ann &#60;b&#62;Admin&#60;/b&#62;</strong>');
    expect(html).toMatch(/organization <strong>Organization \d+<\/strong>/);
  });
});

describe('an account that is connected in the browser', () => {
  it('is stored when its person has confirmed it, with PKCE, and shown to nobody', async () => {
    const sent = await stateOf({ provider: 'DRIVE_A', returnTo: 'https://app.example.com/settings?tab=1' });
    expect(Object.fromEntries(sent)).toMatchObject({
      client_id: 'GOOGLE-id',
      response_type: 'code',
      redirect_uri: `${service.url}/oauth/callback`,
      scope: 'https://www.googleapis.com/auth/drive.readonly',
      code_challenge_method: 'S256',
      access_type: 'offline',
    });
    const page = await callback({ state: sent.get('state') ?? '', code: 'the-code' });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(page.headers.get('cache-control')).toBe('no-store');
    const html = await page.text();
    expect(html).toContain('ann@drive.example');
    expect(html).toContain('<strong>Ann</strong>');
    expect(html).not.toContain('CANARY');
    const request = new URLSearchParams(vendor.requests[0]?.body);
    expect(Object.fromEntries(request)).toMatchObject({
      grant_type: 'authorization_code',
      code: 'the-code',
      client_secret: 'GOOGLE-secret',
    });
    const challenge = createHash('sha256')
      .update(request.get('code_verifier') ?? '')
      .digest('base64url');
    expect(challenge).toBe(sent.get('code_challenge'));
    expect(await connectionsOf(ann)).toEqual([]);

    const done = await confirm(wordOf(html));
    expect(done.headers.get('refresh')).toBe('0; url=https://app.example.com/settings?tab=1');
    const [connection] = await connectionsOf(ann);
    expect(connection).toMatchObject({
      provider: 'DRIVE_A',
      accountName: 'ann@drive.example',
      scopes: ['read'],
      needsReauthorization: false,
    });
    expect(JSON.stringify(connection)).not.toContain('CANARY');
    expect(await openSecrets(service.deps.storage, connection)).toEqual({
      accessToken: 'CANARY-access',
      refreshToken: 'CANARY-refresh',
    });
    expect((await confirm(wordOf(html))).status).toBe(400);
  });

  it('gets a new token when it is connected once more', async () => {
    for (const access of ['one', 'two']) {
      vendor.tokens.body = { access_token: access, expires_in: 3600 };
      const sent = await stateOf({ provider: 'WIKI' });
      expect(sent.get('code_challenge')).toBeNull();
      const html = await (await callback({ state: sent.get('state') ?? '', code: 'c' })).text();
      expect(await (await confirm(wordOf(html))).text()).toContain('You can close this page');
      expect(JSON.parse(vendor.requests.findLast(({ body }) => body.includes('authorization_code'))?.body ?? '')).toMatchObject({
        code: 'c',
        client_id: 'ATLASSIAN-id',
      });
    }
    const [connection, ...others] = await connectionsOf(ann);
    expect(others).toEqual([]);
    expect(connection.accountName).toBe('acme');
    expect(await openSecrets(service.deps.storage, connection)).toEqual({ accessToken: 'two' });
  });

  it('is an installation at the repository host only if it is among those of the person', async () => {
    const { url } = (await authorize({ provider: 'REPO_HOST' })).body;
    expect(url).toMatch(new RegExp(`^${vendor.url}/apps/parley/installations/new\\?state=`));
    const state = new URL(url).searchParams.get('state') ?? '';
    const foreign = await callback({ state, code: 'c', installation_id: '9' });
    expect(foreign.status).toBe(400);
    expect(await foreign.text()).toContain('not among those of your account');
    const again = new URL((await authorize({ provider: 'REPO_HOST' })).body.url).searchParams.get('state') ?? '';
    const html = await (await callback({ state: again, code: 'c', installation_id: '4711', setup_action: 'install' })).text();
    await confirm(wordOf(html));
    const [connection] = await connectionsOf(ann);
    expect(connection).toMatchObject({ kind: 'REPO_HOST_INSTALLATION', installationId: 4711, accountName: 'acme' });
    expect(await openSecrets(service.deps.storage, connection)).toEqual({});
    const byHand = await ann.post('/api/v1/connections/repo-host-installations', { installationId: 4711, accountName: 'x' });
    expect(byHand).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining('INSTANCE') } } });
  });

  it('is not connected by a state that is unknown or used, nor after a refusal', async () => {
    expect((await callback({ state: 'made-up', code: 'c' })).status).toBe(400);
    const state = (await stateOf({ provider: 'DRIVE_A' })).get('state') ?? '';
    expect((await callback({ state, code: 'c' })).status).toBe(200);
    expect((await callback({ state, code: 'c' })).status).toBe(400);
    const denied = (await stateOf({ provider: 'DRIVE_A' })).get('state') ?? '';
    const page = await callback({ state: denied, error: 'access_denied' });
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('The access was not allowed');
    const description = 'The code CANARY <b>has been used</b>.';
    vendor.tokens = { status: 400, body: { error: 'invalid_grant', error_description: description } };
    const bad = await callback({ state: (await stateOf({ provider: 'DRIVE_A' })).get('state') ?? '', code: 'CANARY' });
    // The words of the vendor are shown as text, without the values that the request carried.
    expect(await bad.text()).toContain('The code … &#60;b&#62;has been used&#60;/b&#62;.');
    expect(await connectionsOf(ann)).toEqual([]);
  });

  it.each([
    ['a service that the operator did not register', { provider: 'DRIVE_B' }, 'provider', 'MICROSOFT_CLIENT_ID'],
    ['an MCP server without its connection', { provider: 'MCP' }, 'connectionId', 'mcp-servers'],
    ['a return elsewhere', { provider: 'DRIVE_A', returnTo: 'https://evil.example/' }, 'returnTo', 'CORS_ORIGINS'],
    ['a return to a script', { provider: 'DRIVE_A', returnTo: 'javascript:alert(1)' }, 'returnTo', 'CORS_ORIGINS'],
  ])('is refused for %s', async (_case, input, param, words) => {
    const reply = await authorize(input);
    expect(reply).toMatchObject({ status: 400, body: { error: { param } } });
    expect(reply.body.error.message).toContain(words);
  });
});
