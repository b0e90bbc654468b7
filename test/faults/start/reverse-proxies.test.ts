import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TestClient } from '../../support/client.ts';
import { TestBrowser } from '../../support/people/browser.ts';
import {
  hasReverseProxy,
  type ReverseProxy,
  type ReverseProxyName,
  startReverseProxy,
} from '../../support/processes/reverse-proxy.ts';
import { withService } from '../../support/service.ts';

// The configurations of docs/deployment.md, in the programs that they are for.

const header = 'x-forwarded-email';
const { service, make } = await withService('plain', {
  env: {
    TRUSTED_PROXY_HOPS: '1',
    TRUSTED_USER_HEADER: header,
    TRUSTED_USER_PROXIES: '127.0.0.1',
    UPLOAD_MAX_BYTES: String(2 * 1024 * 1024),
  },
});
const who = '{ viewer { user { email } session { method network } } }';

describe.each<ReverseProxyName>(['nginx', 'haproxy'])('%s, as the manual configures it', (name) => {
  const has = hasReverseProxy(name);
  let proxy: ReverseProxy;
  beforeAll(async () => {
    if (has) proxy = await startReverseProxy(name, service.url);
  });
  afterAll(() => proxy?.close());
  const through = (key = service.adminKey) => new TestClient(() => proxy.url, key);
  const browser = () => new TestBrowser(() => proxy.url);

  it.skipIf(!has)('passes on an event while the stream is open', async () => {
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const body = { query: 'subscription { agentsChanged { kind } }' };
    const { orgId, tenantId } = await admin();
    const leave = new AbortController();
    const stream = await through().fetch('POST', '/graphql', body, headers, leave.signal);
    await make.agent({ owner: await make.person({ organization: { id: orgId, tenantId } }), visibility: 'ORGANIZATION' });
    let text = '';
    for await (const bytes of stream.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (text.includes('CREATED')) break;
    }
    leave.abort();
    expect(text).toContain('CREATED');
  });

  it.skipIf(!has)('passes on a WebSocket', async () => {
    const socket = new WebSocket(`${proxy.url.replace('http', 'ws')}/api/v1/responses`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    await once(socket, 'open');
    socket.close();
    await once(socket, 'close');
  });

  it.skipIf(!has)('takes the header of people out of what a client sends', async () => {
    const { email } = await admin();
    const direct = await new TestBrowser(() => service.url).call('POST', '/graphql', { query: who }, { [header]: email });
    expect(direct.body.data.viewer).toMatchObject({ user: { email }, session: { method: 'PROXY' } });
    for (const spelling of [header, 'X-Forwarded-Email', 'X-FORWARDED-EMAIL']) {
      expect((await browser().call('POST', '/graphql', { query: who }, { [spelling]: email })).status).toBe(401);
    }
  });

  it.skipIf(!has)('leaves the bound of uploads to Parley, and passes on what is below it', async () => {
    const upload = (bytes: number) => {
      const form = new FormData();
      form.append('file', new Blob(['a'.repeat(bytes)], { type: 'text/plain' }), 'note.txt');
      form.append('purpose', 'assistants');
      return through().post('/api/v1/files', form);
    };
    expect((await upload(1_900_000)).status).toBe(200);
    const { status, body } = await upload(2_500_000);
    expect({ status, message: body.error.message }).toEqual({ status: 413, message: 'file must be at most 2097152 bytes' });
  });

  it.skipIf(!has)('signs a browser in, and tells its address whatever the browser says', async () => {
    const page = browser();
    const { body } = await service.client().post('/api/v1/admin/sign-in-links', {});
    expect((await page.signInBy(body.url)).status).toBe(200);
    const { body: asked } = await page.call('POST', '/graphql', { query: who }, { 'x-forwarded-for': '203.0.113.9' });
    expect(asked.data.viewer.session).toEqual({ method: 'LINK', network: '127.0.0.1' });
    const forged = await page.call('POST', '/graphql', { query: who }, { origin: 'https://evil.example' });
    expect(forged.status).toBe(403);
  });
});

/** The first administrator, and the organization. */
async function admin(): Promise<{ readonly email: string; readonly orgId: string; readonly tenantId: string }> {
  const { data } = await service.client().graphql('{ viewer { user { email } organization { id tenantId } } }');
  const { user, organization } = data.viewer;
  return { email: user.email, orgId: organization.id, tenantId: organization.tenantId };
}
