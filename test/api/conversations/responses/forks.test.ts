import { beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { transcriptOf } from '../../../support/runs/answers.ts';
import type { WireEvent } from '../../../support/runs/response-walk.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer, never } from '../../../support/upstream.ts';

/** Continuing a response that its thread does not contain completely, and one that is paused. */
const { make, upstream } = await withService('model');
const path = '/api/v2/responses';
const model = 'openai/test-model';
const text = ['one ', 'two ', 'three ', 'four ', 'five ', 'six '];

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise({ text: 'Done.' });
});

const create = async (input: string, members: Record<string, unknown> = {}): Promise<WireEvent> =>
  (await ann.post(path, { model, input, ...members })).body;
const get = async (id: string): Promise<WireEvent> => (await ann.get(`${path}/${id}`)).body;
const texts = (response: WireEvent): string[] => response.output.map((item: WireEvent) => item.content?.[0]?.text ?? '');
const spoken = (id: string, item = 0) => eventually(async () => expect(texts(await get(id))[item] ?? '').not.toBe(''));
const asked = () =>
  ((upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[]).map(
    ({ role, content }) => `${role}: ${content}`,
  );

describe('continuing a response that was cut by force', () => {
  it('sees what it said, in a thread of its own; the thread that lost it stays as it is', async () => {
    upstream.next(heldAnswer({ text }).script);
    const cut = await create('A', { background: true });
    await spoken(cut.id);
    const { conversation } = cut;
    const after = await create('B', { conversation: conversation.id, thread_mode: 'force' });
    const [said] = texts(await get(cut.id));
    expect(said).toMatch(/^one /);

    const fork = await create('C', { previous_response_id: cut.id });
    expect(asked()).toEqual(['user: A', `assistant: ${said}`, 'user: C']);
    expect(fork.conversation.id).not.toBe(conversation.id);
    expect(await transcriptOf(ann, fork.conversation.id)).toEqual([
      'user: A',
      `assistant: ${said}`,
      'user: C',
      'assistant: Done.',
    ]);
    await create('D', { previous_response_id: cut.id, store: false });
    expect(asked()).toEqual(['user: A', `assistant: ${said}`, 'user: D']);

    await create('E', { previous_response_id: after.id });
    expect(asked()).toEqual(['user: A', 'user: B', 'assistant: Done.', 'user: E']);
  });

  it('sees what others put into it at its place', async () => {
    const gate = Promise.withResolvers<void>();
    upstream.next({ text: 'First.', gate: gate.promise }, heldAnswer({ text }).script);
    const cut = await create('A', { background: true });
    await upstream.until(({ requests }) => requests.length === 1);
    await create('S', { conversation: cut.conversation.id, thread_mode: 'steer', background: true });
    gate.resolve();
    await spoken(cut.id, 1);
    await create('B', { conversation: cut.conversation.id, thread_mode: 'force' });
    const [first, second] = texts(await get(cut.id));
    await create('C', { previous_response_id: cut.id });
    expect(asked()).toEqual(['user: A', `assistant: ${first}`, 'user: S', `assistant: ${second}`, 'user: C']);
  });

  it('also when it is the newest, because what came after it is gone', async () => {
    upstream.next(heldAnswer({ text }).script);
    const cut = await create('A', { background: true });
    await spoken(cut.id);
    const after = await create('B', { conversation: cut.conversation.id, thread_mode: 'force' });
    await ann.call('DELETE', `${path}/${after.id}`);
    const [said] = texts(await get(cut.id));
    await create('C', { previous_response_id: cut.id });
    expect(asked()).toEqual(['user: A', `assistant: ${said}`, 'user: C']);
  });
});

it('continuing a response that never began sees its input, after the response that it waited for', async () => {
  const { script, goOn } = heldAnswer({ text });
  upstream.next(script);
  const { id, conversation } = await create('A', { background: true });
  const waiting = await create('W', { conversation: conversation.id, background: true });
  await ann.post(`${path}/${waiting.id}/cancel`);
  goOn();
  await eventually(async () => expect((await get(id)).status).toBe('completed'));
  await create('B', { conversation: conversation.id });
  const fork = await create('C', { previous_response_id: waiting.id });
  expect(asked()).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: W', 'user: C']);
  expect(fork.conversation.id).not.toBe(conversation.id);
});

it('what was put into a response just before it was paused stands in its thread once', async () => {
  const gate = Promise.withResolvers<void>();
  upstream.next({ text: 'One.', gate: gate.promise }, { gate: never });
  const a = await create('A', { background: true });
  await upstream.until(({ requests }) => requests.length === 1);
  await create('S', { conversation: a.conversation.id, thread_mode: 'steer', background: true });
  gate.resolve();
  await upstream.until(({ requests }) => requests.length === 2);
  await ann.post(`${path}/${a.id}/pause`);
  expect((await ann.post(`${path}/${a.id}/resume`)).body).toMatchObject({ status: 'completed', output: [{}, {}] });
  expect(asked()).toEqual(['user: A', 'assistant: One.', 'user: S']);
  expect(await transcriptOf(ann, a.conversation.id)).toEqual(['user: A', 'assistant: One.', 'user: S', 'assistant: Done.']);
});
