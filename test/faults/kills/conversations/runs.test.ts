import type { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';
import { startService } from '../../../support/service.ts';
import { heldAnswer, never, type Upstream } from '../../../support/upstream.ts';

let world: Killable;
let upstream: Upstream;
beforeEach(async () => {
  world = await prepareKillable();
  upstream = world.upstream;
});
afterEach(() => world.close());

async function newChat(ann: TestClient): Promise<string> {
  const agent = await ann.post('/api/v1/ais', { src: 'x', name: 'Ada', description: 'Knows', instructions: 'Be brief.' });
  return (await ann.post(`/api/v1/ais/${agent.body.id}/chats`)).body.id;
}

/** Sends a message and resolves once the stream has shown `event`; the stream stays open. */
async function sendUntil(ann: TestClient, chatId: string, event: string) {
  const frames = ann.sse('POST', `/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
  const seen = [];
  for (;;) {
    const { value, done } = await frames.next();
    if (done === true) throw new Error(`no ${event} in ${JSON.stringify(seen)}`);
    seen.push({ ...value, data: JSON.parse(value.data) });
    if (value.event === event) return seen;
  }
}

async function allFrames(ann: TestClient, chatId: string, runId: string, last?: string) {
  const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
  const frames = [];
  for await (const frame of ann.sse('GET', `/api/v1/chats/${chatId}/runs/${runId}/events`, undefined, headers)) {
    frames.push({ ...frame, data: JSON.parse(frame.data) });
  }
  return frames;
}

/** The messages of the active branch, as GraphQL shows them. */
async function branchOf(ann: TestClient, id: string) {
  const run = 'run { id status error { code } }';
  const query = `query ($id: ID!) { chat(id: $id) { messages { nodes {
    id role content isComplete error { code } siblingCount siblingIndex ${run} siblings { id isActive ${run} } } } } }`;
  const data = await ann.ask(query, { id });
  return data.chat.messages.nodes as readonly { readonly id: string }[];
}

describe('a process that is killed while it answers', () => {
  it('leaves a run that ends by itself with its output so far, and a chat that accepts the next turn', async () => {
    upstream.next({ text: ['Half', ' of it', ' never'], chunkDelayMs: 150, hangAtByte: 700 }, { text: 'Next answer' });
    const first = await world.launch();
    const chatId = await newChat(first.ann);
    const seen = await sendUntil(first.ann, chatId, 'message.delta');
    await first.parley.kill('SIGKILL');

    const ann = await world.recover();
    const runId = seen[0]?.data.runId;
    const last = seen.at(-1);
    const frames = await allFrames(ann, chatId, runId, last?.id);
    // The log continues where the client lost it, without a gap.
    expect(frames.map(({ data }) => data.sequence)).toEqual(frames.map((_frame, index) => seen.length + index));
    expect(frames.slice(-3).map(({ event }) => event)).toEqual(['message.completed', 'run.failed', 'done']);
    expect(frames.at(-3)?.data).toMatchObject({ status: 'incomplete', content: expect.stringMatching(/^Half/) });
    const next = await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Go on' });
    expect(next.body).toMatchObject({ status: 'completed', message: { content: 'Next answer' } });
    expect((await ann.get(`/api/v1/chats/${chatId}`)).body.messages).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: expect.stringMatching(/^Half/), isComplete: false },
      { role: 'user', content: 'Go on' },
      { role: 'assistant', content: 'Next answer', isComplete: true },
    ]);
  });

  it('leaves a question that says why it has no answer, and is asked again by one call', async () => {
    upstream.next({ text: ['Half', ' of it', ' never'], chunkDelayMs: 150, hangAtByte: 700 }, { text: 'The whole answer' });
    const first = await world.launch();
    const chatId = await newChat(first.ann);
    const [started] = await sendUntil(first.ann, chatId, 'message.delta');
    await first.parley.kill('SIGKILL');

    const ann = await world.recover();
    const runId = started?.data.runId;
    await allFrames(ann, chatId, runId);
    const error = { code: 'SERVER_ERROR', message: 'The answer was interrupted and could not be continued' };
    const [question] = (await ann.get(`/api/v1/chats/${chatId}`)).body.messages;
    expect(question).toMatchObject({ content: 'Hi', runId, error });
    const query =
      '{ chat(id: $id) { messages { nodes { role error { code } } } } run(id: $run) { status error { code message } } }';
    const graphql = await ann.post('/graphql', {
      query: `query ($id: ID!, $run: ID!) ${query}`,
      variables: { id: chatId, run: runId },
    });
    expect(graphql.body.data).toMatchObject({
      run: { status: 'FAILED', error },
      chat: { messages: { nodes: [{ error: { code: error.code } }, {}] } },
    });
    const exported = await ann.fetch('GET', `/api/v1/chats/${chatId}/export`, undefined, {});
    expect(await exported.text()).toContain(`Not answered: ${error.message}`);

    const again = await ann.post(`/api/v1/chats/${chatId}/runs/${runId}/retry`, {});
    expect(again).toMatchObject({ status: 200, body: { chatId, status: 'in_progress', modelId: 'openai/test-model' } });
    const frames = await allFrames(ann, chatId, again.body.id);
    expect(frames.at(-2)?.event).toBe('run.completed');
    expect((await ann.get(`/api/v1/chats/${chatId}`)).body.messages).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', isComplete: false },
      { role: 'assistant', content: 'The whole answer', isComplete: true },
    ]);
    // The model read what was said before, and a user's turn last.
    const asked = upstream.requests.at(-1)?.body?.messages as readonly { readonly role: string; readonly content: string }[];
    expect(asked.map(({ role }) => role).slice(-3)).toEqual(['user', 'assistant', 'user']);
    // The chat went on: there is nothing to ask again.
    expect((await ann.post(`/api/v1/chats/${chatId}/runs/${runId}/retry`, {})).status).toBe(409);
    expect((await ann.post(`/api/v1/chats/${chatId}/runs/${again.body.id}/retry`, {})).status).toBe(409);
  });

  it('leaves a half answer whose run says that it failed, and that is answered anew beside it', async () => {
    upstream.next({ text: ['Half', ' of it', ' never'], chunkDelayMs: 150, hangAtByte: 700 }, { text: 'The whole answer' });
    const first = await world.launch();
    const chatId = await newChat(first.ann);
    const [started] = await sendUntil(first.ann, chatId, 'message.delta');
    await first.parley.kill('SIGKILL');

    const ann = await world.recover();
    const runId = started?.data.runId;
    await allFrames(ann, chatId, runId);
    const failed = { id: runId, status: 'FAILED', error: { code: 'SERVER_ERROR' } };
    const [question, half] = await branchOf(ann, chatId);
    expect(question).toMatchObject({ role: 'USER', error: failed.error });
    expect(half).toMatchObject({ role: 'ASSISTANT', isComplete: false, siblingCount: 1, run: failed });

    const regenerate = 'mutation ($id: ID!) { regenerateMessage(id: $id) { id status } }';
    const data = await ann.ask(regenerate, { id: half?.id });
    await allFrames(ann, chatId, data.regenerateMessage.id);
    const [asked, whole, ...others] = await branchOf(ann, chatId);
    expect(others).toEqual([]);
    expect(asked).toMatchObject({ id: question?.id });
    expect(whole).toMatchObject({
      ...{ content: 'The whole answer', isComplete: true, siblingIndex: 1 },
      run: { id: data.regenerateMessage.id, status: 'COMPLETED', error: null },
      siblings: [{ id: half?.id, isActive: false, run: failed }, { isActive: true }],
    });
  });

  it('has its run restarted when there was no output yet', async () => {
    upstream.next({ gate: never }, { text: 'Here I am' });
    const first = await world.launch();
    const chatId = await newChat(first.ann);
    const [started] = await sendUntil(first.ann, chatId, 'run.started');
    await upstream.until(({ requests }) => requests.length === 1);
    await first.parley.kill('SIGKILL');

    const ann = await world.recover();
    const frames = await allFrames(ann, chatId, started?.data.runId);
    expect(frames.map(({ event }) => event)).toEqual([
      'run.started',
      'message.started',
      'message.delta',
      'message.completed',
      'run.completed',
      'done',
    ]);
    expect((await ann.get(`/api/v1/chats/${chatId}`)).body).toMatchObject({
      activeRunId: null,
      messages: [{ content: 'Hi' }, { content: 'Here I am' }],
    });
  });

  it('told to stop, finishes its answer and writes every row of the ledger', async () => {
    const tokensOfAnswer = 14;
    upstream.otherwise({ text: ['a', 'b', 'c', 'd'], chunkDelayMs: 50 });
    const { parley, ann } = await world.launch();
    const chatId = await newChat(ann);
    const calls = 20;
    const completions = Array.from({ length: calls }, () =>
      ann.post('/api/v1/chat/completions', { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }] }),
    );
    await sendUntil(ann, chatId, 'message.delta');
    await upstream.until(({ requests }) => requests.length === calls + 1);
    const ended = parley.kill('SIGTERM');
    expect((await Promise.all(completions)).map(({ status }) => status)).toEqual(completions.map(() => 200));
    expect(await ended).toBe(0);

    const next = await world.recover();
    const { apiTokensUsed } = (await next.get('/api/v1/usage')).body.orgUsage;
    expect(apiTokensUsed).toBe((calls + 1) * tokensOfAnswer);
    expect((await next.get(`/api/v1/chats/${chatId}`)).body.messages).toMatchObject([{}, { content: 'abcd', isComplete: true }]);
  });
});

describe('a worker that lost its lease', () => {
  it('commits nothing when it wakes up late', async () => {
    const service = await startService({ env: { OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model' } });
    const ann = service.client();
    const chatId = await newChat(ann);
    const pool: Pool = service.deps.storage.db.pool;
    const { script, goOn } = heldAnswer({ text: ['Mine', ' late'] });
    upstream.next(script);
    const [started] = await sendUntil(ann, chatId, 'message.delta');
    const runId: string = started?.data.runId;
    // As another instance does once the lease is over.
    const taken = await service.deps.storage.conversations.runs.lease(runId, 'another instance', 15_000, 'forced');
    goOn();
    await upstream.until(({ openStreams }) => openStreams === 0);
    const written = await eventually(async () => {
      const { rows } = await pool.query('select "lastSequence" from run_event_batches where "runId" = $1 order by 1 desc', [
        runId,
      ]);
      return rows;
    });
    const run = await service.deps.storage.conversations.runs.find(runId);
    expect(run).toMatchObject({ status: 'in_progress' });
    expect((await ann.get(`/api/v1/chats/${chatId}`)).body.messages).toHaveLength(1);
    const { runs } = service.deps.storage.conversations;
    const [event] = (await runs.readEvents(runId, -1, 10))?.events ?? [];
    const late = { ...event, sequence: Number(written[0]?.lastSequence) + 1 } as never;
    expect(await runs.append(runId, (taken?.fence ?? 0) - 1, [late])).toBe(false);
    expect(await runs.append(runId, taken?.fence ?? 0, [late])).toBe(true);
    await service.close();
  });
});
