import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { DomainError } from '../entities/ground/errors.ts';
import { findRequestId } from '../http/context.ts';
import { pageHeaders } from '../http/page/page.ts';
import type { SearchEntry } from '../http/page/search-entry.ts';
import { jsonType, sendEmpty, sendJson } from '../http/reply/reply.ts';
import { StaticContent } from '../http/reply/static.ts';
import { createManual } from './manual/manual.ts';
import { type ManualPage, readManual } from './manual/read.ts';

/** Files that pages load, by address. */
const assets: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/favicon.svg': ['favicon.svg', 'image/svg+xml'],
  // Browsers ask for it beside JSON, where no page names an icon.
  '/favicon.ico': ['favicon.svg', 'image/svg+xml'],
  '/manifest.webmanifest': ['manifest.json', 'application/manifest+json'],
  '/pages/icon-192.png': ['icon-192.png', 'image/png'],
  '/pages/icon-512.png': ['icon-512.png', 'image/png'],
  '/pages/icon-maskable-512.png': ['icon-maskable-512.png', 'image/png'],
  '/pages/tokens.css': ['tokens.css', 'text/css; charset=utf-8'],
  '/pages/site.css': ['site.css', 'text/css; charset=utf-8'],
  '/pages/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/pages/manual.css': ['manual.css', 'text/css; charset=utf-8'],
  '/pages/key.css': ['key.css', 'text/css; charset=utf-8'],
  '/pages/graphiql.css': ['graphiql.css', 'text/css; charset=utf-8'],
  '/pages/theme.js': ['theme.js', 'text/javascript; charset=utf-8'],
  '/pages/header.js': ['header.js', 'text/javascript; charset=utf-8'],
  '/pages/search.js': ['search.js', 'text/javascript; charset=utf-8'],
  '/pages/key.js': ['key.js', 'text/javascript; charset=utf-8'],
  '/pages/unbuilt.js': ['unbuilt.js', 'text/javascript; charset=utf-8'],
};

/** What an API client gets at `/` and `/about`. */
const links = {
  graphql: '/graphql',
  rest: '/api/v1',
  responses: '/api/v2/responses',
  openapi: '/openapi.json',
  reference: '/docs',
  manual: '/manual',
  about: '/about',
  health: '/healthz',
  readiness: '/readyz',
};

/**
 * Serves `/` and `/about` to API clients, the manual, and the files that pages load. Needs no key: what these pages tell is the same for every caller, and holds no
 * setting and no count. Files are read when they are first asked for.
 *
 * @param operations  what the search finds beside the manual.
 */
export function createPages(version: string, operations: () => readonly SearchEntry[]): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router.use(createIndex(version));
  for (const [path, [file, type]] of Object.entries(assets)) {
    const content = new StaticContent(['content-type', type, ...pageHeaders], () =>
      readFile(join(import.meta.dirname, 'assets', file)),
    );
    router.get(path, (req, res) => content.send(req, res));
  }
  let manual: Promise<readonly ManualPage[]> | undefined;
  const readPages = () => {
    manual ??= readManual();
    return manual;
  };
  const index = searchIndex(readPages, operations);
  return router.get('/pages/search.json', (req, res) => index.send(req, res)).use(createManual(readPages));
}

/** `/` and `/about` for API clients: an index in JSON. A browser is left to the console (console.ts), which comes behind. */
function createIndex(version: string): Router {
  const router = Router({ strict: true, caseSensitive: true });
  const index = JSON.stringify({ name: 'Parley', version, description, links });
  router
    .route(['/', '/about'])
    .get((req, res, next) => {
      if (req.headers.accept?.includes('text/html') === true) return next('route');
      sendJson(res, 200, index, findRequestId(req), ['vary', 'accept']);
    })
    .options((req, res) => sendEmpty(res, 204, findRequestId(req), ['allow', allowedMethods]))
    .all(refuseMethod);
  return router;
}

const description = 'AI agents, chats and knowledge for organizations: one GraphQL schema, a REST API, streaming completions.';

const allowedMethods = 'GET, HEAD, OPTIONS';

const refuseMethod: RequestHandler = (req, res) => {
  res.setHeader('allow', allowedMethods);
  throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${allowedMethods}, not ${req.method}`);
};

/**
 * What the search of the header looks through, as one file that a script of the page filters: every part of the manual, and every operation. It is
 * made for its first reader.
 */
function searchIndex(readPages: () => Promise<readonly ManualPage[]>, operations: () => readonly SearchEntry[]): StaticContent {
  return new StaticContent(['content-type', jsonType, ...pageHeaders], async () =>
    JSON.stringify([...(await readPages()).flatMap(listEntries), ...operations()]),
  );
}

function listEntries({ address, group, label, title, sections }: ManualPage): readonly SearchEntry[] {
  return sections.map(({ id, depth, heading, text }) => ({
    kind: 'manual',
    title: plain(depth === 1 ? title : heading),
    detail: plain(depth === 1 ? group : label),
    address: depth === 1 ? address : `${address}#${id}`,
    text: plain(text),
  }));
}

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** HTML without elements, as the text that it shows. */
function plain(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity).replace(/\s+/g, ' ');
}
