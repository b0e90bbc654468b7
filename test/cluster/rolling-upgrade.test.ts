import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMigrations } from '../../src/storage/ground/migrations/migrate.ts';
import { type SseFrame, TestClient } from '../support/client.ts';
import { addFile, indexed } from '../support/knowledge/knowledge.ts';
import { parley } from '../support/processes/command-line.ts';
import { eventually } from '../support/processes/eventually.ts';
import { checkOutLastRelease, hasLongTests, type LastRelease } from '../support/processes/last-release.ts';
import { killProcesses, type ParleyProcess, startProcess } from '../support/processes/process.ts';
import { createDatabase, databaseUrl, dropDatabase, newFolder, testServerUrl } from '../support/storage/databases.ts';
import { heldAnswer, startUpstream, type Upstream } from '../support/upstream.ts';

if (testServerUrl === undefined || !hasLongTests) {
  console.info(
    'A rolling upgrade is tested with LONG_TESTS=1 and TEST_DATABASE_URL: it checks out the last release. It is left out now.',
  );
  it('a rolling upgrade needs a server and time', () =>
    expect([testServerUrl === undefined, hasLongTests]).not.toEqual([false, true]));
} else describe('the last release and this version on one database', rollingUpgrade);

function rollingUpgrade(): void {
  const adminKey = 'pk-test-administrator-key-of-40-characters';
  const folders = [newFolder(), newFolder()] as const;
  let release: LastRelease;
  let upstream: Upstream;
  let database: string;
  let oldProcess: ParleyProcess;
  let before: TestClient;
  let after: TestClient;
  let agentId: string;
  /** The address of each, for other keys. */
  const urls = { before: '', after: '' };

  beforeAll(async () => {
    release = await checkOutLastRelease();
    upstream = await startUpstream();
    database = await createDatabase();
    oldProcess = startProcess(env(0), release.folder, release.main);
    urls.before = await oldProcess.url();
    before = new TestClient(() => urls.before, adminKey);
    agentId = (await before.post('/api/v1/ais', { name: 'Ada', src: '', description: 'Knows', instructions: 'Answer.' })).body.id;
  }, 600_000);
  afterAll(async () => {
    await killProcesses();
    await upstream.close();
    await dropDatabase(database);
    await release.remove();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    // The packages of the release are many files.
  }, 600_000);

  function env(index: 0 | 1): Readonly<Record<string, string>> {
    return {
      DATABASE_URL: databaseUrl(database),
      DATA_DIR: folders[index],
      BLOB_URL: `file://${join(folders[0], 'blobs')}`,
      PARLEY_MASTER_KEY: 'a master key for tests only',
      PARLEY_ADMIN_KEY: adminKey,
      OPENAI_BASE_URL: upstream.url,
      DEFAULT_MODEL: 'openai/test-model',
      LOG_LEVEL: 'warn',
    };
  }
  const both = () => [
    ['begun by the last release, followed by this version', before, after] as const,
    ['begun by this version, followed by the last release', after, before] as const,
  ];

  it('is announced by upgrade --check, and happens beside the last release at work', { timeout: 300_000 }, async () => {
    const { code, out } = await parley('upgrade --check', env(1));
    const words = hasNews() ? /The next start applies \d+ migration/ : /the next start changes nothing/;
    expect([code, out]).toEqual([hasNews() ? 3 : 0, expect.stringMatching(words)]);
    const { id: chatId } = (await before.post(`/api/v1/ais/${agentId}/chats`)).body;
    const { script, goOn } = heldAnswer({ text: ['a', 'b', 'c'] });
    upstream.next(script);
    const stream = before.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
    await upstream.until(({ openStreams }) => openStreams === 1);
    urls.after = await startProcess(env(1)).url();
    after = new TestClient(() => urls.after, adminKey);
    goOn();
    expect((await stream).at(-1)?.event).toBe('done');
    expect((await after.get(`/api/v1/chats/${chatId}`)).body.messages).toHaveLength(2);
  });

  it('streams of one are followed at the other', { timeout: 300_000 }, async () => {
    for (const [way, here, there] of both()) {
      const { id: chatId } = (await here.post(`/api/v1/ais/${agentId}/chats`)).body;
      const { script, goOn } = heldAnswer({ text: ['a', 'b', 'c', 'd'] });
      upstream.next(script);
      const answer = here.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
      const runId = await eventually(async () => {
        const { activeRunId } = (await there.get(`/api/v1/chats/${chatId}`)).body;
        expect(activeRunId).toMatch(/^run_/);
        return activeRunId as string;
      });
      const frames: SseFrame[] = [];
      for await (const frame of there.sse('GET', `/api/v1/chats/${chatId}/runs/${runId}/events`)) {
        frames.push(frame);
        if (frame.event === 'message.delta') goOn();
      }
      expect([way, frames]).toEqual([way, await answer]);
      expect((await there.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'On' })).status).toBe(200);
      const again = await replay(here, chatId, runId);
      expect([way, again]).toEqual([way, frames]);
    }
  });

  it('runs of one are cancelled at the other', { timeout: 300_000 }, async () => {
    for (const [way, here, there] of both()) {
      const { id: chatId } = (await here.post(`/api/v1/ais/${agentId}/chats`)).body;
      upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 });
      const answer = here.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
      await upstream.until(({ openStreams }) => openStreams === 1);
      const { activeRunId } = (await there.get(`/api/v1/chats/${chatId}`)).body;
      expect((await there.post(`/api/v1/chats/${chatId}/runs/${activeRunId}/cancel`)).body).toMatchObject({
        status: 'cancelled',
      });
      expect([way, (await answer).at(-2)?.event]).toEqual([way, 'run.cancelled']);
    }
  });

  it('keys are made at one and revoked at the other', { timeout: 300_000 }, async () => {
    for (const [way, here, there, url] of both().map((one, index) => [...one, index === 0 ? urls.after : urls.before] as const)) {
      const { body: made } = await here.post('/api/v1/api-keys', { name: 'K', scopes: ['AGENTS:READ'] });
      const other = new TestClient(() => url, made.key);
      expect([way, (await other.get('/api/v1/ais')).status]).toEqual([way, 200]);
      expect((await here.delete(`/api/v1/api-keys/${made.id}`)).status).toBe(200);
      await eventually(async () => expect([way, (await other.get('/api/v1/ais')).status]).toEqual([way, 401]));
      expect((await there.get(`/api/v1/ais/${agentId}`)).status).toBe(200);
    }
  });

  it('documents given to one are found by both', { timeout: 300_000 }, async () => {
    for (const [way, here, there] of both()) {
      const word = here === before ? 'marmalade' : 'tangerine';
      const { body: source } = await addFile(
        here,
        agentId,
        `${word}.md`,
        `# Shop\n\nThe ${word} costs nine euros.\n`,
        'text/markdown',
      );
      expect([way, (await indexed(there, source.id)).indexStatus]).toEqual([way, 'INDEXED']);
      for (const who of [here, there]) {
        upstream.reset();
        await who.post('/api/v1/chat/completions', {
          model: agentId,
          messages: [{ role: 'user', content: `What does the ${word} cost?` }],
        });
        expect([way, JSON.stringify(upstream.requests.at(-1))]).toEqual([
          way,
          expect.stringContaining(`The ${word} costs nine euros`),
        ]);
      }
    }
  });

  it('an instance of the last release that restarts is refused on a newer schema, and this version serves on', {
    timeout: 300_000,
  }, async () => {
    await oldProcess.kill('SIGTERM');
    const refused = startProcess(env(0), release.folder, release.main);
    const code = await Promise.race([refused.ended(), refused.url().then(() => 'listens')]);
    expect(code).toBe(hasNews() ? 1 : 'listens');
    if (hasNews()) expect(refused.output()).toContain('The database is of a newer Parley');
    const { id: chatId } = (await after.post(`/api/v1/ais/${agentId}/chats`)).body;
    expect((await after.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' })).status).toBe(200);
  });

  /** Whether this version has migrations that the last release does not know. */
  function hasNews(): boolean {
    const newest = (folder?: string) => Number.parseInt(readMigrations(folder).at(-1)?.name ?? '', 10);
    return newest() > newest(join(release.folder, 'prisma', 'migrations'));
  }
}

async function replay(who: TestClient, chatId: string, runId: string): Promise<readonly SseFrame[]> {
  const frames: SseFrame[] = [];
  for await (const frame of who.sse('GET', `/api/v1/chats/${chatId}/runs/${runId}/events`)) frames.push(frame);
  return frames;
}
