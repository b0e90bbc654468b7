import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
export interface ApiAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A fake third-party API: records its requests and answers as the test says. */
export interface ApiServer {
  readonly url: string;
  readonly requests: readonly ApiRequest[];
  /** Sets the answer from now on; default: 200 with `{"ok":true}`. */
  answer(by: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>): void;
  reset(): void;
  close(): Promise<void>;
}

export async function startApiServer(): Promise<ApiServer> {
  const requests: ApiRequest[] = [];
  const otherwise = (): ApiAnswer => ({ body: '{"ok":true}' });
  let answer: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer> = otherwise;
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    const request = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body };
    requests.push(request);
    const { status = 200, headers = {}, body: text = '' } = await answer(request);
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  });
  // As for the model server: only the client closes idle connections.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer(by) {
      answer = by;
    },
    reset() {
      requests.length = 0;
      answer = otherwise;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
