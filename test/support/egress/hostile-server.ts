import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';

/** An answer that costs its client memory, time or traffic. */
interface Behaviour {
  /** Sent first. */
  readonly head: string | Buffer;
  /** Sent again and again, as fast as the client reads. */
  readonly endless?: string | Buffer;
  /** Sent one byte at a time, a few a second, for ever. */
  readonly drip?: string;
  /** Closes the connection after the head; otherwise it stays open. */
  readonly ends?: true;
}

const zeros = Buffer.alloc(4 * 1024 * 1024);
const headOf = (...lines: readonly string[]) => `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const chunked = 'Transfer-Encoding: chunked';
const encoded = (...names: readonly string[]) => headOf('Content-Type: text/plain', `Content-Encoding: ${names.join(', ')}`);
const joined = (...parts: readonly (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));
const brotli = (data: Buffer) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

/** By path. `/fine` answers normally. */
export const hostileBehaviours: Readonly<Record<string, Behaviour>> = {
  '/endless-body': { head: headOf('Content-Type: text/plain'), endless: Buffer.alloc(65_536, 'a') },
  '/endless-one-byte-chunks': { head: headOf(chunked), endless: '1\r\na\r\n'.repeat(5_000) },
  '/endless-chunk-extension': { head: `${headOf(chunked)}1;`, endless: Buffer.alloc(65_536, 'x') },
  '/endless-chunk-extensions': { head: headOf(chunked), endless: `1;${'x'.repeat(9_000)}\r\na\r\n` },
  '/endless-chunk-size': { head: headOf(chunked), endless: Buffer.alloc(65_536, '0') },
  '/endless-trailer': { head: `${headOf(chunked, 'Trailer: x')}1\r\na\r\n0\r\n`, endless: 'X-Trailer: y\r\n'.repeat(1_000) },
  '/endless-headers': { head: 'HTTP/1.1 200 OK\r\n', endless: 'X-Header: y\r\n'.repeat(1_000) },
  '/endless-header': { head: 'HTTP/1.1 200 OK\r\nX-Header: ', endless: Buffer.alloc(65_536, 'y') },
  '/endless-status-line': { head: 'HTTP/1.1 200 ', endless: Buffer.alloc(65_536, 'O') },
  '/endless-blank-lines': { head: '', endless: '\r\n'.repeat(5_000) },
  '/endless-early-hints': { head: '', endless: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(500) },
  '/endless-continue': { head: '', endless: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(500) },
  '/endless-empty-gzip-members': {
    head: encoded('gzip'),
    endless: Buffer.concat(Array.from({ length: 2_000 }, () => gzipSync(''))),
  },
  '/gzip-bomb': { head: encoded('gzip'), endless: gzipSync(zeros) },
  '/brotli-bomb': { head: joined(encoded('br'), brotli(Buffer.alloc(128 * 1024 * 1024))), ends: true },
  '/zstd-bomb': { head: joined(encoded('zstd'), zstdCompressSync(zeros)), ends: true },
  '/deflate-of-nothing': { head: encoded('deflate'), endless: Buffer.alloc(65_536) },
  '/gzip-bomb-twice': { head: encoded('gzip', 'gzip'), endless: gzipSync(gzipSync(zeros)) },
  '/gzip-thrice': { head: joined(encoded('gzip', 'gzip', 'gzip'), gzipSync(gzipSync(gzipSync('x')))), ends: true },
  '/gzip-that-is-none': { head: joined(encoded('gzip'), 'plain text'), ends: true },
  '/gzip-cut-short': { head: joined(encoded('gzip'), gzipSync(Buffer.alloc(1_000, 'abc')).subarray(0, 20)), ends: true },
  '/unknown-encoding': { head: joined(encoded('x-rot13'), 'x'), ends: true },
  '/huge-content-length': { head: headOf('Content-Length: 999999999999'), endless: Buffer.alloc(65_536, 'a') },
  '/content-length-never-reached': { head: `${headOf('Content-Length: 1000')}abc`, ends: true },
  '/two-content-lengths': { head: `${headOf('Content-Length: 3', 'Content-Length: 5')}abcde`, ends: true },
  '/bad-content-length': { head: `${headOf('Content-Length: -5')}abcde`, ends: true },
  '/chunks-cut-short': { head: `${headOf(chunked)}ff\r\nabc`, ends: true },
  '/drips-head': { head: 'HTTP/1.1 200 OK\r\n', drip: 'X-A: b\r\n' },
  '/drips-body': { head: headOf('Content-Type: text/plain'), drip: 'a' },
  '/silent': { head: '' },
  '/silent-behind-head': { head: headOf('Content-Length: 10') },
  '/closes': { head: '', ends: true },
  '/no-http': { head: 'SSH-2.0-OpenSSH_9.6\r\n', ends: true },
  '/switches-protocols': { head: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', ends: true },
  '/redirects-to-itself': {
    head: 'HTTP/1.1 302 Found\r\nLocation: /redirects-to-itself\r\nContent-Length: 0\r\n\r\n',
    ends: true,
  },
  '/redirects-to-metadata': { head: 'HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\r\n', ends: true },
  '/redirects-with-endless-body': {
    head: 'HTTP/1.1 302 Found\r\nLocation: /redirects-with-endless-body\r\n\r\n',
    endless: 'a'.repeat(65_536),
  },
};

export interface HostileServer {
  readonly url: string;
  /** Bytes written to all clients since the last `reset`. */
  readonly sentBytes: number;
  readonly openSockets: number;
  reset(): void;
  close(): Promise<void>;
}

/** A server on the loopback address that answers each path of `hostileBehaviours` accordingly. */
export async function startHostileServer(): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  let sentBytes = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.once('data', (request: Buffer) => {
      const path = /^[A-Z]+ ([^? ]*)/.exec(request.toString('latin1'))?.[1] ?? '';
      const behaviour = hostileBehaviours[path] ?? { head: `${headOf('Content-Length: 4')}fine`, ends: true };
      behave(socket, behaviour, (bytes) => {
        sentBytes += bytes;
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sentBytes() {
      return sentBytes;
    },
    get openSockets() {
      return sockets.size;
    },
    reset() {
      sentBytes = 0;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function behave(socket: Socket, { head, endless, drip, ends }: Behaviour, sent: (bytes: number) => void): void {
  const write = (data: string | Buffer) => {
    sent(data.length);
    return socket.write(data);
  };
  if (head.length > 0) write(head);
  if (ends === true) socket.end();
  if (endless !== undefined) {
    const pour = () => {
      while (!socket.destroyed && write(endless));
    };
    socket.on('drain', pour);
    pour();
  }
  if (drip !== undefined) {
    const timer = setInterval(() => write(drip), 100);
    socket.on('close', () => clearInterval(timer));
  }
}
