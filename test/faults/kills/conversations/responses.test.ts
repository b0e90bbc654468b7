import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SseFrame } from '../../../support/client.ts';
import { startClock } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, leaseMs, prepareKillable } from '../../../support/processes/killable.ts';
import { expectAccepted } from '../../../support/runs/accepted-request.ts';
import { eventsOf, type WireEvent, walk } from '../../../support/runs/response-walk.ts';
import { never, type Upstream } from '../../../support/upstream.ts';

const path = '/api/v2/responses';
const model = 'openai/test-model';
/** No run is in progress for longer than this after its process died. */
const endedMs = leaseMs + 10_000;
let world: Killable;
let upstream: Upstream;

beforeEach(async () => {
  world = await prepareKillable();
  upstream = world.upstream;
});
afterEach(() => world.close());

/** The position of a reader when the server died. It stays connected: a reader that leaves would stop the run. */
interface Reader {
  readonly name: string;
  readonly seen: readonly WireEvent[];
  readonly status: 'failed' | 'completed';
}

/** Reads until `isThere` is true, and then stops reading. */
async function readUntil(frames: AsyncGenerator<SseFrame>, isThere: (event: WireEvent) => boolean): Promise<WireEvent[]> {
  const seen: WireEvent[] = [];
  for (;;) {
    const { value, done } = await frames.next();
    if (done === true) throw new Error(`the stream ended early: ${JSON.stringify(seen.at(-1))}`);
    seen.push(JSON.parse(value.data));
    if (isThere(seen.at(-1))) return seen;
  }
}

it('killed in the middle of all kinds of runs, a server shows each reader every event once and ends all runs', async () => {
  const words = Array.from({ length: 60 }, (_, n) => `w${n} `);
  upstream.otherwise(({ body }) => {
    const asked = JSON.stringify(body?.messages);
    if (asked.includes('Silence')) return { gate: never };
    if (asked.includes('Tool')) return { text: 'I look', toolCalls: [{ id: 'call_1', name: 'look_up', arguments: '{}' }] };
    return { text: words, chunkDelayMs: 20, hangAtByte: 8_000 };
  });
  world.api.answer(() => new Promise(() => undefined));
  const { parley, ann: first } = await world.launch();
  const agentId = await world.agentWithTool(first, model);
  const background = async (input: string, members = {}) =>
    (await first.post(path, { model, input, background: true, ...members })).body;
  const reading = async (name: string, members: object, isThere: (event: WireEvent) => boolean): Promise<Reader> => {
    const frames = first.sse('POST', path, { model, input: 'Talk', stream: true, ...members });
    return { name, seen: await readUntil(frames, isThere), status: 'failed' };
  };
  const at = (number: number) => (event: WireEvent) => event.sequence_number >= number;
  const spoken = (id: string) =>
    eventually(async () => expect((await first.get(`${path}/${id}`)).body.output.length).toBeGreaterThan(0));
  const paused = await background('Talk');
  await spoken(paused.id);
  const whenPaused = (await first.post(`${path}/${paused.id}/pause`)).body;
  expect(whenPaused.incomplete_details).toEqual({ reason: 'paused' });
  const busy = await background('Talk');
  const inBackground = await background('Talk');
  const readers = await Promise.all([
    ...[0, 1, 2, 3, 4, 9, 25].map((number) => reading(`at event ${number}`, {}, at(number))),
    reading('before the first token', { input: 'Silence' }, at(1)).then((reader) => ({
      ...reader,
      status: 'completed' as const,
    })),
    reading('in the middle of a tool', { model: agentId, input: 'Tool' }, ({ type }) => type.endsWith('arguments.done')).then(
      (reader) => ({ ...reader, status: 'completed' as const }),
    ),
    reading('while it waits', { input: 'Wait', conversation: busy.conversation.id }, at(1)).then((reader) => ({
      ...reader,
      status: 'completed' as const,
    })),
    readUntil(first.sse('GET', `${path}/${inBackground.id}?stream=true`), at(9)).then(
      (seen): Reader => ({ name: 'in the background', seen, status: 'failed' }),
    ),
  ]);
  await upstream.until(({ requests }) => requests.some(({ body }) => JSON.stringify(body).includes('Silence')));
  // A response without output is restarted: only these two have none.
  for (const { name, seen, status } of readers) {
    if (status === 'failed' || name === 'in the middle of a tool') await spoken(seen[0].response.id);
  }
  await eventually(async () => expect(world.api.requests).toHaveLength(1));
  await spoken(busy.id);
  await parley.kill('SIGKILL');

  upstream.otherwise({ text: 'Here.' });
  world.api.answer(() => ({ body: 'found' }));
  const asked = upstream.requests.length;
  const ann = await world.recover();
  const clock = startClock();
  const comeBack = async ({ name, seen, status }: Reader) => {
    const { id } = seen[0].response;
    const tail = `${path}/${id}?stream=true&starting_after=${seen.at(-1).sequence_number}`;
    const response = walk([...seen, ...eventsOf(await Array.fromAsync(ann.sse('GET', tail)))]);
    expect(clock.elapsedMs(), name).toBeLessThan(endedMs);
    expect(response.status, name).toBe(status);
    if (status === 'completed') expect(response.output.at(-1).content[0].text, name).toBe('Here.');
    else expect(response.output[0]).toMatchObject({ status: 'incomplete' });
    expect((await ann.get(`${path}/${id}`)).body, name).toEqual(response);
    const next = await ann.post(path, { input: 'Go on', previous_response_id: id });
    expect([next.body.status, next.body.conversation], name).toEqual(['completed', response.conversation]);
    return response;
  };
  const ended = await Promise.all(readers.map(comeBack));
  clock.stop();
  expect(ended[8].output).toMatchObject([
    { type: 'message', status: 'completed' },
    { type: 'server_tool_call', status: 'completed' },
    { type: 'server_tool_call_output', status: 'completed', output: 'found' },
    { type: 'message', status: 'completed' },
  ]);
  // The same call, identified by its key.
  const [once, again] = world.api.requests.map(({ headers }) => headers['idempotency-key']);
  expect([again, world.api.requests.length]).toEqual([once, 2]);
  expect((await ann.get(`${path}/${busy.id}`)).body.status).toBe('failed');
  expect((await ann.get(`${path}/${paused.id}`)).body).toEqual(whenPaused);
  expect((await ann.post(`${path}/${paused.id}/resume`)).body).toMatchObject({
    status: 'completed',
    output: [{ status: 'incomplete' }, { content: [{ text: 'Here.' }] }],
  });
  walk(eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${paused.id}?stream=true`))));
  for (const request of upstream.requests.slice(asked)) expectAccepted(request);
});
