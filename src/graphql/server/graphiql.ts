import type { GraphiQLOptions } from 'graphql-yoga';
import { StaticContent } from '../../http/reply/static.ts';
import { graphiqlExamples } from './graphiql-examples.ts';

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

const options: GraphiQLOptions = {
  title: 'Parley GraphiQL',
  favicon: '/favicon.svg',
  defaultTabs: graphiqlExamples.map((query) => ({ query })),
  isHeadersEditorEnabled: true,
  shouldPersistHeaders: false,
  subscriptionsProtocol: 'SSE',
};

/** Without it a phone draws the page as wide as a desk, and small. */
const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';
const headStart = '<meta charset="utf-8" />';

/** What the body of GraphiQL's page begins with. */
const root = '<div id="root"></div>';

/** The key field; its script comes first, because GraphiQL asks for the schema through it. */
const keyField = '<link rel="stylesheet" href="/pages/key.css"><script src="/pages/key.js" data-page="graphql"></script>';

/** GraphiQL in one page that loads nothing from elsewhere. Made at the first visit: it has nine megabytes, and most processes never show it. */
export function createGraphiqlPage(): StaticContent {
  return new StaticContent(pageHeaders, async () => {
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    const html = renderGraphiQL(options);
    return insertedBefore(insertedBefore(html, root, keyField), headStart, viewport);
  });
}

/** @throws Error when the page of a newer GraphiQL lacks the place. */
function insertedBefore(html: string, place: string, text: string): string {
  const index = html.indexOf(place);
  if (index === -1) throw new Error(`the page of GraphiQL has no ${place}`);
  return html.slice(0, index) + text + html.slice(index);
}
