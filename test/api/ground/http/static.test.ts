import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { service } = await withService();
const html = 'text/html,*/*';

interface Raw {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** `fetch` decodes a body and hides its size on the wire; this does neither. */
async function ask(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
  base = service.url,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const req = request(base + path, { method, headers }, (res) => {
      text(res.setEncoding('latin1')).then(
        (body) => resolve({ status: res.statusCode, headers: res.headers, body: Buffer.from(body, 'latin1') }),
        reject,
      );
    });
    req.on('error', reject).end();
  });
}

describe.each([
  ['/openapi.json', 'application/json; charset=utf-8', 5],
  ['/docs', 'text/html; charset=utf-8', 1.2],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', 3],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8', 5],
  ['/docs/start.js', 'text/javascript; charset=utf-8', 1.5],
  ['/manual/docs/chats.md', 'text/html; charset=utf-8', 1.5],
  ['/pages/search.json', 'application/json; charset=utf-8', 3],
  ['/pages/key.js', 'text/javascript; charset=utf-8', 1.5],
  ['/graphql', 'text/html; charset=utf-8', 3],
])('%s', (path, type, factor) => {
  const accept = { accept: html };

  it('comes compressed to a reader who takes gzip, with the same text', async () => {
    const plain = await ask(path, accept);
    const zipped = await ask(path, { ...accept, 'accept-encoding': 'br;q=0.5, gzip, deflate' });
    expect([plain.status, plain.headers['content-type'], plain.headers['content-encoding']]).toEqual([200, type, undefined]);
    expect([zipped.status, zipped.headers['content-type'], zipped.headers['content-encoding']]).toEqual([200, type, 'gzip']);
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    expect(zipped.headers['content-length']).toBe(String(zipped.body.length));
    expect(plain.body.length / zipped.body.length).toBeGreaterThan(factor);
    for (const { headers } of [plain, zipped]) expect(headers.vary).toBe('Accept, Accept-Encoding');
  });

  it('comes plain to a reader who refuses gzip', async () => {
    const { status, headers } = await ask(path, { ...accept, 'accept-encoding': 'gzip;q=0, identity' });
    expect([status, headers['content-encoding']]).toEqual([200, undefined]);
  });

  it('is not sent again to a reader who has it', async () => {
    const { etag } = (await ask(path, accept)).headers;
    for (const tags of [String(etag), `"other", ${etag}`, String(etag).slice(2), '*']) {
      const { status, headers, body } = await ask(path, { ...accept, 'accept-encoding': 'gzip', 'if-none-match': tags });
      expect([status, body.length, headers.etag, headers['cache-control']]).toEqual([304, 0, etag, 'no-cache']);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
    }
    expect((await ask(path, { ...accept, 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('has the same head for HEAD', async () => {
    const headers = { ...accept, 'accept-encoding': 'gzip' };
    const [get, head] = [await ask(path, headers), await ask(path, headers, 'HEAD')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    for (const name of ['content-length', 'content-encoding', 'etag', 'content-type'])
      expect(head.headers[name]).toBe(get.headers[name]);
  });
});

describe('other replies', () => {
  it('are never compressed: lists, errors and streams', async () => {
    const headers = { authorization: `Bearer ${service.adminKey}`, 'accept-encoding': 'gzip' };
    for (const path of ['/api/v1/ais', '/api/v1/nothing', '/docs/nothing.js']) {
      const reply = await ask(path, headers);
      expect([reply.headers['content-encoding'], reply.headers.etag]).toEqual([undefined, undefined]);
    }
    const body = { model: 'parley/offline', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const stream = await fetch(`${service.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(stream.headers.get('content-encoding')).toBeNull();
    expect(await stream.text()).toContain('data: [DONE]');
  });
});
