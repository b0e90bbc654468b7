import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a client and a service that does to connections what networks do. */
export interface FaultyNetwork {
  readonly url: string;
  /** Connections taken so far. */
  readonly count: number;
  /** Bytes that came back so far, of all connections. */
  readonly bytesBack: number;
  /** Cuts a connection when so many bytes came back for a request; undefined lets it live. */
  cutAfterBytes: number | undefined;
  /** Lets nothing more through, in either direction, and closes nothing; new connections work. */
  silence(): void;
  /** Breaks all connections. */
  cut(): void;
  close(): Promise<void>;
}

/** @param target  the address of the server, asked for each connection. */
export async function startFaultyNetwork(target: () => string): Promise<FaultyNetwork> {
  const pairs = new Set<readonly [client: Socket, server: Socket]>();
  const state: { count: number; bytesBack: number; cutAfterBytes: number | undefined } = {
    ...{ count: 0, bytesBack: 0, cutAfterBytes: undefined },
  };
  const proxy = createServer((client) => {
    state.count += 1;
    const { hostname, port } = new URL(target());
    const server = connect(Number(port), hostname);
    const pair = [client, server] as const;
    pairs.add(pair);
    let back = 0;
    const end = () => {
      client.destroy();
      server.destroy();
      pairs.delete(pair);
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    client.on('data', (bytes) => {
      back = 0;
      server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      const limit = state.cutAfterBytes;
      back += bytes.length;
      state.bytesBack += bytes.length;
      const isOver = limit !== undefined && back >= limit;
      client.write(isOver ? bytes.subarray(0, bytes.length - (back - limit)) : bytes, isOver ? end : undefined);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const methods: Omit<FaultyNetwork, keyof typeof state> = {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    silence() {
      for (const [client, server] of pairs) {
        client.removeAllListeners('data').resume();
        server.removeAllListeners('data').resume();
      }
    },
    cut() {
      for (const [client, server] of pairs) {
        client.destroy();
        server.destroy();
      }
    },
    async close() {
      this.cut();
      proxy.close();
      await once(proxy, 'close');
    },
  };
  return Object.assign(state, methods);
}
