import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sendBody } from '../../http/reply/reply.ts';

const compress = promisify(gzip);

/** The page needs its own inline script and workers made from it, and nothing from anywhere else. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const example = `# Put your key into "Headers" below, then press "Re-fetch GraphQL schema" at the left for completion and documentation.
query WhoAmI {
  viewer {
    user { name email }
    organization { name }
    scopes
  }
}
`;

const pageHeaders: readonly string[] = [
  'content-type',
  'text/html; charset=utf-8',
  'vary',
  'accept-encoding, accept',
  'cache-control',
  'no-cache',
  'content-security-policy',
  pagePolicy,
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
];

/** GraphiQL in one page that loads nothing from elsewhere. Made at the first visit: it is large, and most processes never show it. */
export class GraphiqlPage {
  #page: Promise<{ readonly plain: Buffer; readonly gzipped: Buffer }> | undefined;

  async send(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.#page ??= makePage();
    const { plain, gzipped } = await this.#page;
    const isGzip = /\bgzip\b/.test(String(req.headers['accept-encoding'] ?? ''));
    const body = isGzip ? gzipped : plain;
    sendBody(res, 200, isGzip ? ['content-encoding', 'gzip', ...pageHeaders] : pageHeaders, body);
  }
}

async function makePage() {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = renderGraphiQL({
    title: 'Parley GraphiQL',
    defaultQuery: example,
    headers: JSON.stringify({ Authorization: 'Bearer <API_KEY>' }, null, 2),
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false,
    subscriptionsProtocol: 'SSE',
  });
  const plain = Buffer.from(html);
  return { plain, gzipped: await compress(plain) };
}
