import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../../support/processes/eventually.ts';
import { type Installation, startInstallation } from '../../support/processes/installation.ts';
import { killProcesses } from '../../support/processes/process.ts';
import { testServerUrl } from '../../support/storage/databases.ts';
import { postgres18 } from '../../support/storage/postgres.ts';
import { faults } from './faults.ts';
import { Workload } from './workload.ts';

/** How often each fault happens; FAULT_ROUNDS=5 looks for rare ones. */
const rounds = Number(process.env.FAULT_ROUNDS ?? 1);
const clients = 6;
/** The service must answer again within this time after the fault is over. */
const recoveryMs = 10_000;

let installation: Installation | undefined;
afterEach(async () => {
  await installation?.close();
  installation = undefined;
  await killProcesses();
});

if (testServerUrl === undefined) {
  console.info('Faults of an installation of three instances are tried with PostgreSQL only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else {
  const timeout = 300_000 + rounds * 300_000;
  it('three instances lose nothing and do nothing twice, whatever fails', { timeout }, () => matrix(undefined));
  if (postgres18 === undefined && process.env.CI === undefined) {
    console.info('PostgreSQL 18 is not tried: set POSTGRES_18_BIN to the folder of its programs.');
  } else {
    it('three instances on PostgreSQL 18 lose nothing and do nothing twice', { timeout }, () => {
      if (postgres18 === undefined) throw new Error('POSTGRES_18_BIN is not set');
      return matrix(postgres18);
    });
  }
}

async function matrix(postgresBin: string | undefined): Promise<void> {
  installation = await startInstallation({ postgresBin });
  const { ann } = installation;
  const workload = await Workload.prepare(installation);
  const stop = new AbortController();
  const work = workload.run(clients, stop.signal);
  for (let turn = 0; turn < rounds * faults.length; turn += 1) {
    const fault = faults[turn % faults.length];
    const before = workload.done.writes;
    await eventually(() => expect(workload.done.writes).toBeGreaterThan(before + clients));
    await fault?.happen(installation, turn);
    await eventually(async () => {
      expect((await ann.get('/readyz')).status, fault?.name).toBe(200);
      expect((await ann.get('/api/v1/ais?limit=1')).status, fault?.name).toBe(200);
    }, recoveryMs);
  }
  await wait(500);
  stop.abort();
  await work;
  await installation.ready();
  await workload.check();
  const { writes, streams, orders } = workload.done;
  console.info(
    `${writes} acknowledged writes, ${streams} followed streams and ${orders} orders through ${rounds * faults.length} faults`,
  );
  expect(Math.min(writes, streams, orders)).toBeGreaterThan(faults.length);
}
