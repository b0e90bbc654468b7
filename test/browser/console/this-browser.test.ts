import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole } from '../../support/browser/console.ts';
import { look } from '../../support/browser/look.ts';
import { withService } from '../../support/service.ts';
import { heldAnswer } from '../../support/upstream.ts';

const { service, make, upstream } = await withService('model');
/** An answer counts as long from 5 seconds on. */
const longMs = 5_500;

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;

interface Note {
  readonly title: string;
  readonly body: string;
}

/** A stand-in for the notifications of the browser. `asked`: how often the person was asked. */
function standInForNotifications(answer: string): void {
  const notes: { title: string; body: string; open: () => void }[] = [];
  const state = { asked: 0 };
  class StandIn {
    static permission = 'default';
    static async requestPermission() {
      state.asked += 1;
      StandIn.permission = answer;
      return answer;
    }
    onclick: (() => void) | undefined;
    constructor(title: string, { body }: { body: string }) {
      notes.push({ title, body, open: () => this.onclick?.() });
    }
    close() {}
  }
  Object.assign(window, { Notification: StandIn, notes, state });
}

/** A stand-in for the recognition and the voice of the browser. */
function standInForVoice(): void {
  class Recognition {
    onresult: ((event: unknown) => void) | undefined;
    onend: (() => void) | undefined;
    start() {
      Object.assign(window, {
        hear: (...texts: string[]) => this.onresult?.({ results: texts.map((transcript) => [{ transcript }]) }),
      });
    }
    stop() {
      this.onend?.();
    }
    abort() {}
  }
  const spoken: string[] = [];
  const speechSynthesis = { speak: ({ text }: { text: string }) => spoken.push(text), cancel() {} };
  class Utterance {
    text: string;
    constructor(text: string) {
      this.text = text;
    }
  }
  Object.assign(window, {
    webkitSpeechRecognition: Recognition,
    SpeechRecognition: undefined,
    SpeechSynthesisUtterance: Utterance,
    spoken,
  });
  Object.defineProperty(window, 'speechSynthesis', { value: speechSynthesis });
}

const notesIn = (page: Page): Promise<readonly Note[]> =>
  page.evaluate(() => (Reflect.get(window, 'notes') as Note[]).map(({ title, body }) => ({ title, body })));
const askedIn = (page: Page) => page.evaluate(() => (Reflect.get(window, 'state') as { asked: number }).asked);

async function openAccount(standIn: () => void): Promise<{ readonly page: Page; readonly problems: readonly string[] }> {
  const { page, problems } = await openConsole(service, ann, '/account');
  await page.addInitScript(standIn);
  await page.reload();
  await page.getByRole('heading', { name: 'This browser' }).waitFor();
  return { page, problems };
}

/** Asks, looks away, and has the answer come after `ms`. */
async function askAway(page: Page, question: string, answer: string, ms: number): Promise<void> {
  const { script, goOn } = heldAnswer({ text: ['So: ', answer] });
  upstream.next(script);
  const earlierCount = await page.getByText('So:').count();
  await page.getByRole('textbox', { name: 'Message' }).fill(question);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByText('So:').count(), { timeout: 10_000 }).toBe(earlierCount + 1);
  await look(page, 'hidden');
  await new Promise((resolve) => setTimeout(resolve, ms));
  goOn();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
}

describe.skipIf(!hasBrowser())('what a browser does for a person', () => {
  it('notifies of long answers by choice, while nobody looks, with the title alone unless more is chosen', async () => {
    const { page, problems } = await openAccount(() => undefined);
    await page.addInitScript(standInForNotifications, 'granted');
    await page.reload();
    const notifications = page.getByRole('switch', { name: 'Notifications' });
    await notifications.waitFor();
    expect(await notifications.isChecked()).toBe(false);
    expect(await askedIn(page)).toBe(0);
    await notifications.check();
    const more = page.getByRole('switch', { name: 'Show the beginning of the answer' });
    expect(await more.isChecked()).toBe(false);
    expect(await askedIn(page)).toBe(1);
    await page.getByRole('heading', { name: 'This browser' }).scrollIntoViewIfNeeded();
    await checkScreen(page, 'account-this-browser');

    // Without another load of the page: the stand-in would forget that it may.
    await page.getByRole('link', { name: 'Chats', exact: true }).click();
    await askAway(page, 'How long is the pier?', 'forty metres.', longMs);
    await page.waitForFunction(() => (Reflect.get(window, 'notes') as unknown[]).length === 1);
    expect(await notesIn(page)).toEqual([{ title: 'How long is the pier?', body: 'The answer is there.' }]);
    const chat = page.url();
    await look(page, 'visible');
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.evaluate(() => (Reflect.get(window, 'notes') as { open: () => void }[])[0]?.open());
    await page.waitForURL(chat);

    // A short one tells nothing, nor one that the person sees.
    await askAway(page, 'And the mole?', 'longer.', 0);
    await look(page, 'visible');
    await page.evaluate(() => localStorage.setItem('parley.answersInNotifications', 'on'));
    await askAway(page, 'And the quay?', 'ninety metres.', longMs);
    await page.waitForFunction(() => (Reflect.get(window, 'notes') as unknown[]).length > 1);
    expect((await notesIn(page)).slice(1)).toEqual([{ title: 'How long is the pier?', body: 'So: ninety metres.' }]);
    expect(problems).toEqual([]);
  });

  it('notifies of a call that waits for approval, in German too', async () => {
    const shop = await make.agent({ owner: ann, name: 'Bicycle shop' });
    const order = {
      method: 'POST',
      url: 'https://orders.example/',
      parameters: { type: 'object' },
      body: '{}',
      requireApproval: true,
    };
    const { status } = await ann.post(`/api/v1/ais/${shop.id}/tools`, { name: 'order', type: 'API_FUNCTION', data: order });
    expect(status).toBeLessThan(300);
    const { page } = await openConsole(service, ann, '/account', { locale: 'de-DE' });
    await page.addInitScript(standInForNotifications, 'granted');
    await page.reload();
    await page.getByRole('switch', { name: 'Benachrichtigungen' }).check();
    await page.getByRole('heading', { name: 'Dieser Browser' }).scrollIntoViewIfNeeded();
    await keepConsolePicture(page, 'account-this-browser-german');
    await page.evaluate((id) => {
      history.pushState(null, '', `/?agent=${id}`);
    }, shop.id);
    const box = page.getByRole('textbox', { name: 'Nachricht' });
    await box.waitFor();
    const { script, goOn } = heldAnswer({
      text: ['So: ', 'it goes.'],
      toolCalls: [{ id: 'call_1', name: 'order', arguments: '{}' }],
    });
    upstream.next(script);
    await box.fill('Bestell es');
    await page.keyboard.press('Enter');
    await page.getByText('So:').waitFor();
    await look(page, 'hidden');
    goOn();
    await page.waitForFunction(() => (Reflect.get(window, 'notes') as unknown[]).length === 1);
    expect(await notesIn(page)).toEqual([{ title: 'Bestell es', body: 'Ein Aufruf wartet auf Ihre Zustimmung.' }]);
  });

  it('says that the browser refuses notifications', async () => {
    const { page } = await openAccount(() => undefined);
    await page.addInitScript(standInForNotifications, 'denied');
    await page.reload();
    await page.getByRole('switch', { name: 'Notifications' }).click();
    await page.getByText('The browser does not let this page notify you.').waitFor();
    expect(await page.getByRole('switch', { name: 'Notifications' }).isChecked()).toBe(false);
  });

  it('lists the keys at ?, which can be turned off, and never while somebody writes', async () => {
    const { page, problems } = await openConsole(service, ann, `/?agent=${agentId}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('');
    await page.keyboard.type('Why?');
    expect(await box.inputValue()).toBe('Why?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    expect(await list.count()).toBe(0);
    await page.getByRole('link', { name: 'Agents' }).focus();
    await page.keyboard.press('Shift+?');
    await list.getByText('A new line').waitFor();
    await checkScreen(page, 'shortcuts');
    await list.getByRole('switch', { name: 'Single keys work' }).uncheck();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.press('Shift+?');
    expect(await list.count()).toBe(0);
    await page.keyboard.press('Control+/');
    await list.waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await page.keyboard.press('Control+Shift+O');
    await box.waitFor();
    await page.getByRole('button', { name: /^You: / }).click();
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
    await list.waitFor();
    expect(problems).toEqual([]);
  });

  it('can be given the console as an app', async () => {
    const { page, context, problems } = await openConsole(service, ann);
    const session = await context.newCDPSession(page);
    const { errors, data = '{}' } = await session.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    const manifest = JSON.parse(data) as { start_url: string; icons: { src: string; sizes: string; type: string }[] };
    expect(manifest).toMatchObject({ name: 'Parley', start_url: '/', scope: '/', display: 'standalone' });
    const sizes = await page.evaluate(
      async (icons) => {
        const read = async (src: string) => {
          const picture = new Image();
          picture.src = src;
          await picture.decode();
          return `${picture.naturalWidth}x${picture.naturalHeight}`;
        };
        return Promise.all(icons.map(({ src }) => read(src)));
      },
      manifest.icons.filter(({ type }) => type === 'image/png'),
    );
    expect(sizes).toEqual(['192x192', '512x512', '512x512']);
    expect(problems).toEqual([]);
  });

  it('hears and reads aloud only for who turned voice on', async () => {
    const { page, problems } = await openAccount(standInForVoice);
    expect(await page.getByRole('switch', { name: 'Voice' }).isChecked()).toBe(false);
    await page.goto(`${service.url}/?agent=${agentId}`);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect(await page.getByRole('button', { name: 'Dictate' }).count()).toBe(0);
    await page.goto(`${service.url}/account`);
    await page.getByRole('switch', { name: 'Voice' }).check();
    await page.goto(`${service.url}/?agent=${agentId}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('Tell me:');
    await page.getByRole('button', { name: 'Dictate' }).click();
    await page.evaluate(() => Reflect.get(window, 'hear')('how deep', ' is it'));
    await page.getByRole('button', { name: 'Stop dictating' }).waitFor();
    expect(await box.inputValue()).toBe('Tell me: how deep is it');
    await checkScreen(page, 'composer-dictation');
    await page.getByRole('button', { name: 'Stop dictating' }).click();
    upstream.next({
      text: ['# Depth\n\nIt is **nine** metres [1], see [the chart](https://charts.example).\n\n```js\nx()\n```\n\n- Low: 7\n'],
    });
    await box.press('Enter');
    await page.getByRole('button', { name: 'Read aloud' }).click();
    await page.getByRole('button', { name: 'Stop reading' }).click();
    await page.getByRole('button', { name: 'Read aloud' }).waitFor();
    expect(await page.evaluate(() => Reflect.get(window, 'spoken'))).toEqual([
      'Depth\nIt is nine metres, see the chart.\nLow: 7',
    ]);
    expect(problems).toEqual([]);
  });
});
