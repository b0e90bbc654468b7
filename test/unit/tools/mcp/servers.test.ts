import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress } from '../../../../src/engine/egress/egress.ts';
import type { McpEndpoint, ProgramEndpoint } from '../../../../src/engine/tools/mcp/endpoint.ts';
import { McpServers, type McpServersOptions } from '../../../../src/engine/tools/mcp/servers.ts';
import { createEgressFetch } from '../../../../src/engine/tools/mcp/sessions/egress-fetch.ts';
import { type McpUpstream, startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { standardTools } from '../../../fixtures/upstreams/mcp/tools.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { egressPlaces, someOwner, testPools } from '../../../support/sharing/pools.ts';

/** Sessions with MCP servers: over HTTP through the egress guard, and with programs. */
const owner = { ...someOwner, userId: 'user_a' };
const other = { ...someOwner, userId: 'user_b' };
const never = new AbortController().signal;
const guard = (allow: string) =>
  createEgress({ allow, connectTimeoutMs: 5_000, lookupTimeoutMs: 5_000, ...egressPlaces(16, 64) });
/** No endpoint here is a connection, so no token is asked for. */
const noConnections = {} as Pick<McpServersOptions, 'tokens' | 'authorization'>;
const program = join(import.meta.dirname, '../../../fixtures/upstreams/mcp/program.ts');
let upstream: McpUpstream;
let sessionless: McpUpstream;
let folder: string;
let opened: McpServers[] = [];
let nowMs = 1_000_000;

beforeAll(async () => {
  upstream = await startMcpUpstream();
  sessionless = await startMcpUpstream('sessionless');
  folder = mkdtempSync(join(tmpdir(), 'parley-mcp-'));
});
beforeEach(() => {
  upstream.reset();
  sessionless.reset();
});
afterEach(async () => {
  await Promise.all(opened.map((servers) => servers.close()));
  opened = [];
});
afterAll(async () => {
  await upstream.close();
  await sessionless.close();
  rmSync(folder, { recursive: true });
});

function serversWith(options: Partial<McpServersOptions> = {}): McpServers {
  const servers = new McpServers({
    ...noConnections,
    file: [],
    egress: guard('127.0.0.1'),
    operatorEgress: guard('0.0.0.0/0'),
    logger: pino({ level: 'silent' }),
    version: '1.0.0',
    path: process.env.PATH,
    places: testPools().admission('mcp-sessions', { max: 20, what: 'sessions', organizationMax: 5 }),
    startTimeoutMs: 20_000,
    callTimeoutMs: 20_000,
    replyBytesMax: 1_000_000,
    idleTimeoutMs: 60_000,
    toolsTtlMs: 60_000,
    resultCharsMax: 20_000,
    now: () => new Date(nowMs),
    ...options,
  });
  opened.push(servers);
  return servers;
}
const http = (headers: Readonly<Record<string, string>> = {}, name = 'desk'): McpEndpoint => ({
  kind: 'http',
  name,
  url: upstream.url,
  headers,
  isTrusted: false,
});
const call = (servers: McpServers, tool: string, args: object = {}, endpoint = http(), signal = never) =>
  servers.call(endpoint, owner, { tool, args: { ...args }, key: 'run_1:call_1', signal });
const counts = (rpc: string) => upstream.requests.filter((request) => request.rpc === rpc).length;

describe('a server over HTTP', () => {
  it('lists all pages of its tools, and lists them once for many runs', async () => {
    const servers = serversWith();
    const lists = await Promise.all([1, 2, 3].map(() => servers.tools(http(), owner, never)));
    expect(lists[0]?.tools.map(({ name }) => name)).toEqual(standardTools.map(({ name }) => name));
    await servers.tools(http(), owner, never);
    expect(counts('initialize')).toBe(1);
    expect(counts('tools/list')).toBe(3);
  });

  it('calls a tool with its headers and its key, in the session that is open', async () => {
    const servers = serversWith();
    await servers.tools(http({ authorization: 'Bearer t0p' }), owner, never);
    const { content } = await call(servers, 'echo', { text: 'Hi' }, http({ authorization: 'Bearer t0p' }));
    expect(content).toEqual([{ type: 'text', text: 'Hi' }]);
    expect(counts('initialize')).toBe(1);
    const sent = upstream.requests.find(({ rpc }) => rpc === 'tools/call')?.headers;
    expect(sent).toMatchObject({ authorization: 'Bearer t0p', 'idempotency-key': 'run_1:call_1' });
  });

  it('gives each user and each credential a session of its own', async () => {
    const servers = serversWith();
    await servers.tools(http({ authorization: 'a' }), owner, never);
    await servers.tools(http({ authorization: 'b' }), owner, never);
    await servers.tools(http({ authorization: 'a' }), other, never);
    expect(counts('initialize')).toBe(3);
  });

  it('lists the tools again when the server says that they have changed, and when the list is old', async () => {
    const servers = serversWith();
    await servers.tools(http(), owner, never);
    await eventually(() => expect(upstream.requests.some(({ method }) => method === 'GET')).toBe(true));
    await call(servers, 'grow');
    await eventually(async () => {
      const { tools } = await servers.tools(http(), owner, never);
      expect(tools.map(({ name }) => name)).toContain('grown');
    });
    const before = counts('tools/list');
    nowMs += 61_000;
    await servers.tools(http(), owner, never);
    expect(counts('tools/list')).toBeGreaterThan(before);
  });

  it('opens a new session when the server has forgotten the old one', async () => {
    const servers = serversWith();
    await servers.tools(http(), owner, never);
    upstream.forget();
    expect(await call(servers, 'echo', { text: 'again' })).toMatchObject({ content: [{ text: 'again' }] });
    expect(counts('initialize')).toBe(2);
    expect(upstream.calls).toHaveLength(1);
  });

  it('tells the server that a session is over, after a while without calls and at the end', async () => {
    const servers = serversWith({ idleTimeoutMs: 1 });
    await servers.tools(http(), owner, never);
    await eventually(() => expect(upstream.requests.some(({ method }) => method === 'DELETE')).toBe(true));
    const lasting = serversWith();
    await lasting.tools(http(), owner, never);
    await lasting.close();
    expect(upstream.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(2);
  });

  it('cancels the call at the server when the run is over', async () => {
    const servers = serversWith();
    const ending = new AbortController();
    const waiting = call(servers, 'wait', {}, http(), ending.signal);
    await eventually(() => expect(upstream.calls).toHaveLength(1));
    ending.abort(new Error('the run is over'));
    await expect(waiting).rejects.toThrow('the run is over');
    await eventually(() => expect(upstream.cancelled).toBe(1));
  });

  it('takes the place of a session that nobody uses when all are taken, and refuses when all are used', async () => {
    const servers = serversWith();
    for (const index of [1, 2, 3, 4, 5, 6]) await servers.tools(http({ 'x-n': String(index) }), owner, never);
    await eventually(() => expect(upstream.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1));
    const ending = new AbortController();
    const waiting = [1, 2, 3, 4, 5].map((n) =>
      call(servers, 'wait', {}, http({ 'x-w': String(n) }), ending.signal).catch(() => undefined),
    );
    await eventually(() => expect(upstream.calls).toHaveLength(5));
    await expect(servers.tools(http({ 'x-n': 'last' }), owner, never)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    ending.abort();
    await Promise.all(waiting);
  });
});

describe('a server without sessions', () => {
  const endpoint = (headers: Readonly<Record<string, string>> = {}): McpEndpoint =>
    ({ ...http(headers), url: sessionless.url }) as McpEndpoint;
  const countOf = (rpc: string) => sessionless.requests.filter((request) => request.rpc === rpc).length;

  it('is asked what it speaks, lists all pages of its tools, and is called with its headers and the key of the call', async () => {
    const servers = serversWith();
    const { tools } = await servers.tools(endpoint({ authorization: 'Bearer t0p' }), owner, never);
    expect(tools.map(({ name }) => name)).toEqual(standardTools.map(({ name }) => name));
    const { content } = await call(servers, 'echo', { text: 'Hi' }, endpoint({ authorization: 'Bearer t0p' }));
    expect(content).toEqual([{ type: 'text', text: 'Hi' }]);
    expect([countOf('server/discover'), countOf('initialize'), countOf('tools/call')]).toEqual([1, 0, 1]);
    expect(sessionless.requests.find(({ rpc }) => rpc === 'tools/call')?.headers).toMatchObject({
      authorization: 'Bearer t0p',
      'idempotency-key': 'run_1:call_1',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    });
  });

  it('tells that its tools have changed', async () => {
    const servers = serversWith();
    await servers.tools(endpoint(), owner, never);
    await call(servers, 'grow', {}, endpoint());
    await eventually(async () => {
      const { tools } = await servers.tools(endpoint(), owner, never);
      expect(tools.map(({ name }) => name)).toContain('grown');
    });
  });

  it('sees the stream of a call closed when the run is over', async () => {
    const servers = serversWith();
    const ending = new AbortController();
    const waiting = call(servers, 'wait', {}, endpoint(), ending.signal);
    await eventually(() => expect(sessionless.calls).toHaveLength(1));
    ending.abort(new Error('the run is over'));
    await expect(waiting).rejects.toThrow('the run is over');
    await eventually(() => expect(sessionless.cancelled).toBe(1));
  });

  it('fails a call whose answer ends in the middle, or does not come in time', async () => {
    const servers = serversWith({ callTimeoutMs: 500 });
    await servers.tools(endpoint(), owner, never);
    sessionless.intercept = (rpc, res) => {
      if (rpc === 'tools/call') res.writeHead(200, { 'content-type': 'text/event-stream' }).end(': one\n\n');
      return rpc === 'tools/call';
    };
    await expect(call(servers, 'echo', { text: 'x' }, endpoint())).rejects.toThrow('ended its answer in the middle');
    sessionless.intercept = (rpc) => rpc === 'tools/call';
    await expect(call(servers, 'echo', { text: 'x' }, endpoint())).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });
});

describe('a server that misbehaves', () => {
  const sse = { 'content-type': 'text/event-stream' };
  it.each([
    ['answers garbage', (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"nothing":1}'), /protocol/],
    ['answers no JSON', (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('<html>'), /protocol/],
    ['answers a page', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), /content type/i],
    ['answers an error', (res) => res.writeHead(500).end('the database is away'), /500.*database/],
    ['refuses the key', (res) => res.writeHead(401).end(), /authorization/],
    [
      'ends in the middle',
      (res) => res.writeHead(200, sse).end('event: message\ndata: {"jsonrpc":"2.0","meth'),
      /ended its answer/,
    ],
    ['ends without an answer', (res) => res.writeHead(200, sse).end(), /ended its answer/],
    [
      'breaks the connection',
      (res) => void res.writeHead(200, sse).write(': one\n\n', () => res.destroy()),
      /could not be reached|ended|closed/,
    ],
    ['sends 10 MB', (res) => res.writeHead(200, sse).end(`data: ${'x'.repeat(10_000_000)}\n\n`), /more than|too large|1000000/i],
    [
      'sends 10 MB of JSON',
      (res) => res.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(10_000_000)}"`),
      /more than|too large|1000000/i,
    ],
    [
      'redirects to another place',
      (res) => res.writeHead(307, { location: 'http://169.254.169.254/latest' }).end(),
      /[Rr]edirect/,
    ],
  ] satisfies [string, (res: import('node:http').ServerResponse) => unknown, RegExp][])(
    'that %s fails the call with a reason',
    async (_what, reply, reason) => {
      const servers = serversWith();
      await servers.tools(http(), owner, never);
      upstream.intercept = (rpc, res) => {
        if (rpc !== 'tools/call') return false;
        reply(res);
        return true;
      };
      await expect(call(servers, 'echo', { text: 'x' })).rejects.toMatchObject({
        name: 'DomainError',
        message: expect.stringMatching(reason),
      });
      upstream.intercept = undefined;
      expect(await call(servers, 'echo', { text: 'well' })).toMatchObject({ content: [{ text: 'well' }] });
    },
  );

  const ping = (id: number) => ({ jsonrpc: '2.0', id: `ping-${id}`, method: 'ping' });
  const progress = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'busy' } };
  const events = (sent: readonly object[]) => sent.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
  const many = (count: number, one: (index: number) => object) => Array.from({ length: count }, (_, index) => one(index));
  it.each([
    ['3,000 pings in one reply', 'tools/call', events(many(3_000, ping)), /requests of its own/],
    ['3,000 pings in one array', 'tools/call', JSON.stringify(many(3_000, ping)), /requests of its own/],
    ['3,000 pings before its tools', 'tools/list', events(many(3_000, ping)), /requests of its own/],
    ['3,000 pings before its session begins', 'initialize', events(many(3_000, ping)), /requests of its own/],
    ['30,000 notifications', 'tools/call', events(many(30_000, () => progress)), /more than 2000 messages/],
  ])('that sends %s gets few answers, and the call fails with the bound', async (_what, asked, reply, reason) => {
    const servers = serversWith({ replyBytesMax: 8_000_000 });
    if (asked === 'tools/call') await servers.tools(http(), owner, never);
    upstream.intercept = (rpc, res) => {
      // The answers to its pings have no method.
      if (rpc === 'POST') return res.writeHead(202).end() !== undefined;
      if (rpc !== asked) return false;
      res.writeHead(200, reply.startsWith('[') ? { 'content-type': 'application/json' } : sse).end(reply);
      return true;
    };
    const work = asked === 'tools/call' ? call(servers, 'echo', { text: 'x' }) : servers.tools(http(), owner, never);
    await expect(work).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', message: expect.stringMatching(reason) });
    expect(upstream.requests.filter(({ method, rpc }) => method === 'POST' && rpc === '').length).toBeLessThan(50);
    upstream.intercept = undefined;
    expect(await call(servers, 'echo', { text: 'well' })).toMatchObject({ content: [{ text: 'well' }] });
  });

  it('that sends pings on its own stream, and does not take the answers, loses its session', async () => {
    const servers = serversWith();
    upstream.intercept = (rpc, res) => {
      if (rpc === 'GET') res.writeHead(200, sse).write(events(many(1_000, ping)));
      return rpc === 'GET' || rpc === 'POST';
    };
    await expect(servers.tools(http(), owner, never).then(() => call(servers, 'wait'))).rejects.toThrow(
      /without taking the answers/,
    );
    expect(upstream.requests.filter(({ method, rpc }) => method === 'POST' && rpc === '').length).toBeLessThan(50);
  });

  it.each(['\n', '\r\n', '\r'])('that ends its lines with %j is read as one that ends them with line feeds', async (end) => {
    upstream.intercept = (_rpc, res) => {
      res.writeHead(200, sse).write(`data: a${end}`);
      // A line end may be cut by the end of a block.
      res.write(`${end}data: b\r`, () => res.end(`\n${end}`));
      return true;
    };
    const { origin } = new URL(upstream.url);
    const bounds = { bytesMax: 1_000, timeoutMs: 20_000, streamTimeoutMs: 20_000 };
    const fetchEvents = createEgressFetch({ egress: guard('127.0.0.1'), owner, origin, ...bounds });
    expect(await (await fetchEvents(upstream.url)).text()).toBe('data: a\n\ndata: b\n\n');
  });

  it('that sends more than 100,000 lines fails the call', async () => {
    const servers = serversWith({ replyBytesMax: 8_000_000 });
    await servers.tools(http(), owner, never);
    upstream.intercept = (rpc, res) => {
      if (rpc !== 'tools/call') return false;
      res.writeHead(200, sse).end('\n'.repeat(100_001));
      return true;
    };
    await expect(call(servers, 'echo', { text: 'x' })).rejects.toThrow(/more than 100000 lines/);
  });

  it.each(['tools/call', 'initialize', 'tools/list'])(
    'that never answers %s is given up after the time limit',
    async (silent) => {
      const servers = serversWith({ startTimeoutMs: 300, callTimeoutMs: 300 });
      upstream.intercept = (rpc) => rpc === silent;
      const work = silent === 'tools/call' ? call(servers, 'echo', { text: 'x' }) : servers.tools(http(), owner, never);
      await expect(work).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    },
  );

  it('that opens its stream again and again is left without one', async () => {
    const servers = serversWith();
    upstream.intercept = (rpc, res) => {
      if (rpc !== 'GET') return false;
      res.writeHead(200, sse).end('retry: 0\nid: 1\ndata:\n\n');
      return true;
    };
    await servers.tools(http(), owner, never);
    const streams = () => upstream.requests.filter(({ method }) => method === 'GET').length;
    await eventually(() => expect(streams()).toBe(20));
    await call(servers, 'echo', { text: 'x' });
    expect(streams()).toBe(20);
  });

  it('at a private address is not called, whatever its name', async () => {
    const servers = serversWith({ egress: guard('') });
    await expect(servers.tools(http(), owner, never)).rejects.toThrow(/not an address of the public internet/);
    expect(upstream.requests).toHaveLength(0);
    // An address of the operator is.
    const { tools } = await servers.tools({ ...http(), isTrusted: true }, owner, never);
    expect(tools.length).toBeGreaterThan(5);
  });

  it('that describes its tools badly has only those that can be offered', async () => {
    const servers = serversWith();
    upstream.tools.splice(
      0,
      upstream.tools.length,
      { name: 'good' },
      { name: 'good' },
      { name: '' },
      { name: 'huge', inputSchema: { type: 'object', description: 'x'.repeat(100_000) }, description: 'y'.repeat(10_000) },
      ...Array.from({ length: 200 }, (_, index) => ({ name: `more${index}` })),
    );
    const { tools, leftOut } = await servers.tools(http(), owner, never);
    expect(tools.filter(({ name }) => name === 'good')).toHaveLength(1);
    const huge = tools.find(({ name }) => name === 'huge');
    expect(huge?.inputSchema).toEqual({ type: 'object' });
    expect(huge?.description?.length).toBeLessThan(4_002);
    expect(leftOut).toBeGreaterThan(0);
  });
});

describe('a program', () => {
  const endpoint = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): ProgramEndpoint => ({
    kind: 'program',
    name: 'local',
    command: process.execPath,
    args: [program, ...args],
    env,
    cwd: folder,
    isTrusted: true,
  });
  const startsIn = (log: string) => readFileSync(log, 'utf8').trim().split('\n').map(Number);

  it('gets only its own environment, is shared by all users, and its errors are logged without its secrets', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const servers = serversWith({ logger });
    const log = join(folder, 'env.log');
    const local = endpoint([log], { API_KEY: 'k-4711-4711', LANG: 'de' });
    await servers.tools(local, other, never);
    const { content } = await call(servers, 'whoami', {}, local);
    const [said] = content as readonly { text: string }[];
    const env = JSON.parse(said?.text ?? '') as Record<string, string>;
    expect(Object.keys(env).sort()).toEqual(['API_KEY', 'LANG', 'PATH']);
    expect(startsIn(log)).toHaveLength(1);
    await eventually(() => expect(lines.join('')).toContain('started with [secret]'));
    expect(lines.join('')).not.toContain('4711');
  });

  it('ends with everything at the end of the service, and when nobody calls it', async () => {
    const log = join(folder, 'end.log');
    const servers = serversWith({ idleTimeoutMs: 1 });
    await servers.tools(endpoint([log]), owner, never);
    const isThere = (pid: number | undefined) => {
      try {
        return pid !== undefined && process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await eventually(() => expect(isThere(startsIn(log)[0])).toBe(false));
    const lasting = serversWith();
    await lasting.tools(endpoint([log]), owner, never);
    expect(isThere(startsIn(log)[1])).toBe(true);
    await lasting.close();
    await eventually(() => expect(isThere(startsIn(log)[1])).toBe(false));
  });

  it('that crashes fails the call, and is started again after a while', async () => {
    const log = join(folder, 'crash.log');
    const servers = serversWith();
    const local = endpoint([log]);
    await servers.tools(local, owner, never);
    await expect(call(servers, 'die', {}, local)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    await expect(call(servers, 'echo', { text: 'x' }, local)).rejects.toMatchObject({ code: 'OVERLOADED' });
    nowMs += 501;
    expect(await call(servers, 'echo', { text: 'back' }, local)).toMatchObject({ content: [{ text: 'back' }] });
    await expect(call(servers, 'die', {}, local)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    nowMs += 501;
    await expect(call(servers, 'echo', { text: 'x' }, local)).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(startsIn(log)).toHaveLength(2);
  });

  it('that does not exist is an error with a reason', async () => {
    const servers = serversWith();
    const local = { ...endpoint(), command: '/no/such/program', args: [] };
    await expect(servers.tools(local, owner, never)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
  });
});
