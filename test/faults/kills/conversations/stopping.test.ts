import { createClient } from 'graphql-sse';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { graphqlCompletion } from '../../../support/apis/graphql-inputs.ts';
import { type SseFrame, TestClient } from '../../../support/client.ts';
import { timed } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../../support/processes/process.ts';
import { eventsOf, walk } from '../../../support/runs/response-walk.ts';
import { startService } from '../../../support/service.ts';
import { copyOf, type Place } from '../../../support/storage/databases.ts';
import { never, startUpstream, type Upstream } from '../../../support/upstream.ts';

/** A quarter of this time is for the final events, also on a busy machine. */
const graceMs = 12_000;
const responses = '/api/v2/responses';
const key = 'chosen-by-the-operator-40-characters-long';

let place: Place;
let upstream: Upstream;
beforeEach(async () => {
  place = await copyOf(inject('template'));
  upstream = await startUpstream();
});
afterEach(async () => {
  await killProcesses();
  await upstream.close();
  await place.remove();
});

async function launch(env: Readonly<Record<string, string>> = {}) {
  const parley = startProcess({
    ...place.env,
    PARLEY_ADMIN_KEY: key,
    OPENAI_BASE_URL: upstream.url,
    DEFAULT_MODEL: 'openai/test-model',
    LOG_LEVEL: 'warn',
    ...env,
  });
  const url = await parley.url();
  const ann = new TestClient(() => url, key);
  const agent = await ann.post('/api/v1/ais', { src: 'x', name: 'Ada', description: 'Knows', instructions: 'Be brief.' });
  const chat = await ann.post(`/api/v1/ais/${agent.body.id}/chats`);
  return { parley, ann, chatId: chat.body.id as string };
}

const question = { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }], stream: true };

async function all(
  frames: AsyncIterable<SseFrame>,
  onFrame: (frame: SseFrame) => void = () => undefined,
): Promise<readonly SseFrame[]> {
  const seen: SseFrame[] = [];
  for await (const frame of frames) {
    seen.push(frame);
    onFrame(frame);
  }
  return seen;
}

describe('a process that is told to stop', () => {
  it('accepts no new requests, completes both kinds of streams, and writes the ledger', async () => {
    const gate = Promise.withResolvers<void>();
    upstream.otherwise({ text: ['Whole', ' answer'], gate: gate.promise });
    const { parley, ann, chatId } = await launch({ SHUTDOWN_GRACE_MS: '20000' });
    const stateless = all(ann.sse('POST', '/api/v1/chat/completions', question));
    const chat = all(ann.sse('POST', `/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true }));
    await upstream.until(({ openStreams }) => openStreams === 2);
    const ended = parley.kill('SIGTERM');
    await eventually(async () => {
      const answered = await ann.get('/readyz').then(
        ({ status }) => status,
        () => 'refused',
      );
      expect([503, 'refused']).toContain(answered);
    });
    gate.resolve();
    const completion = await stateless;
    expect(completion.at(-1)?.data).toBe('[DONE]');
    expect(completion.map(({ data }) => data).join('')).toContain('"finish_reason":"stop"');
    expect((await chat).slice(-2).map(({ event }) => event)).toEqual(['run.completed', 'done']);
    expect(await ended).toBe(0);

    const service = await startService({ env: { ...place.env, PARLEY_ADMIN_KEY: key } });
    const { rows } = await service.deps.storage.db.pool.query('select "outputTokens" from usage_entries');
    expect(rows).toHaveLength(2);
    await service.close();
  });

  it('does not restart runs that it leaves to the next process', async () => {
    const opened = Promise.withResolvers<void>();
    upstream.next({ gate: never });
    upstream.otherwise({ text: 'Done.', gate: opened.promise });
    const service = await startService({ env: { OPENAI_BASE_URL: upstream.url, MODEL_RETRIES_MAX: '0', LOG_LEVEL: 'fatal' } });
    const ann = service.client();
    const { body } = await ann.post(responses, { model: 'openai/test-model', input: 'Hi', background: true });
    await upstream.until(({ requests }) => requests.length === 1);
    // As the sweep of abandoned runs does after a late renewal of this run's lease.
    service.deps.runs.startStored(body.id);
    await service.restart();
    opened.resolve();
    await eventually(async () => expect((await ann.get(`${responses}/${body.id}`)).body.status).toBe('completed'));
    // One attempt by each process.
    const { rows } = await service.deps.storage.db.pool.query('select attempt from runs where id = $1', [body.id]);
    expect(rows).toEqual([{ attempt: 2 }]);
    await service.close();
  });

  it('ends endless runs in time with a well-formed end; runs in the background continue in the next process', async () => {
    const half = { text: ['Half', ' never'], chunkDelayMs: 20, hangAtByte: 500 };
    upstream.otherwise(({ body }) => (JSON.stringify(body?.messages).includes('Silence') ? { gate: never } : half));
    const { parley, ann, chatId } = await launch({ SHUTDOWN_GRACE_MS: String(graceMs) });
    const model = 'openai/test-model';
    const stream = true;
    const silentStreams = new Set<string>();
    const read = (name: string, frames: AsyncIterable<SseFrame>, word = '') => {
      silentStreams.add(name);
      return all(frames, ({ data }) => data.includes(word) && silentStreams.delete(name));
    };
    const subscribe = (field: string, input: unknown, inputType: string) => {
      const query = `subscription ($input: ${inputType}!) {
        ${field}(input: $input) { __typename ... on RunEnded { run { status error { code } } } }
      }`;
      return read(field, ann.sse('POST', '/graphql', { query, variables: { input } }));
    };
    const begin = (input: string, members = {}) => ann.post(responses, { model, input, background: true, ...members });
    const silent = (await begin('Silence')).body;
    const busy = (await begin('Thread')).body;
    const socket = new WebSocket(ann.url.replace('http', 'ws') + responses, {
      headers: { authorization: `Bearer ${key}` },
    } as never);
    const messages: string[] = [];
    socket.addEventListener('message', ({ data }) => messages.push(String(data)));
    const socketClosed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)));
    await new Promise((resolve) => socket.addEventListener('open', resolve));
    socket.send(JSON.stringify({ type: 'response.create', model, input: 'Hi' }));

    const streams = {
      completion: read('completion', ann.sse('POST', '/api/v1/chat/completions', question), 'Half'),
      chat: read('chat', ann.sse('POST', `/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream }), 'Half'),
      stored: read('stored', ann.sse('POST', responses, { model, input: 'Hi', stream }), 'Half'),
      stateless: read('stateless', ann.sse('POST', responses, { model, input: 'Hi', stream, store: false }), 'Half'),
      unsaid: read('unsaid', ann.sse('POST', responses, { model, input: 'Silence', stream })),
      followed: read('followed', ann.sse('GET', `${responses}/${silent.id}?stream=true`)),
      waiting: read('waiting', ann.sse('POST', responses, { model, input: 'Wait', stream, conversation: busy.conversation.id })),
      graphql: subscribe('completionEvents', graphqlCompletion({ model, messages: question.messages }), 'CompletionInput'),
      graphqlResponse: subscribe('newResponseEvents', { model, input: { text: 'Hi' } }, 'ResponseInput'),
      dashboard: read('dashboard', ann.sse('POST', '/graphql', { query: 'subscription { usageChanged { id } }' })),
    };
    const single = createClient({
      url: `${ann.url}/graphql/stream`,
      singleConnection: true,
      retryAttempts: 0,
      headers: { authorization: `Bearer ${key}` },
    });
    const query = 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { __typename } }';
    const variables = { input: graphqlCompletion({ model, messages: question.messages }) };
    const onSingle = Array.fromAsync(single.iterate<{ completionEvents: { __typename: string } }>({ query, variables }));
    const whole = ann.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Silence' }] });
    // All called the model except the one that waits for its thread.
    await upstream.until(({ requests }) => requests.length === 12);
    await eventually(async () => expect((await ann.get(`${responses}/${busy.id}`)).body.output).toHaveLength(1));
    await eventually(() => expect(messages.join()).toContain('output_text.delta'));
    await eventually(() => expect([...silentStreams]).toEqual([]));
    const { result: code, elapsedMs } = await timed(() => parley.kill('SIGTERM'));
    expect(code).toBe(0);
    expect(elapsedMs).toBeLessThan(graceMs + 5_000);

    const completion = await streams.completion;
    expect(completion.at(-1)?.data).toBe('[DONE]');
    expect(JSON.parse(completion.at(-2)?.data ?? '')).toMatchObject({ error: { code: 'overloaded', type: 'server_error' } });
    expect((await streams.chat).slice(-2).map(({ event }) => event)).toEqual(['run.failed', 'done']);
    for (const name of ['stored', 'stateless', 'unsaid'] as const) {
      const response = walk(eventsOf(await streams[name]));
      expect(response, name).toMatchObject({ status: 'failed', error: { code: 'overloaded' } });
      expect(response.output, name).toHaveLength(name === 'unsaid' ? 0 : 1);
    }
    for (const name of ['followed', 'waiting'] as const) {
      const [created, begun, last, ...rest] = eventsOf(await streams[name]);
      expect([created.type, begun.type], name).toEqual(['response.created', 'response.in_progress']);
      expect([last, rest], name).toMatchObject([{ type: 'error', sequence_number: 2, code: 'overloaded' }, []]);
    }
    expect((await streams.graphql).at(-1)?.event).toBe('complete');
    const failed = { __typename: 'RunFailed', run: { status: 'FAILED', error: { code: 'OVERLOADED' } } };
    expect(JSON.parse((await streams.graphql).at(-2)?.data ?? '').data.completionEvents).toEqual(failed);
    expect((await onSingle).at(-1)?.data?.completionEvents.__typename).toBe('RunFailed');
    expect(JSON.parse((await streams.graphqlResponse).at(-2)?.data ?? '').data.newResponseEvents).toEqual(failed);
    expect(JSON.parse((await streams.dashboard).at(-2)?.data ?? '').errors[0].extensions.code).toBe('OVERLOADED');
    expect([(await whole).status, (await whole).headers.get('retry-after')]).toEqual([503, '1']);
    expect(await socketClosed).toBe(1001);
    expect(walk(messages.map((message) => JSON.parse(message))).status).toBe('failed');

    upstream.otherwise({ text: 'Next answer' });
    const own = { PARLEY_ADMIN_KEY: key, OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model' };
    const service = await startService({ env: { ...place.env, ...own } });
    const again = service.client(key);
    for (const name of ['followed', 'waiting'] as const) {
      const [created] = eventsOf(await streams[name]);
      const rest = eventsOf(await all(again.sse('GET', `${responses}/${created.response.id}?stream=true`)));
      expect(walk(rest), name).toMatchObject({ id: created.response.id, status: 'completed' });
    }
    expect((await again.get(`/api/v1/chats/${chatId}`)).body.messages).toMatchObject([
      {},
      { content: 'Half', isComplete: false },
    ]);
    const next = await again.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Go on' });
    expect(next.body).toMatchObject({ status: 'completed', message: { content: 'Next answer' } });
    const { rows } = await service.deps.storage.db.pool.query(`select "runId" from usage_entries`);
    expect(rows.length).toBeGreaterThanOrEqual(10);
    await service.close();
  });
});
