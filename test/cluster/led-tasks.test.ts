import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { TaskLeader } from '../../src/engine/jobs/task-leader.ts';
import { loadSettings } from '../../src/settings.ts';
import type { Database } from '../../src/storage/ground/database.ts';
import { Leases } from '../../src/storage/ground/leases.ts';
import { openDatabase } from '../../src/storage/ground/opening/open.ts';
import { TaskStore } from '../../src/storage/ground/tasks.ts';
import { eventually } from '../support/processes/eventually.ts';
import { startService, type TestService } from '../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Tasks of several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('a task that one of all instances repeats', tasksOfInstances);

function tasksOfInstances(): void {
  let place: Place;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
  });
  afterEach(() => place.remove());

  describe('of three services', () => {
    let services: readonly TestService[] = [];
    const shared = () => {
      const { DATA_DIR: _own, ...env } = place.env;
      return env;
    };
    afterEach(() => Promise.all(services.map((service) => service.close())));

    it('runs once in its time', async () => {
      services = await Promise.all([1, 2, 3].map(() => startService({ env: shared() })));
      const { pool } = services[0]?.deps.storage.db ?? {};
      const tasks = async () =>
        (
          await pool?.query<{ id: string; fence: number; isOver: boolean }>(
            `select id, fence, "endedAt" is not null as "isOver" from repeated_tasks where "nextAt" > now() + interval '5 minutes' or "endedAt" is null`,
          )
        )?.rows ?? [];
      await eventually(async () => {
        const found = await tasks();
        expect(found.map(({ id }) => id)).toContain('retention.sweep');
        expect(found.filter(({ isOver }) => !isOver)).toEqual([]);
      });
      // Each run takes the lease once more.
      expect((await tasks()).filter(({ fence }) => fence !== 1)).toEqual([]);
      const swept = services.filter(({ deps }) => deps.dataLife.sweptAt !== undefined);
      expect(swept).toHaveLength(1);
      for (const service of services)
        expect(String((await service.nobody.get('/metrics')).body)).toContain('parley_retention_sweep_age_seconds ');
    });
  });

  describe('of three leaders', () => {
    const leaseMs = 3_000;
    let databases: readonly Database[];
    let began: string[];
    beforeEach(async () => {
      databases = await Promise.all([1, 2, 3].map(() => openDatabase(loadSettings(place.env), { onError: () => {} })));
      began = [];
    });
    afterEach(() => Promise.all(databases.map((db) => db.close())));

    const never = new AbortController().signal;
    /** Leaders with one task, which is called `name` in `began`. */
    const leaderOf = (db: Database | undefined, name: string, task: (signal: AbortSignal) => Promise<void>, renews = true) => {
      if (db === undefined) throw new Error('no database');
      const leases = new Leases(db);
      if (!renews) Object.assign(leases, { renew: () => Promise.reject(new Error('the database does not answer')) });
      const run = (signal: AbortSignal) => {
        began.push(name);
        return task(signal);
      };
      const tasks = [{ name: 'count', everyMs: 60_000, task: run }];
      const hooks = { onError: () => {}, leaseMs };
      return new TaskLeader(new TaskStore(db), leases, tasks, hooks);
    };
    const untilEnded = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const row = async () =>
      (await databases[0]?.pool.query(`select fence, "endedAt" is not null as "isOver", "leaseOwner" from repeated_tasks`))
        ?.rows[0];

    it('runs in the first that asks, and in none of the others while it goes on and after it', async () => {
      const done = Promise.withResolvers<void>();
      const leaders = databases.map((db, index) => leaderOf(db, `leader ${index}`, () => done.promise));
      await Promise.all(leaders.map((leader) => leader.look(never)));
      expect(began).toHaveLength(1);
      // Longer than the lease, which is renewed.
      await databases[0]?.pool.query(`select pg_sleep(${(leaseMs * 1.5) / 1_000})`);
      await Promise.all(leaders.map((leader) => leader.look(never)));
      done.resolve();
      await Promise.all(leaders.map((leader) => leader.end()));
      await Promise.all(leaders.map((leader) => leader.look(never)));
      expect(began).toHaveLength(1);
      expect(await row()).toMatchObject({ fence: 1, isOver: true, leaseOwner: null });
    });

    it('is ended in a process that may have lost it, goes on in another, and the first one writes no end', async () => {
      const first = leaderOf(databases[0], 'first', untilEnded, false);
      await first.look(never);
      const done = Promise.withResolvers<void>();
      const second = leaderOf(databases[1], 'second', () => done.promise);
      await eventually(async () => {
        await second.look(never);
        expect(began).toEqual(['first', 'second']);
      });
      await first.end();
      expect(await row()).toMatchObject({ fence: 2, isOver: false });
      done.resolve();
      await second.end();
      expect(await row()).toMatchObject({ fence: 2, isOver: true });
    });

    it('begins again at once in another when its process stops', async () => {
      const stopping = new AbortController();
      const first = leaderOf(databases[0], 'first', untilEnded);
      await first.look(stopping.signal);
      stopping.abort();
      await first.end();
      const second = leaderOf(databases[1], 'second', async () => {});
      await second.look(never);
      await second.end();
      expect(began).toEqual(['first', 'second']);
      expect(await row()).toMatchObject({ isOver: true });
    });
  });
}
