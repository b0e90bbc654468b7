import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Hands on every request with more headers. The name of the host stays as the caller wrote it. */
export async function startProxy(
  target: string,
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(target);
  const server = createServer((req, res) => {
    const headers = { ...req.headers, ...more };
    // One connection a request: some servers of the suite close a connection that they said to keep.
    const passed = request({ hostname, port, agent: false, method: req.method, path: req.url, headers }, (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      res.flushHeaders();
      reply.pipe(res);
    });
    passed.on('error', () => res.destroy());
    res.on('close', () => passed.destroy());
    req.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
