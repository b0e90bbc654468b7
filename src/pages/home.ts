import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { DomainError } from '../entities/errors.ts';
import { requestIdOf } from '../http/context.ts';
import { sendEmpty, sendJson } from '../http/reply/reply.ts';
import { StaticContent } from '../http/reply/static.ts';
import { escapeHtml } from '../lib/html.ts';
import { createManual } from './manual/manual.ts';
import { htmlType, pageHeaders, renderPage, sendPage } from './page.ts';

/** Files that pages load, by address. */
const assets: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/favicon.svg': ['favicon.svg', 'image/svg+xml'],
  // Browsers ask for it beside JSON, where no page names an icon.
  '/favicon.ico': ['favicon.svg', 'image/svg+xml'],
  '/pages/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/pages/key.css': ['key.css', 'text/css; charset=utf-8'],
  '/pages/key.js': ['key.js', 'text/javascript; charset=utf-8'],
  '/pages/sign-in.js': ['sign-in.js', 'text/javascript; charset=utf-8'],
  '/pages/home.js': ['home.js', 'text/javascript; charset=utf-8'],
};

/** What an API client gets at `/`. */
const links = {
  graphql: '/graphql',
  rest: '/api/v1',
  responses: '/api/v2/responses',
  openapi: '/openapi.json',
  reference: '/docs',
  manual: '/manual',
  health: '/healthz',
  readiness: '/readyz',
};

/**
 * Serves `/`, the manual, and the files both load. Needs no key: what these pages tell is the same for every caller, and holds no
 * setting and no count. Files are read when they are first asked for.
 */
export function createPages(version: string): Router {
  const router = Router({ strict: true, caseSensitive: true });
  const index = JSON.stringify({ name: 'Parley', version, description, links });
  router
    .route('/')
    .get((req, res) => {
      if (takesPage(req)) sendPage(req, res, htmlType, homePage(version, addressOf(req)));
      else sendJson(res, 200, index, requestIdOf(req), ['vary', 'accept']);
    })
    .options((req, res) => sendEmpty(res, 204, requestIdOf(req), ['allow', allowed]))
    .all(refuseMethod);
  for (const [path, [file, type]] of Object.entries(assets)) {
    const content = new StaticContent(['content-type', type, ...pageHeaders], () =>
      readFile(join(import.meta.dirname, 'assets', file)),
    );
    router.get(path, (req, res) => content.send(req, res));
  }
  return router.use(createManual());
}

const description = 'AI agents, chats and knowledge for organizations: one GraphQL schema, a REST API, streaming completions.';

const allowed = 'GET, HEAD, OPTIONS';

const refuseMethod: RequestHandler = (req, res) => {
  res.setHeader('allow', allowed);
  throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${allowed}, not ${req.method}`);
};

/** Browsers name HTML. Clients of an API ask for anything or for JSON. */
function takesPage(req: IncomingMessage): boolean {
  return (req.headers.accept ?? '').includes('text/html');
}

/** The host that the visitor asked; the script of the page knows the scheme too. A host with other characters is not shown. */
function addressOf({ headers: { host = '' } }: IncomingMessage): string {
  return /^[\w.:[\]-]{1,255}$/.test(host) ? `http://${host}` : 'http://localhost';
}

function homePage(version: string, address: string): string {
  const text = readFileSync(join(import.meta.dirname, 'home', 'main.html'), 'utf8');
  const main = text.replaceAll('{{version}}', escapeHtml(version)).replaceAll('{{address}}', escapeHtml(address));
  return renderPage({ title: 'Parley', main, script: '/pages/home.js' });
}
