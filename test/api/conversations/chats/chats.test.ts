import { describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model');

const organization = await make.organization();
const ann = await make.person({ organization });
const reader = await make.withKey(ann, { scopes: ['CHATS:READ'] });
const cleo = await make.person({ organization });
const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION', instructions: 'Be brief.' });

const weather = {
  type: 'function',
  function: { name: 'get_weather', description: 'Tells the weather', parameters: { type: 'object', properties: {} } },
};
const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' };
const messageId = /^msg_[0-9a-z]{26}$/;
const runId = /^run_[0-9a-z]{26}$/;

const newChat = (owner: TestClient = ann, agentId = agent.id) => make.chat({ owner, agentId });
const messagesPath = (chat: { id: string }) => `/api/v1/chats/${chat.id}/messages`;

interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: frames of any shape; what the tests find is what they check.
  readonly data: any;
}
async function framesOf(
  frames: AsyncIterable<{ id: string | undefined; event: string | undefined; data: string }>,
): Promise<Frame[]> {
  const all: Frame[] = [];
  for await (const frame of frames) all.push({ ...frame, data: JSON.parse(frame.data) });
  return all;
}
const send = (who: TestClient, chat: { id: string }, body: object) =>
  framesOf(who.sse('POST', messagesPath(chat), { ...body, stream: true }));
const follow = (who: TestClient, chat: { id: string }, run: string, last?: string) =>
  framesOf(
    who.sse('GET', `/api/v1/chats/${chat.id}/runs/${run}/events`, undefined, last === undefined ? {} : { 'last-event-id': last }),
  );

describe('a chat', () => {
  it('has every member of the contract, and its messages when it is fetched alone', async () => {
    const chat = await newChat();
    expect(chat).toEqual({
      id: expect.stringMatching(/^chat_[0-9a-z]{26}$/),
      createdAt: expect.any(String),
      isVisibleToEditors: false,
      updatedAt: chat.createdAt,
      name: '',
      userId: ann.userId,
      pinPosition: 0,
      ai: {
        id: agent.id,
        name: expect.any(String),
        src: expect.any(String),
        description: expect.any(String),
        userId: ann.userId,
        userName: expect.any(String),
      },
      seed: '',
    });
    await ann.post(messagesPath(chat), { prompt: 'Hello there' });
    const { body } = await reader.get(`/api/v1/chats/${chat.id}`);
    expect(body).toMatchObject({ ...chat, updatedAt: expect.any(String), name: 'Hello there', activeRunId: null });
    expect(body.messages).toMatchObject([
      { id: expect.stringMatching(messageId), role: 'user', content: 'Hello there' },
      {
        id: expect.stringMatching(messageId),
        role: 'assistant',
        content: 'Hello from upstream',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ]);
  });

  it('needs no body to be made, and may be named at once', async () => {
    expect(await ann.post(`/api/v1/ais/${agent.id}/chats`)).toMatchObject({ status: 200, body: { name: '' } });
    expect(await ann.post(`/api/v1/ais/${agent.id}/chats`, { name: ' Ada ' })).toMatchObject({
      status: 200,
      body: { name: 'Ada' },
    });
  });

  it('is renamed and pinned; absent members stay, null clears', async () => {
    const chat = await newChat();
    const path = `/api/v1/chats/${chat.id}`;
    expect((await ann.patch(path, { name: 'Trip', pinPosition: 2 })).body).toMatchObject({ name: 'Trip', pinPosition: 2 });
    expect((await ann.patch(path, { pinPosition: null })).body).toMatchObject({ name: 'Trip', pinPosition: 0 });
    expect((await ann.patch(path, { name: null })).body).toMatchObject({ name: '' });
  });

  it('is listed to its user only, the one changed last first, page by page', async () => {
    const dora = await make.person({ organization });
    const chats = [await newChat(dora), await newChat(dora), await newChat(dora)];
    await dora.patch(`/api/v1/chats/${chats[0]?.id}`, { name: 'Again' });
    const first = await dora.get('/api/v1/chats?limit=2');
    expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual([chats[0]?.id, chats[2]?.id]);
    const second = await dora.get(`/api/v1/chats?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ data: [{ id: chats[1]?.id }], nextCursor: null });
    expect(second.body.data[0].messages).toBeUndefined();
    expect((await dora.get(`/api/v1/ais/${agent.id}/chats`)).body.data).toHaveLength(3);
    expect((await cleo.get(`/api/v1/ais/${agent.id}/chats`)).body.data).toHaveLength(0);
  });

  it('is gone with all that was said once it is deleted, and the count of its agent follows', async () => {
    const own = await make.agent({ owner: ann });
    const count = async () => (await ann.get(`/api/v1/ais/${own.id}`)).body.messageCount;
    const [kept, gone] = [await newChat(ann, own.id), await newChat(ann, own.id)];
    const { body } = await ann.post(messagesPath(gone), { prompt: 'Hi' });
    await ann.post(messagesPath(kept), { prompt: 'Hi' });
    await eventually(async () => expect(await count()).toBe(4));
    expect(await ann.delete(`/api/v1/chats/${gone.id}`)).toMatchObject({ status: 200, body: { id: gone.id } });
    expect(await ann.get(`/api/v1/chats/${gone.id}`)).toMatchObject({ status: 404 });
    expect(await ann.get(`/api/v1/chats/${gone.id}/runs/${body.runId}/events`)).toMatchObject({ status: 404 });
    expect(await ann.post(messagesPath(gone), { prompt: 'Hi' })).toMatchObject({ status: 404 });
    await eventually(async () => expect(await count()).toBe(2));
  });
});

it('messages that a process noted before it died are counted by the next batch of any process', async () => {
  const own = await make.agent({ owner: ann });
  const { pool } = service.deps.storage.db;
  const noted = 'insert into agent_message_counts ("agentId", change) values ($1, 3), ($1, 2), ($1, -1), ($2, 7)';
  await pool.query(noted, [own.id, 'ai_deleted']);
  await eventually(async () => expect((await ann.get(`/api/v1/ais/${own.id}`)).body.messageCount).toBe(4));
  expect((await pool.query('select 1 from agent_message_counts')).rows).toEqual([]);
});

describe('who may read and write a chat', () => {
  it('is its user, and readers of logs only where the agent shows them', async () => {
    const shown = await make.agent({ owner: ann, visibility: 'ORGANIZATION', chatLogsVisible: true });
    const [hidden, open] = [await newChat(cleo), await newChat(cleo, shown.id)];
    for (const chat of [hidden, open]) await cleo.post(messagesPath(chat), { prompt: 'Hi' });
    expect(await ann.get(`/api/v1/chats/${hidden.id}`)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    expect(await ann.get(`/api/v1/chats/${open.id}`)).toMatchObject({ status: 200, body: { messages: [{}, {}] } });
    expect((await ann.get(`/api/v1/ais/${shown.id}/chats`)).body.data.map(({ id }: { id: string }) => id)).toEqual([open.id]);
    expect(await ann.post(messagesPath(open), { prompt: 'Hi' })).toMatchObject({ status: 403 });
    expect(await ann.patch(`/api/v1/chats/${open.id}`, { name: 'x' })).toMatchObject({ status: 403 });
    expect(await ann.delete(`/api/v1/chats/${open.id}`)).toMatchObject({ status: 403 });
  });

  it('answers 404 for a run of another chat', async () => {
    const [chat, other] = [await newChat(), await newChat()];
    const { body } = await ann.post(messagesPath(chat), { prompt: 'Hi' });
    expect(await ann.get(`/api/v1/chats/${other.id}/runs/${body.runId}/events`)).toMatchObject({ status: 404 });
  });
});

describe('POST /api/v1/chats/:chatId/messages', () => {
  it('answers in one body', async () => {
    const chat = await newChat();
    const reply = await ann.post(messagesPath(chat), { prompt: 'Hi', date: '2026-01-31T10:30:00+01:00' });
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      runId: expect.stringMatching(runId),
      status: 'completed',
      message: {
        id: expect.stringMatching(messageId),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        role: 'assistant',
        content: 'Hello from upstream',
      },
      usage: { inputTokens: 10, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0, totalTokens: 11 },
      selection: expect.objectContaining({ provider: 'openai', model: 'test-model', fallbackChain: [] }),
    });
    const { body } = await ann.get(`/api/v1/chats/${chat.id}`);
    const { citations: _c, toolCalls: _t, runId: _r, isComplete: _i, ...shown } = body.messages[1];
    expect(shown).toEqual(reply.body.message);
    expect(upstream.requests[0]?.body?.messages).toEqual([
      { role: 'system', content: expect.stringMatching(/^Be brief\.\n\nCurrent date: .* UTC$/) },
      { role: 'user', content: expect.stringMatching(/^Hi\n\nCurrent date: 2026-01-31 \(Saturday\), 09:30 UTC\. /) },
    ]);
  });

  it('remembers what was said before', async () => {
    const chat = await newChat();
    upstream.next({ text: 'One' }, { text: 'Two' });
    await ann.post(messagesPath(chat), { prompt: 'First' });
    await ann.post(messagesPath(chat), {
      prompt: [
        { type: 'text', text: 'Second' },
        { type: 'url', url: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    });
    expect(upstream.requests[1]?.body?.messages).toEqual([
      { role: 'system', content: expect.stringMatching(/^Be brief\.\n\nCurrent date: \S+ \(\w+\), \S+ UTC$/) },
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'One' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Second' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
      },
    ]);
  });

  it('streams frames that are numbered without gaps and end with done', async () => {
    const chat = await newChat();
    upstream.next({ text: ['Hel', 'lo "you"\n'] });
    const frames = await send(ann, chat, { prompt: 'Hi' });
    expect(frames.map(({ data }) => data.type)).toEqual([
      'run.started',
      'message.started',
      'message.delta',
      'message.delta',
      'message.completed',
      'run.completed',
      'done',
    ]);
    const run = frames[0]?.data.runId;
    for (const [index, { id, event, data }] of frames.entries()) {
      expect({ id, event, sequence: data.sequence, runId: data.runId, chatId: data.chatId }).toEqual({
        id: `${run}:${index}`,
        event: data.type,
        sequence: index,
        runId: run,
        chatId: chat.id,
      });
    }
    expect(frames.flatMap(({ data }) => (data.type === 'message.delta' ? [data.delta] : [])).join('')).toBe('Hello "you"\n');
    expect(frames[4]?.data).toMatchObject({ content: 'Hello "you"\n', messageId: frames[1]?.data.messageId });
    expect(frames[5]?.data).toMatchObject({ usage: { inputTokens: 10 }, selection: { provider: 'openai' } });
  });

  it('streams when only the Accept header asks for it', async () => {
    const frames = await framesOf(ann.sse('POST', messagesPath(await newChat()), { prompt: 'Hi' }));
    expect(frames.at(-1)?.data.type).toBe('done');
  });

  it.each([
    ['no prompt', {}, 400, 'prompt'],
    ['a blank prompt', { prompt: ' ' }, 400, 'prompt'],
    ['an empty prompt', { prompt: [] }, 400, 'prompt'],
    ['a prompt of another type', { prompt: 7 }, 400, 'prompt'],
    ['an unknown part', { prompt: [{ type: 'video' }] }, 400, 'prompt[0].type'],
    ['a part without its text', { prompt: [{ type: 'text' }] }, 400, 'prompt[0].text'],
    ['an unknown file', { prompt: [{ type: 'id', id: 'file_x' }] }, 400, 'prompt[0].id'],
    ['a URL that is none', { prompt: [{ type: 'url', url: 'file:///etc/passwd' }] }, 400, 'prompt[0].url'],
    ['a bad date', { prompt: 'Hi', date: 'yesterday' }, 400, 'date'],
    ['an unknown model', { prompt: 'Hi', modelId: 'no/such' }, 404, 'modelId'],
    ['options that are no object', { prompt: 'Hi', options: [] }, 400, 'options'],
    ['a tool of no type', { prompt: 'Hi', tools: [{ type: 'nonsense' }] }, 400, 'tools[0].type'],
    ['two tools of one name', { prompt: 'Hi', tools: [weather, weather] }, 400, 'tools[1].function.name'],
    ['secrets that are no strings', { prompt: 'Hi', secrets: { token: 7 } }, 400, 'secrets.token'],
    ['a secret that is too long', { prompt: 'Hi', secrets: { token: 'x'.repeat(5_000) } }, 400, 'secrets.token'],
    ['an unknown thread mode', { prompt: 'Hi', threadMode: 'wait' }, 400, 'threadMode'],
    ['a stream that is no boolean', { prompt: 'Hi', stream: 'yes' }, 400, 'stream'],
  ])('refuses %s and writes nothing', async (_case, body, status, param) => {
    const chat = await newChat();
    expect(await ann.post(messagesPath(chat), body)).toMatchObject({ status, body: { error: { param } } });
    expect((await ann.get(`/api/v1/chats/${chat.id}`)).body.messages).toEqual([]);
  });

  it('survives a model whose text no database can store unchanged', async () => {
    const chat = await newChat();
    upstream.next({ text: 'nul \u0000 and half \ud83d' });
    expect(await ann.post(messagesPath(chat), { prompt: 'Hi' })).toMatchObject({
      status: 200,
      body: { status: 'completed' },
    });
  });

  it('reports a failed run by status and error, keeps its output, and accepts the next turn', async () => {
    const chat = await newChat();
    upstream.next({ status: 500 }, { text: ['Half', ' of it', ' more'], chunkDelayMs: 5, cutAtByte: 420 }, { text: 'Whole' });
    expect((await ann.post(messagesPath(chat), { prompt: '1' })).body).toMatchObject({
      status: 'failed',
      message: null,
      error: { code: 'upstream_error', message: expect.any(String) },
    });
    const cut = await send(ann, chat, { prompt: '2' });
    expect(cut.slice(-2).map(({ data }) => data.type)).toEqual(['run.failed', 'done']);
    expect((await ann.post(messagesPath(chat), { prompt: '3' })).body).toMatchObject({
      status: 'completed',
      message: { content: 'Whole' },
    });
    const said = (await ann.get(`/api/v1/chats/${chat.id}`)).body.messages;
    expect(said.map(({ role, isComplete }: { role: string; isComplete: boolean }) => [role, isComplete])).toEqual([
      ['user', true],
      ['user', true],
      ['assistant', false],
      ['user', true],
      ['assistant', true],
    ]);
  });

  it('goes on when its client leaves', async () => {
    const chat = await newChat();
    const { script, goOn } = heldAnswer({ text: ['a', 'b', 'c', 'd'] });
    upstream.next(script);
    for await (const frame of ann.sse('POST', messagesPath(chat), { prompt: 'Hi', stream: true }))
      if (frame.event === 'message.delta') break;
    goOn();
    await eventually(async () => expect((await ann.get(`/api/v1/chats/${chat.id}`)).body.messages[1]?.content).toBe('abcd'));
  });
});

describe('tool calls', () => {
  async function asking() {
    const chat = await newChat();
    upstream.next({ toolCalls: [call, { ...call, id: 'call_2' }] });
    const frames = await send(ann, chat, { prompt: 'Weather?', tools: [weather] });
    const asked = frames.find(({ data }) => data.type === 'tool.call')?.data;
    return { chat, frames, asked, path: `/api/v1/chats/${chat.id}/tool-outputs` };
  }
  const output = (toolCallId: string, status = 'success', text = 'sunny') => ({ toolCallId, status, output: text });

  it('are in the stream and in the message that holds them', async () => {
    const { chat, frames, asked } = await asking();
    expect(frames.map(({ data }) => data.type)).toEqual(['run.started', 'tool.call', 'run.completed', 'done']);
    expect(asked).toMatchObject({
      toolCalls: [call, { ...call, id: 'call_2' }],
      systemMessageId: expect.stringMatching(messageId),
    });
    const said = (await ann.get(`/api/v1/chats/${chat.id}`)).body.messages;
    expect(said[1]).toMatchObject({
      id: asked.systemMessageId,
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1' }, { id: 'call_2' }],
    });
  });

  it('are answered all at once, and the model goes on with the same tools', async () => {
    const { chat, asked, path } = await asking();
    upstream.next({ text: 'Sunny.' });
    const reply = await ann.post(path, {
      systemMessageId: asked.systemMessageId,
      outputs: [output('call_2', 'error', 'no such city'), output('call_1')],
    });
    expect(reply).toMatchObject({ status: 200, body: { status: 'completed', message: { content: 'Sunny.' } } });
    expect(upstream.requests[1]?.body).toMatchObject({
      tools: [weather],
      messages: [
        { role: 'system' },
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
        { role: 'tool', tool_call_id: 'call_2', content: 'Error: no such city' },
      ],
    });
    const again = await ann.post(path, { systemMessageId: asked.systemMessageId, outputs: [output('call_1'), output('call_2')] });
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'tool_output_conflict' } } });
    expect((await ann.get(`/api/v1/chats/${chat.id}`)).body.messages).toHaveLength(5);
  });

  it('are answered once, however many try at one time', async () => {
    const { asked, path } = await asking();
    const body = { systemMessageId: asked.systemMessageId, outputs: [output('call_1'), output('call_2')] };
    const replies = await Promise.all([1, 2, 3, 4].map(() => ann.post(path, body)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it.each([
    ['only some of them', [output('call_1')], 400, 'outputs'],
    ['unknown ones', [output('call_1'), output('call_2'), output('call_3')], 400, 'outputs[2].toolCallId'],
    ['one of them twice', [output('call_1'), output('call_2'), output('call_1')], 400, 'outputs[2].toolCallId'],
    ['none', [], 400, 'outputs'],
    ['with an unknown status', [output('call_1', 'fine'), output('call_2')], 400, 'outputs[0].status'],
  ])('refuse outputs for %s', async (_case, outputs, status, param) => {
    const { asked, path } = await asking();
    expect(await ann.post(path, { systemMessageId: asked.systemMessageId, outputs })).toMatchObject({
      status,
      body: { error: { param } },
    });
  });

  it('refuse outputs for a message that asks for nothing', async () => {
    const { path } = await asking();
    const other = await asking();
    for (const systemMessageId of ['msg_x', other.asked.systemMessageId]) {
      const reply = await ann.post(path, { systemMessageId, outputs: [output('call_1'), output('call_2')] });
      expect(reply).toMatchObject({ status: 404, body: { error: { param: 'systemMessageId' } } });
    }
  });

  it('need no answer: the chat goes on without one, with a history that every provider takes', async () => {
    const { chat, asked, path } = await asking();
    await ann.post(messagesPath(chat), { prompt: 'Never mind' });
    expect(upstream.requests[1]?.body?.messages).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', tool_calls: [{}, {}] },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('Cancelled') },
      { role: 'tool', tool_call_id: 'call_2', content: expect.stringContaining('Cancelled') },
      { role: 'user', content: 'Never mind' },
    ]);
    const late = await ann.post(path, { systemMessageId: asked.systemMessageId, outputs: [output('call_1'), output('call_2')] });
    expect(late.status).toBe(409);
  });
});

describe('following a run', () => {
  it('gives every frame exactly once, after a disconnect at any frame', async () => {
    const chat = await newChat();
    upstream.next({ text: ['a', 'b', 'c', 'd', 'e'], chunkDelayMs: 10 });
    const all = await send(ann, chat, { prompt: 'Hi' });
    const run = all[0]?.data.runId;
    expect(await follow(reader, chat, run)).toEqual(all);
    for (let last = 0; last < all.length; last += 1) {
      expect(await follow(reader, chat, run, `${run}:${last}`)).toEqual(all.slice(last + 1));
    }
  });

  it('joins a run that is under way', async () => {
    const chat = await newChat();
    const { script, goOn } = heldAnswer({ text: ['a', 'b', 'c', 'd', 'e'] });
    upstream.next(script);
    const seen: Frame[] = [];
    for await (const frame of ann.sse('POST', messagesPath(chat), { prompt: 'Hi', stream: true })) {
      seen.push({ ...frame, data: JSON.parse(frame.data) });
      if (frame.event === 'message.delta') break;
    }
    // Continue before the last frame: receiving it shows that the run is followed.
    const path = `/api/v1/chats/${chat.id}/runs/${seen[0]?.data.runId}/events`;
    const following = ann.sse('GET', path, undefined, { 'last-event-id': seen.at(-2)?.id ?? '' });
    expect((await following.next()).value).toMatchObject({ id: seen.at(-1)?.id });
    goOn();
    const rest = (await Array.fromAsync(following)).map((frame) => ({ ...frame, data: JSON.parse(frame.data) }));
    expect([...seen, ...rest].map(({ data }) => data.sequence)).toEqual([...seen, ...rest].map((_frame, index) => index));
    expect([...seen, ...rest].flatMap(({ data }) => data.delta ?? []).join('')).toBe('abcde');
  });
});

describe('cancelling a run', () => {
  it('stops it, keeps what it said, and frees the chat', async () => {
    const chat = await newChat();
    upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 }, { text: 'Next' });
    const streamed = send(ann, chat, { prompt: 'Hi' });
    await upstream.until(() => upstream.openStreams === 1);
    const { activeRunId } = (await ann.get(`/api/v1/chats/${chat.id}`)).body;
    const path = `/api/v1/chats/${chat.id}/runs/${activeRunId}/cancel`;
    expect(await ann.post(path)).toMatchObject({ status: 200, body: { id: activeRunId, status: 'cancelled' } });
    expect(await ann.post(path)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect((await streamed).slice(-2).map(({ data }) => data.type)).toEqual(['run.cancelled', 'done']);
    await upstream.until(() => upstream.openStreams === 0);
    expect((await ann.post(messagesPath(chat), { prompt: 'On' })).body).toMatchObject({ message: { content: 'Next' } });
  });
});

describe('the usage ledger', () => {
  it('has one row for every upstream call, also of failed and cancelled runs', async () => {
    const own = await make.agent({ owner: ann });
    const chat = await newChat(ann, own.id);
    upstream.next(
      { text: 'One', usage: { prompt_tokens: 7, completion_tokens: 3 } },
      { text: 'Half', usage: null, finish: 'length' },
      { status: 400 },
    );
    for (const prompt of ['1', '2', '3']) await ann.post(messagesPath(chat), { prompt });
    await eventually(async () => {
      const { rows } = await service.deps.storage.db.pool.query(
        'select * from usage_entries where "agentId" = $1 order by "outputTokens" desc',
        [own.id],
      );
      expect(rows).toMatchObject([
        {
          orgId: ann.orgId,
          userId: ann.userId,
          keyId: ann.keyId,
          modelId: 'openai/test-model',
          purpose: 'run',
          inputTokens: 7,
          outputTokens: 3,
        },
        { modelId: 'openai/test-model', outputTokens: 1 },
      ]);
    });
  });
});
