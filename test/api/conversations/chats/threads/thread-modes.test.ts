import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Person } from '../../../../support/make.ts';
import { eventually } from '../../../../support/processes/eventually.ts';
import { transcriptOf } from '../../../../support/runs/answers.ts';
import { withService } from '../../../../support/service.ts';
import { heldAnswer, type UpstreamRequest } from '../../../../support/upstream.ts';

/** Messages that meet in one chat. */
const { make, upstream, service } = await withService('model');

const ann = await make.person();
const agentId = (await make.agent({ owner: ann, instructions: 'Answer.' })).id;

const text = ['one ', 'two ', 'three ', 'four ', 'five ', 'six ', 'seven ', 'eight'];

/** A chat whose first message is being answered. The rest of the answer comes when it is told to go on. */
async function busyChat() {
  const chat = await make.chat({ owner: ann, agentId });
  const { script, goOn } = heldAnswer({ text });
  upstream.next(script);
  upstream.otherwise({ text: 'Done.' });
  const path = `/api/v1/chats/${chat.id}/messages`;
  const first = ann.stream(path, { prompt: 'A', stream: true });
  await eventually(async () => expect(upstream.requests).toHaveLength(1));
  await eventually(async () => expect((await ann.get(`/api/v1/chats/${chat.id}`)).body.activeRunId).not.toBeNull());
  return { id: chat.id as string, path, goOn, first };
}
/** Sends a message and comes back with its run as soon as that has its place. */
const place = async (chatId: string, prompt: string, threadMode?: string) =>
  (
    await ann.graphql(
      'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id status } }',
      {
        chatId,
        input: { prompt: { text: prompt }, ...(threadMode === undefined ? {} : { threadMode: threadMode.toUpperCase() }) },
      },
    )
  ).data.sendMessage as { id: string; status: string };
const ended = (runId: string) =>
  eventually(async () => {
    const { data } = await ann.graphql('query ($id: ID!) { run(id: $id) { status message { content } } }', { id: runId });
    expect(data.run.status).not.toBe('IN_PROGRESS');
    return data.run as { status: string; message: { content: string } | null };
  });
const asked = (request: UpstreamRequest | undefined) =>
  ((request?.body?.messages ?? []) as { role: string; content: string }[])
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => `${role}: ${content}`);
const typesOf = async (frames: ReturnType<Person['stream']>) => (await frames).map(({ event }) => event);

describe('a message to a chat that is being answered', () => {
  it('waits by default; those that wait and differ in their prompt only are answered together', async () => {
    const { id, goOn, first, path } = await busyChat();
    const b = await place(id, 'B');
    expect(b.status).toBe('IN_PROGRESS');
    const c = await place(id, 'C', 'collect');
    expect(c.id).toBe(b.id);
    const d = ann.fetch('POST', path, { prompt: 'D' }, {});
    const other = ann.post(path, { prompt: 'E', modelId: 'parley/offline' });
    expect(upstream.requests).toHaveLength(1);
    goOn();
    const joined = await d;
    const reply = (await joined.json()) as { status: string; message: { content: string } };
    expect([joined.status, reply.status, reply.message.content]).toEqual([200, 'completed', 'Done.']);
    expect((await other).body.status).toBe('completed');
    expect((await ended(b.id)).message?.content).toBe('Done.');
    expect(await typesOf(first)).toContain('run.completed');
    expect(asked(upstream.requests[1]).slice(0, 4)).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: B', 'user: C']);
    const said = await transcriptOf(ann, id);
    expect(said.slice(0, 4)).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: B', 'user: C']);
    for (const prompt of ['D', 'E']) expect(said).toContain(`user: ${prompt}`);
  });

  it('steer: is taken in by the run that answers, before it ends', async () => {
    const { id, goOn, first } = await busyChat();
    const run = await place(id, 'B', 'steer');
    const frames = Array.fromAsync(ann.sse('GET', `/api/v1/chats/${id}/runs/${run.id}/events`));
    goOn();
    const ownFrames = (await first).map(({ data }) => data);
    expect((await frames).map(({ data }) => data)).toEqual(ownFrames);
    expect(ownFrames.join('\n')).toContain(`"runId":"${run.id}"`);
    expect(asked(upstream.requests[1])).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: B']);
    expect(await transcriptOf(ann, id)).toEqual(['user: A', `assistant: ${text.join('')}`, 'user: B', 'assistant: Done.']);
  });

  it('says over REST how it joined another run', async () => {
    const { goOn, path } = await busyChat();
    const joining = ann.fetch('POST', path, { prompt: 'B', threadMode: 'steer', stream: true }, {});
    const reply = await joining;
    expect(reply.headers.get('x-thread-attached')).toBe('steer');
    goOn();
    expect(await reply.text()).toContain('event: done');
  });

  it('interrupt: stops the run that answers; what that said stays', async () => {
    const { id, first, goOn } = await busyChat();
    const run = await place(id, 'B', 'interrupt');
    expect((await ended(run.id)).message?.content).toBe('Done.');
    expect(await typesOf(first)).toContain('run.cancelled');
    goOn();
    const said = await transcriptOf(ann, id);
    expect([said[0], said.slice(-2)]).toEqual(['user: A', ['user: B', 'assistant: Done.']]);
    expect(said[1]).toMatch(/^assistant: one/);
  });

  it('force: cuts the run that answers and cancels those that wait; what was said leaves the chat', async () => {
    const { id, first, goOn } = await busyChat();
    const waiting = await place(id, 'B');
    const run = await place(id, 'C', 'force');
    expect((await ended(run.id)).message?.content).toBe('Done.');
    expect((await ended(waiting.id)).status).toBe('CANCELLED');
    expect(await typesOf(first)).toContain('run.cancelled');
    goOn();
    expect(await transcriptOf(ann, id)).toEqual(['user: A', 'user: C', 'assistant: Done.']);
    expect(asked(upstream.requests[1])).toEqual(['user: A', 'user: C']);
  });

  it('force: cuts the run also when another process takes it before its end is written', async () => {
    const { id, first, goOn } = await busyChat();
    const { runs } = service.deps.storage.conversations;
    const finish = runs.finish.bind(runs);
    const cancelRequests: boolean[] = [];
    // As a process whose machine stands still for longer than its lease.
    const finishing = vi.spyOn(runs, 'finish').mockImplementationOnce(async (runId, ...rest) => {
      const taken = await runs.lease(runId, 'another process', 60_000, 'forced');
      cancelRequests.push(taken?.isCancelRequested === true);
      return finish(runId, ...rest);
    });
    onTestFinished(() => finishing.mockRestore());
    const run = await place(id, 'C', 'force');
    expect((await ended(run.id)).message?.content).toBe('Done.');
    expect(cancelRequests).toEqual([true]);
    expect(await typesOf(first)).toContain('run.cancelled');
    goOn();
    expect(await transcriptOf(ann, id)).toEqual(['user: A', 'user: C', 'assistant: Done.']);
  });

  it('is refused when as many wait as may (THREAD_WAITING_MAX)', async () => {
    const { id, goOn, path } = await busyChat();
    const waiting = await place(id, '1');
    for (let count = 2; count <= 20; count += 1) expect((await place(id, String(count))).id).toBe(waiting.id);
    const refused = await ann.post(path, { prompt: '21' });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'thread_queue_full']);
    expect(refused.headers.get('retry-after')).toBe('5');
    goOn();
    expect((await ended(waiting.id)).status).toBe('COMPLETED');
  });
});
