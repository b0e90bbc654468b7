import type { Socket } from 'node:net';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { openClient, openPool } from '../../../../src/storage/ground/opening/pool.ts';
import { SignalHub } from '../../../../src/storage/ground/signals/hub.ts';
import { PostgresTransport } from '../../../../src/storage/ground/signals/postgres.ts';
import { type SiblingLink, SiblingTransport } from '../../../../src/storage/ground/signals/siblings.ts';
import { Signals } from '../../../../src/storage/ground/signals/signals.ts';
import { listenerName, StuckListeners } from '../../../../src/storage/ground/signals/stuck-listeners.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { copyOf, type Place, testServerUrl } from '../../../support/storage/databases.ts';
import { siblingPair } from '../../../support/storage/sibling-pair.ts';
import { signalCases } from '../../../support/storage/signal-cases.ts';

describe('in one process', () => {
  signalCases(async () => {
    const signals = new Signals(new SignalHub());
    return { first: signals, second: signals };
  });
});

describe('between processes of one service', () => {
  const pair = siblingPair();
  let place: Place;
  let db: Database;
  let first: Signals;
  let second: Signals;
  const errors: Error[] = [];
  const openSignals = async (link: SiblingLink, onError: (error: Error) => void) => {
    const hub = new SignalHub();
    const signals = new Signals(hub, { transport: new SiblingTransport(hub, link, onError), pool: db.pool });
    await signals.start();
    return signals;
  };
  beforeAll(async () => {
    place = await copyOf(inject('template'));
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
    first = await openSignals(pair.links[0], (error) => void errors.push(error));
    second = await openSignals(pair.links[1], () => {});
    pair.join();
  });
  afterAll(async () => {
    await first.close();
    await second.close();
    await db.close();
    await place.remove();
  });

  signalCases(async () => ({ first, second, errors }), {
    carriesEvents: true,
    losses: { 'neither read for a while': { lose: pair.overflow } },
  });

  it('know after one was replaced what the other follows, and have a gap', async () => {
    const heard: string[] = [];
    let gaps = 0;
    const stops = [
      first.watch('run_kept', (batch) => void heard.push(batch)),
      first.subscribe('data-source-changed', (id) => void heard.push(id)),
      first.onGap(() => {
        gaps += 1;
      }),
    ];
    pair.replaceSecond();
    expect(gaps).toBeGreaterThan(0);
    await eventually(() => {
      second.tell('run_kept', () => '[3]');
      second.publish('data-source-changed', 'ds_kept');
      expect(heard).toEqual(expect.arrayContaining(['[3]', 'ds_kept']));
    });
    for (const stop of stops) stop();
  });
});

// LISTEN needs a server: the connections of the embedded database share one session. `.ci/run` runs all tests on a server as well.
if (testServerUrl === undefined) console.info('Signals between processes are tested on a server only: set TEST_DATABASE_URL.');
else describe('between processes on one server', betweenProcesses);

function betweenProcesses() {
  let place: Place;
  let db: Database;
  let first: Signals;
  let second: Signals;
  const errors: Error[] = [];
  const openSignals = async (onError: (error: Error) => void) => {
    const hub = new SignalHub();
    const signals = new Signals(hub, { transport: new PostgresTransport(hub, db.pool, onError), pool: db.pool });
    await signals.start();
    return signals;
  };
  const endSessions = () =>
    db.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'parley-signals%' AND datname = current_database()",
    );
  beforeAll(async () => {
    place = await copyOf(inject('template'));
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
    [first, second] = [await openSignals((error) => void errors.push(error)), await openSignals(() => {})];
  });
  afterAll(async () => {
    await first.close();
    await second.close();
    await db.close();
    await place.remove();
  });

  signalCases(async () => ({ first, second, errors }), {
    losses: { 'its sessions were ended': { lose: endSessions } },
  });

  it('end the session of a listener that does not read, and no other, when the queue grows', async () => {
    const admin = openPool({ connectionString: place.env.DATABASE_URL, max: 1 }, { onLost: () => undefined });
    let isOver = false;
    const stuck = openClient({ connectionString: place.env.DATABASE_URL, application_name: listenerName }, () => {
      isOver = true;
    });
    const isWriting = async () =>
      (
        await admin.query(
          `SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() AND wait_event = 'ClientWrite'`,
          [listenerName],
        )
      ).rowCount === 1;
    try {
      await stuck.connect();
      await stuck.query('LISTEN flood');
      socketOf(stuck).pause();
      await eventually(async () => {
        await admin.query(`SELECT count(pg_notify('flood', n || repeat('x', 7000))) FROM generate_series(1, 1000) AS n`);
        expect(await isWriting()).toBe(true);
      });
      const listeners = new StuckListeners(admin, 0);
      await listeners.look();
      expect([listeners.ended, await isWriting()]).toEqual([0, true]);
      expect(listeners.usage).toBeGreaterThan(0);
      await listeners.look();
      expect(listeners.ended).toBe(1);
      await eventually(async () => expect(await isWriting()).toBe(false));
      socketOf(stuck).resume();
      await eventually(() => expect(isOver).toBe(true));
      expect([first.state(), second.state()]).toEqual(['live', 'live']);
    } finally {
      await stuck.end().catch(() => undefined);
      await admin.end();
    }
  });
}

/** The socket of a connection, which its types leave out. */
function socketOf(client: Client): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
}
