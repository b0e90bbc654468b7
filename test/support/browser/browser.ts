import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import puppeteer, { type Browser } from 'puppeteer-core';
import { build } from 'vite';
import { afterAll } from 'vitest';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The program of Chromium: CHROMIUM_PATH, or where packages of Debian and others put it. */
const program = [process.env.CHROMIUM_PATH, ...places].find((path) => path !== undefined && existsSync(path));

/**
 * Whether tests in a browser run: `describe.skipIf(!hasBrowser())`. A missing browser is said once a file.
 *
 * @throws Error in CI, where no test is skipped.
 */
export function hasBrowser(): boolean {
  if (program !== undefined) return true;
  const message = 'Chromium is missing: install the package "chromium", or name its program in CHROMIUM_PATH';
  if (process.env.CI !== undefined && process.env.CI !== '') throw new Error(message);
  console.warn(`Tests in a browser are skipped. ${message}.`);
  return false;
}

/** @throws Error where there is none: ask hasBrowser first. */
export function chromiumPath(): string {
  if (program === undefined) throw new Error('ask hasBrowser first');
  return program;
}

/**
 * The sandbox of Chromium does not run as root, and containers have little shared memory. The pages of a context share one process, and with it the
 * compiled scripts.
 */
export const chromiumSwitches = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--process-per-site'];

/** A headless Chromium for the tests of one file; closes behind them. */
export async function withBrowser(): Promise<Browser> {
  const browser = await launchBrowser();
  afterAll(() => browser.close());
  return browser;
}

/** A headless Chromium, which ends with the process. */
export function launchBrowser(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: chromiumPath(),
    // A spare process for the next site would start unasked, and nearly no test uses it.
    args: [...chromiumSwitches, '--disable-features=SpareRendererForSitePerProcess'],
    // A busy machine takes long to start it.
    timeout: 120_000,
    protocolTimeout: 120_000,
  });
}

/** Bundles a script for browsers, with its packages. */
export async function bundleScript(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    root: import.meta.dirname,
    build: { write: false, minify: false, modulePreload: false, rolldownOptions: { input: entry } },
  });
  if (!('output' in built)) throw new Error('the bundler made more than one result');
  return built.output[0].code;
}

/** A web server with one page that runs `script`: an origin of its own. Returns the origin; closes behind the tests of the file. */
export async function servePage(script: string): Promise<string> {
  const server = createServer((req, res) => {
    const isScript = req.url === '/page.js';
    res.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
    res.end(isScript ? script : '<!doctype html><title>Page</title><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
