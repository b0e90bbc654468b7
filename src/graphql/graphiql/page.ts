import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { siteHead, siteHeader } from '../../http/page/header.ts';
import { StaticContent } from '../../http/reply/static.ts';

/** The page needs its own inline script, workers made from it, and the files of the key field; nothing from anywhere else. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const pageHeaders = [
  ...['content-type', 'text/html; charset=utf-8', 'content-security-policy', pagePolicy],
  ...['x-content-type-options', 'nosniff', 'referrer-policy', 'no-referrer'],
];

/** Without the first a phone draws the page as wide as a desk, and small. */
const head = `<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
`;

/** The header of all pages, and the key field, whose script comes first, because GraphiQL asks for the schema through it. */
const top = `${siteHeader('graphiql')}
<link rel="stylesheet" href="/pages/key.css">
<link rel="stylesheet" href="/pages/graphiql.css">
<script src="/pages/key.js" data-page="graphql"></script>
`;

/**
 * GraphiQL in one page that loads nothing from elsewhere, for a browser that opens `/graphql`. Made at the first visit: it has nine
 * megabytes, and most processes never show it.
 */
export function createGraphiqlPage(): RequestHandler {
  const page = new StaticContent(pageHeaders, async () => {
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    const html = renderGraphiQL({
      title: 'Parley GraphiQL',
      favicon: '/favicon.svg',
      defaultTabs: examples().map((query) => ({ query })),
      isHeadersEditorEnabled: true,
      shouldPersistHeaders: false,
      subscriptionsProtocol: 'SSE',
    });
    return insertedBefore(insertedBefore(html, '<div id="root"></div>', top), '<meta charset="utf-8" />', `${head}${siteHead}\n`);
  });
  return (req, res, next) => (isVisit(req) ? page.send(req, res) : next());
}

/** Documents that GraphiQL opens with, one a tab. Each runs on a new instance as it stands, with any key that has the scopes. */
function examples(): readonly string[] {
  const folder = join(import.meta.dirname, 'examples');
  const files = readdirSync(folder).sort();
  return files.map((file) => readFileSync(join(folder, file), 'utf8'));
}

/** A visit of a browser: it takes a page and has no key yet. A link may carry an operation, which the page then shows. */
function isVisit({ headers: { accept = '', authorization } }: IncomingMessage): boolean {
  return accept.includes('text/html') && authorization === undefined;
}

/** @throws Error when the page of a newer GraphiQL lacks the place. */
function insertedBefore(html: string, place: string, text: string): string {
  const index = html.indexOf(place);
  if (index === -1) throw new Error(`the page of GraphiQL has no ${place}`);
  return html.slice(0, index) + text + html.slice(index);
}
