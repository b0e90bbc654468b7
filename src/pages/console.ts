import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { siteHead, siteHeader } from '../http/page/header.ts';
import { htmlType, sendPage, skipLink } from '../http/page/page.ts';
import { StaticContent } from '../http/reply/static.ts';
import { escapeHtml } from '../lib/text/html.ts';

/** First parts of the addresses that the console shows; what is behind them is its own. */
const screens = [
  ...['chats', 'temporary', 'library', 'projects', 'agents', 'knowledge', 'documents', 'runs', 'usage', 'people'],
  ...['administration', 'account'],
  // Where places were before: these lead on.
  ...['keys', 'audit', 'connections', 'memories', 'shares', 'data', 'installation'],
];

/** Addresses that need no session: what they tell is the same for everybody. */
const publicPaths = ['/sign-in', '/about'];

/**
 * The console loads files of this process only, runs no inline script, and cannot be framed. Pictures may be made in the page (`blob:`, `data:`), the
 * reader of PDF files works beside the page (`worker-src`), and a document is shown in a frame of this origin.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "media-src 'self'",
  "manifest-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The frame that draws diagrams has no origin, so that it reaches nothing of the console, and asks nobody: styles that are written in its drawings tell
 * nobody anything.
 */
const diagramPolicy = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

const securityHeaders = [
  'content-security-policy',
  policy,
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
] as const;
const headers = [...securityHeaders, 'cache-control', 'no-store'];
/** Everybody may read the files of the console. The frame of diagrams, which has no origin, loads its modules as a stranger. */
const assetHeaders = [...securityHeaders, 'access-control-allow-origin', '*'];

/** Of every page of the console. */
export const consolePageHeaders: readonly string[] = headers;

/** Of a page of the console with a form that is sent to this service. */
export const consoleFormHeaders = headers.map((value) =>
  value === policy ? policy.replace("form-action 'none'", "form-action 'self'") : value,
);

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

export interface ConsoleOptions {
  readonly version: string;
  /** How often an event stream shows that it lives. */
  readonly heartbeatMs: number;
  /** Where the build of the console is; default: `console/dist`. */
  readonly folder?: string;
}

/** The page of the console as it was built. */
export class ConsolePage {
  readonly folder: string;
  readonly #values: readonly (readonly [name: string, text: string])[];

  constructor({ version, heartbeatMs, folder = join(import.meta.dirname, '../../console/dist') }: ConsoleOptions) {
    this.folder = folder;
    this.#values = [
      ['{{version}}', escapeHtml(version)],
      ['{{heartbeatMs}}', String(heartbeatMs)],
    ];
  }

  /** HTML of a screen; undefined until the console is built. */
  async screen(): Promise<string | undefined> {
    const html = await readFile(join(this.folder, 'index.html'), 'utf8').catch(() => undefined);
    return this.#values.reduce((page, [name, text]) => page?.replace(name, () => text), html);
  }

  /** HTML of the frame that draws diagrams; undefined until the console is built. */
  async diagramFrame(): Promise<string | undefined> {
    return readFile(join(this.folder, 'diagram.html'), 'utf8').catch(() => undefined);
  }

  /**
   * HTML of a public page: it has the header of the manual and the references.
   *
   * @param outcome  what the service did before it sends the page; the page reads it in the meta element `parley-outcome`.
   */
  async publicPage(outcome?: object): Promise<string | undefined> {
    const meta = outcome === undefined ? '' : `\n<meta name="parley-outcome" content="${escapeHtml(JSON.stringify(outcome))}">`;
    return (await this.screen())
      ?.replace('<!-- head -->', () => siteHead + meta)
      .replace('<!-- header -->', () => `${skipLink}\n${siteHeader()}`);
  }
}

/**
 * Serves the web console: its page at `/` and at every address of a screen, to who asks for HTML, and its files under `/console/`. The page is never
 * kept by browsers; the files, whose names change with their content, are kept for ever. Until the console is built, a page says so.
 */
export function createConsole(page: ConsolePage): Router {
  const assets = new Map<string, StaticContent>();
  const screen: RequestHandler = async (req, res, next) => {
    if (!asksForPage(req)) return next();
    sendConsole(req, res, await page.screen());
  };
  const router = Router({ strict: true, caseSensitive: true });
  router.get('/', screen);
  for (const name of screens) router.get([`/${name}`, `/${name}/*rest`], screen);
  router.get(publicPaths, async (req, res) => sendConsole(req, res, await page.publicPage()));
  router.get('/console/diagram.html', async (req, res, next) => {
    const html = await page.diagramFrame();
    if (html === undefined) return next();
    sendPage(req, res, htmlType, html, { headers: headers.map((value) => (value === policy ? diagramPolicy : value)) });
  });
  // No search engine keeps what somebody shared with who has the link.
  router.get('/shared', async (req, res) =>
    sendConsole(req, res, await page.screen(), 200, ['x-robots-tag', 'noindex, nofollow']),
  );
  router.get('/console/assets/:name', async (req, res, next) => {
    const name = basename(req.params.name);
    const file = join(page.folder, 'assets', name);
    const type = types[extname(name)];
    if (type === undefined || !existsSync(file) || !(await stat(file)).isFile()) return next();
    const content =
      assets.get(name) ?? new StaticContent(['content-type', type, ...assetHeaders], () => readFile(file), 'for ever');
    assets.set(name, content);
    await content.send(req, res);
  });
  return router;
}

/**
 * Answers a browser at an address that nothing else serves: the console says that nothing is there. Comes behind every other handler. Programs, and
 * addresses below those of the APIs, get the error object.
 */
export function createMissingPage(page: ConsolePage): RequestHandler {
  return async (req, res, next) => {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (!isRead || !asksForPage(req) || apiPaths.test(req.path)) return next();
    sendConsole(req, res, await page.screen(), 404);
  };
}

const apiPaths = /^\/(?:api|v1|graphql|mcp|scim)(?:\/|$)/;

const asksForPage = ({ headers: { accept = '' } }: Request) => accept.includes('text/html');

function sendConsole(req: Request, res: Response, html: string | undefined, status = 200, more: readonly string[] = []): void {
  if (html === undefined) {
    sendPage(req, res, htmlType, unbuiltPage(), { status: 503, headers: [...headers, 'retry-after', '5'] });
  } else sendPage(req, res, htmlType, html, { status, headers: [...headers, ...more] });
}

/** Its script loads the page again once the console is built; an address with a fragment, such as a link that signs in, stays as it is. */
function unbuiltPage(): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Parley</title>
<script src="/pages/theme.js"></script><link rel="stylesheet" href="/pages/tokens.css"><link rel="stylesheet" href="/pages/style.css">
<script type="module" src="/pages/unbuilt.js"></script></head>
<body><main><h1>The console is being built</h1>
<p>This takes some seconds after an installation or an update; the page loads again by itself. If it stays, run <code>npm run build</code>, and read what it says.</p>
<p>Meanwhile: <a href="/manual">the manual</a>, <a href="/docs">the REST reference</a>, <a href="/graphql">GraphiQL</a>.</p>
</main></body></html>
`;
}
