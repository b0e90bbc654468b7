import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../support/apis/tcp-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { makeFor, type Person } from '../support/make.ts';
import { startService, type TestService } from '../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Changes over several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('a change that nobody lives to tell of', announcedChanges);

/** Columns that each request or run updates; no cache depends on them. */
const quietColumns: Readonly<Record<string, readonly string[]>> = {
  // The maker of a key never changes.
  api_keys: ['id', 'createdAt', 'updatedAt', 'name', 'prefix', 'lastUsedAt', 'createdByUserId', 'createdByKeyId'],
  agents: ['id', 'createdAt', 'updatedAt', 'messageCount', 'ratingCount', 'ratingSum'],
};
/** Tables in the same files that are not cached: they are read anew each time. */
const neverRemembered = ['usage_counters', 'usage_reservations'];
/** The columns of data sources that a cache depends on: runs read only which sources there are. Indexing writes the others. */
const toldColumns: Readonly<Record<string, readonly string[]>> = { data_sources: ['orgId', 'deletingAt'] };

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

  it('is noted by a trigger for each table that a cache reads', async () => {
    const { rows } = await dying.query<{ table: string }>(
      `select c.relname as table from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgname = 'parley_announce'`,
    );
    const announced = new Set(rows.map(({ table }) => table));
    const tables = await dying.query<{ name: string }>("select relname as name from pg_class where relkind = 'r'");
    const read = rememberedTables(tables.rows.map(({ name }) => name));
    expect(read).toEqual(expect.arrayContaining(['api_keys', 'memberships', 'organizations', 'agents', 'agent_tools']));
    expect(read.filter((table) => !announced.has(table))).toEqual([]);
  });

  it('is announced for each column, except those that requests and runs write', async () => {
    const { rows } = await dying.query<{ table: string; column: string; told: boolean }>(
      `select c.relname as table, a.attname as column, (t.tgattr::text = '' or a.attnum = any (t.tgattr)) as told
       from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_attribute a on a.attrelid = c.oid
       where t.tgname = 'parley_announce' and a.attnum > 0 and not a.attisdropped`,
    );
    const wrong = rows.filter(({ table, column, told }) => told !== isTold(table, column));
    expect(wrong).toEqual([]);
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

function isTold(table: string, column: string): boolean {
  const told = toldColumns[table];
  return told === undefined ? quietColumns[table]?.includes(column) !== true : told.includes(column);
}

/** Tables in the SQL of the files with an InvalidatedCache. */
function rememberedTables(existing: readonly string[]): string[] {
  const folder = fileURLToPath(new URL('../../src/storage', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const texts = files
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .filter((text) => /createInvalidatedCache</.test(text));
  const names = texts.flatMap((text) => [...text.matchAll(/\b(?:from|join) ([a-z_]+)\b/g)].map(([, name = '']) => name));
  return [...new Set(names)].filter((name) => existing.includes(name) && !neverRemembered.includes(name)).sort();
}
