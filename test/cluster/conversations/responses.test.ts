import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/client.ts';
import { timed } from '../../support/processes/clock.ts';
import { type Cluster, startCluster } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { transcriptOf } from '../../support/runs/answers.ts';
import { eventsOf, type WireEvent, walk } from '../../support/runs/response-walk.ts';
import { testServerUrl } from '../../support/storage/databases.ts';
import { heldAnswer, type UpstreamRequest } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('a response, over two instances', responsesOverTwoInstances);

function responsesOverTwoInstances(): void {
  const path = '/api/v2/responses';
  const model = 'openai/test-model';
  const text = ['one ', 'two ', 'three ', 'four ', 'five ', 'six ', 'seven ', 'eight'];
  let cluster: Cluster;
  let atA: TestClient;
  let atB: TestClient;

  beforeAll(async () => {
    cluster = await startCluster();
    const env = { THREAD_WAITING_MAX: '4' };
    const [a, b] = await Promise.all([cluster.start(env), cluster.start(env)]);
    [atA, atB] = [a.client(), b.client()];
  });
  beforeEach(() => {
    cluster.upstream.reset();
    cluster.upstream.otherwise({ text: 'Done.' });
  });
  afterAll(() => cluster.close());

  const get = async (who: TestClient, id: string): Promise<WireEvent> => (await who.get(`${path}/${id}`)).body;
  const send = (who: TestClient, conversation: string, input: string, members: Record<string, unknown> = {}) =>
    who.post(path, { model, input, conversation, ...members });
  const ended = (who: TestClient, id: string, status: string) =>
    eventually(async () => {
      const response = await get(who, id);
      expect(response.status).toBe(status);
      return response;
    });
  const said = (response: WireEvent): string =>
    response.output.flatMap((item: WireEvent) => item.content?.map((part: WireEvent) => part.text) ?? []).join('');
  const messagesAsked = (request: UpstreamRequest | undefined) =>
    ((request?.body?.messages ?? []) as { role: string; content: string }[]).map(({ role, content }) => `${role}: ${content}`);
  const log = async (who: TestClient, id: string, after = -1) =>
    eventsOf(await Array.fromAsync(who.sse('GET', `${path}/${id}?stream=true&starting_after=${after}`)));

  /** Begins a response at A and resolves once B sees its first text. A sends the rest after `goOn`. */
  async function busyAtA() {
    const { script, goOn } = heldAnswer({ text });
    cluster.upstream.next(script);
    const { body: a } = await atA.post(path, { model, input: 'A', background: true });
    await eventually(async () => expect(said(await get(atB, a.id))).not.toBe(''));
    return { a, conversation: a.conversation.id as string, goOn };
  }
  async function within(limitMs: number, work: () => Promise<unknown>): Promise<void> {
    expect((await timed(work)).elapsedMs).toBeLessThan(limitMs);
  }

  it('begun on A is followed on B from any number on, each event once, while it happens', async () => {
    const { script, goOn } = heldAnswer({ text });
    cluster.upstream.next(script);
    const sent: { at: number; event: WireEvent }[] = [];
    const seen: { at: number; event: WireEvent }[] = [];
    let id: string | undefined;
    const here = (async () => {
      for await (const { data } of atA.sse('POST', path, { model, input: 'Hi', stream: true })) {
        if (data === '[DONE]') return;
        const event = JSON.parse(data);
        id ??= event.response.id;
        sent.push({ at: performance.now(), event });
      }
    })();
    const heldAt = 5;
    await eventually(() => expect(sent).toHaveLength(heldAt));
    expect(await get(atB, id as string)).toMatchObject({ id, status: 'in_progress', output: [{ status: 'in_progress' }] });
    for await (const { data } of atB.sse('GET', `${path}/${id}?stream=true&starting_after=2`)) {
      if (data === '[DONE]') continue;
      seen.push({ at: performance.now(), event: JSON.parse(data) });
      // The first part arrived while the model was still answering.
      if (seen.length === heldAt - 3) goOn();
    }
    await here;
    expect(seen.map(({ event }) => event)).toEqual(sent.slice(3).map(({ event }) => event));
    const delays = seen.slice(heldAt - 3).map(({ at }, index) => at - (sent[index + heldAt]?.at ?? 0));
    expect(Math.max(...delays)).toBeLessThan(2_000);
    walk(sent.map(({ event }) => event));
    expect(await log(atB, id as string)).toEqual(sent.map(({ event }) => event));
    expect(await log(atB, id as string, 4)).toEqual(sent.slice(5).map(({ event }) => event));
  });

  it('begun on A is cancelled on B', async () => {
    const { a } = await busyAtA();
    const live = log(atA, a.id);
    await within(2_000, async () => {
      expect((await atB.post(`${path}/${a.id}/cancel`)).body).toMatchObject({ status: 'cancelled', incomplete_details: null });
    });
    expect(walk(await live)).toEqual(await get(atA, a.id));
    await cluster.upstream.until(({ openStreams }) => openStreams === 0);
  });

  it('begun on A is paused on B, and goes on there under the same id and numbers', async () => {
    const { a, conversation } = await busyAtA();
    const live = log(atA, a.id);
    await within(2_000, async () => {
      const paused = await atB.post(`${path}/${a.id}/pause`);
      expect(paused.body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'paused' } });
    });
    const before = await live;
    let after: readonly WireEvent[] = [];
    await within(2_000, async () => {
      after = eventsOf(await atB.stream(`${path}/${a.id}/resume`, { stream: true }));
    });
    expect(walk(after, before.length)).toMatchObject({ id: a.id, status: 'completed', output: [{}, { status: 'completed' }] });
    expect(await log(atA, a.id)).toEqual([...before, ...after]);
    expect(cluster.upstream.requests).toHaveLength(2);
    expect((await transcriptOf(atA, conversation)).at(-1)).toBe('assistant: Done.');
  });

  it('collect: a request at B waits for that of A, and an equal one at A joins it', async () => {
    const { a, conversation, goOn } = await busyAtA();
    const b = (await send(atB, conversation, 'B', { background: true })).body;
    expect(b).toMatchObject({ status: 'in_progress', output: [], conversation: { id: conversation } });
    const c = await atA.fetch('POST', path, { model, input: 'C', conversation, background: true }, {});
    expect([((await c.json()) as WireEvent).id, c.headers.get('x-thread-attached')]).toEqual([b.id, 'collect']);
    const d = (await send(atB, conversation, 'D', { background: true, instructions: 'Other.' })).body;
    expect(d.id).not.toBe(b.id);
    goOn();
    expect(said(await ended(atB, a.id, 'completed'))).toBe(text.join(''));
    await ended(atA, d.id, 'completed');
    const { requests } = cluster.upstream;
    expect(messagesAsked(requests[1])).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: B', 'user: C']);
    expect(messagesAsked(requests[2])?.at(-1)).toBe('user: D');
    expect(requests).toHaveLength(3);
    for (const id of [a.id, b.id, d.id]) walk(await log(atB, id));
  });

  it('collect: both instances count towards what may wait', async () => {
    const { a, conversation } = await busyAtA();
    const waiting: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const who = n % 2 === 0 ? atA : atB;
      waiting.push((await send(who, conversation, `B${n}`, { background: true, instructions: String(n % 2) })).body.id);
    }
    for (const who of [atA, atB]) {
      const refused = await send(who, conversation, 'too much', { background: true });
      expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
        429,
        'thread_queue_full',
        expect.stringMatching(/^\d+$/),
      ]);
    }
    await atB.post(`${path}/${a.id}/cancel`);
    for (const id of waiting) await ended(atA, id, 'completed');
    expect(cluster.upstream.requests.slice(1).map((request) => messagesAsked(request).at(-1))).toEqual(
      ['B0', 'B1', 'B2', 'B3'].map((text) => `user: ${text}`),
    );
  });

  it('steer: what B is given becomes part of the response of A, which B sees from its first event', async () => {
    const { a, conversation, goOn } = await busyAtA();
    const reply = await atB.fetch('POST', path, { model, input: 'B', conversation, thread_mode: 'steer', stream: true }, {});
    expect(reply.headers.get('x-thread-attached')).toBe('steer');
    goOn();
    const events = (await reply.text())
      .split('\n')
      .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length)) as WireEvent] : []));
    expect(walk(events)).toMatchObject({ id: a.id, status: 'completed', output: [{}, {}] });
    expect(messagesAsked(cluster.upstream.requests[1])).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: B']);
    const items = (await atB.get(`${path}/${a.id}/input_items?order=asc`)).body.data;
    expect(items.map((item: WireEvent) => item.content[0].text)).toEqual(['A', 'B']);
  });

  it('interrupt: B stops that of A, keeps what it said, and goes before those that wait', async () => {
    const { a, conversation } = await busyAtA();
    const waiting = (await send(atA, conversation, 'W', { background: true })).body;
    await within(2_000, async () => {
      expect((await send(atB, conversation, 'B', { thread_mode: 'interrupt' })).body.status).toBe('completed');
    });
    const stopped = await ended(atB, a.id, 'cancelled');
    await ended(atB, waiting.id, 'completed');
    const { requests } = cluster.upstream;
    expect(messagesAsked(requests[1])).toEqual(['user: A', `assistant: ${said(stopped)}`, 'user: B']);
    expect(messagesAsked(requests[2])?.at(-1)).toBe('user: W');
    walk(await log(atA, a.id));
  });

  it('force: B cuts that of A and all that wait; what it said leaves the thread, not the response', async () => {
    const { a, conversation } = await busyAtA();
    const live = log(atA, a.id);
    const waiting = (await send(atA, conversation, 'W', { background: true })).body;
    await within(2_000, async () => {
      expect((await send(atB, conversation, 'B', { thread_mode: 'force' })).body.status).toBe('completed');
    });
    const cut = await ended(atA, a.id, 'cancelled');
    expect(said(cut)).toMatch(/^one /);
    expect(walk(await live)).toEqual(cut);
    expect(await ended(atA, waiting.id, 'cancelled')).toMatchObject({ output: [] });
    expect(messagesAsked(cluster.upstream.requests[1])).toEqual(['user: A', 'user: B']);
    expect(await transcriptOf(atA, conversation)).toEqual(['user: A', 'user: B', 'assistant: Done.']);
    await cluster.upstream.until(({ openStreams }) => openStreams === 0);
    walk(await log(atB, waiting.id));
  });
}
