import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../../support/egress/tcp-proxy.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { startService, type TestService } from '../../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Changes over several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('a change that nobody lives to tell of', announcedChanges);

function announcedChanges(): void {
  /** Less than the lifetime of a cache entry, so that the test shows an announcement and not an expiry. */
  const withinMs = 3_000;
  let place: Place;
  let proxy: TcpProxy;
  /** Acts as a process that dies after its commit: it announces nothing itself. */
  let dying: Client;
  let other: TestService;
  let ann: Person;

  beforeAll(async () => {
    place = await copyOf(inject('template'));
    const address = new URL(place.env.DATABASE_URL ?? '');
    proxy = await startTcpProxy(Number(address.port), address.hostname);
    address.host = `127.0.0.1:${proxy.port}`;
    dying = new Client({ connectionString: place.env.DATABASE_URL });
    await dying.connect();
    const { DATA_DIR: _own, ...shared } = place.env;
    other = await startService({ env: { ...shared, DATABASE_URL: address.href }, onLog: () => undefined });
  });
  afterAll(async () => {
    await other.close();
    await dying.end();
    await proxy.close();
    await place.remove();
  });

  const revoke = () => dying.query(`update api_keys set "revokedAt" = now() where "userId" = $1`, [ann.userId]);
  const refused = () => eventually(async () => expect((await ann.get('/api/v1/ais')).status).toBe(401), withinMs);
  const readiness = async () => (await other.nobody.get('/readyz')).body;

  it('reaches the other instance by a notification: a revoked key is refused', async () => {
    ann = await makeFor(other).person();
    expect((await ann.get('/api/v1/ais')).status).toBe(200);
    await revoke();
    await refused();
  });

  it('reaches it without notifications too, and /readyz says that they are lost', async () => {
    ann = await makeFor(other).person();
    expect((await ann.get('/api/v1/ais')).status).toBe(200);
    proxy.mute(true);
    await eventually(async () => expect(await readiness()).toMatchObject({ status: 'ready', degraded: expect.any(String) }));
    expect((await ann.get('/api/v1/ais')).status).toBe(200);
    await revoke();
    await refused();
    proxy.mute(false);
    await eventually(async () => expect(await readiness()).toEqual({ status: 'ready' }));
  });

  it('reaches it at once after the first notification was lost, also when a transaction took long', async () => {
    ann = await makeFor(other).person();
    expect((await ann.get('/api/v1/ais')).status).toBe(200);
    // Its transaction number is below those that are read meanwhile.
    await dying.query('begin');
    await revoke();
    await makeFor(other).person();
    proxy.mute(true);
    await dying.query('commit');
    await refused();
    proxy.mute(false);
  });

  it('is not announced for the use of a key or for a message', async () => {
    const count = async () => (await dying.query('select count(*)::int as count from cache_invalidations')).rows[0].count;
    ann = await makeFor(other).person();
    const agent = await makeFor(other).agent({ owner: ann });
    const before = await count();
    await dying.query(`update api_keys set "lastUsedAt" = now()`);
    await dying.query(`update agents set "messageCount" = "messageCount" + 1 where id = $1`, [agent.id]);
    expect(await count()).toBe(before);
    await dying.query(`update agents set name = 'other' where id = $1`, [agent.id]);
    expect(await count()).toBe(before + 1);
  });
}
