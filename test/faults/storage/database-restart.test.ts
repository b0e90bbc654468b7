import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { newFolder, testServerUrl } from '../../support/storage/databases.ts';
import { startOwnPostgres } from '../../support/storage/postgres.ts';
import { startUpstream } from '../../support/upstream.ts';
import { Acknowledged, tokensOfCall } from '../kills/acknowledged.ts';

const key = 'chosen-by-the-operator-40-characters-long';
const model = 'openai/test-model';
const restarts = 3;
/** The service must serve again within this time after the server is back. */
const recoveryMs = 10_000;

if (testServerUrl === undefined) {
  console.info('A restart of the database server is tested with a server only: set TEST_DATABASE_URL.');
  it('the embedded database is part of the process', () => expect(testServerUrl).toBeUndefined());
} else
  it('a database server that crashes under load costs no acknowledged write, and no start', { timeout: 300_000 }, crashUnderLoad);

async function crashUnderLoad(): Promise<void> {
  const [postgres, upstream, folder] = [await startOwnPostgres(), await startUpstream(), newFolder()];
  try {
    upstream.otherwise({ text: 'Hello', usage: { prompt_tokens: 10, completion_tokens: tokensOfCall - 10 } });
    const parley = startProcess({
      ...{
        DATA_DIR: folder,
        DATABASE_URL: postgres.url,
        PARLEY_MASTER_KEY: 'a master key for tests only',
        PARLEY_ADMIN_KEY: key,
      },
      ...{ OPENAI_BASE_URL: upstream.url, RUN_LEASE_MS: '2000', LOG_LEVEL: 'warn' },
    });
    const url = await parley.url();
    const ann = new TestClient(() => url, key);
    const agent = await ann.post('/api/v1/ais', {
      ...{ src: 'x', name: 'Ada', description: 'Knows', instructions: 'Be brief.', modelId: model },
    });
    const acknowledged = new Acknowledged(model, agent.body.id);
    for (let restart = 0; restart < restarts; restart += 1) {
      const stop = new AbortController();
      const before = acknowledged.promises.length;
      const work = Array.from({ length: 8 }, (_, index) => writeUntil(stop.signal, acknowledged, ann, index));
      await eventually(() => expect(acknowledged.promises.length).toBeGreaterThan(before + 8));
      await postgres.crashAndRestart();
      await eventually(async () => expect((await ann.get('/readyz')).status).toBe(200), recoveryMs);
      await eventually(async () => expect((await ann.get('/api/v1/ais?limit=1')).status).toBe(200), recoveryMs);
      stop.abort();
      await Promise.all(work);
    }
    const charged = await eventually(async () => {
      expect((await ann.graphql('{ activeRuns { id } }')).data.activeRuns).toEqual([]);
      const tokens: number = (await ann.get('/api/v1/usage')).body.orgUsage.apiTokensUsed;
      expect(tokens).toBeGreaterThanOrEqual(acknowledged.calls * tokensOfCall);
      return tokens;
    });
    expect(charged).toBeLessThanOrEqual(upstream.requests.filter(({ method }) => method === 'POST').length * tokensOfCall);
    for (const { what, check } of acknowledged.promises) await check(ann).catch((cause: unknown) => fail(what, cause));
    expect(parley.output()).not.toContain('stopping after an unexpected failure');
  } finally {
    await killProcesses();
    await upstream.close();
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** While the server is down, a write is refused, which promises nothing; another test checks that it is refused as an overload. */
async function writeUntil(signal: AbortSignal, acknowledged: Acknowledged, ann: TestClient, from: number): Promise<void> {
  for (let turn = from; !signal.aborted; turn += 1) {
    await acknowledged.writes[turn % acknowledged.writes.length]?.(ann).catch(() => undefined);
  }
}

function fail(what: string, cause: unknown): never {
  throw new Error(`${what} did not survive`, { cause });
}
