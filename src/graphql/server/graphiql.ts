import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { GraphiQLOptions, Plugin } from 'graphql-yoga';

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

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  vary: 'accept-encoding, accept',
  'cache-control': 'no-cache',
  'content-security-policy': pagePolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const defaultQuery = `# Put your key into "Headers" below, then press "Re-fetch GraphQL schema" at the left for completion and documentation.
query WhoAmI {
  viewer {
    user { name email }
    organization { name }
    scopes
  }
}
`;

export const graphiqlOptions: GraphiQLOptions = {
  title: 'Parley GraphiQL',
  defaultQuery,
  headers: JSON.stringify({ Authorization: 'Bearer <API_KEY>' }, null, 2),
  isHeadersEditorEnabled: true,
  shouldPersistHeaders: false,
  subscriptionsProtocol: 'SSE',
};

/** GraphiQL in one page that loads nothing from elsewhere. Made at the first visit: it has nine megabytes, and most processes never show it. */
export class GraphiqlPage {
  #text: Promise<string> | undefined;
  #gzipped: Promise<Buffer<ArrayBuffer>> | undefined;

  readonly render = (options: GraphiQLOptions): Promise<string> => {
    this.#text ??= import('@graphql-yoga/render-graphiql').then(({ renderGraphiQL }) => renderGraphiQL(options));
    return this.#text;
  };

  /** Gives the page that Yoga answers with its headers, and compresses it. */
  readonly usePageHeaders = (): Plugin => ({
    onResponse: async ({ request, response, setResponse, fetchAPI }) => {
      if (response.headers.get('content-type') !== 'text/html') return;
      const isGzip = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
      if (isGzip) this.#gzipped ??= compress(await response.text());
      const headers = isGzip ? { 'content-encoding': 'gzip', ...pageHeaders } : pageHeaders;
      setResponse(new fetchAPI.Response(isGzip ? await this.#gzipped : await response.text(), { headers }));
    },
  });
}
