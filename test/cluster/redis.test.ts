import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { SseFrame, TestClient } from '../support/client.ts';
import { startTcpProxy, type TcpProxy } from '../support/egress/tcp-proxy.ts';
import { makeFor, type Person } from '../support/make.ts';
import { timed } from '../support/processes/clock.ts';
import { clusterLeaseMs } from '../support/processes/cluster.ts';
import { eventually } from '../support/processes/eventually.ts';
import { startService, type TestService } from '../support/service.ts';
import { copyOf, type Place } from '../support/storage/databases.ts';
import { canTestRedis, startRedis, type TestRedis, whyNoRedis } from '../support/storage/redis.ts';
import { heldAnswer, startUpstream, type Upstream } from '../support/upstream.ts';

if (!canTestRedis) {
  console.info(whyNoRedis);
  it('Redis is not there', () => expect(canTestRedis).toBe(false));
} else describe('three instances with one Redis', instancesWithRedis);

function instancesWithRedis(): void {
  let place: Place;
  let upstream: Upstream;
  let redis: TestRedis;
  /** Between the third instance and Redis. */
  let proxy: TcpProxy;
  let one: TestService;
  let two: TestService;
  let three: TestService;
  let make: ReturnType<typeof makeFor>;
  let ann: Person;
  let agentId: string;

  beforeAll(async () => {
    place = await copyOf(inject('template'));
    upstream = await startUpstream();
    redis = await startRedis();
    proxy = await startTcpProxy(redis.port, '127.0.0.1', 'anything');
    const { DATA_DIR: _own, ...shared } = place.env;
    const env = {
      ...shared,
      ...{ OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model', RUN_LEASE_MS: String(clusterLeaseMs) },
      ...{ REDIS_URL: redis.url, LOG_LEVEL: 'fatal', RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: '6000' },
    };
    one = await startService({ env });
    two = await startService({ env });
    three = await startService({ env: { ...env, REDIS_URL: `redis://127.0.0.1:${proxy.port}` } });
    make = makeFor(one);
    ann = await make.person();
    agentId = (await make.agent({ owner: ann })).id;
  });
  beforeEach(async () => {
    upstream.reset();
    await live();
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close(), three.close()]);
    await upstream.close();
    await proxy.close();
    await redis.close();
    await place.remove();
  });

  const live = () =>
    eventually(async () => {
      for (const instance of [one, two, three]) expect((await instance.nobody.get('/readyz')).body).toEqual({ status: 'ready' });
    });
  const newChat = async () => (await ann.post(`/api/v1/ais/${agentId}/chats`)).body.id as string;
  const activeRun = (chatId: string) =>
    eventually(async () => {
      const { activeRunId } = (await ann.get(`/api/v1/chats/${chatId}`)).body;
      expect(activeRunId).toMatch(/^run_/);
      return activeRunId as string;
    });
  /** The frames of a run on another instance, until its end. */
  async function follow(who: TestClient, chatId: string, runId: string, onFrame: (frame: SseFrame) => void, last?: string) {
    const frames: SseFrame[] = [];
    const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
    for await (const frame of who.sse('GET', `/api/v1/chats/${chatId}/runs/${runId}/events`, undefined, headers)) {
      frames.push(frame);
      onFrame(frame);
    }
    return frames;
  }

  it('show the same stream wherever it is followed, while it happens, and from any number on', async () => {
    const chatId = await newChat();
    const { script, goOn } = heldAnswer({ text: ['a', 'b', 'c', 'd', 'e'] });
    upstream.next(script);
    const here = ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
    const runId = await activeRun(chatId);
    // The rest is said only after another instance has seen the first word.
    const there = await follow(two.client(ann.key), chatId, runId, ({ event }) => event === 'message.delta' && goOn());
    expect(there).toEqual(await here);
    const later = await follow(three.client(ann.key), chatId, runId, () => {}, there[3]?.id);
    expect(later).toEqual(there.slice(4));
  });

  it('give words to followers elsewhere without reading the database', async () => {
    const chatId = await newChat();
    upstream.next({ text: Array.from({ length: 60 }, (_, index) => `word ${index} `), chunkDelayMs: 50 });
    const here = ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
    const runId = await activeRun(chatId);
    let reads = 0;
    const { runs } = two.deps.storage.conversations;
    const readEvents = runs.readEvents.bind(runs);
    Object.assign(runs, {
      readEvents: (...args: Parameters<typeof readEvents>) => {
        reads += 1;
        return readEvents(...args);
      },
    });
    const writes = new Set<string>();
    const there = await follow(
      two.client(ann.key),
      chatId,
      runId,
      ({ event, id }) => event === 'message.delta' && writes.add(String(id)),
    );
    Object.assign(runs, { readEvents });
    expect(there).toEqual(await here);
    // At its beginning, its end, and when nothing comes for a second.
    expect(reads).toBeLessThan(10);
    expect(writes.size).toBeGreaterThan(20);
  });

  it('cancel each other’s runs within two seconds', async () => {
    const chatId = await newChat();
    upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 });
    const here = ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
    const runId = await activeRun(chatId);
    await upstream.until(({ openStreams }) => openStreams === 1);
    const { elapsedMs } = await timed(async () => {
      const cancelled = await two.client(ann.key).post(`/api/v1/chats/${chatId}/runs/${runId}/cancel`);
      expect(cancelled.body).toMatchObject({ status: 'cancelled' });
      expect((await here).at(-2)?.event).toBe('run.cancelled');
    });
    expect(elapsedMs).toBeLessThan(2_000);
  });

  /** A key that was used at every instance is revoked at the first. @returns the time until all refuse it. */
  async function revoke(): Promise<number> {
    const scopes = ['AGENTS:READ'];
    const made = (await ann.post('/api/v1/api-keys', { name: 'Report', scopes })).body;
    for (const { status } of await Promise.all([two, three].map((instance) => instance.client(made.key).get('/api/v1/ais'))))
      expect(status).toBe(200);
    expect((await ann.delete(`/api/v1/api-keys/${made.id}`)).status).toBeLessThan(300);
    const { elapsedMs } = await timed(() =>
      eventually(async () => {
        for (const instance of [two, three]) expect((await instance.client(made.key).get('/api/v1/ais')).status).toBe(401);
      }),
    );
    return elapsedMs;
  }

  it('refuse a revoked key everywhere within a second', async () => {
    expect(await revoke()).toBeLessThan(1_000);
  });

  describe.each([
    ['killed', { lose: () => redis.kill(), find: () => redis.restart() }],
    ['frozen', { lose: async () => redis.freeze(), find: async () => redis.thaw() }],
    ['cut off from one', { lose: async () => proxy.cut(), find: async () => proxy.restore() }],
  ] as const)('Redis is %s', (_how, { lose, find }) => {
    it('in the middle of a stream: no gap, no repeat, the end is seen, and all goes on', async () => {
      const chatId = await newChat();
      upstream.next({ text: Array.from({ length: 80 }, (_, index) => `word ${index} `), chunkDelayMs: 100 });
      const here = ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
      const runId = await activeRun(chatId);
      let deltas = 0;
      const steps = Promise.withResolvers<void>();
      const after = async ({ event }: SseFrame) => {
        if (event !== 'message.delta') return;
        deltas += 1;
        if (deltas === 5) await lose();
        if (deltas !== 10) return;
        // It goes on while Redis is lost, and while it comes back.
        expect((await three.nobody.get('/readyz')).status).toBe(200);
        await find();
      };
      const there = follow(three.client(ann.key), chatId, runId, (frame) => void after(frame).catch(steps.reject));
      steps.resolve();
      expect(await there).toEqual(await here);
      await steps.promise;
      expect(deltas).toBeGreaterThan(10);
      await live();
    });

    it('while a run is cancelled and a key is revoked elsewhere', async () => {
      const chatId = await newChat();
      upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 });
      const here = ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
      const runId = await activeRun(chatId);
      await upstream.until(({ openStreams }) => openStreams === 1);
      await lose();
      try {
        await eventually(async () =>
          expect((await three.nobody.get('/readyz')).body).toMatchObject({
            status: 'ready',
            degraded: expect.stringContaining('Redis does not answer'),
          }),
        );
        const cancelled = await three.client(ann.key).post(`/api/v1/chats/${chatId}/runs/${runId}/cancel`);
        expect(cancelled.body).toMatchObject({ status: 'cancelled' });
        expect((await here).at(-2)?.event).toBe('run.cancelled');
        // The database is read twice a second.
        expect(await revoke()).toBeLessThan(2_000);
      } finally {
        await find();
      }
      await live();
    });
  });
}
