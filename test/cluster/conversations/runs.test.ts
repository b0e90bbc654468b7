import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type SseFrame, TestClient } from '../../support/client.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { timed } from '../../support/processes/clock.ts';
import { clusterLeaseMs } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { startProcess } from '../../support/processes/process.ts';
import { startService, type TestService } from '../../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';
import { heldAnswer, startUpstream, type Upstream } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('two instances on one database', runsOnTwoInstances);

function runsOnTwoInstances(): void {
  let place: Place;
  let upstream: Upstream;
  let one: TestService;
  let two: TestService;
  let ann: Person;
  let annAtTwo: TestClient;
  let agentId: string;

  beforeAll(async () => {
    place = await copyOf(inject('template'));
    upstream = await startUpstream();
    one = await startService({ env: env() });
    two = await startService({ env: env() });
    const make = makeFor(one);
    ann = await make.person();
    annAtTwo = two.client(ann.key);
    agentId = (await make.agent({ owner: ann })).id;
  });
  beforeEach(() => upstream.reset());
  afterAll(async () => {
    await Promise.all([one.close(), two.close()]);
    await upstream.close();
    await place.remove();
  });

  function env(): Record<string, string> {
    const { DATA_DIR: _own, ...shared } = place.env;
    return { ...shared, OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model', RUN_LEASE_MS: String(clusterLeaseMs) };
  }
  const newChat = async () => (await ann.post(`/api/v1/ais/${agentId}/chats`)).body.id as string;

  /** The frames of a run on another instance, until its end. */
  async function follow(who: TestClient, chatId: string, runId: string, last?: string) {
    const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
    const frames = [];
    for await (const frame of who.sse('GET', `/api/v1/chats/${chatId}/runs/${runId}/events`, undefined, headers))
      frames.push(frame);
    return frames;
  }
  const activeRun = (chatId: string) =>
    eventually(async () => {
      const { activeRunId } = (await annAtTwo.get(`/api/v1/chats/${chatId}`)).body;
      expect(activeRunId).toMatch(/^run_/);
      return activeRunId as string;
    });

  it('show the same stream wherever it is followed, while it happens', async () => {
    const chatId = await newChat();
    const { script, goOn } = heldAnswer({ text: ['a', 'b', 'c', 'd', 'e'] });
    upstream.next(script);
    const here = ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
    const runId = await activeRun(chatId);
    const there: SseFrame[] = [];
    for await (const frame of annAtTwo.sse('GET', `/api/v1/chats/${chatId}/runs/${runId}/events`)) {
      there.push(frame);
      // Send the rest only after the other instance has seen the first word.
      if (frame.event === 'message.delta') goOn();
    }
    expect(there).toEqual(await here);
    expect(await follow(annAtTwo, chatId, runId, there[3]?.id)).toEqual(there.slice(4));
  });

  it('cancel each other’s runs within two seconds', async () => {
    const chatId = await newChat();
    upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 });
    const here = ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
    const runId = await activeRun(chatId);
    await upstream.until(({ openStreams }) => openStreams === 1);
    const { elapsedMs } = await timed(async () => {
      expect((await annAtTwo.post(`/api/v1/chats/${chatId}/runs/${runId}/cancel`)).body).toMatchObject({ status: 'cancelled' });
      expect((await here).at(-2)?.event).toBe('run.cancelled');
    });
    expect(elapsedMs).toBeLessThan(2_000);
  });

  it('take over what a killed instance was answering', async () => {
    const third = startProcess({ ...env(), DATA_DIR: place.env.DATA_DIR ?? '', LOG_LEVEL: 'warn' });
    const url = await third.url();
    const chatId = await newChat();
    upstream.next({ text: ['Half', ' of it', ' never'], chunkDelayMs: 100, hangAtByte: 700 }, { text: 'Next' });
    const atThird = new TestClient(() => url, ann.key);
    let runId = '';
    for await (const frame of atThird.sse('POST', `/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true })) {
      runId = JSON.parse(frame.data).runId;
      if (frame.event === 'message.delta') break;
    }
    await third.kill('SIGKILL');
    const { result: frames, elapsedMs } = await timed(() => follow(annAtTwo, chatId, runId));
    expect(frames.slice(-2).map(({ event }) => event)).toEqual(['run.failed', 'done']);
    expect(elapsedMs).toBeLessThan(clusterLeaseMs + 10_000);
    expect((await annAtTwo.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'On' })).body).toMatchObject({
      message: { content: 'Next' },
    });
  });
}
