import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type SseFrame, TestClient } from '../support/client.ts';
import { copyOf, type Place } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { killProcesses, startProcess } from '../support/process.ts';
import { eventsOf, type WireEvent, walk } from '../support/response-walk.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const key = 'chosen-by-the-operator-40-characters-long';
const path = '/api/v2/responses';
const model = 'openai/test-model';
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

async function launch() {
  const env = { PARLEY_ADMIN_KEY: key, OPENAI_BASE_URL: upstream.url, RUN_LEASE_MS: '2000', LOG_LEVEL: 'warn' };
  const parley = startProcess({ ...place.env, ...env });
  const url = await parley.url();
  return { parley, ann: new TestClient(() => url, key) };
}

describe('a server that is killed in mid-stream', { timeout: 60_000 }, () => {
  it('shows every event exactly once to a reader that comes back, and ends the response', async () => {
    upstream.next(
      { text: Array.from({ length: 50 }, (_, n) => `w${n} `), chunkDelayMs: 40, hangAtByte: 3_000 },
      { text: 'Next.' },
    );
    const first = await launch();
    const seen: SseFrame[] = [];
    const input = 'Tell me';
    for await (const frame of first.ann.sse('POST', path, { model, input, stream: true })) {
      seen.push(frame);
      if (seen.length === 9) break;
    }
    // A reader that left would be a reason to stop: the server must be gone before it notices.
    await first.parley.kill('SIGKILL');

    const { ann } = await launch();
    const known = seen.map(({ data }) => JSON.parse(data) as WireEvent);
    const { id } = known[0].response;
    const rest = eventsOf(
      await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true&starting_after=${known.at(-1).sequence_number}`)),
    );
    const response = walk([...known, ...rest]);
    expect(['failed', 'cancelled']).toContain(response.status);
    expect(response.output[0]).toMatchObject({ status: 'incomplete', content: [{ text: expect.stringMatching(/^w0 /) }] });
    expect((await ann.get(`${path}/${id}`)).body).toEqual(response);
    const next = await ann.post(path, { model, input: 'Go on', previous_response_id: id });
    expect(next.body.status).toBe('completed');
  });

  it('begins again what had said nothing, lets what waited have its turn, and keeps what was paused', async () => {
    upstream.next({ text: ['Half ', 'of ', 'it '], chunkDelayMs: 80, hangAtByte: 600 });
    const first = await launch();
    const background = (input: string, members = {}) => first.ann.post(path, { model, input, background: true, ...members });
    const paused = (await background('P')).body;
    await eventually(async () => expect((await first.ann.get(`${path}/${paused.id}`)).body.output).toHaveLength(1));
    await first.ann.post(`${path}/${paused.id}/pause`);
    upstream.next({ headDelayMs: 60_000 }, { text: 'Here.' }, { text: 'There.' }, { text: 'Whole.' });
    const a = (await background('A')).body;
    await upstream.until(({ requests }) => requests.length === 2);
    const b = (await background('B', { conversation: a.conversation.id })).body;
    await first.parley.kill('SIGKILL');

    const { ann } = await launch();
    const ended = (id: string) =>
      eventually(async () => {
        const { body } = await ann.get(`${path}/${id}`);
        expect(body.status).toBe('completed');
        return body;
      }, 20_000);
    expect((await ended(a.id)).output[0].content[0].text).toBe('Here.');
    expect((await ended(b.id)).output[0].content[0].text).toBe('There.');
    const resumed = await ann.post(`${path}/${paused.id}/resume`);
    expect(resumed.body).toMatchObject({
      status: 'completed',
      output: [{ status: 'incomplete' }, { content: [{ text: 'Whole.' }] }],
    });
    for (const id of [a.id, b.id, paused.id]) walk(eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true`))));
  });
});
