import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { requestIdOf } from '../http/context.ts';
import { siteHead, siteHeader } from '../http/page/header.ts';
import { htmlType, skipLink } from '../http/page/page.ts';
import { sendBody } from '../http/reply/reply.ts';
import { StaticContent } from '../http/reply/static.ts';
import { escapeHtml } from '../lib/text/html.ts';

/** First parts of the addresses that the console shows; what is behind them is its own. */
const screens = [
  'chats',
  'agents',
  'knowledge',
  'documents',
  'runs',
  'usage',
  'people',
  'keys',
  'audit',
  'connections',
  'memories',
  'account',
  'data',
  'installation',
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
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = [
  'content-security-policy',
  policy,
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
] as const;

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

export interface ConsoleOptions {
  readonly version: string;
  /** How often an event stream shows that it lives. */
  readonly heartbeatMs: number;
  /** Where the build of the console is; default: `console/dist`. */
  readonly folder?: string;
}

/**
 * Serves the web console: its page at `/` and at every address of a screen, to who asks for HTML, and its files under `/console/`. The page is never
 * kept by browsers; the files, whose names change with their content, are kept for ever. Until the console is built, a page says so. The public
 * pages, which need no session, have the header of the manual and the references.
 */
export function createConsole({
  version,
  heartbeatMs,
  folder = join(import.meta.dirname, '../../console/dist'),
}: ConsoleOptions): Router {
  const assets = new Map<string, StaticContent>();
  const sendConsole = async (req: Request, res: Response, change: (html: string) => string) => {
    const html = await readFile(join(folder, 'index.html'), 'utf8').catch(() => undefined);
    if (html === undefined) return sendPage(req, res, 503, unbuiltPage(), ['retry-after', '5']);
    const page = html.replace('{{version}}', escapeHtml(version)).replace('{{heartbeatMs}}', String(heartbeatMs));
    sendPage(req, res, 200, change(page));
  };
  const screen: RequestHandler = async (req, res, next) => {
    if (!(req.headers.accept ?? '').includes('text/html')) return next();
    await sendConsole(req, res, (html) => html);
  };
  const router = Router({ strict: true, caseSensitive: true });
  router.get('/', screen);
  for (const name of screens) router.get([`/${name}`, `/${name}/*rest`], screen);
  router.get(publicPaths, (req, res) => sendConsole(req, res, addHeader));
  router.get('/console/assets/:name', async (req, res, next) => {
    const name = basename(req.params.name);
    const file = join(folder, 'assets', name);
    const type = types[extname(name)];
    if (type === undefined || !existsSync(file) || !(await stat(file)).isFile()) return next();
    const content = assets.get(name) ?? new StaticContent(['content-type', type, ...headers], () => readFile(file), 'for ever');
    assets.set(name, content);
    await content.send(req, res);
  });
  return router;
}

function sendPage(req: Request, res: Response, status: number, html: string, more: readonly string[] = []): void {
  const own = ['content-type', htmlType, 'cache-control', 'no-store', 'vary', 'accept', 'x-request-id', requestIdOf(req)];
  sendBody(res, status, [...own, ...headers, ...more], html);
}

function addHeader(html: string): string {
  return html.replace('<!-- head -->', siteHead).replace('<!-- header -->', `${skipLink}\n${siteHeader()}`);
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
