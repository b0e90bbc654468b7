import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { startClock } from '../../support/processes/clock.ts';
import { type Cluster, type Instance, startCluster } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { seededRandom } from '../../support/property/random.ts';
import { testServerUrl } from '../../support/storage/databases.ts';
import { heldAnswer } from '../../support/upstream.ts';

const kills = Number(process.env.KILLS ?? 6);
const seed = Number(process.env.PROPERTY_SEED ?? 20_261_126);

if (testServerUrl === undefined) {
  console.info('Schedules over several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('schedules of several instances', schedulesOfSeveral);

function schedulesOfSeveral(): void {
  let cluster: Cluster;
  let one: Instance;
  let two: Instance;
  let tables: Client;
  let agentId: string;
  beforeAll(async () => {
    cluster = await startCluster();
    [one, two] = await Promise.all([cluster.start(), cluster.start()]);
    tables = new Client({ connectionString: cluster.databaseUrl });
    await tables.connect();
    const agent = { src: 'x', name: 'Ada', description: 'Knows', instructions: 'Be brief.', visibility: 'ORGANIZATION' };
    agentId = (await one.client().post('/api/v1/ais', agent)).body.id;
  });
  beforeEach(() => cluster.upstream.reset());
  afterAll(async () => {
    await tables.end();
    await cluster.close();
  });

  const rows = async (sql: string, values: readonly unknown[] = []) => (await tables.query(sql, [...values])).rows;
  const newSchedules = (who: TestClient, count: number) =>
    Promise.all(
      Array.from({ length: count }, async (_, index): Promise<string> => {
        const input = { name: `News ${index}`, agentId, prompt: 'What is new?', cron: '0 9 1 1 *', timeZone: 'UTC' };
        const made = await who.graphql('mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { id } }', {
          input,
        });
        return made.data.createSchedule.id;
      }),
    );
  const come = (ids: readonly string[]) => rows(`update schedules set "nextRunAt" = now() where id = any($1)`, [ids]);
  const open = async (ids: readonly string[]) =>
    (
      await rows(
        `select count(*)::int as n from schedule_runs where "scheduleId" = any($1) and status in ('PENDING', 'RUNNING')`,
        [ids],
      )
    )[0]?.n;
  /** How often each schedule ran, by its own record and by the runs of the service. */
  const counts = async (ids: readonly string[]) =>
    rows(
      `select s.id, (select count(*)::int from schedule_runs r where r."scheduleId" = s.id and r.status <> 'SKIPPED') as times,
         (select count(*)::int from runs where "keyId" = s.id) as runs from schedules s where s.id = any($1)`,
      [ids],
    );

  it('take each time once', async () => {
    const ids = await newSchedules(one.client(), 20);
    await come(ids);
    await eventually(async () => {
      expect((await counts(ids)).every(({ times }) => times === 1)).toBe(true);
      expect(await open(ids)).toBe(0);
    });
    await wait(5_000);
    expect(await counts(ids)).toEqual(expect.arrayContaining(ids.map((id) => ({ id, times: 1, runs: 1 }))));
    expect(cluster.upstream.requests).toHaveLength(20);
    await rows('delete from schedules where id = any($1)', [ids]);
  });

  it(`lose no time and run none twice through ${kills} kills (seed ${seed})`, { timeout: 600_000 }, async () => {
    const random = seededRandom(seed);
    const ids = await newSchedules(two.client(), 8);
    cluster.upstream.otherwise({ text: ['a', 'b'], chunkDelayMs: 200 });
    for (let kill = 1; kill <= kills; kill += 1) {
      await come(ids);
      await wait(random() * 3_000);
      await one.process.kill('SIGKILL');
      one = await cluster.start();
      await eventually(async () => {
        expect((await counts(ids)).every(({ times }) => times === kill)).toBe(true);
        expect(await open(ids)).toBe(0);
      }, 120_000);
    }
    expect(await counts(ids)).toEqual(expect.arrayContaining(ids.map((id) => ({ id, times: kills, runs: kills }))));
    const ends = await rows(`select distinct status from schedule_runs where "scheduleId" = any($1)`, [ids]);
    expect(['COMPLETED', 'FAILED', 'INCOMPLETE']).toEqual(expect.arrayContaining(ends.map(({ status }) => status)));
    await rows('delete from schedules where id = any($1)', [ids]);
  });

  it('end within a second when their person is taken out at another instance', async () => {
    const admin = one.client();
    const ann = (await admin.post('/api/v1/admin/users', { email: 'ann@example.com', name: 'Ann' })).body;
    const key = (
      await admin.post('/api/v1/api-keys', { name: 'Ann', scopes: ['CHATS:READ', 'CHATS:WRITE', 'AGENTS:READ'], userId: ann.id })
    ).body.key;
    const [id = ''] = await newSchedules(new TestClient(() => two.url, key), 1);
    const held = heldAnswer({ text: ['a', 'b'] });
    cluster.upstream.next(held.script);
    await come([id]);
    await cluster.upstream.until(({ openStreams }) => openStreams === 1);
    const [membership] = await rows('select id from memberships where "userId" = $1', [ann.id]);
    const clock = startClock();
    expect((await admin.delete(`/api/v1/admin/memberships/${membership?.id}`)).status).toBeLessThan(300);
    await cluster.upstream.until(({ aborted }) => aborted === 1);
    expect(clock.elapsedMs()).toBeLessThan(1_000);
    clock.stop();
    held.goOn();
    // Until the end of the run is noted, a time is skipped.
    await eventually(async () => expect(await open([id])).toBe(0));
    await come([id]);
    await eventually(async () => {
      const [schedule] = await rows('select "pausedReason", "isEnabled" from schedules where id = $1', [id]);
      expect(schedule).toEqual({ isEnabled: false, pausedReason: expect.stringMatching(/^Its owner is no member/) });
    });
    expect(cluster.upstream.requests).toHaveLength(1);
  });
}
