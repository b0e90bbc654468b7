import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';

export interface MetadataServer {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** What a path answers: an object as JSON, a text as it is, undefined never. */
  serve(path: string, content: object | string | undefined, status?: number, headers?: Readonly<Record<string, string>>): string;
  close(): void;
}

/** The web site of a client of OAuth, over TLS, with metadata documents. */
export async function startMetadataServer(): Promise<MetadataServer> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  const asked: string[] = [];
  const replies = new Map<
    string,
    { content: object | string | undefined; status: number; headers: Readonly<Record<string, string>> }
  >();
  const server = createServer({ cert, key }, (req, res) => {
    asked.push(req.url ?? '');
    const { content, status, headers } = replies.get(req.url ?? '') ?? { content: '', status: 404, headers: {} };
    if (content === undefined) return;
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(typeof content === 'string' ? content : JSON.stringify(content));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    serve(path, content, status = 200, headers = {}) {
      replies.set(path, { content, status, headers });
      return url + path;
    },
    close() {
      setDefaultCACertificates(before);
      server.closeAllConnections();
      server.close();
    },
  };
}
