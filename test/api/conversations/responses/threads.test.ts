import { beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { expectAccepted } from '../../../support/runs/accepted-request.ts';
import { transcriptOf } from '../../../support/runs/answers.ts';
import { eventsOf, type WireEvent, walk } from '../../../support/runs/response-walk.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer, type UpstreamRequest } from '../../../support/upstream.ts';

/** Concurrent requests on one thread, and the states of a response. */
const { make, upstream } = await withService('model');
const path = '/api/v2/responses';
const model = 'openai/test-model';
/** The default of THREAD_WAITING_MAX. */
const waitingMax = 20;
const text = ['one ', 'two ', 'three ', 'four ', 'five ', 'six ', 'seven ', 'eight'];

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise({ text: 'Done.' });
});

/** Begins a response on a new thread and resolves once its first text arrived. The model sends the rest after `goOn`. */
async function busyThread() {
  const { script, goOn } = heldAnswer({ text });
  upstream.next(script);
  const { body: a } = await ann.post(path, { model, input: 'A', background: true });
  await spoken(a.id);
  return { a, conversation: a.conversation.id as string, goOn };
}
const get = async (id: string): Promise<WireEvent> => (await ann.get(`${path}/${id}`)).body;
const spoken = (id: string) =>
  eventually(async () => {
    const { output } = await get(id);
    expect(output[0]?.content?.[0]?.text ?? '').not.toBe('');
  });
const reaches = (id: string, status: string) =>
  eventually(async () => {
    const response = await get(id);
    expect(response.status).toBe(status);
    return response;
  });
const messagesAsked = (request: UpstreamRequest | undefined) =>
  ((request?.body?.messages ?? []) as { role: string; content: string }[]).map(({ role, content }) => `${role}: ${content}`);
const said = (response: WireEvent): string =>
  response.output.flatMap((item: WireEvent) => item.content?.map((part: WireEvent) => part.text) ?? []).join('');
const log = async (id: string, after?: number) =>
  eventsOf(
    await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true${after === undefined ? '' : `&starting_after=${after}`}`)),
  );
const send = (conversation: string, input: string, members: Record<string, unknown> = {}) =>
  ann.post(path, { model, input, conversation, ...members });

describe('collect', () => {
  it('lets the active response finish and answers equal requests together in one turn', async () => {
    const { a, conversation, goOn } = await busyThread();
    const b = await send(conversation, 'B', { background: true });
    expect(b.body).toMatchObject({ status: 'in_progress', output: [], conversation: { id: conversation } });
    const joins = (members: object) => ann.fetch('POST', path, { model, conversation, background: true, ...members }, {});
    const c1 = await joins({ input: 'C' });
    const c2 = await joins({ input: 'D', instructions: 'Other.' });
    expect(((await c1.json()) as WireEvent).id).toBe(b.body.id);
    expect(c1.headers.get('x-thread-attached')).toBe('collect');
    const d = (await c2.json()) as WireEvent;
    expect(d.id).not.toBe(b.body.id);
    expect(c2.headers.get('x-thread-attached')).toBeNull();
    goOn();
    await reaches(d.id, 'completed');
    expect(said(await reaches(a.id, 'completed'))).toBe(text.join(''));
    expect(messagesAsked(upstream.requests[1])).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: B', 'user: C']);
    expect(messagesAsked(upstream.requests[2])?.at(-1)).toBe('user: D');
    expect(upstream.requests).toHaveLength(3);
    const items = (await ann.get(`${path}/${b.body.id}/input_items?order=asc`)).body.data;
    expect(items.map((item: WireEvent) => item.content[0].text)).toEqual(['B', 'C']);
  });

  it('shows a waiting response to its reader at once, and all of it in order', async () => {
    const { conversation, goOn } = await busyThread();
    const frames = ann.sse('POST', path, { model, input: 'B', conversation, stream: true });
    const first = await frames.next();
    goOn();
    const events = eventsOf([first.value, ...(await Array.fromAsync(frames))]);
    expect(said(walk(events))).toBe('Done.');
  });

  it('refuses more requests than may wait', async () => {
    const { a, conversation } = await busyThread();
    const waiting = (await send(conversation, 'B', { background: true })).body;
    for (let n = 1; n < 20; n += 1) {
      expect((await send(conversation, `B${n}`, { background: true })).body.id).toBe(waiting.id);
    }
    const refused = await send(conversation, 'too much', { background: true });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'thread_queue_full']);
    const cut = await send(conversation, 'too much', { thread_mode: 'interrupt', background: true });
    expect([cut.status, cut.body.error.code]).toEqual([429, 'thread_queue_full']);
    expect((await get(a.id)).status).toBe('in_progress');
    await ann.post(`${path}/${a.id}/cancel`);
    await reaches(waiting.id, 'completed');
  });
});

describe('steer', () => {
  it('adds a limited number of messages to one response; further ones wait', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    upstream.next({ text: 'Late.', gate });
    const { body: a } = await ann.post(path, { model, input: 'A', background: true });
    const ids = new Set<string>();
    for (let n = 1; n <= 40; n += 1) {
      const { body } = await send(a.conversation.id, `B${n}`, { thread_mode: 'steer', background: true });
      ids.add(body.id);
    }
    const refused = await send(a.conversation.id, 'too much', { thread_mode: 'steer', background: true });
    open();
    expect([...ids]).toEqual([a.id, expect.stringMatching(/^resp_/)]);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'thread_queue_full']);
    for (const id of ids) await reaches(id, 'completed');
    const asked = messagesAsked(upstream.requests.at(-1)).filter((message) => message.startsWith('user: '));
    expect(asked).toEqual(['user: A', ...Array.from({ length: 40 }, (_, index) => `user: B${index + 1}`)]);
  });

  it('puts a message into the active response, which takes one more turn', async () => {
    const { a, conversation, goOn } = await busyThread();
    const b = await ann.fetch('POST', path, { model, input: 'B', conversation, thread_mode: 'steer', stream: true }, {});
    expect(b.headers.get('x-thread-attached')).toBe('steer');
    goOn();
    await b.text();
    const response = await reaches(a.id, 'completed');
    expect(response.output.map((item: WireEvent) => item.content[0].text)).toEqual([text.join(''), 'Done.']);
    expect(messagesAsked(upstream.requests[1])).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: B']);
    expect(await transcriptOf(ann, conversation)).toEqual([
      'user: A',
      `assistant: ${text.join('')}`,
      'user: B',
      'assistant: Done.',
    ]);
    walk(await log(a.id));
    const items = (await ann.get(`${path}/${a.id}/input_items?order=asc`)).body.data;
    expect(items.map((item: WireEvent) => item.content[0].text)).toEqual(['A', 'B']);
  });

  it('closes calls that waited for the client, so that the next turn can be asked for', async () => {
    const { script, goOn } = heldAnswer({ text, toolCalls: [{ id: 'call_1', name: 'add', arguments: '{}' }] });
    upstream.next(script);
    const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }];
    const { body: a } = await ann.post(path, { model, input: 'A', tools, background: true });
    await spoken(a.id);
    await send(a.conversation.id, 'B', { thread_mode: 'steer', background: true });
    goOn();
    await reaches(a.id, 'completed');
    expect(upstream.requests[1]?.body?.messages).toMatchObject([
      { role: 'user', content: 'A' },
      // An answer and its calls are one message, as the provider gave them.
      { role: 'assistant', content: text.join(''), tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1' },
      { role: 'user', content: 'B' },
    ]);
    await send(a.conversation.id, 'C');
    expectAccepted(upstream.requests[2]);
  });

  it('of another chat mode waits instead; outputs of calls are refused', async () => {
    const { a, conversation, goOn } = await busyThread();
    const b = await send(conversation, 'B', { thread_mode: 'steer', chat_mode: 'chat', background: true });
    expect(b.body.id).not.toBe(a.id);
    const input = [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }];
    const refused = await ann.post(path, { model, input, conversation, thread_mode: 'steer' });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'input']);
    goOn();
    await reaches(b.body.id, 'completed');
  });
});

describe('interrupt', () => {
  it('stops the active response, keeps what it said, and goes before those that wait', async () => {
    const { a, conversation } = await busyThread();
    const waiting = (await send(conversation, 'W', { background: true })).body;
    const b = (await send(conversation, 'B', { thread_mode: 'interrupt' })).body;
    expect(b).toMatchObject({ status: 'completed' });
    const stopped = await reaches(a.id, 'cancelled');
    expect(said(stopped)).toMatch(/^one /);
    await reaches(waiting.id, 'completed');
    expect(messagesAsked(upstream.requests[1])).toEqual(['user: A', `assistant: ${said(stopped)}`, 'user: B']);
    expect(messagesAsked(upstream.requests[2])?.at(-1)).toBe('user: W');
    expect(stopped.incomplete_details).toBeNull();
    walk(await log(a.id));
  });
});

describe('force', () => {
  it('cuts the active response and all that wait; their words leave the thread, not the response', async () => {
    const { a, conversation } = await busyThread();
    const waiting = (await send(conversation, 'W', { background: true })).body;
    const b = (await send(conversation, 'B', { thread_mode: 'force' })).body;
    expect(b.status).toBe('completed');
    const cut = await reaches(a.id, 'cancelled');
    expect(said(cut)).toMatch(/^one /);
    expect(await reaches(waiting.id, 'cancelled')).toMatchObject({ output: [] });
    expect(messagesAsked(upstream.requests[1])).toEqual(['user: A', 'user: B']);
    expect(await transcriptOf(ann, conversation)).toEqual(['user: A', 'user: B', 'assistant: Done.']);
    for (const id of [a.id, waiting.id]) walk(await log(id));
    await upstream.until(({ openStreams }) => openStreams === 0);
  });
});

it.each(['collect', 'steer', 'interrupt', 'force'])('%s changes nothing on an idle thread', async (mode) => {
  const { body: a } = await ann.post(path, { model, input: 'A' });
  const { body: b } = await send(a.conversation.id, 'B', { thread_mode: mode });
  expect(b).toMatchObject({ status: 'completed', conversation: a.conversation });
  expect(messagesAsked(upstream.requests[1])).toEqual(['user: A', 'assistant: Done.', 'user: B']);
});

describe('pause and resume', () => {
  it('stops at a boundary with one end, and goes on under the same id and numbers', async () => {
    const { a } = await busyThread();
    const live = log(a.id);
    const paused = await ann.post(`${path}/${a.id}/pause`);
    expect(paused).toMatchObject({ status: 200, body: { status: 'incomplete', incomplete_details: { reason: 'paused' } } });
    expect((await ann.post(`${path}/${a.id}/pause`)).body).toEqual(paused.body);
    const before = await live;
    expect(walk(before)).toEqual(paused.body);
    expect(before.at(-2)).toMatchObject({ type: 'response.output_item.done', item: { status: 'incomplete' } });

    const after = eventsOf(await ann.stream(`${path}/${a.id}/resume`, { stream: true }));
    expect(after[0]).toMatchObject({
      type: 'response.in_progress',
      response: { status: 'in_progress', incomplete_details: null },
    });
    const end = walk(after, before.length);
    expect(end).toMatchObject({ id: a.id, status: 'completed' });
    expect(end.output.map((item: WireEvent) => item.status)).toEqual(['incomplete', 'completed']);
    expect(end.usage.output_tokens).toBeGreaterThan(paused.body.usage.output_tokens);
    expect(await log(a.id)).toEqual([...before, ...after]);
    expect(await log(a.id, before.length - 1)).toEqual(after);
    expect(messagesAsked(upstream.requests[1]).slice(0, 2)).toEqual(['user: A', `assistant: ${said(paused.body)}`]);
    expectAccepted(upstream.requests[1]);
    expect(await transcriptOf(ann, a.conversation.id)).toEqual([
      'user: A',
      `assistant: ${said(paused.body)}`,
      'assistant: Done.',
    ]);
  });

  it('goes on behind a long log that is read in parts', async () => {
    // With its closing events, the pause is the 5,000th event: the end of the first page of the log.
    const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"w"}}]}\n\n';
    const raw = `${chunk.repeat(4_994)}: the rest never comes`;
    upstream.next({ raw, hangAtByte: raw.length - 4 });
    const { body: a } = await ann.post(path, { model, input: 'A', background: true });
    await eventually(async () => expect(said(await get(a.id))).toHaveLength(4_994));
    await ann.post(`${path}/${a.id}/pause`);
    const after = eventsOf(await ann.stream(`${path}/${a.id}/resume`, { stream: true }));
    expect(after.at(-1)).toMatchObject({ type: 'response.completed' });
  });

  it('takes further input with it, and can be paused again', async () => {
    const { a } = await busyThread();
    await ann.post(`${path}/${a.id}/pause`);
    upstream.next(heldAnswer({ text }).script);
    const resumed = await ann.post(`${path}/${a.id}/resume`, { input: 'Shorter.', background: true });
    expect(resumed.body.status).toBe('in_progress');
    await eventually(async () => expect((await get(a.id)).output).toHaveLength(2));
    expect((await ann.post(`${path}/${a.id}/pause`)).body.incomplete_details).toEqual({ reason: 'paused' });
    const end = await ann.post(`${path}/${a.id}/resume`);
    expect(end.body).toMatchObject({ status: 'completed', output: [{}, {}, {}] });
    expect(messagesAsked(upstream.requests[1]).at(-1)).toBe('user: Shorter.');
    for (const request of upstream.requests) expectAccepted(request);
  });

  it('a paused response is cancelled without running', async () => {
    const { a, conversation } = await busyThread();
    await ann.post(`${path}/${a.id}/pause`);
    expect((await ann.post(`${path}/${a.id}/cancel`)).body.status).toBe('cancelled');
    expect(upstream.requests).toHaveLength(1);
    const refused = await ann.post(`${path}/${a.id}/resume`);
    expect([refused.status, refused.body.error.code, refused.headers.get('x-should-retry')]).toEqual([
      409,
      'response_not_paused',
      'false',
    ]);
    expect((await send(conversation, 'B')).body.status).toBe('completed');
  });

  it('holds no thread while it is paused, and waits its turn when another has it', async () => {
    const { a, conversation } = await busyThread();
    await ann.post(`${path}/${a.id}/pause`);
    const { script, goOn } = heldAnswer({ text });
    upstream.next(script);
    const b = (await send(conversation, 'B', { background: true })).body;
    await spoken(b.id);
    const resuming = ann.post(`${path}/${a.id}/resume`, {});
    await reaches(a.id, 'in_progress');
    goOn();
    expect((await resuming).body.status).toBe('completed');
    expect((await get(b.id)).status).toBe('completed');
    for (const request of upstream.requests) expectAccepted(request);
  });

  it('goes on with its own answer where others spoke on the thread meanwhile', async () => {
    const { a, conversation } = await busyThread();
    const { body: paused } = await ann.post(`${path}/${a.id}/pause`);
    expect((await send(conversation, 'B')).body.status).toBe('completed');
    expect((await ann.post(`${path}/${a.id}/resume`)).body.status).toBe('completed');
    const own = said(paused).trim();
    expect(own).toContain('one');
    expect(messagesAsked(upstream.requests.at(-1))).toEqual([
      'user: A',
      `assistant: ${said(paused)}`,
      'user: B',
      'assistant: Done.',
      `user: You were interrupted earlier, in the answer that ends with ${JSON.stringify(own)}. Go on from exactly where that answer stopped.`,
    ]);
    expectAccepted(upstream.requests.at(-1));
  });

  it('counts among the waiting: beyond the limit it stays paused, and continues later', async () => {
    const { a, conversation, goOn } = await busyThread();
    const paused: string[] = [];
    for (let index = 0; index <= waitingMax; index += 1) {
      const { id } = (await send(conversation, 'B', { background: true, instructions: `${index}` })).body;
      await ann.post(`${path}/${id}/pause`);
      paused.push(id);
    }
    const resume = (id: string) => ann.post(`${path}/${id}/resume`, { background: true });
    const last = paused.pop() ?? '';
    for (const id of paused) expect((await resume(id)).body.status).toBe('in_progress');
    const refused = await resume(last);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'thread_queue_full']);
    expect(refused.body.error.message).toContain(`(${waitingMax})`);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect((await get(last)).incomplete_details).toEqual({ reason: 'paused' });
    goOn();
    for (const id of [a.id, ...paused]) await reaches(id, 'completed');
    expect((await resume(last)).status).toBe(200);
    await reaches(last, 'completed');
  });

  it('of a waiting response takes it out of the queue', async () => {
    const { a, conversation, goOn } = await busyThread();
    const b = (await send(conversation, 'B', { background: true })).body;
    expect((await ann.post(`${path}/${b.id}/pause`)).body.incomplete_details).toEqual({ reason: 'paused' });
    goOn();
    await reaches(a.id, 'completed');
    expect((await get(b.id)).status).toBe('incomplete');
    const end = (await ann.post(`${path}/${b.id}/resume`)).body;
    expect(said(end)).toBe('Done.');
    expect(messagesAsked(upstream.requests[1]).at(-1)).toBe('user: B');
  });
});

describe('cancel', () => {
  it('of a waiting response ends it without running', async () => {
    const { a, conversation, goOn } = await busyThread();
    const b = (await send(conversation, 'B', { background: true })).body;
    expect((await ann.post(`${path}/${b.id}/cancel`)).body).toMatchObject({ status: 'cancelled', output: [] });
    goOn();
    await reaches(a.id, 'completed');
    expect(upstream.requests).toHaveLength(1);
    walk(await log(b.id));
  });
});
