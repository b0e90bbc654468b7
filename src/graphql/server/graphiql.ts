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

/** What the body of GraphiQL's page begins with. */
const root = '<div id="root"></div>';

/** The key field; its script comes first, because GraphiQL asks for the schema through it. */
const keyField = '<link rel="stylesheet" href="/pages/key.css"><script src="/pages/key.js" data-page="graphql"></script>';

/** GraphiQL in one page that loads nothing from elsewhere. Made at the first visit: it has nine megabytes, and most processes never show it. */
export function createGraphiqlPage(): StaticContent {
  return new StaticContent(pageHeaders, async () => {
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    const html = renderGraphiQL(options);
    const place = html.indexOf(root);
    if (place === -1) throw new Error(`the page of GraphiQL has no ${root}`);
    return html.slice(0, place) + keyField + html.slice(place);
  });
}
