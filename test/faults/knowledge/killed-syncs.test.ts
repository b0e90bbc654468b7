import { afterAll, expect, inject, it } from 'vitest';
import { GoogleDrive } from '../../fixtures/upstreams/google-drive.ts';
import { TestClient } from '../../support/client.ts';
import { checkAgreement, driveEnv, type KilledSyncs, syncThroughKills } from '../../support/knowledge/killed-syncs.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { startService } from '../../support/service.ts';
import { copyOf } from '../../support/storage/databases.ts';

/** KILLS=100 PROPERTY_SEED=7 looks for rare faults. */
const kills = Number(process.env.KILLS ?? 20);
const seed = Number(process.env.PROPERTY_SEED ?? 20_261_122);
const adminKey = 'pk-test-administrator-key-of-40-characters';

const place = await copyOf(inject('template'));
const drive = await GoogleDrive.start();
afterAll(async () => {
  await killProcesses();
  await drive.server.close();
  await place.remove();
});

it(`a sync of 500 files that is killed ${kills} times (seed ${seed}) ends as if it never was`, { timeout: 600_000 }, async () => {
  const env = { ...place.env, ...driveEnv(drive), PARLEY_ADMIN_KEY: adminKey, LOG_LEVEL: 'warn' };
  const world: Omit<KilledSyncs, 'query'> = {
    ...{ drive, kills, seed, processes: 1 },
    async launch() {
      const parley = startProcess(env);
      const url = await parley.url();
      return { parley, ann: new TestClient(() => url, adminKey) };
    },
  };
  const { sourceId } = await syncThroughKills({ ...world, query: async () => [] });
  await killProcesses();
  // The embedded database belongs to one process: this one reads the tables.
  const service = await startService({ env });
  try {
    const query = async (sql: string, values: readonly unknown[]) =>
      (await service.deps.storage.db.pool.query(sql, [...values])).rows;
    await checkAgreement({ ...world, query }, sourceId, service.client(adminKey));
    expect(drive.server.requests.length).toBeGreaterThan(500);
  } finally {
    await service.close();
  }
});
