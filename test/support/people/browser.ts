import { request } from 'node:http';
import { type GraphQLReply, type Reply, type RequestHeaders, TestClient } from '../client.ts';

/**
 * A browser with a page of the service open: it keeps cookies, and sends them with the headers that pages of the service send. Headers of a single request
 * replace these; one that is empty is left out.
 */
export class TestBrowser extends TestClient {
  readonly cookies = new Map<string, string>();

  constructor(url: () => string) {
    super(url, undefined);
  }

  /** As a header; undefined without a cookie. */
  get cookie(): string | undefined {
    return this.cookies.size === 0 ? undefined : [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** What a page of the service sends. */
  get ownHeaders(): RequestHeaders {
    return { origin: this.url, 'graphql-require-preflight': 'true' };
  }

  override async fetch(method: string, path: string, body: unknown, headers: RequestHeaders, signal?: AbortSignal) {
    const { cookie } = this;
    const all = { ...(cookie === undefined ? {} : { cookie }), ...this.ownHeaders, ...headers };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    const response = await super.fetch(method, path, body, sent, signal);
    for (const text of response.headers.getSetCookie()) this.#keep(text);
    return response;
  }

  signInBy(link: string): Promise<Reply> {
    return this.post('/sign-in/link', { link: link.slice(link.indexOf('#link=') + '#link='.length) });
  }

  async viewer(): Promise<GraphQLReply> {
    return this.graphql('{ viewer { keyId role scopes session { id method isCurrent } user { email } } }');
  }

  #keep(text: string): void {
    const [pair = '', ...attributes] = text.split('; ');
    const [name = '', value = ''] = pair.split('=');
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The status of a request with headers that `fetch` does not let a program choose, such as Host. */
export function statusOf(
  url: string,
  path: string,
  headers: RequestHeaders,
  body: string,
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((resolve, reject) => {
    const req = request(new URL(path, url), { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
    req.on('error', reject);
    req.on('response', (res) => {
      res.resume();
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers }));
    });
    req.end(body);
  });
}
