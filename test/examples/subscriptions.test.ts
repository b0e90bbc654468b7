import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import { eventually } from '../support/processes/eventually.ts';
import { installExample } from '../support/processes/example.ts';
import { freePort } from '../support/processes/free-port.ts';
import { withService } from '../support/service.ts';

// The service keeps its address when it starts again.
const { service, make, upstream } = await withService('model', { env: { PORT: String(await freePort()) } });
const owner = await make.person();
const { key } = await make.withKey(owner, { scopes: ['USAGE:READ'] });
const example = await installExample('subscriptions');
await example.run('build');
const url = await example.start({ PARLEY_URL: service.url, PARLEY_KEY: key }, '--port', '0');

async function use(tokens: number): Promise<void> {
  upstream.next({ text: ['Hello'], usage: { prompt_tokens: tokens - 1, completion_tokens: 1 } });
  const { status } = await owner.post('/v1/chat/completions', {
    model: 'openai/test-model',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  expect(status).toBe(200);
}

describe.skipIf(!hasBrowser())('the same subscription with three clients', async () => {
  const names = ['apollo', 'urql', 'relay'];
  // Each in a session of its own: a page in the background of another one is not drawn.
  const pages = new Map(await Promise.all(names.map(async (name) => [name, await openPage(`${url}/${name}.html`)] as const)));
  const shows = (name: string, text: string) =>
    eventually(async () => {
      const open = pages.get(name);
      expect(open && (await visible(open.page, 'body'))).toBe(text);
    });

  it.each(names)('%s shows the state at once, then each change', async (name) => {
    const before = names.indexOf(name) * 10;
    await shows(name, `Tokens used: ${before}`);
    await use(10);
    await shows(name, `Tokens used: ${before + 10}`);
    expect(pages.get(name)?.problems).toEqual([]);
  });

  it('all go on when Parley has been restarted', async () => {
    await service.restart();
    await use(12);
    for (const name of names) await shows(name, 'Tokens used: 42');
  });

  it('all say why when the key is refused', async () => {
    const refused = await example.start({ PARLEY_URL: service.url, PARLEY_KEY: 'pk_unknown' }, '--port', '0');
    for (const name of names) {
      const { page } = await openPage(`${refused}/${name}.html`);
      await page.waitForSelector('[role=alert]');
      expect(await visible(page, '[role=alert]')).toContain('The API key is unknown, revoked or expired');
    }
  });
});
