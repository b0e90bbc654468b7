import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { afterAll, onTestFinished, TestRunner } from 'vitest';
import { launchBrowser } from './browser.ts';

export interface OpenPage {
  readonly page: Page;
  /** Errors of scripts, of loading and of the policy, as the console shows them. */
  readonly problems: readonly string[];
  /** Origins of all requests, in the order of their first. */
  readonly origins: ReadonlySet<string>;
  /** Ends the session before the test ends: a test that opens many pages one after the other has one open at a time. */
  close(): Promise<void>;
}

/** The files of a worker share this module and its browser, which ends with the worker. */
let opening: Promise<Browser> | undefined;
/**
 * Contexts whose session is over, the latest last. In a new context and a new process the browser loads and compiles the megabytes of GraphiQL and
 * Swagger UI again.
 */
const idle: IdleContext[] = [];
const idleMax = 3;
const lightPageTimeoutMs = 5_000;

/** A context without cookies and with nothing stored but the cache of files. Its only page keeps the process of the origin, with the compiled scripts. */
interface IdleContext {
  readonly origin: string;
  readonly context: BrowserContext;
}

/**
 * Opens an address in a session of its own: nothing that an earlier page stored is there. It closes behind the test, or, opened
 * outside one, behind the tests of the file or of the `describe`.
 *
 * @param answers  replies in JSON that the browser gets in place of the service's, by path.
 */
export async function openPage(
  address: string,
  answers: Readonly<Record<string, { readonly status: number; readonly body: string }>> = {},
  scheme: 'light' | 'dark' = 'light',
  width = 1280,
): Promise<OpenPage> {
  const { origin } = new URL(address);
  opening ??= launchBrowser();
  const place = idle.findLastIndex((each) => each.origin === origin);
  const context = idle.splice(place, place < 0 ? 0 : 1)[0]?.context ?? (await (await opening).createBrowserContext());
  const page = await context.newPage();
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
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= endSession(page, origin, origins);
    return closing;
  };
  if (TestRunner.getCurrentTest() === undefined) afterAll(close);
  else onTestFinished(close);
  await page.goto(address);
  // A page of the console is empty until its script has run.
  await page.waitForFunction(() => document.querySelector('#app') === null || document.querySelector('#app main') !== null);
  return { page, problems, origins, close };
}

/** Closes the pages of the session. Its context serves another session, unless it has been at other origins: only what its own origin stored is cleared. */
async function endSession(page: Page, origin: string, origins: ReadonlySet<string>): Promise<void> {
  const context = page.browserContext();
  const isReusable = [...origins].every((each) => each === origin);
  const isCleared = isReusable && (await clear(context, origin).catch(() => false));
  if (isCleared) idle.push({ origin, context });
  else await context.close();
  await Promise.all(idle.splice(0, idle.length - idleMax).map((each) => each.context.close()));
}

async function clear(context: BrowserContext, origin: string): Promise<boolean> {
  const before = await context.pages();
  const light = await context.newPage();
  await light.goto(`${origin}/healthz`, { timeout: lightPageTimeoutMs });
  await Promise.all(before.map((each) => each.close()));
  const devtools = await light.createCDPSession();
  await devtools.send('Storage.clearDataForOrigin', {
    origin,
    storageTypes: 'local_storage,indexeddb,cache_storage,service_workers',
  });
  await devtools.detach();
  await context.deleteCookie(...(await context.cookies()));
  await context.clearPermissionOverrides();
  return true;
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
