import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { startFauxqs } from 'fauxqs';
import { anonymousRefusal } from '../../fixtures/upstreams/stand-in.ts';

/** What a store does wrong with one request: an error of its own, a connection that it closes, or one that breaks within the reply. */
export type StoreFault = { readonly status: number; readonly code: string } | 'reset' | { readonly cutAtByte: number };

export interface StoreRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly bodyBytes: number;
}

/** An S3 server with one bucket, behind a front that checks the signature of each request and can fail as a test tells it to. */
export interface TestStore {
  /** Settings that put blobs into the bucket. */
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
  readonly requests: readonly StoreRequest[];
  /** Decides of each request whether it fails. Undefined: it is served. */
  fault: (request: StoreRequest) => StoreFault | undefined;
  /** Keys of the bucket. */
  keys(): Promise<readonly string[]>;
  /** Uploads in parts that nobody has ended. */
  openUploads(): number;
  close(): Promise<void>;
}

const bucket = 'parley-files';
const keyId = 'test-key-id';
const secret = 'test-secret-of-the-store';
const region = 'eu-central-1';

export async function startStore(prefix = ''): Promise<TestStore> {
  const fauxqs = await startFauxqs({ port: 0, logger: false, host: '127.0.0.1', init: { buckets: [bucket] } });
  const target = `http://127.0.0.1:${fauxqs.port}`;
  const requests: StoreRequest[] = [];
  const openUploads = new Map<string, { readonly key: string; readonly at: string }>();
  const server = createServer((req, res) => void serve(req, res).catch(() => res.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const list = async (query: string) => (await fetch(`${target}/${bucket}?${query}`)).text();
  const store: TestStore = {
    url,
    requests,
    env: {
      BLOB_URL: `s3://${bucket}/${prefix}?endpoint=${url}&region=${region}`,
      AWS_ACCESS_KEY_ID: keyId,
      AWS_SECRET_ACCESS_KEY: secret,
    },
    fault: () => undefined,
    keys: async () => [...(await list('list-type=2')).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key),
    openUploads: () => openUploads.size,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await fauxqs.stop();
    },
  };
  return store;

  function note({ method, path, query }: StoreRequest, reply: string): void {
    const id = query.get('uploadId');
    if (method === 'POST' && query.has('uploads')) {
      const made = /<UploadId>([^<]*)</.exec(reply)?.[1] ?? '';
      openUploads.set(made, { key: path.slice(bucket.length + 2), at: new Date().toISOString() });
    } else if (id !== null && method !== 'PUT') openUploads.delete(id);
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    const asked = new URL(req.url ?? '/', url);
    const request = { method: req.method ?? '', path: asked.pathname, query: asked.searchParams, bodyBytes: body.length };
    requests.push(request);
    const reason = anonymousRefusal(req) === undefined ? wrongIn(req, asked, body) : 'AccessDenied';
    const fault = reason === undefined ? store.fault(request) : { status: 403, code: reason };
    if (fault === 'reset') {
      req.socket.destroy();
      return;
    }
    if (fault !== undefined && 'status' in fault) {
      res.writeHead(fault.status, { 'content-type': 'application/xml' });
      res.end(`<?xml version="1.0"?><Error><Code>${fault.code}</Code></Error>`);
      return;
    }
    const headers = Object.fromEntries(
      Object.entries(req.headers).flatMap(([name, value]) =>
        ['host', 'connection', 'content-length', 'transfer-encoding', 'expect'].includes(name) ? [] : [[name, String(value)]],
      ),
    );
    if (request.method === 'GET' && request.query.has('uploads')) {
      res.end(listed(openUploads));
      return;
    }
    const hasBody = req.method === 'PUT' || req.method === 'POST';
    const reply = await fetch(`${target}${req.url}`, { method: request.method, headers, ...(hasBody ? { body } : {}) });
    const content = Buffer.from(await reply.arrayBuffer());
    if (reply.ok) note(request, request.method === 'POST' ? String(content) : '');
    res.writeHead(reply.status, Object.fromEntries(reply.headers));
    if (fault === undefined) res.end(req.method === 'HEAD' ? undefined : content);
    else res.write(content.subarray(0, fault.cutAtByte), () => res.destroy());
  }
}

/** Of uploads in parts, which the server takes and does not list. */
function listed(uploads: ReadonlyMap<string, { readonly key: string; readonly at: string }>): string {
  const rows = [...uploads].map(
    ([id, { key, at }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${at}</Initiated></Upload>`,
  );
  return `<?xml version="1.0"?><ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${rows.join('')}</ListMultipartUploadsResult>`;
}

/** The error that S3 gives to a request whose signature or content is not right. Written from the specification, not with the client's library. */
function wrongIn(req: IncomingMessage, url: URL, body: Buffer): string | undefined {
  const given = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    req.headers.authorization ?? '',
  );
  if (given === null) return 'AccessDenied';
  const [, id, scope = '', signedHeaders = '', signature] = given;
  if (id !== keyId) return 'InvalidAccessKeyId';
  const hash = String(req.headers['x-amz-content-sha256']);
  if (hash !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const query = [...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
  const headers = signedHeaders.split(';').map((name) => `${name}:${String(req.headers[name]).trim()}\n`);
  const canonical = [req.method, url.pathname, query, headers.join(''), signedHeaders, hash].join('\n');
  const text = ['AWS4-HMAC-SHA256', req.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<Buffer>((from, part) => hmac(from, part), Buffer.from(`AWS4${secret}`));
  return hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');
const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
