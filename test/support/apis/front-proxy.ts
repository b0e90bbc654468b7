import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a browser and a service, so that a test can let it go silent, or put another process behind it. */
export interface FrontProxy {
  readonly url: string;
  /** Nothing comes through the connections that are open any more, and they stay open. New ones work. */
  hush(): void;
  close(): Promise<void>;
}

/** @param target  the address of the service; asked for with every connection. */
export async function startFrontProxy(target: () => string): Promise<FrontProxy> {
  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  const server = createServer((near) => {
    const { hostname, port } = new URL(target());
    const far = connect({ host: hostname, port: Number(port), noDelay: true });
    open.add(near);
    near.pipe(far);
    far.on('data', (bytes) => {
      if (!silent.has(near)) near.write(bytes);
    });
    far.on('close', () => {
      if (!silent.has(near)) near.destroy();
    });
    far.on('error', () => undefined);
    near.on('error', () => undefined);
    near.on('close', () => {
      open.delete(near);
      silent.delete(near);
      far.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hush() {
      for (const socket of open) silent.add(socket);
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
