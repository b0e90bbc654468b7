import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createProxies } from '../../../../src/engine/egress/proxies.ts';
import { createOpenAiClient } from '../../../../src/engine/models/openai/client.ts';
import { checkEgress } from '../../../../src/start/checks/egress.ts';
import { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import { html, startSite } from '../../../fixtures/upstreams/site.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { startConnectProxy } from '../../../support/egress/connect-proxy.ts';
import { makeWebhook } from '../../../support/operations/webhooks.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { scriptedUpstream, withService } from '../../../support/service.ts';
import { testSettings } from '../../../support/settings.ts';

/** Nothing of these is reached but through the proxy: public addresses, and names that no server knows. */
const siteAddress = '93.184.215.14';
const toolAddress = '93.184.215.15';
const proxy = await startConnectProxy();
const site = await startSite();
const api = await startApiServer();
const google = await GoogleDrive.start();
proxy.route('models.invalid:80', (await scriptedUpstream()).url);
proxy.route('drive.invalid:80', google.url);
proxy.route(`${siteAddress}:80`, site.url);
proxy.route(`${toolAddress}:80`, api.url);
const proxyUrl = `http://ann:secret-word@127.0.0.1:${proxy.port}`;
const log: string[] = [];
const { make, upstream } = await withService('model', {
  env: {
    ...{ HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, LOG_LEVEL: 'debug' },
    ...{ OPENAI_BASE_URL: 'http://models.invalid/v1', GOOGLE_API_URL: 'http://drive.invalid' },
    ...{ GOOGLE_TOKEN_URL: 'http://drive.invalid/token', GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret' },
  },
  onLog: (line) => void log.push(line),
});
afterEach(() => proxy.reset());
afterAll(() => Promise.all([proxy.close(), site.close(), api.close(), google.server.close()]));
const targets = () => proxy.requests.map(({ method, target }) => `${method} ${target}`);

describe('with HTTPS_PROXY and HTTP_PROXY', () => {
  it('a model and the tool that it calls are reached', async () => {
    const ann = await make.person();
    const agent = await make.agent({ owner: ann, modelId: 'openai/test-model' });
    const parameters = { type: 'object', properties: {} };
    const data = { description: 'Orders', parameters, method: 'POST', url: `http://${toolAddress}/orders` };
    expect((await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'order', type: 'API_FUNCTION', data })).status).toBe(200);
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'order', arguments: '{}' }] }, { text: 'It is ordered.' });
    const messages = [{ role: 'user', content: 'Order it.' }];
    const { body } = await ann.post('/api/v1/chat/completions', { model: agent.id, messages });
    expect(body.choices[0].message.content).toBe('It is ordered.');
    expect(targets()).toContain('POST http://models.invalid/v1/chat/completions');
    expect(targets()).toContain(`CONNECT ${toolAddress}:80`);
    expect(proxy.requests.every(({ headers }) => headers['proxy-authorization'] !== undefined)).toBe(true);
    expect(api.requests).toMatchObject([{ method: 'POST', path: '/orders', headers: { host: toolAddress } }]);
  });

  it('a web site is read', async () => {
    site.set('/', html('Harbour', 'The ferry leaves at nine.'));
    const ann = await make.person();
    const agent = await make.agent({ owner: ann });
    const input = { url: `http://${siteAddress}/`, dataRefreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [] };
    const { id } = (await ann.post(`/api/v1/ais/${agent.id}/data-sources/web-url`, input)).body;
    await eventually(async () => {
      expect((await ann.get(`/api/v1/data-sources/${id}`)).body).toMatchObject({ indexStatus: 'INDEXED' });
    });
    expect(new Set(targets())).toEqual(new Set([`CONNECT ${siteAddress}:80`]));
  });

  it('a drive is read, and its token renewed', async () => {
    const ann = await make.person();
    const agent = await make.agent({ owner: ann });
    const tokens = { accessToken: 'worn-out', refreshToken: google.tokens.refresh };
    const connection = await ann.post('/api/v1/connections', { provider: 'DRIVE_A', accountName: 'Ann', ...tokens });
    const source = { oauthTokenId: connection.body.id, files: [{ id: 'no-such-file', name: 'notes' }] };
    await ann.post(`/api/v1/ais/${agent.id}/data-sources/drive-a`, source);
    await eventually(() =>
      expect(targets().join(' ')).toMatch(/POST http:\/\/drive.invalid\/token.* GET http:\/\/drive.invalid\/drive/),
    );
  });

  it('a receiver of webhooks is reached, and none of a private network', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const webhook = await makeWebhook(ann, `http://${toolAddress}/hooks`);
    const hidden = await makeWebhook(ann, 'http://10.0.0.1/hooks');
    await webhook.test();
    await hidden.test();
    await eventually(async () => {
      expect(await webhook.deliveries()).toMatchObject([{ status: 'DELIVERED' }]);
      expect(await hidden.deliveries()).toMatchObject([{ lastAnswer: { error: expect.stringContaining('EGRESS_ALLOW') } }]);
    });
    expect(targets()).toEqual([`CONNECT ${toolAddress}:80`]);
    expect(api.requests.map(({ path }) => path)).toContain('/hooks');
  });

  it('the password of the proxy stands in no log', async () => {
    expect(log.join('\n')).not.toMatch(/secret-word|c2VjcmV0LXdvcmQ/);
    expect(log.length).toBeGreaterThan(10);
  });
});

describe('a proxy that does not work is named', () => {
  const complete = async (settings: Parameters<typeof createProxies>[0]) => {
    const limits = { connectTimeoutMs: 2_000, firstByteTimeoutMs: 2_000, firstTokenTimeoutMs: 2_000, idleTimeoutMs: 2_000 };
    const client = createOpenAiClient({
      ...{ provider: 'openai', baseUrl: 'https://models.invalid/v1', apiKey: 'key', dialect: 'compatible' as const },
      ...{ ...limits, bodyBytesMax: 10_000, proxies: createProxies(settings) },
    });
    const request = {
      model: 'm',
      messages: [{ role: 'user' as const, content: 'hi' }],
      isStreaming: true,
      parameters: {},
      tools: [],
    };
    try {
      for await (const _ of client.stream(request as never, new AbortController().signal));
    } finally {
      await client.close();
    }
  };
  it.each([
    ['refuses', () => ({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` })],
    ['is down', () => ({ HTTPS_PROXY: 'http://127.0.0.1:9' })],
  ])('in the error of a model when it %s', async (_case, settings) => {
    proxy.refuse(403);
    await expect(complete(settings())).rejects.toThrow(
      `The model provider "openai" cannot be reached through the proxy ${new URL(settings().HTTPS_PROXY).host}`,
    );
  });

  it('by doctor', async () => {
    const findings = async (url: string) => checkEgress(testSettings({ HTTPS_PROXY: url, EGRESS_DNS_SERVERS: '127.0.0.1:9' }));
    proxy.route('example.com:443', api.url);
    expect(await findings(proxyUrl)).toContainEqual(
      expect.objectContaining({ level: 'good', message: `The proxy 127.0.0.1:${proxy.port} lets calls through.` }),
    );
    proxy.refuse(407);
    expect(await findings(proxyUrl)).toContainEqual(
      expect.objectContaining({
        level: 'wrong',
        message: `The proxy 127.0.0.1:${proxy.port} asks for a user name and a password.`,
      }),
    );
    proxy.refuse(403);
    expect(await findings(proxyUrl)).toContainEqual(
      expect.objectContaining({ level: 'warning', message: `The proxy 127.0.0.1:${proxy.port} refused the connection (403).` }),
    );
    const down = await findings('http://ann:secret-word@127.0.0.1:9');
    expect(down).toContainEqual(
      expect.objectContaining({ level: 'wrong', message: 'The proxy 127.0.0.1:9 could not be reached (ECONNREFUSED).' }),
    );
    expect(JSON.stringify(down)).not.toContain('secret-word');
  });
});
