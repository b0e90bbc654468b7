import { createServer, type IncomingMessage, request as requestHttp, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ProxyRequest {
  readonly method: string;
  /** Host and port of a CONNECT, else the whole address. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
}

/** A proxy as networks of companies have it. It has names and addresses of its own, and knows no others. */
export interface ConnectProxy {
  readonly port: number;
  readonly requests: readonly ProxyRequest[];
  /** The address of a stand-in for a host and port. */
  route(target: string, standInUrl: string): void;
  /** Answers every request with this status from now on. */
  refuse(status: number | undefined): void;
  reset(): void;
  close(): Promise<void>;
}

export async function startConnectProxy(): Promise<ConnectProxy> {
  const routes = new Map<string, URL>();
  const requests: ProxyRequest[] = [];
  const sockets = new Set<Socket>();
  let refusal: number | undefined;
  const note = ({ method = '', url: target = '', headers }: IncomingMessage) => requests.push({ method, target, headers });
  const server: Server = createServer((request, response) => {
    note(request);
    const url = new URL(request.url ?? '');
    const standIn = routes.get(`${url.hostname}:${url.port || 80}`);
    const status = refusal ?? (standIn === undefined ? 502 : undefined);
    if (status !== undefined || standIn === undefined) return void response.writeHead(status ?? 502).end();
    const { method, headers } = request;
    const onward = requestHttp(new URL(url.pathname + url.search, standIn), { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request, socket: Socket, head) => {
    note(request);
    socket.on('error', () => {});
    const standIn = routes.get(request.url ?? '');
    const status = refusal ?? (standIn === undefined ? 502 : undefined);
    if (status !== undefined || standIn === undefined) return void socket.end(`HTTP/1.1 ${status ?? 502} Refused\r\n\r\n`);
    const onward = connect(Number(standIn.port), standIn.hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    sockets.add(socket).add(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    route: (target, url) => void routes.set(target, new URL(url)),
    refuse(status) {
      refusal = status;
    },
    reset() {
      requests.length = 0;
      refusal = undefined;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
