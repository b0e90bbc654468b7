import { afterAll, expect, it } from 'vitest';
import { startGuardedMcp } from '../../../../fixtures/upstreams/mcp/authorization.ts';
import { withService } from '../../../../support/service.ts';

/** An installation at an address with https: authorization servers can read what it is. */
const guarded = await startGuardedMcp();
const publicUrl = 'https://parley.example.com';
const { service, make } = await withService('model', { env: { PUBLIC_URL: publicUrl } });
afterAll(() => guarded.close());

it('is the address of its metadata, where the authorization server takes that, and registers nowhere', async () => {
  guarded.metadata = { client_id_metadata_document_supported: true };
  const ann = await make.person();
  const { body: connection } = await ann.post('/api/v1/connections/mcp-servers', { name: 'Notes', url: guarded.url });
  const { body } = await ann.post('/api/v1/connections/authorize', { provider: 'MCP', connectionId: connection.id });
  const clientId = new URL(body.url).searchParams.get('client_id') ?? '';
  expect(clientId).toBe(`${publicUrl}/oauth/client-metadata.json`);
  expect(guarded.asked.filter(({ path }) => path === '/as/reg')).toEqual([]);

  const document = await fetch(clientId.replace(publicUrl, service.url));
  expect(document.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await document.json()).toEqual({
    client_id: clientId,
    client_name: 'Parley',
    client_uri: publicUrl,
    redirect_uris: [`${publicUrl}/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'web',
    token_endpoint_auth_method: 'none',
  });
});

it('is a client that it registers, where the authorization server takes nothing else', async () => {
  guarded.metadata = {};
  const ann = await make.person();
  const { body: connection } = await ann.post('/api/v1/connections/mcp-servers', { name: 'Notes', url: guarded.url });
  const { status } = await ann.post('/api/v1/connections/authorize', { provider: 'MCP', connectionId: connection.id });
  expect(status).toBe(200);
  const [registration] = guarded.asked.filter(({ path }) => path === '/as/reg');
  expect(JSON.parse(registration?.body ?? '{}')).toMatchObject({
    client_name: 'Parley',
    redirect_uris: [`${publicUrl}/oauth/callback`],
    application_type: 'web',
    token_endpoint_auth_method: 'client_secret_basic',
  });
});
