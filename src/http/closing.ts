import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const closeIdleEveryMs = 50;

/** Takes no new connections. Resolves when the last reply is out and its connection closed. */
export function closing(server: Server): Promise<unknown> {
  const closed = once(server, 'close');
  server.close();
  // Those that are at work now become idle one after the other, and would be kept open for their next request.
  const timer = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs);
  return closed.finally(() => clearInterval(timer));
}

/**
 * Node takes a connection for idle once its reply is written, also where much of it waits for a slow reader, and would destroy it with what
 * is left. So none is closed for being idle while anything waits to be sent. For a server that does not listen yet.
 */
export function keepUnsent(server: Server): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    for (const { writableLength } of sockets) if (writableLength > 0) return;
    closeIdle();
  };
}
