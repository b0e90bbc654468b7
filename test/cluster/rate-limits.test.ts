import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../support/client.ts';
import { type Cluster, type Instance, startCluster } from '../support/processes/cluster.ts';
import { eventually } from '../support/processes/eventually.ts';
import { testServerUrl } from '../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Request limits over several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('a limit of requests over two instances', limitsOverTwoInstances);

function limitsOverTwoInstances(): void {
  const perMinute = 600;
  /** Concurrent callers at each instance. */
  const callers = 4;
  /** Requests that an instance admits before it reports them. */
  const reportsAt = perMinute / 60;
  let cluster: Cluster;
  let one: Instance;
  let two: Instance;

  beforeAll(async () => {
    cluster = await startCluster();
    const env = { RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: String(perMinute), RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION: '0' };
    [one, two] = await Promise.all([cluster.start(env), cluster.start(env)]);
  });
  afterAll(() => cluster.close());

  /** Sends requests until one is refused. @returns the number of admitted ones. */
  async function exhaust(who: TestClient): Promise<number> {
    for (let allowed = 0; ; allowed += 1) {
      const { status } = await who.get('/api/v1/ais/none');
      if (status === 429) return allowed;
      expect(status).toBe(404);
    }
  }

  it('admits about as many requests as one instance alone', async () => {
    const startedMs = performance.now();
    const asking = [one, two].flatMap((instance) => Array.from({ length: callers }, () => exhaust(instance.client())));
    const allowed = (await Promise.all(asking)).reduce((sum, count) => sum + count, 0);
    const grown = ((performance.now() - startedMs) / 60_000) * perMinute;
    expect(allowed).toBeGreaterThanOrEqual(perMinute - 2 * reportsAt);
    // Each instance may admit what it has not reported yet, and what arrives while it reports.
    expect(allowed).toBeLessThanOrEqual(perMinute + grown + 2 * 3 * (reportsAt + callers));
  });

  it('serves again once time has passed, also when an instance has died', async () => {
    await one.process.kill('SIGKILL');
    await eventually(async () => expect((await two.client().get('/api/v1/ais/none')).status).toBe(404));
  });
}
