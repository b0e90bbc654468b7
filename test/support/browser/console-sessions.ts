import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { expect, onTestFinished, TestRunner } from 'vitest';
import { chromiumPath, chromiumSwitches } from './browser.ts';

/** A browser context with one page that shows nothing of the console yet. */
interface Session {
  readonly context: BrowserContext;
  readonly page: Page;
}

/** The files of a worker share this module and its browser, which ends with the worker. */
let opening: Promise<Browser> | undefined;
/**
 * Sessions whose test is over, the latest last, by service and options. A new context loads and compiles all scripts of the console in a new
 * process: that takes four times the processor time of a page in a context that has them.
 */
const idle: (Session & { readonly key: string })[] = [];
const idleMax = 4;
/** Contexts that hooks of the file opened: its tests use them, and no test's end closes them. */
const contextsOfFile: BrowserContext[] = [];
let lastPath: string | undefined;
const lightPageTimeoutMs = 5_000;

/** A session in which nobody is signed in and nothing is stored. */
export async function sessionFor(origin: string, options: BrowserContextOptions): Promise<Session> {
  await closeContextsOfFile();
  const key = JSON.stringify([origin, options]);
  const session = takeIdle(key) ?? (await newSession(options));
  if (TestRunner.getCurrentTest() === undefined) contextsOfFile.push(session.context);
  else closeBehindTest(session, origin, key);
  return session;
}

function takeIdle(key: string): Session | undefined {
  const place = idle.findLastIndex((each) => each.key === key);
  return place < 0 ? undefined : idle.splice(place, 1)[0];
}

async function newSession(options: BrowserContextOptions): Promise<Session> {
  opening ??= chromium.launch({ executablePath: chromiumPath(), args: chromiumSwitches, timeout: 120_000 });
  const context = await (await opening).newContext(options);
  return { context, page: await context.newPage() };
}

/** Pages do not stay open: each goes on following what happens. */
async function closeContextsOfFile(): Promise<void> {
  const { testPath } = expect.getState();
  if (testPath === lastPath) return;
  lastPath = testPath;
  await Promise.all(contextsOfFile.splice(0).map((context) => context.close()));
}

function closeBehindTest({ context, page }: Session, origin: string, key: string): void {
  let isReusable = true;
  // Only what the service's own origin stored is cleared.
  const noteOrigin = (request: Request) => {
    isReusable &&= request.url().startsWith(`${origin}/`) || !request.url().startsWith('http');
  };
  context.on('request', noteOrigin);
  onTestFinished(async () => {
    context.off('request', noteOrigin);
    const isCleared = isReusable && (await clear({ context, page }, origin).catch(() => false));
    if (isCleared) idle.push({ key, context, page });
    else await context.close();
    await Promise.all(idle.splice(0, idle.length - idleMax).map((each) => each.context.close()));
  });
}

/** Leaves one page of the context, which shows nothing of the console, and nothing that the origin stored. The cache of files stays. */
async function clear({ context, page }: Session, origin: string): Promise<boolean> {
  // By name: without all its listeners, a page never hears that it is closed.
  for (const event of ['console', 'pageerror', 'request'] as const) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  // On paper, nothing that can be pressed is shown.
  await page.emulateMedia({ media: null });
  await context.setOffline(false);
  const others = context.pages().filter((each) => each !== page);
  await Promise.all(others.map((each) => each.close()));
  // The process of an origin, with its compiled scripts, ends with the last page of the origin.
  await page.goto(`${origin}/healthz`, { timeout: lightPageTimeoutMs });
  await page.evaluate(() => {
    sessionStorage.clear();
    window.name = '';
  });
  const devtools = await context.newCDPSession(page);
  await devtools.send('Storage.clearDataForOrigin', {
    origin,
    storageTypes: 'local_storage,indexeddb,cache_storage,service_workers',
  });
  await devtools.detach();
  await context.clearCookies();
  await context.clearPermissions();
  return true;
}
