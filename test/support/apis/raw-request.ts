import { connect, type Socket } from 'node:net';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body that are sent. */
  readonly body: Buffer;
  /** The content-length header, if it differs from the size of `body`. */
  readonly declaredBytes?: number;
}

/** A client that does what no HTTP library does: it disconnects, stops sending, or does not read. */
export class RawClient {
  readonly socket: Socket;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    // The service may close the connection while the client sends.
    this.socket.on('error', () => undefined);
  }

  send({ method, path, headers, body, declaredBytes = body.length }: RawRequest): void {
    const lines = Object.entries({ host: 'parley', 'content-length': String(declaredBytes), ...headers });
    this.socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    this.socket.write(body);
  }

  /** Everything that the service sends until it closes the connection, or until `isOver` returns true. */
  rest(isOver: (text: string) => boolean = () => false): Promise<string> {
    return new Promise((resolve) => {
      let text = '';
      this.socket.on('data', (chunk) => {
        text += String(chunk);
        if (isOver(text)) resolve(text);
      });
      this.socket.once('close', () => resolve(text));
    });
  }

  /** One complete reply with a content-length. */
  reply(): Promise<string> {
    return this.rest((text) => {
      const headEnd = text.indexOf('\r\n\r\n');
      const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1];
      return headEnd !== -1 && length !== undefined && Buffer.byteLength(text.slice(headEnd + 4)) >= Number(length);
    });
  }

  leave(): void {
    this.socket.destroy();
  }
}

/** The status of a reply's first line; undefined when there is no reply. */
export function statusOf(reply: string): number | undefined {
  const digits = /^HTTP\/1\.1 (\d{3}) /.exec(reply)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
