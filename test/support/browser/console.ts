import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { SessionDocument } from '../../../console/src/graphql/documents.ts';
import type { TestClient } from '../client.ts';
import type { Person } from '../make.ts';
import type { TestService } from '../service.ts';
import { sessionFor } from './console-sessions.ts';

/** Half the size of `axe.source`, which the browser parses anew in every document. */
const axeSource = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** A member of an organization. */
type Who = Pick<Person, 'email' | 'orgId'>;

export interface ConsoleView {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** Pixels of the device per pixel of the page: a window at 200 % zoom is half as wide, at a scale of 2. */
  readonly scale?: number;
  /** The language that the browser asks for. */
  readonly locale?: string;
}

export interface OpenConsole {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, of loading and of the policy, as the browser shows them. */
  readonly problems: string[];
  /** Origins of all requests but the service's own. */
  readonly strangers: ReadonlySet<string>;
}

/**
 * Opens a screen of the console in a session of the person of an organization: nothing that an earlier screen stored is there. Waits until the
 * screen is there. Its pages close behind the test that opened it, or, for one that was opened in a hook, behind the file.
 */
export async function openConsole(
  service: TestService,
  person: Who,
  path = '/',
  { scheme = 'light', width = 1280, height = 800, scale = 1, locale = 'en-US' }: ConsoleView = {},
): Promise<OpenConsole> {
  const options = { colorScheme: scheme, deviceScaleFactor: scale, locale, reducedMotion: 'reduce' } as const;
  const { context, page } = await sessionFor(service.url, options);
  await page.setViewportSize({ width, height });
  page.setDefaultTimeout(30_000);
  const problems: string[] = [];
  const strangers = new Set<string>();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (/^(?:https?|wss?):/.test(protocol) && origin !== new URL(service.url).origin) strangers.add(origin);
  });
  await signIn(service, context, person);
  await page.goto(service.url + path);
  await declineWayBack(service, page);
  // The heading of the screen, inside what surrounds every screen: what is tried before it is there is tried on an empty page.
  await page.locator('main#content h1').first().waitFor();
  return { page, context, problems, strangers };
}

/** Sessions of tests begin by links: the console would offer a password on the second screen. */
async function declineWayBack(service: TestService, page: Page): Promise<void> {
  const headers = { 'graphql-require-preflight': 'true', origin: service.url };
  const data = { query: SessionDocument };
  const reply = await page.context().request.post(`${service.url}/graphql`, { data, headers });
  const id: string = (await reply.json()).data.viewer.session.id;
  await page.evaluate((sessionId) => localStorage.setItem('parley.way-back', sessionId), id);
}

/** Begins a session by a link, as a person does, and gives its cookie to the browser. */
export async function signIn(service: TestService, context: BrowserContext, { email, orgId }: Who): Promise<void> {
  const admin: TestClient = service.client();
  const document = 'mutation ($input: CreateSignInLinkInput!) { createSignInLink(input: $input) { url } }';
  const { data } = await admin.graphql(document, { input: { email, orgId } });
  const link = new URLSearchParams(new URL(data.createSignInLink.url).hash.slice(1)).get('link');
  const reply = await context.request.post(`${service.url}/sign-in/link`, {
    data: { link },
    headers: { 'graphql-require-preflight': 'true', origin: service.url },
  });
  if (!reply.ok()) throw new Error(`signing in was answered with ${reply.status()}: ${await reply.text()}`);
}

/** What axe finds wrong with the page, a line each. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  // The policy of the page takes no inline script; the browser's own protocol is not bound by it.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const found: {
      run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
    } = Reflect.get(window, 'axe');
    const { violations } = await found.run({ resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll('\n', ' ')}`),
    );
  });
}

/** By how many pixels the page, or a part of it that scrolls by itself, is wider than its place. Tables and code may be. */
export function overflowWidth(page: Page): Promise<number> {
  return page.evaluate(() => {
    const isScrolled = (element: Element) =>
      /auto|scroll/.test(getComputedStyle(element).overflowX) &&
      element.querySelector(':scope > table') === null &&
      !element.matches('pre, textarea, pre *');
    const places = [document.documentElement, ...[...document.body.querySelectorAll('*')].filter(isScrolled)];
    return Math.max(...places.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
  });
}

/** Keeps what the page shows, as `<name>.png` in the folder that BROWSER_PICTURES names; without it nothing is kept. */
export async function keepConsolePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.BROWSER_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Keeps a picture of what the page shows, and expects that people who use a keyboard or a screen reader can use it too. */
export async function checkScreen(page: Page, name: string): Promise<void> {
  await keepConsolePicture(page, name);
  expect(await accessibilityFaults(page)).toEqual([]);
}
