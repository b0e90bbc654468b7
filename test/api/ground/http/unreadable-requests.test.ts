import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Connections } from '../../../../src/http/connections/connections.ts';
import { refuseUnreadable } from '../../../../src/http/connections/unreadable.ts';
import { silent } from '../../../support/runs/runs.ts';
import { withService } from '../../../support/service.ts';

const { service } = await withService();

const head = 'GET /healthz HTTP/1.1\r\nhost: x\r\n';

/** Sends bytes, and returns what the server sends until it closes the connection. */
async function say(port: number, ...pieces: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  for (const piece of pieces) socket.write(piece);
  let text = '';
  for await (const bytes of socket) text += bytes;
  return text;
}
const tell = (...pieces: readonly string[]) => say(Number(new URL(service.url).port), ...pieces);

function errorOf(reply: string) {
  const split = reply.indexOf('\r\n\r\n');
  const [status = '', ...headers] = reply.slice(0, split).toLowerCase().split('\r\n');
  expect(headers).toContain('content-type: application/json; charset=utf-8');
  expect(headers).toContain('connection: close');
  expect(headers.some((line) => line.startsWith('x-request-id: req_'))).toBe(true);
  const body = reply.slice(split + 4);
  expect(headers).toContain(`content-length: ${body.length}`);
  const { error } = JSON.parse(body);
  expect(error).toEqual({ message: expect.any(String), type: 'invalid_request_error', param: null, code: expect.any(String) });
  return [Number(status.split(' ')[1]), error.code];
}

describe('a request that cannot be read is answered in the common form, and the connection closed', () => {
  it.each<[string, string, number, string]>([
    ['no HTTP at all', 'hello there\r\n\r\n', 400, 'malformed_request'],
    ['another protocol', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001', 400, 'malformed_request'],
    ['the newer HTTP', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
    ['an unknown method', 'DANCE / HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'malformed_request'],
    ['a bad version', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n', 400, 'malformed_request'],
    ['a header with a control character', `${head}a: \u0000\r\n\r\n`, 400, 'malformed_request'],
    ['two lengths', `${head}content-length: 1\r\ncontent-length: 2\r\n\r\n`, 400, 'malformed_request'],
    ['a length and chunks', `${head}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, 400, 'malformed_request'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['headers without end', `${head}a: ${'x'.repeat(40_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ])('%s', async (_case, text, status, code) => {
    expect(errorOf(await tell(text))).toEqual([status, code]);
  });

  it('malformed chunks, before the reply has begun', async () => {
    const post = 'POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    const authorization = `authorization: Bearer ${service.adminKey}\r\n`;
    const reply = await tell(`${post}${authorization}transfer-encoding: chunked\r\n\r\n`, 'zz\r\n');
    expect(errorOf(reply)).toEqual([400, 'malformed_request']);
  });

  it('after a valid one that was answered, each with its own reply', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(`${head}\r\n`);
    let text = '';
    let isRest = false;
    for await (const bytes of socket) {
      text += bytes;
      if (!isRest) socket.write('nonsense\r\n\r\n');
      isRest = true;
    }
    const second = text.indexOf('HTTP/1.1 400');
    expect(text.slice(0, second)).toMatch(/^HTTP\/1\.1 200 /);
    expect(errorOf(text.slice(second))).toEqual([400, 'malformed_request']);
  });

  it('an unknown Upgrade or Expect header is no fault', async () => {
    expect(await tell(`${head}expect: wonders\r\nconnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await tell('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('of a server with short time limits', () => {
  it('a head that does not come in time is told so; a reply that has begun gets nothing mixed into it', async () => {
    const limits = { SSE_STALL_TIMEOUT_MS: 60_000, PIPELINED_REQUESTS_MAX: 10, REPLIES_UNSENT_MAX_BYTES: 1e6 };
    const connections = new Connections(limits, (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: 1\n\n');
    });
    const timeouts = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 };
    const server = createServer(timeouts, connections.handle);
    connections.watch(server);
    server.on('clientError', (error, socket) => refuseUnreadable(error, socket, silent));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(errorOf(await say(port, 'GET / HTTP/1.1\r\n'))).toEqual([408, 'request_timeout']);
    const cut = await say(port, `${head}\r\n`, 'nonsense\r\n\r\n').catch((error: NodeJS.ErrnoException) => error.code);
    // Interrupted: no reply, or the reply so far.
    expect(cut === 'ECONNRESET' || !String(cut).includes('malformed')).toBe(true);
    server.closeAllConnections();
    server.close();
  });
});
