import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pixelReply, startImageServer } from '../../../fixtures/upstreams/images.ts';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';
import { expectAccepted } from '../../../support/runs/accepted-request.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { endedResponse } from '../../../support/runs/responses.ts';
import { never, type UpstreamRequest } from '../../../support/upstream.ts';

/** A process that is killed in the middle of a tool that acts: images, memories, tools of MCP servers. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
const images = await startImageServer();
const mcp = await startMcpUpstream();
const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-kills-'));
const file = join(folder, 'servers.json');
writeFileSync(file, JSON.stringify({ servers: [{ name: 'desk', url: mcp.url }] }));
const env = { IMAGE_MODEL: 'ollama/one', OLLAMA_BASE_URL: images.url, MCP_SERVERS_FILE: file };
let world: Killable;

beforeEach(async () => {
  world = await prepareKillable();
  images.reset();
  mcp.reset();
});
afterEach(() => world.close());
afterAll(async () => {
  await images.close();
  await mcp.close();
  rmSync(folder, { recursive: true });
});

type Call = readonly [string, object];
/** The model makes the calls, and answers when it has read an outcome. */
function script(calls: readonly Call[]) {
  const toolCalls = calls.map(([name, args], index) => ({ id: `call_${index + 1}`, name, arguments: JSON.stringify(args) }));
  world.upstream.otherwise((request) =>
    messagesOf(request).some(({ role }) => role === 'tool') ? { text: 'It is done.' } : { toolCalls },
  );
}
/** Begins a response, kills its process when `isInside` holds, and goes on with another one. */
async function killedIn(tool: object, isInside: (ann: TestClient, chat: string, id: string) => Promise<void>) {
  const { parley, ann } = await world.launch(env);
  const { status, body } = await ann.post(path, { model, input: 'Do it', tools: [tool], background: true });
  expect(status, JSON.stringify(body)).toBe(200);
  await eventually(() => isInside(ann, body.conversation.id, body.id), 60_000);
  await parley.kill('SIGKILL');
  return { id: body.id as string, conversation: body.conversation.id as string };
}
const read = () => messagesOf(world.upstream.requests.at(-1)).findLast(({ role }) => role === 'tool')?.content ?? '';
/** The next turn works, and its model is told that the outcome is not known. */
async function expectToldUnknown(ann: TestClient, id: string) {
  const next = await ann.post(path, { input: 'And now?', previous_response_id: id });
  expect(next.body.status).toBe('completed');
  expect(JSON.stringify(messagesOf(world.upstream.requests.at(-1)))).toContain('whether it was carried out is not known');
  expectAccepted(world.upstream.requests.at(-1));
}

describe('image_generation', () => {
  const filesOf = async (ann: TestClient, chat: string) => (await ann.get(`/api/v1/chats/${chat}/files`)).body.data as object[];

  it('asks the provider once: the run ends and says that the outcome is not known', async () => {
    script([['generate_image', { prompt: 'A red cat' }]]);
    images.next({ hangs: true });
    const { id, conversation } = await killedIn({ type: 'image_generation' }, async () => expect(images.asked).toHaveLength(1));
    images.reset();
    const ann = await world.recover(env);
    const response = await endedResponse(ann, id);
    expect(response).toMatchObject({ status: 'failed', error: { code: 'tool_outcome_unknown' } });
    expect(response.output.at(-1).content[0].text).toContain('it was not repeated');
    await expectToldUnknown(ann, id);
    expect(images.asked).toEqual([]);
    expect(await filesOf(ann, conversation)).toEqual([]);
  });

  it('keeps its files once when the process dies behind it', async () => {
    script([['generate_image', { prompt: 'A red cat', n: 3 }]]);
    images.next({ body: pixelReply(3) });
    const { id, conversation } = await killedIn({ type: 'image_generation' }, async (ann, chat) =>
      expect((await filesOf(ann, chat)).length).toBeGreaterThan(0),
    );
    const ann = await world.recover(env);
    const { status } = await endedResponse(ann, id);
    const names = (await filesOf(ann, conversation)).map((one) => (one as { filename: string }).filename);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeLessThanOrEqual(3);
    // Killed behind the stored outcome, the run goes on; before it, the run ends.
    expect(['completed', 'failed']).toContain(status);
    expect(images.asked).toHaveLength(1);
  });
});

describe('memory', () => {
  const texts = Array.from({ length: 12 }, (_text, index) => `The user likes the number ${index + 100}.`);
  const memories = async (ann: TestClient) =>
    ((await ann.get('/api/v1/memories')).body.data as { id: string; text: string }[]).toReversed();

  it('remembers each thing once', async () => {
    script(texts.map((text): Call => ['remember', { text }]));
    const { id } = await killedIn({ type: 'memory' }, async (ann) => expect((await memories(ann)).length).toBeGreaterThan(0));
    const ann = await world.recover(env);
    expect(await endedResponse(ann, id)).toMatchObject({ status: 'completed' });
    const kept = (await memories(ann)).map(({ text }) => text);
    expect(kept).toEqual(texts.slice(0, kept.length));
    expect(read()).toMatch(/^Remembered as memo_/);
    expectAccepted(world.upstream.requests.at(-1));
  });

  it('forgets what it was told to, and nothing else', async () => {
    const { parley, ann: first } = await world.launch(env);
    for (const text of texts) expect((await first.post('/api/v1/memories', { text })).status).toBe(200);
    const all = await memories(first);
    await parley.kill('SIGTERM');
    script(all.slice(0, 8).map(({ id }): Call => ['forget', { id }]));
    const { id } = await killedIn({ type: 'memory' }, async (ann) =>
      expect((await memories(ann)).length).toBeLessThan(all.length),
    );
    const ann = await world.recover(env);
    expect(await endedResponse(ann, id)).toMatchObject({ status: 'completed' });
    const left = (await memories(ann)).map(({ text }) => text);
    expect(left).toEqual(texts.slice(texts.length - left.length));
    expect(left.length).toBeGreaterThanOrEqual(4);
    expect(read()).toMatch(/Forgotten|may be forgotten already/);
  });
});

describe.each([
  ['a configured server', { type: 'mcp_server', server: 'desk' }],
  ['a server of the request', { type: 'mcp', server_label: 'desk', server_url: mcp.url, require_approval: 'never' }],
])('a call of %s', (_what, tool) => {
  const made = () =>
    mcp.requests.filter(({ rpc }) => rpc === 'tools/call').map(({ headers }) => headers['idempotency-key'] as string | undefined);
  const hangs = (rpc: string) => rpc === 'tools/call';
  const isCalled = async () => expect(made()).toHaveLength(1);

  it('that may have acted is not made again', async () => {
    script([['desk__act', {}]]);
    mcp.intercept = hangs;
    const { id } = await killedIn(tool, isCalled);
    mcp.intercept = undefined;
    const ann = await world.recover(env);
    const response = await endedResponse(ann, id);
    expect(response).toMatchObject({ status: 'failed', error: { code: 'tool_outcome_unknown' } });
    expect(response.output.at(-1).content[0].text).toContain('it was not repeated');
    await expectToldUnknown(ann, id);
    expect(made()).toEqual([`${id}:call_1`]);
  });

  it('that is idempotent is made again with its key, and its model reads the result', async () => {
    script([['desk__echo', { text: 'Seven' }]]);
    mcp.intercept = hangs;
    const { id } = await killedIn(tool, isCalled);
    mcp.intercept = undefined;
    const ann = await world.recover(env);
    expect(await endedResponse(ann, id)).toMatchObject({ status: 'completed' });
    expect(made()).toEqual([`${id}:call_1`, `${id}:call_1`]);
    expect(mcp.calls).toEqual([{ name: 'echo', args: { text: 'Seven' } }]);
    expect(read()).toContain('Seven');
  });

  it('whose outcome is stored is not made again', async () => {
    script([['desk__act', {}]]);
    let isKilled = false;
    const isRead = (request: UpstreamRequest) => messagesOf(request).some(({ role }) => role === 'tool');
    world.upstream.otherwise((request) => {
      if (!isRead(request)) return { toolCalls: [{ id: 'call_1', name: 'desk__act', arguments: '{}' }] };
      return isKilled ? { text: 'It is done.' } : { gate: never };
    });
    const { id } = await killedIn(tool, async (ann, _chat, response) => {
      expect(world.upstream.requests.some(isRead)).toBe(true);
      // The model is asked while the outcome is still being stored.
      expect(JSON.stringify((await ann.get(`${path}/${response}`)).body.output)).toContain('mcp_result');
    });
    isKilled = true;
    const ann = await world.recover(env);
    expect(await endedResponse(ann, id)).toMatchObject({ error: null, status: 'completed' });
    expect(made()).toEqual([`${id}:call_1`]);
    expect(read()).toContain('mcp_result');
  });
});
