import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/client.ts';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import { type Cluster, type Instance, startCluster } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { messagesOf } from '../../support/runs/research.ts';
import { testServerUrl } from '../../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Instances that sleep are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('an instance that sleeps past its lease, or cannot write', faultsOfInstances);

function faultsOfInstances(): void {
  const path = '/api/v2/responses';
  const model = 'openai/test-model';
  let cluster: Cluster;
  let tables: Client;
  let holder: Client;
  let api: ApiServer;
  let a: Instance;
  let b: Instance;

  beforeAll(async () => {
    [cluster, api] = [await startCluster(), await startApiServer()];
    tables = new Client({ connectionString: cluster.databaseUrl });
    holder = new Client({ connectionString: cluster.databaseUrl });
    const env = { EGRESS_ALLOW: '127.0.0.1' };
    [a, b] = await Promise.all([cluster.start(env), cluster.start(env), tables.connect(), holder.connect()]);
  });
  beforeEach(() => {
    api.reset();
    cluster.upstream.reset();
    let count = 0;
    cluster.upstream.otherwise((request) => {
      count += 1;
      const isAnswered = messagesOf(request).some(({ role }) => role === 'tool');
      return isAnswered ? { text: 'Done.' } : { toolCalls: [{ id: `call_${count}`, name: 'act', arguments: '{}' }] };
    });
  });
  afterEach(async () => {
    a.process.signal('SIGCONT');
    await holder.query('rollback');
  });
  afterAll(async () => {
    await tables.end();
    await holder.end();
    await cluster.close();
    await api.close();
  });

  async function agentWith(tool: object): Promise<string> {
    const who = b.client();
    const members = { src: 'x', name: 'Ada', description: 'Acts', instructions: 'Act.', modelId: model };
    const { id } = (await who.post('/api/v1/ais', members)).body;
    const data = { description: 'Acts', parameters: { type: 'object' }, url: `${api.url}/act`, ...tool };
    expect((await who.post(`/api/v1/ais/${id}/tools`, { name: 'act', type: 'API_FUNCTION', data })).status).toBe(200);
    return id;
  }
  async function beginExperiment(who: TestClient, cases: readonly object[]): Promise<string> {
    const call = async (document: string, variables: object) => (await who.graphql(document, { ...variables })).data;
    const members = { src: 'x', name: 'Ada', description: 'Knows', instructions: 'Answer.', modelId: model };
    const { id: agentId } = (await who.post('/api/v1/ais', members)).body;
    const dataset = await call('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "C" }) { id } }', {
      id: agentId,
    });
    const datasetId = dataset.createDataset.id;
    const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
    await call(add, { id: datasetId, cases });
    const run = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
    const begun = await call(run, { id: agentId, input: { versions: ['draft'], datasetId, tokensMax: 1_000_000 } });
    return begun.runExperiment.id;
  }
  const begin = async (who: TestClient, agent: string): Promise<string> =>
    (await who.post(path, { model: agent, input: 'Act', background: true })).body.id;
  const ended = (id: string) =>
    eventually(async () => {
      const { body } = await b.client().get(`${path}/${id}`);
      expect(body.status).not.toBe('in_progress');
      return body;
    });
  const keys = () => new Set(api.requests.map(({ headers }) => headers['idempotency-key']));
  /** Resolves when the instance has finished the work at which it was stopped. */
  const settled = async (instance: Instance) => {
    const who = instance.client();
    // A run after everything that waited.
    expect((await who.post(path, { model, input: 'x', store: false })).status).toBe(200);
    await eventually(async () => expect((await who.get('/metrics')).status).toBe(200));
  };
  const isRecorded = (id: string) =>
    eventually(async () => {
      const { rows } = await tables.query(
        `select 1 from run_event_batches where "runId" = $1 and events::text like '%server_tool_call.in_progress%'`,
        [id],
      );
      expect(rows.length).toBeGreaterThan(0);
    });

  it('in the middle of a call that must not be made twice: it is made once, and the run says so', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    api.answer(async () => {
      await promise;
      return { body: 'acted' };
    });
    const id = await begin(a.client(), await agentWith({ method: 'POST' }));
    await eventually(async () => expect(api.requests).toHaveLength(1));
    a.process.signal('SIGSTOP');
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'tool_outcome_unknown' } });
    const before = (await b.client().get(`${path}/${id}`)).body;
    a.process.signal('SIGCONT');
    resolve();
    await settled(a);
    expect([...keys()]).toEqual([expect.stringContaining(`${id}:`)]);
    expect(api.requests).toHaveLength(1);
    expect((await b.client().get(`${path}/${id}`)).body).toEqual(before);
  });

  it('in the middle of a call that may be made twice: both carry the same key', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    api.answer(async () => {
      if (api.requests.length === 1) await promise;
      return { body: 'acted' };
    });
    const id = await begin(a.client(), await agentWith({ method: 'POST', idempotent: true }));
    await eventually(async () => expect(api.requests).toHaveLength(1));
    a.process.signal('SIGSTOP');
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    a.process.signal('SIGCONT');
    resolve();
    await settled(a);
    expect([api.requests.length, keys().size]).toEqual([2, 1]);
  });

  it('in the middle of an experiment: no case is asked twice, and answers that come late count', {
    timeout: 120_000,
  }, async () => {
    const cases = Array.from({ length: 6 }, (_, index) => ({ question: `Question ${index}.`, mustContain: ['Answer'] }));
    const { promise, resolve } = Promise.withResolvers<void>();
    let askedCount = 0;
    cluster.upstream.otherwise(() => {
      askedCount += 1;
      return askedCount <= 4 ? { text: 'Answer', gate: promise } : { text: 'Answer' };
    });
    // The process that queues a job begins it at once.
    const id = await beginExperiment(a.client(), cases);
    const members = 'status doneCount interruptedCount summary { variants { caseCount rate } }';
    const find = async () =>
      (await b.client().graphql(`query ($id: ID!) { experiment(id: $id) { ${members} } }`, { id })).data.experiment;
    await cluster.upstream.until(({ requests }) => requests.length === 4);
    a.process.signal('SIGSTOP');
    const taken = await eventually(async () => {
      const experiment = await find();
      expect(experiment.summary).not.toBeNull();
      return experiment;
    }, 60_000);
    expect(taken).toMatchObject({ status: 'DONE', doneCount: 2, interruptedCount: 4, summary: { variants: [{ caseCount: 2 }] } });
    a.process.signal('SIGCONT');
    resolve();
    const all = { status: 'DONE', doneCount: 6, interruptedCount: 0, summary: { variants: [{ caseCount: 6, rate: 1 }] } };
    await eventually(async () => expect(await find()).toMatchObject(all), 30_000);
    expect(cluster.upstream.requests).toHaveLength(6);
  });

  it('between the record of a call and its request: the request never leaves', async () => {
    const agent = await agentWith({ method: 'POST', headers: { 'X-Api-Key': 'a-secret-of-the-tool' } });
    // The instance waits for the secret: its call is recorded, and nothing was sent.
    await holder.query('begin');
    await holder.query('lock table agent_secrets in access exclusive mode');
    const id = await begin(a.client(), agent);
    await isRecorded(id);
    a.process.signal('SIGSTOP');
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'tool_outcome_unknown' } });
    await holder.query('rollback');
    a.process.signal('SIGCONT');
    await settled(a);
    expect(api.requests).toEqual([]);
  });

  it('whose record waits for a lock until its connection ends: the call is made once, by the process that holds the run', async () => {
    const agent = await agentWith({ method: 'POST' });
    const { promise, resolve } = Promise.withResolvers<void>();
    cluster.upstream.next({ toolCalls: [{ id: 'call_first', name: 'act', arguments: '{}' }], gate: promise });
    const id = await begin(a.client(), agent);
    await cluster.upstream.until(({ requests }) => requests.length === 1);
    await holder.query('begin');
    await holder.query('select 1 from runs where id = $1 for update', [id]);
    resolve();
    const waiting = async () => {
      const { rows } = await tables.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'with held%'`,
      );
      expect(rows).toHaveLength(1);
      return rows[0]?.pid ?? 0;
    };
    const first = await eventually(waiting);
    await tables.query('select pg_terminate_backend($1)', [first]);
    // It tries again, and waits again.
    await eventually(async () => expect(await waiting()).not.toBe(first));
    expect(api.requests).toEqual([]);
    // Simulates another process that took the run and died.
    await holder.query(
      `update runs set "leaseOwner" = 'gone', "leaseUntil" = now() - interval '1 second', fence = fence + 1 where id = $1`,
      [id],
    );
    await holder.query('commit');
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    await settled(a);
    expect([api.requests.length, keys().size]).toEqual([1, 1]);
    expect([...keys()][0]).not.toBe(`${id}:call_first`);
  });
}
