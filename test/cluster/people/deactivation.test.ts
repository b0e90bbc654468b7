import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { TestBrowser } from '../../support/people/browser.ts';
import { startClock } from '../../support/processes/clock.ts';
import { type Cluster, type Instance, startCluster } from '../../support/processes/cluster.ts';
import { testServerUrl } from '../../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Deactivation over several instances is tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('somebody whom the identity provider deactivates at one instance', deactivationOverTwoInstances);

function deactivationOverTwoInstances(): void {
  let cluster: Cluster;
  let one: Instance;
  let two: Instance;

  beforeAll(async () => {
    cluster = await startCluster();
    [one, two] = await Promise.all([cluster.start(), cluster.start()]);
  });
  afterAll(() => cluster.close());

  it('is refused at the other within a second, key and session, and open streams there end within five', async () => {
    const admin = one.client();
    const made = await admin.post('/api/v1/api-keys', { name: 'Directory', scopes: ['SCIM:WRITE'] });
    const provider = new TestClient(() => one.url, made.body.key);
    const ann = (await provider.post('/scim/v2/Users', { userName: 'ann@example.com' })).body;
    const scopes = ['AGENTS:READ'];
    const key = (await admin.post('/api/v1/api-keys', { name: 'Report', scopes, userId: ann.id })).body.key;
    const byKey = new TestClient(() => two.url, key);
    const browser = new TestBrowser(() => two.url);
    await browser.signInBy((await admin.post('/api/v1/admin/sign-in-links', { email: ann.userName })).body.url);
    expect((await browser.viewer()).status).toBe(200);
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const stream = await byKey.fetch('POST', '/graphql', { query: 'subscription { agentsChanged { kind } }' }, headers);
    expect(stream.status).toBe(200);
    const rest = stream.text();
    const clock = startClock();
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
    const Operations = [{ op: 'Replace', path: 'active', value: 'False' }];
    expect((await provider.patch(`/scim/v2/Users/${ann.id}`, { schemas, Operations })).status).toBe(200);
    while ((await byKey.get('/api/v1/ais')).status !== 401) expect(clock.elapsedMs()).toBeLessThan(1_000);
    while ((await browser.viewer()).status !== 401) expect(clock.elapsedMs()).toBeLessThan(1_000);
    expect(await rest).toContain('INVALID_API_KEY');
    expect(clock.elapsedMs()).toBeLessThan(5_000);
    clock.stop();
  });
}
