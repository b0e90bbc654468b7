import { afterAll, expect, inject, it } from 'vitest';
import { GoogleDrive } from '../../fixtures/upstreams/google-drive.ts';
import { TestClient } from '../../support/client.ts';
import { checkAgreement, driveEnv, type KilledSyncs, syncThroughKills } from '../../support/knowledge/killed-syncs.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { startService, type TestService } from '../../support/service.ts';
import { copyOf } from '../../support/storage/databases.ts';

/** A start of the embedded database is slow beside other tests: five kills. KILLS=100 PROPERTY_SEED=7 looks for rare faults. */
const kills = Number(process.env.KILLS ?? 5);
const seed = Number(process.env.PROPERTY_SEED ?? 20_261_122);
const adminKey = 'pk-test-administrator-key-of-40-characters';

const place = await copyOf(inject('template'));
const drive = await GoogleDrive.start();
afterAll(async () => {
  await killProcesses();
  await drive.server.close();
  await place.remove();
});

it(`a sync of 500 files that is killed ${kills} times (seed ${seed}) ends as if it never was`, {
  timeout: 1_200_000,
}, async () => {
  const env = { ...place.env, ...driveEnv(drive), PARLEY_ADMIN_KEY: adminKey, LOG_LEVEL: 'warn' };
  let last: TestService | undefined;
  const world: KilledSyncs = {
    ...{ drive, kills, seed, processes: 1 },
    async launch(isLast) {
      if (isLast) {
        // The embedded database belongs to one process: this one does the rest, and reads the tables.
        const service = await startService({ env });
        last = service;
        return { ann: service.client(adminKey), kill: () => service.close() };
      }
      const parley = startProcess(env);
      const url = await parley.url();
      return { ann: new TestClient(() => url, adminKey), kill: () => parley.kill('SIGKILL') };
    },
    query: async (sql, values) => (await last?.deps.storage.db.pool.query(sql, [...values]))?.rows ?? [],
  };
  try {
    const { sourceId, ann } = await syncThroughKills(world);
    await checkAgreement(world, sourceId, ann);
    expect(drive.server.requests.length).toBeGreaterThan(500);
  } finally {
    await last?.close();
  }
});
