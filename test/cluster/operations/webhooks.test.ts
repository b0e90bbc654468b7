import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import { makeWebhook } from '../../support/operations/webhooks.ts';
import { type Cluster, type Instance, startCluster } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { testServerUrl } from '../../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Webhooks of several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('webhooks over two instances', webhooksOverTwoInstances);

function webhooksOverTwoInstances(): void {
  let cluster: Cluster;
  let one: Instance;
  let two: Instance;
  let receiver: ApiServer;

  beforeAll(async () => {
    receiver = await startApiServer();
    cluster = await startCluster();
    const env = { EGRESS_ALLOW: '127.0.0.1' };
    [one, two] = await Promise.all([cluster.start(env), cluster.start(env)]);
  });
  afterAll(async () => {
    await cluster.close();
    await receiver.close();
  });

  const sent = (path: string) => receiver.requests.filter((request) => request.path === path);
  const idsOf = (path: string) => sent(path).map(({ headers }) => String(headers['webhook-id']));

  it('each delivery is sent by one of them, and either shows it', async () => {
    // Slow enough that both are at work at the same time.
    receiver.answer(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { status: 204 };
    });
    const webhook = await makeWebhook(one.client(), `${receiver.url}/each`, ['source.failed']);
    const ids = await webhook.test(60);
    await eventually(() => expect(idsOf('/each').length).toBeGreaterThanOrEqual(60), 60_000);
    const shown = async (instance: Instance) =>
      (await instance.client().get(`/api/v1/admin/webhooks/${webhook.id}/deliveries`)).body.data as {
        status: string;
        attempts: number;
      }[];
    for (const instance of [one, two])
      await eventually(async () =>
        expect((await shown(instance)).map(({ status, attempts }) => [status, attempts])).toEqual(
          ids.map(() => ['DELIVERED', 1]),
        ),
      );
    expect(idsOf('/each').toSorted()).toEqual(ids.toSorted());
  });

  it('a limit that is near is told once, whoever of them spends', async () => {
    receiver.answer(() => ({ status: 204 }));
    cluster.upstream.otherwise({ text: 'Hello', usage: { prompt_tokens: 9, completion_tokens: 1 } });
    const webhook = await makeWebhook(two.client(), `${receiver.url}/near`, ['limit.near']);
    const { body } = await one.client().get('/api/v1/usage');
    const { orgId } = body.orgUsage;
    const limit = body.orgUsage.apiTokensUsed + 1_000;
    expect((await one.client().patch(`/api/v1/admin/organizations/${orgId}`, { apiUsageTokenLimit: limit })).status).toBe(200);
    const messages = [{ role: 'user', content: 'Hi' }];
    const ask = (instance: Instance) =>
      instance.client().post('/api/v1/chat/completions', { model: 'openai/test-model', messages, max_tokens: 5 });
    await eventually(async () => {
      const replies = await Promise.all([one, two, one, two].map(ask));
      expect(replies.every(({ status }) => status === 200)).toBe(false);
    }, 60_000);
    const told = async () =>
      (await webhook.deliveries()).map((delivery) => JSON.parse(delivery.body).data.percent as number).toSorted();
    await eventually(async () => expect(await told()).toEqual(limit * 0.8 < body.orgUsage.apiTokensUsed ? [95] : [80, 95]));
    await eventually(() => expect(sent('/near')).toHaveLength(2));
    expect(new Set(idsOf('/near')).size).toBe(2);
  });

  it('an instance that was stopped in the middle of a delivery and wakes changes nothing that another has recorded', async () => {
    const answers: ((status: number) => void)[] = [];
    receiver.answer(async ({ path }) => ({
      status: path === '/stopped' ? await new Promise<number>((resolve) => answers.push(resolve)) : 204,
    }));
    two.process.signal('SIGSTOP');
    const webhook = await makeWebhook(one.client(), `${receiver.url}/stopped`, ['source.failed']);
    await webhook.test();
    await eventually(() => expect(answers).toHaveLength(1));
    const database = new Client({ connectionString: cluster.databaseUrl });
    await database.connect();
    one.process.signal('SIGSTOP');
    two.process.signal('SIGCONT');
    // As if its lease had run out.
    await database.query(`update webhook_deliveries set "nextAttemptAt" = now() where "webhookId" = $1`, [webhook.id]);
    await eventually(() => expect(answers).toHaveLength(2));
    answers[1]?.(204);
    const stands = async () =>
      (
        await database.query(
          `select d.status, d.attempts, d."lastStatus", w."failingSince" from webhook_deliveries d join webhooks w on w.id = d."webhookId" where w.id = $1`,
          [webhook.id],
        )
      ).rows;
    const delivered = [{ status: 'DELIVERED', attempts: 1, lastStatus: 204, failingSince: null }];
    await eventually(async () => expect(await stands()).toEqual(delivered));
    answers[0]?.(500);
    one.process.signal('SIGCONT');
    // A further delivery of the one that woke: the late answer has come by then.
    two.process.signal('SIGSTOP');
    const other = await makeWebhook(one.client(), `${receiver.url}/after`, ['source.failed']);
    await other.test();
    await eventually(async () => expect(await other.deliveries()).toMatchObject([{ status: 'DELIVERED' }]));
    two.process.signal('SIGCONT');
    expect(await stands()).toEqual(delivered);
    expect(new Set(idsOf('/stopped')).size).toBe(1);
    await database.end();
  });
}
