import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEgress, type Egress } from '../../../src/engine/egress/egress.ts';
import type { EgressRequest } from '../../../src/engine/egress/request.ts';
import { type DnsServer, startDnsServer } from '../../support/egress/dns-server.ts';
import { egressPlaces, someOwner } from '../../support/sharing/pools.ts';

const seen: { url: string; method: string; headers: IncomingMessage['headers']; body: string }[] = [];
const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/hello': (_request, response) => response.end('hello'),
  '/gzip': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed')),
  '/twice': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip, br' }).end(brotliCompressSync(gzipSync('packed twice'))),
  '/thrice': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip, gzip' }).end('x'),
  '/lies': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip at all'),
  '/bomb': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(5_000_000))),
  '/loop': (_request, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/see-other': (_request, response) => response.writeHead(303, { location: '/hello' }).end(),
  '/to-metadata': (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  '/to-file': (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/elsewhere': (_request, response) => response.writeHead(307, { location: `http://other.test:${port()}/hello` }).end(),
  '/slow': () => {},
};
let server: Server;
const port = () => (server.address() as AddressInfo).port;

/** `*.test` resolves to this machine, `rebound.test` to the metadata address, and no other name resolves. */
const names: Record<string, readonly string[]> = {
  'rebound.test': ['169.254.169.254'],
  'mixed.test': ['127.0.0.1', '10.0.0.1'],
};
let dns: DnsServer;
let egress: Egress;
let strict: Egress;
const never = new AbortController().signal;
const send = (request: Partial<EgressRequest> & { url: string }, through = egress) =>
  through.send({ owner: someOwner, bytesMax: 1_000_000, timeoutMs: 2_000, ...request }, never);

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push({ url: request.url ?? '', method: request.method ?? '', headers: request.headers, body });
      routes[request.url ?? '']?.(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  dns = await startDnsServer(({ name }) => names[name] ?? (name.endsWith('.test') ? ['127.0.0.1'] : undefined));
  const limits = { dnsServers: [dns.address], connectTimeoutMs: 1_000, lookupTimeoutMs: 2_000, ...egressPlaces(16, 16) };
  egress = createEgress({ allow: '127.0.0.1/32, wiki.test', ...limits });
  strict = createEgress({ allow: undefined, ...limits });
});
afterAll(async () => {
  await Promise.all([egress.close(), strict.close(), dns.close()]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('egress', () => {
  it('fetches what EGRESS_ALLOW allows, by range and by name', async () => {
    expect((await send({ url: `http://127.0.0.1:${port()}/hello` })).body.toString()).toBe('hello');
    expect((await send({ url: `http://wiki.test:${port()}/hello` })).body.toString()).toBe('hello');
  });
  it.each([
    'http://127.0.0.1:PORT/hello',
    'http://2130706433:PORT/hello',
    'http://0x7f.1:PORT/hello',
    'http://[::1]:PORT/hello',
    'http://[::ffff:127.0.0.1]:PORT/hello',
    'http://any.test:PORT/hello',
  ])('refuses %s when nothing is allowed', async (url) => {
    await expect(send({ url: url.replace('PORT', String(port())) }, strict)).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
  });
  it('goes by the resolved address, not by the name', async () => {
    await expect(send({ url: 'http://rebound.test/' })).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
  });
  it('refuses a name when any of its addresses is private', async () => {
    await expect(send({ url: `http://mixed.test:${port()}/hello` })).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
  });
  it.each([
    ['/to-metadata', 'FORBIDDEN_ADDRESS'],
    ['/to-file', 'BAD_URL'],
    ['/loop', 'TOO_MANY_REDIRECTS'],
    ['/lies', 'BAD_ENCODING'],
    ['/thrice', 'BAD_ENCODING'],
    ['/bomb', 'TOO_LARGE'],
  ])('stops at %s with %s', async (path, code) => {
    await expect(send({ url: `http://127.0.0.1:${port()}${path}` })).rejects.toMatchObject({ code });
  });
  it.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'http://user:secret@127.0.0.1/', 'no url', 'data:text/plain,x'])(
    'refuses %s',
    async (url) => {
      await expect(send({ url })).rejects.toMatchObject({ code: 'BAD_URL' });
    },
  );
  it('ends at its time', async () => {
    await expect(send({ url: `http://127.0.0.1:${port()}/slow`, timeoutMs: 100 })).rejects.toMatchObject({ code: 'TIMEOUT' });
  });
  it("throws the signal's reason when the caller gives up", async () => {
    const controller = new AbortController();
    const request = { owner: someOwner, url: `http://127.0.0.1:${port()}/slow`, bytesMax: 10, timeoutMs: 2_000 };
    const call = egress.send(request, controller.signal);
    controller.abort(new Error('gone'));
    await expect(call).rejects.toThrow('gone');
  });
  it('decodes, also twice', async () => {
    expect((await send({ url: `http://127.0.0.1:${port()}/gzip` })).body.toString()).toBe('packed');
    expect((await send({ url: `http://127.0.0.1:${port()}/twice` })).body.toString()).toBe('packed twice');
  });
  it('goes on as a GET without a body after 303', async () => {
    const reply = await send({
      url: `http://127.0.0.1:${port()}/see-other`,
      method: 'POST',
      body: 'secret',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect(reply).toMatchObject({ status: 200, url: `http://127.0.0.1:${port()}/hello` });
    expect(seen.at(-1)).toMatchObject({ method: 'GET', body: '' });
  });
  it('keeps credentials with their origin and sends no header that frames a request', async () => {
    await expect(
      send({
        url: `http://wiki.test:${port()}/elsewhere`,
        headers: { Authorization: 'Bearer secret', Host: 'evil', 'Transfer-Encoding': 'chunked' },
      }),
    ).resolves.toMatchObject({ status: 200 });
    expect(seen.at(-2)?.headers).toMatchObject({ authorization: 'Bearer secret', host: `wiki.test:${port()}` });
    expect(seen.at(-1)?.headers.authorization).toBeUndefined();
  });
});
