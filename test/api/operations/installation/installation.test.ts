import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model', { env: { COST_CURRENCY: 'EUR' } });
const crowded = await withService('plain', {});
let root: TestClient;
beforeAll(() => {
  root = service.client();
});

const everything = `{ installation {
  version nodeVersion startedAt costCurrency
  health { state problems }
  database { kind version sizeBytes migration }
  storage { kind freeBytes diskBytes }
  jobs { queue waitingCount activeCount failedCount }
  models { id provider }
} }`;

describe('installation', () => {
  it('says what runs and what it stands on', async () => {
    const data = await root.ask(everything);
    const numberOf = (name: string) => Number.parseInt(name, 10);
    const migrations = readdirSync(join(import.meta.dirname, '../../../../prisma/migrations')).filter(
      (name) => numberOf(name) > 0,
    );
    const [newest] = migrations.toSorted((a, b) => numberOf(b) - numberOf(a));
    expect(data.installation).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      nodeVersion: process.versions.node,
      costCurrency: 'EUR',
      health: { state: 'READY', problems: [] },
      database: { version: expect.stringMatching(/^\d+/), migration: newest },
      storage: { kind: 'FOLDER' },
    });
    const { startedAt, database, storage, models } = data.installation;
    expect(Date.now() - Date.parse(startedAt)).toBeGreaterThan(0);
    expect(database.sizeBytes).toBeGreaterThan(1_000_000);
    expect(storage.freeBytes).toBeGreaterThan(0);
    expect(storage.diskBytes).toBeGreaterThan(storage.freeBytes);
    expect(models.map(({ id }: { id: string }) => id)).toContain('parley/offline');
  });

  it('counts the jobs of each kind', async () => {
    const { data } = await root.graphql('{ installation { jobs { queue waitingCount activeCount failedCount } } }');
    expect(data.installation.jobs).toContainEqual({
      queue: 'accounts.purge-user',
      waitingCount: 0,
      activeCount: 0,
      failedCount: 0,
    });
  });

  it('says what /readyz says of a service without room', async () => {
    await crowded.service.restart({ DISK_FREE_MIN_BYTES: '9000000000000000' });
    const { data } = await crowded.service.client().graphql('{ installation { health { state problems } } }');
    const { state, problems } = data.installation.health;
    expect({ state, problems }).toEqual({ state: 'UNAVAILABLE', problems: ['There is no room left on the disk of DATA_DIR.'] });
    expect(await crowded.service.nobody.get('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'unavailable', reason: 'storage_full', detail: problems[0] },
    });
  });

  it('shows everyone the currency of costs', async () => {
    const ann = await make.person({ scopes: ['CHATS:READ'] });
    const { data } = await ann.graphql('{ viewer { costCurrency } }');
    expect(data.viewer.costCurrency).toBe('EUR');
  });
});

describe('testModel', () => {
  const test = 'mutation ($id: String!) { testModel(id: $id) { ok firstTokenMs durationMs error { code message } } }';

  const chats = () => upstream.requests.filter(({ method }) => method === 'POST');

  it('asks the model once, and counts as a run', async () => {
    const data = await root.ask(test, { id: 'openai/test-model' });
    expect(data.testModel).toEqual({
      ok: true,
      firstTokenMs: expect.any(Number),
      durationMs: expect.any(Number),
      error: null,
    });
    expect(chats()).toHaveLength(1);
    await eventually(async () => {
      const { data: history } = await root.graphql('{ runs(first: 1) { nodes { kind status usage { outputTokens } } } }');
      expect(history.runs.nodes).toEqual([{ kind: 'COMPLETION', status: 'COMPLETED', usage: { outputTokens: 1 } }]);
    });
  });

  it('says why a model does not answer', async () => {
    upstream.next({ status: 401, body: JSON.stringify({ error: { message: 'Incorrect API key provided' } }) });
    const { data } = await root.graphql(test, { id: 'openai/test-model' });
    expect(data.testModel).toMatchObject({ ok: false, firstTokenMs: null, error: { code: 'UPSTREAM_ERROR' } });
  });

  it('knows a model that is not there', async () => {
    const { errors } = await root.graphql(test, { id: 'nobody/nothing' });
    expect(errors?.[0]?.extensions.code).toBe('MODEL_NOT_FOUND');
  });
});
