import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleScript, hasBrowser, servePage, withBrowser } from '../support/browser/browser.ts';
import type { Clients, PageRequest, SeenReply } from '../support/browser/clients.ts';
import { type TestBench, withService } from '../support/service.ts';
import { heldAnswer } from '../support/upstream.ts';

declare const clients: Clients;

const isOn = hasBrowser();
const script = isOn ? await bundleScript(join(import.meta.dirname, '../support/browser/clients.ts')) : '';
const listed = await servePage(script);
const stranger = await servePage(script);
const bench: TestBench = await withService('model', { env: { CORS_ORIGINS: listed, RUNS_ACTIVE_MAX: '1' } });
const { service, upstream } = bench;

describe.skipIf(!isOn)('a page of another origin, in Chromium', async () => {
  const browser: Browser | undefined = isOn ? await withBrowser() : undefined;
  let page: Page;
  let foreign: Page;
  beforeAll(async () => {
    [page, foreign] = [await openPage(listed), await openPage(stranger)];
  });

  async function openPage(origin: string): Promise<Page> {
    if (browser === undefined) throw new Error('there is no browser');
    const opened = await browser.newPage();
    await opened.goto(origin);
    await opened.waitForFunction(() => 'clients' in globalThis);
    return opened;
  }
  const fetched = (from: Page, path: string, request: PageRequest = {}): Promise<SeenReply | { readonly failed: string }> =>
    from.evaluate((url, given) => clients.fetch(url, given), `${service.url}${path}`, request);
  const withKey = { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' };

  it('reads replies of REST and GraphQL with their request ids', async () => {
    const models = await fetched(page, '/api/v1/models', { headers: withKey });
    expect(models).toMatchObject({
      status: 200,
      requestId: expect.stringMatching(/./),
      text: expect.stringContaining('test-model'),
    });
    const body = JSON.stringify({ query: '{ __typename }' });
    const query = await fetched(page, '/graphql', {
      method: 'POST',
      headers: { ...withKey, 'x-request-id': 'of-the-page' },
      body,
    });
    expect(query).toMatchObject({ status: 200, requestId: 'of-the-page', text: expect.stringContaining('Query') });
  });

  it.each([
    ['401', '/api/v1/models', {}, 401],
    ['401 of GraphQL', '/graphql', { method: 'POST' }, 401],
    ['404', '/nothing', {}, 404],
    ['404 of the API', '/api/v1/ais/agt_none', { headers: withKey }, 404],
    ['405', '/api/v1/models', { method: 'PUT', headers: withKey }, 405],
  ])('reads the error %s', async (_what, path, request: PageRequest, status) => {
    expect(await fetched(page, path, request)).toMatchObject({ status, text: expect.stringMatching(/error/) });
  });

  it('reads 503 and when to try again', async () => {
    const { script: answer, goOn } = heldAnswer({ text: ['One', ' two'] });
    upstream.next(answer);
    const body = { model: 'openai/test-model', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const first = await service.client().fetch('POST', '/api/v1/chat/completions', body, {});
    const refused = await fetched(page, '/api/v1/chat/completions', {
      method: 'POST',
      headers: withKey,
      body: JSON.stringify(body),
    });
    goOn();
    expect(await first.text()).toContain('[DONE]');
    expect(refused).toMatchObject({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
      text: expect.stringMatching(/error/),
    });
  });

  it('streams a completion with the openai package', async () => {
    upstream.next({ text: ['One', ' two', ' three'] });
    const told = page.evaluate((url, key) => clients.openai(url, key), `${service.url}/api/v1`, service.adminKey);
    expect(await told).toBe('One two three');
  });

  it.each([
    ['distinct connections', false],
    ['a single connection', true],
  ])('follows a subscription with graphql-sse and %s', async (_mode, single) => {
    upstream.next({ text: ['One', ' two', ' three'] });
    const told = page.evaluate(
      (url, key, one) => clients.sse(url, key, one),
      `${service.url}/graphql/stream`,
      service.adminKey,
      single,
    );
    expect(await told).toBe('One two three');
  });

  it('reads nothing when its origin is not listed', async () => {
    expect(await fetched(foreign, '/api/v1/models', { headers: withKey })).toEqual({ failed: 'TypeError: Failed to fetch' });
    expect(await fetched(foreign, '/readyz')).toEqual({ failed: 'TypeError: Failed to fetch' });
  });
});
