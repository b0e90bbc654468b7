import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../support/client.ts';
import { addFile, indexed } from '../support/knowledge/knowledge.ts';
import { makeFor, type Person } from '../support/make.ts';
import { parley } from '../support/processes/command-line.ts';
import { eventually } from '../support/processes/eventually.ts';
import { startService, type TestService } from '../support/service.ts';
import { createDatabase, databaseUrl, dropDatabase, newFolder, testServerUrl } from '../support/storage/databases.ts';
import { keepsPrepared, type PgBouncer, pgBouncerVersion, startPgBouncer } from '../support/storage/pgbouncer.ts';
import { heldAnswer, startUpstream, type Upstream } from '../support/upstream.ts';

const version = await pgBouncerVersion();
if (testServerUrl === undefined || version === undefined) {
  console.info('PgBouncer is tested where it is installed, on a server only: set TEST_DATABASE_URL.');
  it('a pooler stands before a server only', () => expect([testServerUrl, version]).toContain(undefined));
} else
  describe(`two instances behind PgBouncer ${version} in transaction mode`, () =>
    behindPooler(testServerUrl ?? '', keepsPrepared(version)));

function behindPooler(serverUrl: string, isNew: boolean): void {
  const folder = newFolder();
  let pooler: PgBouncer;
  let upstream: Upstream;
  let one: TestService;
  let two: TestService;
  let ann: Person;
  let annAtTwo: TestClient;
  let agentId: string;
  let database: string;

  beforeAll(async () => {
    pooler = await startPgBouncer(serverUrl, 'transaction');
    upstream = await startUpstream();
    // Without tables: the first start makes them, directly; the second one finds them.
    database = await createDatabase();
    one = await startService({ env: env() });
    two = await startService({ env: env() });
    ann = await makeFor(one).person();
    annAtTwo = two.client(ann.key);
    agentId = (await makeFor(one).agent({ owner: ann })).id;
  }, 300_000);
  afterAll(async () => {
    await Promise.all([one?.close(), two?.close()]);
    await upstream.close();
    await pooler.close();
    await dropDatabase(database);
    rmSync(folder, { recursive: true, force: true });
  });

  function env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      DATA_DIR: folder,
      DATABASE_URL: pooler.url(databaseUrl(database)),
      DATABASE_DIRECT_URL: databaseUrl(database),
      DATABASE_PREPARED_STATEMENTS: 'off',
      BLOB_URL: `file://${join(folder, 'blobs')}`,
      PARLEY_MASTER_KEY: 'a master key for tests only',
      OPENAI_BASE_URL: upstream.url,
      DEFAULT_MODEL: 'openai/test-model',
      ...more,
    };
  }

  it('stream a run of one at the other, while it happens', async () => {
    const { id: chatId } = (await ann.post(`/api/v1/ais/${agentId}/chats`)).body;
    const { script, goOn } = heldAnswer({ text: ['a', 'b', 'c'] });
    upstream.next(script);
    const here = ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
    const runId = await eventually(async () => {
      const { activeRunId } = (await annAtTwo.get(`/api/v1/chats/${chatId}`)).body;
      expect(activeRunId).toMatch(/^run_/);
      return activeRunId as string;
    });
    const there = [];
    for await (const frame of annAtTwo.sse('GET', `/api/v1/chats/${chatId}/runs/${runId}/events`)) {
      there.push(frame);
      if (frame.event === 'message.delta') goOn();
    }
    expect(there).toEqual(await here);
    expect(two.deps.storage.signals.state()).toBe('live');
  });

  it('work on jobs, and answer many calls at once', async () => {
    const { body: source } = await addFile(ann, agentId, 'hours.md', '# Hours\n\nThe shop opens at nine.\n', 'text/markdown');
    expect((await indexed(annAtTwo, source.id)).indexStatus).toBe('INDEXED');
    const calls = Array.from({ length: 60 }, (_call, index) => (index % 2 === 0 ? ann : annAtTwo));
    const answers = await Promise.all(
      calls.map((who) => who.post('/api/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: 'Hi' }] })),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it('work without a direct way, too: the schema is made through the pooler, and changes are looked up', async () => {
    const other = await createDatabase();
    const { DATABASE_DIRECT_URL: _direct, ...rest } = env();
    const third = await startService({
      env: { ...rest, DATABASE_URL: pooler.url(databaseUrl(other)), DATA_DIR: newFolder(), BLOB_URL: `file://${newFolder()}` },
    });
    const bob = await makeFor(third).person();
    const { id } = await makeFor(third).agent({ owner: bob });
    const { id: chatId } = (await bob.post(`/api/v1/ais/${id}/chats`)).body;
    expect((await bob.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' })).status).toBe(200);
    await third.close();
    await dropDatabase(other);
  });

  it.runIf(isNew)('may prepare statements, which this PgBouncer keeps', async () => {
    const third = await startService({ env: env({ DATABASE_PREPARED_STATEMENTS: 'on' }) });
    const annAtThird = third.client(ann.key);
    const { id: chatId } = (await annAtThird.post(`/api/v1/ais/${agentId}/chats`)).body;
    // At the sixth time, PostgreSQL may plan a statement for any values.
    for (let turn = 0; turn < 8; turn += 1)
      expect((await annAtThird.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' })).status).toBe(200);
    const calls = Array.from({ length: 40 }, () => annAtThird.get(`/api/v1/chats/${chatId}`));
    expect((await Promise.all(calls)).filter(({ status }) => status !== 200)).toEqual([]);
    await third.close();
  });

  it('are refused with prepared statements where PgBouncer loses them, and doctor says so', async () => {
    const losing = isNew ? await startPgBouncer(serverUrl, 'transaction', ['max_prepared_statements = 0']) : pooler;
    const words = 'loses prepared statements (PgBouncer in transaction mode). Set DATABASE_PREPARED_STATEMENTS=off';
    const prepares = env({ DATABASE_URL: losing.url(databaseUrl(database)), DATABASE_PREPARED_STATEMENTS: 'on' });
    await expect(startService({ env: prepares })).rejects.toThrow(words);
    expect((await parley('doctor', { ...prepares, PORT: '0' })).out).toContain(words);
    expect((await parley('doctor', { ...env(), PORT: '0' })).out).toMatch(/PostgreSQL [\d.]+ answers\./);
    if (losing !== pooler) await losing.close();
  });

  it('are refused in statement mode, and with a direct way to another database', async () => {
    const statements = await startPgBouncer(serverUrl, 'statement');
    const bad = env({ DATABASE_URL: statements.url(databaseUrl(database)) });
    await expect(startService({ env: bad })).rejects.toThrow('runs each statement by itself (PgBouncer: pool_mode = statement)');
    await statements.close();
    await expect(startService({ env: env({ DATABASE_DIRECT_URL: serverUrl }) })).rejects.toThrow(
      'DATABASE_DIRECT_URL leads to another database',
    );
  });
}
