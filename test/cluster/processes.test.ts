import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type SseFrame, TestClient } from '../support/client.ts';
import { addFile, indexed, longText } from '../support/knowledge/knowledge.ts';
import { startClock } from '../support/processes/clock.ts';
import { eventually } from '../support/processes/eventually.ts';
import { killProcesses, type ParleyProcess, startProcess } from '../support/processes/process.ts';
import { allProcesses } from '../support/processes/process-table.ts';
import { copyOf, type Place, testServerUrl } from '../support/storage/databases.ts';
import { heldAnswer, startUpstream, type Upstream } from '../support/upstream.ts';

const adminKey = 'pk-test-administrator-key-of-40-characters';
const count = 3;
const leaseMs = 5_000;
/** As many as a list without pages shows of three rounds. */
const groupsMax = 200;

describe(`a service of three processes, ${testServerUrl === undefined ? 'on the embedded database' : 'on a server'}`, () => {
  const perMinute = 600;
  let place: Place;
  let upstream: Upstream;
  let env: Readonly<Record<string, string>>;
  let parley: ParleyProcess;
  let client: TestClient;
  let agentId: string;

  beforeAll(async () => {
    place = await copyOf(inject('template'));
    upstream = await startUpstream();
    env = {
      ...place.env,
      PARLEY_ADMIN_KEY: adminKey,
      OPENAI_BASE_URL: upstream.url,
      DEFAULT_MODEL: 'openai/test-model',
      MODEL_RETRIES_MAX: '0',
      RUN_LEASE_MS: String(leaseMs),
      LOG_LEVEL: 'info',
      PROCESSES: String(count),
      DATABASE_POOL_MAX: '6',
      RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: '0',
      RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION: '0',
    };
    await start();
    const { body } = await client.post('/api/v1/ais', { name: 'Ada', src: '', description: 'Knows', instructions: 'Answer.' });
    agentId = body.id;
  });
  afterEach(() => upstream.reset());
  afterAll(async () => {
    await killProcesses();
    await upstream.close();
    await place.remove();
  });

  async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    parley = startProcess({ ...env, ...more });
    const url = await parley.url();
    client = new TestClient(() => url, adminKey);
  }
  /** Those that serve. */
  const servers = () => below('--process=');
  /** Processes of the service with this argument. */
  const below = (argument: string) =>
    allProcesses()
      .filter(({ parentId, id }) => parentId === parley.pid && argumentsOf(id).includes(argument))
      .map(({ id }) => id);
  const newChat = async () => (await client.post(`/api/v1/ais/${agentId}/chats`)).body.id as string;
  /** On a connection of its own, to any of the processes. */
  const apart = { connection: 'close' };

  /** Reads a message's stream, and goes on at any process when it breaks off, until its end. */
  function read(chatId: string) {
    const frames: SseFrame[] = [];
    const runId = async () => {
      const { body } = await client.get(`/api/v1/chats/${chatId}`);
      return (body.activeRunId ?? JSON.parse(frames[0]?.data ?? '{}').runId) as string;
    };
    const done = (async () => {
      try {
        for await (const frame of client.sse('POST', `/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true }, apart))
          frames.push(frame);
      } catch {
        // Its process was killed.
      }
      const clock = startClock();
      while (frames.at(-1)?.event !== 'done' && clock.elapsedMs() < 60_000) {
        const last = frames.findLast(({ id }) => id !== undefined)?.id;
        const headers: Record<string, string> = last === undefined ? apart : { ...apart, 'last-event-id': last };
        try {
          const path = `/api/v1/chats/${chatId}/runs/${await runId()}/events`;
          for await (const frame of client.sse('GET', path, undefined, headers)) frames.push(frame);
        } catch {
          // The process that takes its place does not serve yet.
        }
      }
      clock.stop();
    })();
    return { frames, done };
  }

  it('says so once, and serves its metrics together, whichever process is asked', async () => {
    expect(parley.output().match(/listens on/g)).toHaveLength(1);
    expect(parley.output()).toContain(`, ${count} processes)`);
    for (let call = 0; call < count; call += 1) {
      const { body } = await client.get('/metrics', apart);
      for (let number = 1; number <= count; number += 1) expect(body).toContain(`parley_signals_live{process="${number}"} 1`);
      expect(String(body).match(/^# TYPE parley_signals_live /gm)).toHaveLength(1);
    }
    await eventually(async () => {
      expect((await client.get('/readyz', apart)).status).toBe(200);
      const numbers = new Set(parley.output().match(/"process":\d/g));
      expect([...numbers].sort()).toEqual(['"process":1', '"process":2', '"process":3']);
    });
  });

  it('shows a stream at each process while it happens, and after any of its events', async () => {
    const chatId = await newChat();
    const { script, goOn } = heldAnswer({ text: ['a', 'b', 'c', 'd', 'e'] });
    upstream.next(script);
    const here = read(chatId);
    const runId = await eventually(async () => {
      const { activeRunId } = (await client.get(`/api/v1/chats/${chatId}`)).body;
      expect(activeRunId).toMatch(/^run_/);
      return activeRunId as string;
    });
    const path = `/api/v1/chats/${chatId}/runs/${runId}/events`;
    const follow = (headers: Record<string, string>) => Array.fromAsync(client.sse('GET', path, undefined, headers));
    const followers = Array.from({ length: 2 * count }, () => follow(apart));
    await eventually(() => expect(here.frames.length).toBeGreaterThan(1));
    goOn();
    await here.done;
    for (const frames of await Promise.all(followers)) expect(frames).toEqual(here.frames);
    const last = here.frames[3]?.id ?? '';
    for (let call = 0; call < count; call += 1)
      expect(await follow({ ...apart, 'last-event-id': last })).toEqual(here.frames.slice(4));
  });

  it('cancels a run at any process, and forgets a key at all of them', async () => {
    const chatId = await newChat();
    upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 });
    const { frames, done } = read(chatId);
    await upstream.until(({ openStreams }) => openStreams === 1);
    const { activeRunId } = (await client.get(`/api/v1/chats/${chatId}`, apart)).body;
    const cancelled = await client.post(`/api/v1/chats/${chatId}/runs/${activeRunId}/cancel`, undefined, apart);
    expect(cancelled.body).toMatchObject({ status: 'cancelled' });
    await done;
    expect(frames.at(-2)?.event).toBe('run.cancelled');
    const { body: key } = await client.post('/api/v1/api-keys', { name: 'K', scopes: ['AGENTS:READ'] });
    const other = new TestClient(() => client.url, key.key);
    const statuses = () =>
      Promise.all(Array.from({ length: 2 * count }, async () => (await other.get('/api/v1/ais', apart)).status));
    expect(new Set(await statuses())).toEqual(new Set([200]));
    await client.delete(`/api/v1/api-keys/${key.id}`);
    await eventually(async () => expect(new Set(await statuses())).toEqual(new Set([401])), 2_000);
  });

  it('starts each process again that is killed, and loses nothing by it', { timeout: 180_000 }, async () => {
    for (const victim of servers()) {
      const acknowledged: string[] = [];
      let isOver = false;
      const writing = (async () => {
        while (!isOver && acknowledged.length < groupsMax) {
          await wait(25);
          const name = `Group ${acknowledged.length} of ${victim}`;
          const reply = await client
            .post('/api/v1/groups', { name, availability: 'EVERYONE', memberEmails: '' }, apart)
            .catch(() => undefined);
          if (reply?.status === 200) acknowledged.push(reply.body.id);
        }
      })();
      const chats = await Promise.all(Array.from({ length: count }, newChat));
      const answers = chats.map(() => heldAnswer({ text: ['a', 'b', 'c'] }));
      upstream.next(...answers.map(({ script }) => script));
      const streams = chats.map(read);
      const { body: source } = await addFile(client, agentId, `of-${victim}.md`, longText(40), 'text/markdown');
      await eventually(() => {
        for (const { frames } of streams) expect(frames.map(({ event }) => event)).toContain('message.delta');
        expect(acknowledged.length).toBeGreaterThan(5);
      });
      process.kill(victim, 'SIGKILL');
      for (const { goOn } of answers) goOn();
      await eventually(() => {
        expect(servers()).not.toContain(victim);
        expect(servers()).toHaveLength(count);
      });
      await Promise.all(streams.map(({ done }) => done));
      for (const { frames } of streams) {
        expect(frames.slice(-2).map(({ event }) => event)).toEqual([expect.stringMatching(/^run\.(completed|failed)$/), 'done']);
        const ids = frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
        expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index));
      }
      expect((await indexed(client, source.id)).indexStatus).toBe('INDEXED');
      isOver = true;
      await writing;
      for (const chatId of chats)
        expect((await client.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'On' })).status).toBe(200);
      const kept = new Set((await client.get('/api/v1/groups')).body.map(({ id }: { id: string }) => id));
      expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
      expect(parley.output()).toContain('"msg":"a process ended; another one takes its place"');
    }
    await eventually(() => expect(parley.output().match(/the process serves again/g)).toHaveLength(count));
  });

  it('lets replies end on SIGTERM, and leaves no process', async () => {
    const chats = await Promise.all(Array.from({ length: count }, newChat));
    upstream.otherwise({ text: ['a', 'b', 'c', 'd'], chunkDelayMs: 200 });
    const streams = chats.map(read);
    await eventually(() => {
      for (const { frames } of streams) expect(frames.length).toBeGreaterThan(0);
    });
    const all = below('');
    expect(await parley.kill('SIGTERM')).toBe(0);
    await Promise.all(streams.map(({ done }) => done));
    for (const { frames } of streams) expect(frames.slice(-2).map(({ event }) => event)).toEqual(['run.completed', 'done']);
    expect(allProcesses().filter(({ id }) => all.includes(id))).toEqual([]);
  });

  it('ends with its supervisor, whatever ended that, and starts again', async () => {
    await start();
    const all = below('');
    await parley.kill('SIGKILL');
    await eventually(() => expect(allProcesses().filter(({ id }) => all.includes(id))).toEqual([]), 5_000);
    await start();
    expect((await client.get(`/api/v1/ais/${agentId}`)).status).toBe(200);
    expect(await parley.kill('SIGTERM')).toBe(0);
  });

  it.runIf(testServerUrl === undefined)('ends with its supervisor also while the embedded database starts', async () => {
    parley = startProcess(env);
    const [owner = 0] = await eventually(() => {
      const owners = below('--owns-database');
      expect(owners).toHaveLength(1);
      return owners;
    });
    await parley.kill('SIGKILL');
    await eventually(() => expect(allProcesses().map(({ id }) => id)).not.toContain(owner), 5_000);
  });

  it.runIf(testServerUrl === undefined)('starts all anew when the process of the embedded database is killed', async () => {
    await start();
    const chats = await Promise.all(Array.from({ length: count }, newChat));
    const answers = chats.map(() => heldAnswer({ text: ['a', 'b', 'c'] }));
    upstream.next(...answers.map(({ script }) => script));
    const streams = chats.map(read);
    const acknowledged: string[] = [];
    await eventually(async () => {
      const { body } = await client.post('/api/v1/groups', { name: 'G', availability: 'EVERYONE', memberEmails: '' }, apart);
      acknowledged.push(body.id);
      for (const { frames } of streams) expect(frames.map(({ event }) => event)).toContain('message.delta');
    });
    const [owner = 0] = below('--owns-database');
    const all = servers();
    process.kill(owner, 'SIGKILL');
    for (const { goOn } of answers) goOn();
    await Promise.all(streams.map(({ done }) => done));
    for (const { frames } of streams) expect(frames.at(-1)?.event).toBe('done');
    await eventually(() => {
      expect(servers()).toHaveLength(count);
      expect(servers().filter((id) => all.includes(id))).toEqual([]);
    });
    const kept = new Set((await client.get('/api/v1/groups')).body.map(({ id }: { id: string }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(await parley.kill('SIGTERM')).toBe(0);
  });

  it('is refused as a whole, in words, when a process cannot start', async () => {
    const refused = startProcess({
      ...env,
      PARLEY_MASTER_KEY: 'another master key than that of the data',
      DEFAULT_MODEL: 'openai/none',
    });
    expect(await refused.ended()).toBe(1);
    expect(refused.output()).toMatch(/^Parley cannot start/);
    expect(refused.output().match(/cannot start/g)).toHaveLength(1);
  });

  it('shares a limit of requests', async () => {
    await start({ RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: String(perMinute) });
    const callers = 4 * count;
    const reportsAt = perMinute / 60;
    const exhaust = async () => {
      for (let allowed = 0; ; allowed += 1) if ((await client.get('/api/v1/ais/none')).status === 429) return allowed;
    };
    const clock = startClock();
    const allowed = (await Promise.all(Array.from({ length: callers }, exhaust))).reduce((sum, each) => sum + each, 0);
    const grown = (clock.elapsedMs() / 60_000) * perMinute;
    clock.stop();
    expect(allowed).toBeGreaterThanOrEqual(perMinute - count * reportsAt);
    // Each process may admit what it has not reported yet, and what arrives while it reports.
    expect(allowed).toBeLessThanOrEqual(perMinute + grown + 3 * (count * reportsAt + callers));
    expect(await parley.kill('SIGTERM')).toBe(0);
  });
});

/** Empty for a process that has ended meanwhile. */
function argumentsOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
