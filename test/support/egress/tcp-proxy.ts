import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { notificationFilter } from '../storage/postgres-frames.ts';

/** A proxy between a service and its database, so that a test can cut the connection. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks every connection and refuses new ones. */
  cut(): void;
  restore(): void;
  /** Drops the notifications of the database and nothing else, like a pooler that gives each statement another connection. */
  mute(isMuted: boolean): void;
  close(): Promise<void>;
}

/** @param speaks  `postgres`: what the target says is read, so that its notifications can be dropped. */
export async function startTcpProxy(
  targetPort: number,
  targetHost: string,
  speaks: 'postgres' | 'anything' = 'postgres',
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isMuted = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect({ port: targetPort, host: targetHost, noDelay: true });
    near.setNoDelay(true);
    near.pipe(far);
    if (speaks === 'postgres') far.pipe(notificationFilter(() => isMuted)).pipe(near);
    else far.pipe(near);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      breakAll();
    },
    restore() {
      isCut = false;
    },
    mute(muted) {
      isMuted = muted;
    },
    async close() {
      breakAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
