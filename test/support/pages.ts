import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { withBrowser } from './browser.ts';

export interface OpenPage {
  readonly page: Page;
  /** Errors of scripts, of loading and of the policy, as the console shows them. */
  readonly problems: readonly string[];
  /** Origins of all requests, in the order of their first. */
  readonly origins: ReadonlySet<string>;
}

let opening: Promise<Browser> | undefined;

/**
 * Opens an address in a session of its own: nothing that an earlier page stored is there.
 *
 * @param answers  replies in JSON that the browser gets in place of the service's, by path.
 */
export async function openPage(
  address: string,
  answers: Readonly<Record<string, { readonly status: number; readonly body: string }>> = {},
  scheme: 'light' | 'dark' = 'light',
  width = 1280,
): Promise<OpenPage> {
  const browser = await browserOfFile();
  const page = await (await browser.createBrowserContext()).newPage();
  // A test has two minutes: a busy machine takes long to draw a page.
  page.setDefaultTimeout(100_000);
  const problems: string[] = [];
  const origins = new Set<string>();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('request', (request) => {
    if (/^(?:https?|wss?):/.test(request.url())) origins.add(new URL(request.url()).origin);
  });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.setViewport({ width, height: 800 });
  if (Object.keys(answers).length > 0) {
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      const answer = answers[new URL(request.url()).pathname];
      if (answer === undefined) void request.continue();
      else void request.respond({ ...answer, contentType: 'application/json' });
    });
  }
  await page.goto(address);
  return { page, problems, origins };
}

/** The files of a worker share this module, and each file closes its browser: the next one gets another. */
function browserOfFile(): Promise<Browser> {
  opening ??= withBrowser().then((browser) => {
    browser.once('disconnected', () => {
      opening = undefined;
    });
    return browser;
  });
  return opening;
}

/** Keeps what the page shows, as `<name>.png` in the folder that BROWSER_PICTURES names; without it nothing is kept. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.BROWSER_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** The text of an element as a reader sees it. */
export async function visible(page: Page, selector: string): Promise<string | undefined> {
  return page.evaluate((found) => document.querySelector<HTMLElement>(found)?.innerText.trim(), selector);
}
