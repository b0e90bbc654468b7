import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startFrontProxy } from '../../../support/apis/front-proxy.ts';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

/** Whatever happens to the connection while an answer comes: the reader is told, and in the end sees what the service has, each word once. */
const { service, make, upstream } = await withService('model', { env: { SSE_HEARTBEAT_MS: '500' } });

const proxy = await startFrontProxy(() => service.url);
const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;

afterAll(() => proxy.close());

const words = Array.from({ length: 40 }, (_, index) => `word${index} `);

/** A chat whose answer has begun, behind the proxy. */
async function begun() {
  const held = heldAnswer({ text: words });
  upstream.next(held.script);
  const behindProxy = Object.create(service, { url: { value: proxy.url } });
  const { page, context } = await openConsole(behindProxy, ann, `/?agent=${agentId}`);
  // Its silent connections would serve the next test.
  onTestFinished(() => context.close());
  await page.getByRole('textbox', { name: 'Message' }).fill('Count');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const answer = page.getByRole('article', { name: 'Harbour pilot' });
  await answer.getByText('word0').waitFor();
  const isLost = () => page.getByText('The connection is lost.').waitFor();
  const chatId = /\/chats\/(\w+)/.exec(page.url())?.[1] ?? '';
  /** What the page shows once the run is over, and what the service has. */
  const ending = async () => {
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached', timeout: 60_000 });
    const { body } = await ann.get(`/api/v1/chats/${chatId}`);
    const texts = body.messages.filter(({ role }: { role: string }) => role === 'assistant');
    return { shown: await answer.locator('p').first().innerText(), stored: texts[0]?.content.trim() };
  };
  return { page, context, held, isLost, ending };
}

describe.skipIf(!hasBrowser())('an answer in the console', () => {
  it('is whole after the proxy in between went silent', async () => {
    const { page, held, isLost, ending } = await begun();
    proxy.hush();
    held.goOn();
    await isLost();
    await keepConsolePicture(page, 'chat-lost');
    expect(await ending()).toEqual({ shown: words.join('').trim(), stored: words.join('').trim() });
    await page.getByText('The connection is lost.').waitFor({ state: 'detached' });
  });

  it('is whole after the browser was offline', async () => {
    const { page, context, held, ending } = await begun();
    await context.setOffline(true);
    proxy.hush();
    held.goOn();
    await page.getByText('The connection is lost.').waitFor();
    await context.setOffline(false);
    expect(await ending()).toEqual({ shown: words.join('').trim(), stored: words.join('').trim() });
  });

  it('is what the service kept after the service was restarted in its middle', async () => {
    const { page, isLost, ending } = await begun();
    const restarted = service.restart();
    await isLost();
    await restarted;
    const { shown, stored } = await ending();
    expect(shown).toBe(stored);
    await page.getByText('The connection is lost.').waitFor({ state: 'detached' });
  });
});
