import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type SseFrame, TestClient } from '../support/client.ts';
import { copyOf, type Place } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { killProcesses, startProcess } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const limitMs = 60_000;
const graceMs = 3_000;
const key = 'chosen-by-the-operator-40-characters-long';

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

async function launch(env: Readonly<Record<string, string>> = {}) {
  const parley = startProcess({
    ...place.env,
    PARLEY_ADMIN_KEY: key,
    OPENAI_BASE_URL: upstream.url,
    DEFAULT_MODEL: 'openai/test-model',
    LOG_LEVEL: 'warn',
    ...env,
  });
  const url = await parley.url();
  const ann = new TestClient(() => url, key);
  const agent = await ann.post('/api/v1/ais', { src: 'x', name: 'Ada', description: 'Knows', instructions: 'Be brief.' });
  const chat = await ann.post(`/api/v1/ais/${agent.body.id}/chats`);
  return { parley, ann, chatId: chat.body.id as string };
}

const question = { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }], stream: true };

async function all(frames: AsyncIterable<SseFrame>): Promise<readonly SseFrame[]> {
  return Array.fromAsync(frames);
}

describe('a process that is told to stop', () => {
  it('takes nothing new, brings both kinds of streams to their end, and writes the ledger', { timeout: limitMs }, async () => {
    const gate = Promise.withResolvers<void>();
    upstream.otherwise({ text: ['Whole', ' answer'], gate: gate.promise });
    const { parley, ann, chatId } = await launch({ SHUTDOWN_GRACE_MS: '20000' });
    const stateless = all(ann.sse('POST', '/api/v1/chat/completions', question));
    const chat = all(ann.sse('POST', `/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true }));
    await upstream.until(({ openStreams }) => openStreams === 2);
    const ended = parley.kill('SIGTERM');
    await eventually(async () => {
      const answered = await ann.get('/readyz').then(
        ({ status }) => status,
        () => 'refused',
      );
      expect([503, 'refused']).toContain(answered);
    });
    gate.resolve();
    const completion = await stateless;
    expect(completion.at(-1)?.data).toBe('[DONE]');
    expect(completion.map(({ data }) => data).join('')).toContain('"finish_reason":"stop"');
    expect((await chat).slice(-2).map(({ event }) => event)).toEqual(['run.completed', 'done']);
    expect(await ended).toBe(0);

    const service = await startService({ env: { ...place.env, PARLEY_ADMIN_KEY: key } });
    const { rows } = await service.deps.storage.db.pool.query('select "outputTokens" from usage_entries');
    expect(rows).toHaveLength(2);
    await service.close();
  });

  it('waits no longer than it may for what does not end; the ledger has that too, and the chat goes on', {
    timeout: limitMs,
  }, async () => {
    upstream.otherwise({ text: ['Half', ' never'], chunkDelayMs: 20, hangAtByte: 500 });
    const { parley, ann, chatId } = await launch({ SHUTDOWN_GRACE_MS: String(graceMs) });
    const seen: SseFrame[] = [];
    const follow = async (frames: AsyncIterable<SseFrame>) => {
      try {
        for await (const frame of frames) seen.push(frame);
      } catch {
        // Cut off: what the process could not bring to an end in time.
      }
    };
    const followed = [
      follow(ann.sse('POST', '/api/v1/chat/completions', question)),
      follow(ann.sse('POST', `/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true })),
    ];
    await eventually(() => expect(seen.filter(({ data }) => data.includes('Half'))).toHaveLength(2));
    const startedMs = performance.now();
    expect(await parley.kill('SIGTERM')).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(graceMs + 8_000);
    await Promise.all(followed);

    const { ann: again } = await launch();
    expect((await again.get(`/api/v1/chats/${chatId}`)).body.messages).toMatchObject([
      {},
      { content: 'Half', isComplete: false },
    ]);
    upstream.otherwise({ text: 'Next answer' });
    const next = await again.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Go on' });
    expect(next.body).toMatchObject({ status: 'completed', message: { content: 'Next answer' } });
    await killProcesses();
    const service = await startService({ env: { ...place.env, PARLEY_ADMIN_KEY: key } });
    const { rows } = await service.deps.storage.db.pool.query(`select "runId" from usage_entries`);
    expect(rows.length).toBeGreaterThanOrEqual(2);
    await service.close();
  });
});
