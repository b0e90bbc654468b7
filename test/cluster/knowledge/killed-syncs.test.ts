import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GoogleDrive } from '../../fixtures/upstreams/google-drive.ts';
import { checkAgreement, driveEnv, syncThroughKills } from '../../support/knowledge/killed-syncs.ts';
import { type Cluster, startCluster } from '../../support/processes/cluster.ts';
import { newFolder, testServerUrl } from '../../support/storage/databases.ts';

/** KILLS=100 PROPERTY_SEED=7 looks for rare faults. */
const kills = Number(process.env.KILLS ?? 8);
const seed = Number(process.env.PROPERTY_SEED ?? 20_261_122);

if (testServerUrl === undefined) {
  console.info('Syncs of several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('two processes that sync', syncsOfTwo);

function syncsOfTwo(): void {
  let cluster: Cluster;
  let drive: GoogleDrive;
  let tables: Client;
  beforeAll(async () => {
    [cluster, drive] = await Promise.all([startCluster(), GoogleDrive.start()]);
    tables = new Client({ connectionString: cluster.databaseUrl });
    await tables.connect();
  });
  afterAll(async () => {
    await tables.end();
    await cluster.close();
    await drive.server.close();
  });

  it(`end as if none was killed, after ${kills} kills of one or the other (seed ${seed})`, { timeout: 1_200_000 }, async () => {
    const folder = newFolder();
    const world = {
      ...{ drive, kills, seed, processes: 2 },
      async launch() {
        const instance = await cluster.start({ ...driveEnv(drive), DATA_DIR: folder });
        return { ann: instance.client(), kill: () => instance.process.kill('SIGKILL') };
      },
      query: async (sql: string, values: readonly unknown[]) => (await tables.query(sql, [...values])).rows,
    };
    const { sourceId, ann } = await syncThroughKills(world);
    await checkAgreement(world, sourceId, ann);
  });
}
