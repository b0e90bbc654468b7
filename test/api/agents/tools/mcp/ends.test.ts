import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../../fixtures/upstreams/mcp/server.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { withService } from '../../../../support/service.ts';

/** Servers that answer otherwise than the protocol says: no tool is lost for it, and no call waits for its time-out. */
const servers = {
  'with sessions': await startMcpUpstream('sessions'),
  'of 2026-07-28': await startMcpUpstream('sessionless'),
};
const { make, upstream } = await withService('model');
const model = 'openai/test-model';

const ann = await make.person();

afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

const offered = () =>
  ((upstream.requests.at(-1)?.body?.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
const result = () => {
  const messages = (upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[];
  return messages.findLast(({ role }) => role === 'tool')?.content ?? '';
};
/** Answers of every id that the client may have given. */
const eventsOf = (result: object) =>
  Array.from({ length: 60 }, (_one, id) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`).join('');
const events = (res: ServerResponse, text: string) => res.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
const done = { content: [{ type: 'text', text: 'It is done.' }], resultType: 'complete' };

describe.each(sampled(Object.entries(servers)))('a server %s', (era, server) => {
  let session = 0;
  beforeEach(() => {
    server.reset();
    session += 1;
  });
  const ask = async (name: string) => {
    // Each test has a session of its own.
    const headers = { 'x-session': `${era} ${session}` };
    const tool = { type: 'mcp', server_label: 'shop', server_url: server.url, require_approval: 'never', headers };
    upstream.next({ toolCalls: [{ id: 'call_1', name: `shop__${name}`, arguments: '{"text":"x"}' }] }, { text: 'Fine.' });
    const startedMs = performance.now();
    const { status, body } = await ann.post('/api/v2/responses', { model, input: 'Go', tools: [tool] });
    expect(status, JSON.stringify(body)).toBe(200);
    return performance.now() - startedMs;
  };

  it.each([
    ['without ttlMs and cacheScope', {}],
    ['with members of other types', { ttlMs: '60', cacheScope: 'everyone' }],
    ['without resultType', { resultType: undefined }],
  ])('offers the tools of a list %s', async (_what, more) => {
    const tools = [{ name: 'echo', inputSchema: { type: 'object' } }, { name: 'odd', inputSchema: {} }, { name: 'bare' }];
    server.intercept = (rpc, res) => {
      if (rpc !== 'tools/list') return false;
      events(res, eventsOf({ resultType: 'complete', tools, ...more }));
      return true;
    };
    await ask('echo');
    expect(offered()).toEqual(['shop__echo', 'shop__odd', 'shop__bare']);
    expect(result()).toContain('x');
  });

  it.each([
    ['closes without a result', ': hello\n\n', 405, ''],
    ['closes after an event id that it does not know later', 'id: 7\ndata:\n\n', 404, ''],
    ['closes after an event id, and each stream after it', 'id: 7\nretry: 10\ndata:\n\n', 200, ': nothing\n\n'],
  ])(
    'a call whose stream %s fails at once',
    async (_what, first, status, then) => {
      server.intercept = (rpc, res) => {
        if (rpc === 'tools/call') events(res, first);
        else if (rpc === 'GET') res.writeHead(status, { 'content-type': 'text/event-stream' }).end(then);
        else return false;
        return true;
      };
      expect(await ask('echo')).toBeLessThan(10_000);
      expect(result()).toMatch(/^Error: /);
    },
    70_000,
  );

  it('a call whose stream closes goes on by its event id', async () => {
    server.intercept = (rpc, res) => {
      if (rpc === 'tools/call') events(res, 'id: 7\nretry: 10\ndata:\n\n');
      else if (rpc === 'GET' && server.requests.at(-1)?.headers['last-event-id'] === '7') events(res, eventsOf(done));
      else return false;
      return true;
    };
    expect(await ask('act')).toBeLessThan(10_000);
    expect(result()).toContain('It is done.');
  }, 70_000);

  it('a call that is accepted without an answer fails at once', async () => {
    server.intercept = (rpc, res) => {
      if (rpc !== 'tools/call') return false;
      res.writeHead(202).end();
      return true;
    };
    expect(await ask('echo')).toBeLessThan(10_000);
    expect(result()).toMatch(/^Error: /);
  }, 70_000);

  it('that asks a person in the middle of a call is asked once', async () => {
    let calls = 0;
    server.intercept = (rpc, res) => {
      if (rpc !== 'tools/call') return false;
      calls += 1;
      const question = {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
      };
      events(res, eventsOf({ resultType: 'input_required', inputRequests: { sure: question }, requestState: 's' }));
      return true;
    };
    expect(await ask('act')).toBeLessThan(10_000);
    expect(calls).toBe(1);
    if (era !== 'with sessions') expect(result()).toMatch(/^Error: .*asks a person/);
  }, 70_000);
});
