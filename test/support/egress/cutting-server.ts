import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';

export interface CuttingServer {
  readonly url: string;
  /** HTTP versions of the requests that came. */
  readonly versions: string[];
  close(): Promise<void>;
}

const begin = Buffer.alloc(20_000, 'a');

/** Answers over TLS with the begin of a body and cuts it: over HTTP/2 by cancelling the stream, over HTTP/1.1 by ending the connection. */
export async function startCuttingServer(): Promise<CuttingServer> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  const versions: string[] = [];
  const server: Http2SecureServer = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    response.write(begin, () => {
      if (request.httpVersion === '2.0') response.stream.close(8);
      else request.socket.destroy();
    });
  });
  server.on('sessionError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    versions,
    async close() {
      setDefaultCACertificates(before);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers over HTTP/1.1 without a length and resets the connection in the middle; at `/whole` it ends the connection as the protocol says. */
export async function startResettingServer(): Promise<Omit<CuttingServer, 'versions'>> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (request) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\nconnection: close\r\n\r\n');
      socket.write(begin, () => {
        if (request.toString().includes('/whole')) socket.end();
        // The client has read the begin: a reset that comes with it would drop it.
        else setTimeout(() => socket.resetAndDestroy(), 50);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
