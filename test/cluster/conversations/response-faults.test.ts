import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SseFrame, TestClient } from '../../support/client.ts';
import { startClock, timed } from '../../support/processes/clock.ts';
import { type Cluster, clusterLeaseMs, type Instance, startCluster } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { eventsOf, type WireEvent, walk } from '../../support/runs/response-walk.ts';
import { testServerUrl } from '../../support/storage/databases.ts';
import { heldAnswer, never, type UpstreamRequest } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Faults of several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('when an instance or the database fails', faultsOfInstances);

function faultsOfInstances(): void {
  const path = '/api/v2/responses';
  const model = 'openai/test-model';
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  const text = Array.from({ length: 12 }, (_, n) => `w${n} `);
  const slow = { text, chunkDelayMs: 100, usage };
  let cluster: Cluster;
  let tables: Client;
  let a: Instance;
  let b: Instance;
  let atA: TestClient;
  let atB: TestClient;

  beforeAll(async () => {
    cluster = await startCluster();
    tables = new Client({ connectionString: cluster.databaseUrl });
    [a, b] = await Promise.all([cluster.start(), cluster.start(), tables.connect()]);
    [atA, atB] = [a.client(), b.client()];
  });
  beforeEach(() => {
    cluster.upstream.reset();
    cluster.upstream.otherwise({ text: 'Done.', usage });
  });
  afterEach(() => {
    cluster.database.restore();
    // A failed test may have left the process stopped.
    a.process.signal('SIGCONT');
  });
  afterAll(async () => {
    await tables.end();
    await cluster.close();
  });

  const get = async (who: TestClient, id: string): Promise<WireEvent> => (await who.get(`${path}/${id}`)).body;
  const create = async (who: TestClient, input: string, members: Record<string, unknown> = {}): Promise<WireEvent> =>
    (await who.post(path, { model, input, background: true, ...members })).body;
  const spoken = (who: TestClient, id: string) =>
    eventually(async () => expect((await get(who, id)).output[0]?.content?.[0]?.text ?? '').not.toBe(''));
  const log = async (who: TestClient, id: string) => eventsOf(await Array.fromAsync(who.sse('GET', `${path}/${id}?stream=true`)));
  /** Reads the stream of a response, or of a new one. */
  const reader = (who: TestClient, id: string | undefined, body: Record<string, unknown> = {}) => {
    const frames: SseFrame[] = [];
    const stream =
      id === undefined ? who.sse('POST', path, { model, stream: true, ...body }) : who.sse('GET', `${path}/${id}?stream=true`);
    const done = (async () => {
      for await (const frame of stream) frames.push(frame);
    })();
    return { frames, done };
  };
  const messagesAsked = (request: UpstreamRequest | undefined) =>
    ((request?.body?.messages ?? []) as { role: string; content: string }[]).map(({ role, content }) => `${role}: ${content}`);
  const charges = async (id: string): Promise<number> =>
    (await tables.query<{ count: number }>('select count(*)::int as count from usage_entries where "runId" = $1', [id])).rows[0]
      ?.count ?? 0;
  const rowsOf = async (id: string): Promise<string> => {
    const { rows } = await tables.query(
      `select e."firstSequence", e.events::text from run_event_batches e where "runId" = $1 order by 1`,
      [id],
    );
    return JSON.stringify(rows);
  };
  const messagesOf = async (id: string): Promise<readonly string[]> => {
    const { rows } = await tables.query<{ text: string }>(
      `select role || ': ' || content as text from messages where "runId" = $1 order by ordinal`,
      [id],
    );
    return rows.map(({ text }) => text);
  };
  const ownerOf = async (id: string) =>
    (await tables.query('select "leaseOwner" from runs where id = $1', [id])).rows[0]?.leaseOwner;

  /** Stops A while it is in no statement: a stopped process that holds a row lock is another test. */
  async function stopA(): Promise<void> {
    await eventually(async () => {
      a.process.signal('SIGSTOP');
      const { rows } = await tables.query(
        `select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
      );
      if (rows.length > 0) a.process.signal('SIGCONT');
      expect(rows).toEqual([]);
    });
  }

  describe('an instance that is stopped and goes on later', () => {
    it('cannot write what another one cut by force, and is charged for once', async () => {
      const { script, goOn } = heldAnswer({ text, usage });
      cluster.upstream.next(script);
      const first = await create(atA, 'A');
      await spoken(atB, first.id);
      await stopA();
      const forced = { conversation: first.conversation.id, thread_mode: 'force', background: false };
      const { result: second, elapsedMs } = await timed(() => create(atB, 'B', forced));
      expect(second.status).toBe('completed');
      expect(elapsedMs).toBeLessThan(2_000);
      const [cut, events] = [await get(atB, first.id), await rowsOf(first.id)];
      expect(cut).toMatchObject({ status: 'cancelled', incomplete_details: null });
      goOn();
      a.process.signal('SIGCONT');
      // By now A has read the whole answer of the model, and its write was refused.
      await cluster.upstream.until(({ openStreams }) => openStreams === 0);
      await eventually(async () => expect((await atA.get('/readyz')).status).toBe(200));
      expect(await get(atA, first.id)).toEqual(cut);
      const third = await create(atA, 'C', { conversation: first.conversation.id, background: false });
      expect(third.status).toBe('completed');
      expect(await rowsOf(first.id)).toBe(events);
      expect(await messagesOf(first.id)).toEqual(['user: A']);
      expect(messagesAsked(cluster.upstream.requests[2])).toEqual(['user: A', 'user: B', 'assistant: Done.', 'user: C']);
      // Each instance writes its ledger rows in its own time.
      await eventually(async () => expect([await charges(second.id), await charges(third.id)]).toEqual([1, 1]));
      expect(await charges(first.id)).toBeLessThanOrEqual(1);
      walk(await log(atA, first.id));
    });

    it('before its model has answered is replaced, and what it had asked for is not charged too', async () => {
      const gate = Promise.withResolvers<void>();
      cluster.upstream.next({ text, usage, gate: gate.promise });
      const response = await create(atA, 'A');
      await cluster.upstream.until(({ requests }) => requests.length === 1);
      const owner = await ownerOf(response.id);
      await stopA();
      gate.resolve();
      await eventually(async () => expect((await get(atB, response.id)).status).toBe('completed'), clusterLeaseMs + 10_000);
      const [done, events] = [await get(atB, response.id), await rowsOf(response.id)];
      expect(owner).toMatch(/./);
      a.process.signal('SIGCONT');
      await cluster.upstream.until(({ openStreams }) => openStreams === 0);
      await eventually(async () => expect((await atA.get('/readyz')).status).toBe(200));
      const next = await create(atA, 'B', { conversation: response.conversation.id, background: false });
      await eventually(async () => expect(await charges(next.id)).toBe(1));
      expect([await get(atA, response.id), await rowsOf(response.id)]).toEqual([done, events]);
      await eventually(async () => expect(await charges(response.id)).toBe(1));
      expect(await messagesOf(response.id)).toEqual(['user: A', 'assistant: Done.']);
    });
  });

  it('an instance that is stopped in its second step: another one repeats this step, and each step is reported and charged once', {
    timeout: 120_000,
  }, async () => {
    const gate = Promise.withResolvers<void>();
    const toolCalls = [{ id: 'call_1', name: 'python', arguments: '{"code":"print(3)"}' }];
    cluster.upstream.next({ toolCalls, usage }, { text, usage, gate: gate.promise });
    const { id, conversation } = await create(atA, 'A', { tools: [{ type: 'python' }] });
    await cluster.upstream.until(({ requests }) => requests.length === 2, 30_000);
    await eventually(async () => expect((await get(atB, id)).output).toHaveLength(2));
    await stopA();
    const ended = await eventually(async () => {
      const response = await get(atB, id);
      expect(response.status).toBe('completed');
      return response;
    }, clusterLeaseMs + 10_000);
    expect([ended.usage.input_tokens, ended.usage.output_tokens]).toEqual([20, 10]);
    gate.resolve();
    a.process.signal('SIGCONT');
    await cluster.upstream.until(({ openStreams }) => openStreams === 0, 30_000);
    await eventually(async () => expect((await atA.get('/readyz')).status).toBe(200));
    for (const who of [atA, atB]) {
      const next = await create(who, 'B', { conversation: conversation.id, background: false });
      await eventually(async () => expect(await charges(next.id)).toBe(1));
    }
    expect([await charges(id), await get(atA, id)]).toEqual([2, ended]);
    walk(await log(atA, id));
  });

  it('an outage of the database delays streams at both instances, which recover within ten seconds', async () => {
    const { script, goOn } = heldAnswer({ text, usage });
    cluster.upstream.next(script);
    const response = await create(atA, 'A');
    await spoken(atB, response.id);
    const [here, there] = [reader(atA, response.id), reader(atB, response.id)];
    await eventually(() => expect(Math.min(here.frames.length, there.frames.length)).toBeGreaterThan(4));
    cluster.database.cut();
    for (const who of [atA, atB]) {
      await eventually(async () => expect((await who.get('/readyz')).status).toBe(503), 3_000);
      const refused = await who.post(path, { model, input: 'Not now' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    }
    // Text that A gets while it cannot write is not lost.
    goOn();
    cluster.database.restore();
    const clock = startClock();
    for (const who of [atA, atB]) {
      await eventually(async () => expect((await who.get('/readyz')).status).toBe(200));
      expect((await create(who, 'B', { background: false })).status).toBe('completed');
    }
    expect(clock.elapsedMs()).toBeLessThan(10_000);
    clock.stop();
    await Promise.all([here.done, there.done]);
    expect(there.frames).toEqual(here.frames);
    expect(['completed', 'failed']).toContain(walk(eventsOf(here.frames)).status);
    const next = await create(atB, 'C', { conversation: response.conversation.id, background: false });
    expect(next.status).toBe('completed');
    // Wait until signals pass between the instances again: without them B sees A's events once a second.
    await eventually(async () => {
      cluster.upstream.next(slow);
      const { id } = await create(atA, 'D');
      const times: number[] = [];
      for await (const _frame of atB.sse('GET', `${path}/${id}?stream=true`)) times.push(performance.now());
      const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      expect(Math.max(...waits)).toBeLessThan(700);
    });
  });

  it('a key that is revoked at A is refused at B within a second, and its streams there end within five', async () => {
    const made = (await atA.post('/api/v1/api-keys', { name: 'Short-lived', scopes: ['CHATS:WRITE', 'CHATS:READ'] })).body;
    const own = b.client(made.key);
    cluster.upstream.next({ text, usage, restGate: never });
    const response = await create(own, 'A');
    await spoken(own, response.id);
    const readers = [reader(own, response.id), reader(own, undefined, { input: 'Hi', conversation: response.conversation.id })];
    await eventually(() => expect(Math.min(...readers.map(({ frames }) => frames.length))).toBeGreaterThan(1));
    expect((await atA.delete(`/api/v1/api-keys/${made.id}`)).status).toBe(200);
    const clock = startClock();
    await eventually(async () => expect((await own.get(`${path}/${response.id}`)).status).toBe(401), 1_000);
    for (const { frames, done } of readers) {
      await done;
      expect(frames.at(-1)?.data).toBe('[DONE]');
      expect(JSON.parse(frames.at(-2)?.data ?? '{}')).toMatchObject({ type: 'error', error: { code: 'invalid_api_key' } });
    }
    expect(clock.elapsedMs()).toBeLessThan(5_000);
    clock.stop();
    await atA.post(`${path}/${response.id}/cancel`);
  });

  // This test is the last one, because it leaves B alone.
  it('an instance that is killed: its response ends for readers at the other instance, and the next turn works', async () => {
    cluster.upstream.next({ ...slow, chunkDelayMs: 40, hangAtByte: 1_500 });
    const response = await create(atA, 'A');
    await spoken(atB, response.id);
    const following = log(atB, response.id);
    await a.process.kill('SIGKILL');
    const { result: events, elapsedMs } = await timed(() => following);
    expect(elapsedMs).toBeLessThan(clusterLeaseMs + 10_000);
    const end = walk(events);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'server_error' }, output: [{ status: 'incomplete' }] });
    expect(await get(atB, response.id)).toEqual(end);
    const next = await create(atB, 'B', { previous_response_id: response.id, background: false });
    expect(next).toMatchObject({ status: 'completed', conversation: response.conversation });
    await eventually(async () => expect(await charges(next.id)).toBe(1));
    expect(await charges(response.id)).toBeLessThanOrEqual(1);
  });
}
