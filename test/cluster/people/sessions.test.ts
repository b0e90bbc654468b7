import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBrowser } from '../../support/people/browser.ts';
import { startClock } from '../../support/processes/clock.ts';
import { type Cluster, type Instance, startCluster } from '../../support/processes/cluster.ts';
import { testServerUrl } from '../../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Sessions over several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('a session over two instances', sessionsOverTwoInstances);

function sessionsOverTwoInstances(): void {
  let cluster: Cluster;
  let one: Instance;
  let two: Instance;

  beforeAll(async () => {
    cluster = await startCluster();
    [one, two] = await Promise.all([cluster.start(), cluster.start()]);
  });
  afterAll(() => cluster.close());

  /** The same session, in a browser at each instance. */
  async function signedIn(): Promise<readonly [TestBrowser, TestBrowser]> {
    const [atOne, atTwo] = [one, two].map(({ url }) => new TestBrowser(() => url)) as [TestBrowser, TestBrowser];
    const { body } = await one.client().post('/api/v1/admin/sign-in-links', {});
    await atOne.signInBy(body.url);
    for (const [name, value] of atOne.cookies) atTwo.cookies.set(name, value);
    expect((await atTwo.viewer()).status).toBe(200);
    return [atOne, atTwo];
  }

  it('is refused at the other instance within a second after it was ended, and its streams there end within five', async () => {
    const [atOne, atTwo] = await signedIn();
    const body = { query: 'subscription { agentsChanged { kind } }' };
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const stream = await atTwo.fetch('POST', '/graphql', body, headers);
    expect(stream.status).toBe(200);
    const rest = stream.text();
    const clock = startClock();
    await atOne.post('/sign-out', {});
    while ((await atTwo.viewer()).status !== 401) expect(clock.elapsedMs()).toBeLessThan(1_000);
    expect(await rest).toContain('INVALID_API_KEY');
    expect(clock.elapsedMs()).toBeLessThan(5_000);
    clock.stop();
  });

  it('begins at one instance only when one link is used at both in the same moment', async () => {
    const { body } = await one.client().post('/api/v1/admin/sign-in-links', {});
    const replies = await Promise.all([one, two].map(({ url }) => new TestBrowser(() => url).signInBy(body.url)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
}
