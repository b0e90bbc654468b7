import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBrowser } from '../../support/people/browser.ts';
import { type IdentityProvider, startIdentityProvider } from '../../support/people/identity-provider.ts';
import { WalkingBrowser } from '../../support/people/walk.ts';
import { startClock } from '../../support/processes/clock.ts';
import { type Cluster, type Instance, startCluster } from '../../support/processes/cluster.ts';
import { testServerUrl } from '../../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Logouts at a provider are tested over several instances on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('a logout at the provider, told to one of two instances', logoutOverTwoInstances);

function logoutOverTwoInstances(): void {
  let provider: IdentityProvider;
  let cluster: Cluster;
  let one: Instance;
  let two: Instance;

  beforeAll(async () => {
    provider = await startIdentityProvider();
    cluster = await startCluster();
    const env = provider.settings('idp');
    [one, two] = await Promise.all([cluster.start(env), cluster.start(env)]);
    provider.register(one.url, 'idp');
  });
  afterAll(async () => {
    await cluster.close();
    await provider.close();
  });

  /** A browser that signed in by the provider at the first instance, and one with the same session at the second. */
  async function signedIn(): Promise<readonly [WalkingBrowser, TestBrowser]> {
    const [atOne, atTwo] = [new WalkingBrowser(() => one.url), new TestBrowser(() => two.url)];
    expect((await atOne.walk('/sign-in/oidc/idp?next=/docs')).url).toBe(`${one.url}/docs`);
    for (const [name, value] of atOne.cookies) atTwo.cookies.set(name, value);
    expect((await atTwo.viewer()).data.viewer.session.method).toBe('OIDC');
    return [atOne, atTwo];
  }

  it('ends the session and its streams at the other within a second and within five, and no other session', async () => {
    const { data } = await one.client().graphql('{ viewer { user { email } } }');
    provider.signsIn({ sub: 'ann', email: data.viewer.user.email, email_verified: true });
    const [atOne, atTwo] = await signedIn();
    const [, elsewhere] = await signedIn();
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const body = { query: 'subscription { agentsChanged { kind } }' };
    const stream = await atTwo.fetch('POST', '/graphql', body, headers);
    expect(stream.status).toBe(200);
    const rest = stream.text();
    const clock = startClock();
    await provider.endSession(atOne.cookiesAt(provider.issuer));
    // The provider has told the first instance before its own answer comes.
    const toldMs = clock.elapsedMs();
    while ((await atTwo.viewer()).status !== 401) expect(clock.elapsedMs() - toldMs).toBeLessThan(1_000);
    expect(await rest).toContain('INVALID_API_KEY');
    expect(clock.elapsedMs() - toldMs).toBeLessThan(5_000);
    clock.stop();
    expect((await elsewhere.viewer()).status).toBe(200);
  });
}
