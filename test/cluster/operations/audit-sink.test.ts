import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/client.ts';
import { type AuditReceiver, startAuditReceiver } from '../../support/operations/receiver.ts';
import { type Cluster, startCluster } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { testServerUrl } from '../../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('The sink of several instances is tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('several instances with one receiver of audit entries', { timeout: 300_000 }, sinkOfSeveral);

function sinkOfSeveral(): void {
  let cluster: Cluster;
  let receiver: AuditReceiver;
  beforeAll(async () => {
    [cluster, receiver] = await Promise.all([startCluster(), startAuditReceiver()]);
  });
  afterAll(async () => {
    await cluster.close();
    await receiver.close();
  });

  const agent = async (ann: TestClient, name: string) => {
    const { status } = await ann.post('/api/v1/ais', { src: 'x', name, description: '', instructions: '' });
    expect(status).toBe(200);
  };
  /** Takes nothing until `answer` is called, with the status for the request that is held. */
  function held() {
    const { promise, resolve: answer } = Promise.withResolvers<number>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    receiver.answer(async () => {
      ask();
      return { status: await promise };
    });
    return { asked, answer };
  }
  const allTaken = (ann: TestClient) =>
    eventually(async () => {
      const taken = new Set(receiver.entries.map(({ id }) => id));
      const { data } = await ann.graphql('{ auditLog(first: 100) { nodes { id } } }');
      const written: readonly string[] = data.auditLog.nodes.map(({ id }: { readonly id: string }) => id);
      expect(written.length).toBeGreaterThan(0);
      expect(written.filter((id) => !taken.has(id))).toEqual([]);
    });
  const taken = () => receiver.entries.map(({ id }) => id);

  it('one sends at a time: each entry comes once, in order', async () => {
    const [one, two] = await Promise.all([cluster.start(receiver.env), cluster.start(receiver.env)]);
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([one, two].map((instance) => agent(instance.client(), `Agent ${round}`)));
      await allTaken(one.client());
    }
    expect(taken()).toEqual([...new Set(taken())]);
    const times = receiver.entries.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted());
    await Promise.all([one, two].map(({ process }) => process.kill('SIGKILL')));
  });

  it('another goes on when the one that sends is killed, within 20 seconds', async () => {
    const one = await cluster.start(receiver.env);
    const { asked, answer } = held();
    await agent(one.client(), 'Held');
    await asked;
    const two = await cluster.start(receiver.env);
    await one.process.kill('SIGKILL');
    const killedMs = performance.now();
    receiver.answer();
    answer(500);
    await allTaken(two.client());
    expect(performance.now() - killedMs).toBeLessThan(20_000);
    await two.process.kill('SIGKILL');
  });

  it('one that slept while another took over marks nothing as sent when it wakes up', async () => {
    const one = await cluster.start(receiver.env);
    const first = held();
    await agent(one.client(), 'Before the sleep');
    await first.asked;
    const two = await cluster.start(receiver.env);
    one.process.signal('SIGSTOP');
    const second = held();
    await agent(two.client(), 'Meanwhile');
    // The other has the lease now, and the same request.
    await second.asked;
    receiver.answer(() => ({ status: 500 }));
    first.answer(204);
    one.process.signal('SIGCONT');
    second.answer(500);
    await eventually(() => expect(one.process.output() + two.process.output()).toContain('wait for their receiver'));
    const { length } = receiver.batches.filter(({ status }) => status === 204);
    await agent(two.client(), 'Afterwards');
    receiver.answer();
    await allTaken(two.client());
    // The request whose answer the sleeper got is repeated: its lease was lost when the answer came.
    const repeated = receiver.batches.filter(({ status }) => status === 204).slice(length);
    const asleep = receiver.batches.filter(({ status }) => status === 204)[length - 1];
    expect(repeated.map(({ id }) => id)).toContain(asleep?.id);
  });
}
