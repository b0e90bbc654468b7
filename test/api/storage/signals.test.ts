import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../../src/settings.ts';
import type { Database } from '../../../src/storage/database/database.ts';
import { openDatabase } from '../../../src/storage/database/open.ts';
import { createInProcessSignals } from '../../../src/storage/database/signals/in-process.ts';
import { createPostgresSignals } from '../../../src/storage/database/signals/postgres.ts';
import type { Signals } from '../../../src/storage/database/signals/signals.ts';
import { eventually } from '../../support/eventually.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';

it('in one process: listeners of a topic are called at once, until they stop listening', () => {
  const signals = createInProcessSignals();
  const heard: string[] = [];
  const stop = signals.subscribe('key-changed', (payload) => heard.push(payload));
  signals.publish('key-changed', 'key_1');
  signals.publish('agent-changed', 'ai_1');
  stop();
  signals.publish('key-changed', 'key_2');
  expect(heard).toEqual(['key_1']);
  expect(signals.isHealthy()).toBe(true);
});

// LISTEN needs a server: the connections of the embedded database share one session. `.ci/run` runs all tests on a server as well.
if (testServerUrl === undefined) console.info('Signals between processes are tested on a server only: set TEST_DATABASE_URL.');
else describe('between processes on one server', betweenProcesses);

function betweenProcesses() {
  let place: Place;
  let db: Database;
  let first: Signals;
  let second: Signals;
  beforeAll(async () => {
    place = await copyOf(inject('template'));
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
    first = await createPostgresSignals(db.pool, () => {});
    second = await createPostgresSignals(db.pool, () => {});
  });
  afterAll(async () => {
    await first.close();
    await second.close();
    await db.close();
    await place.remove();
  });

  it('reach the other process, and the own process once', async () => {
    const own: string[] = [];
    const other: string[] = [];
    first.subscribe('run-changed', (payload) => own.push(payload));
    second.subscribe('run-changed', (payload) => other.push(payload));
    first.publish('run-changed', 'run_1 with words');
    expect(own).toEqual(['run_1 with words']);
    second.publish('run-changed', 'run_2');
    await eventually(() => {
      expect(other).toEqual(['run_2', 'run_1 with words']);
      expect(own).toEqual(['run_1 with words', 'run_2']);
    });
  });

  it('report a gap after a lost connection, and arrive again', async () => {
    let gaps = 0;
    const heard: string[] = [];
    second.onGap(() => {
      gaps += 1;
    });
    second.subscribe('run-changed', (payload) => heard.push(payload));
    await db.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley-signals' AND datname = current_database()",
    );
    await eventually(() => expect(gaps).toBe(1));
    await eventually(() => expect([first.state(), second.state()]).toEqual(['live', 'live']));
    first.publish('run-changed', 'run_3');
    await eventually(() => expect(heard).toEqual(['run_3']));
  });
}
