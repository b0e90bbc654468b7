import { once } from 'node:events';
import type { Server } from 'node:http';

const closeIdleEveryMs = 50;

/** Takes no new connections. Resolves when the last reply is out and its connection closed. */
export function closing(server: Server): Promise<unknown> {
  const serverClose = once(server, 'close');
  server.close();
  // Busy connections become idle one after the other, and would stay open for their next request.
  const timer = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs);
  return serverClose.finally(() => clearInterval(timer));
}
