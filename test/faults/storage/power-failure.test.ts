import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { prepareDatabaseFolder } from '../../../src/storage/ground/embedded/new-database.ts';
import { TestClient } from '../../support/client.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { startService } from '../../support/service.ts';
import { copyOf, emptyPlace, type Place, testServerUrl } from '../../support/storage/databases.ts';
import { followSynced, type SyncedCopy } from '../../support/storage/power-failure.ts';

const key = 'chosen-by-the-operator-40-characters-long';
const clients = 8;
const agentsEach = 20;
/** More than a page of a table. */
const instructionsBytes = 20_000;

if (testServerUrl !== undefined) it('is the server’s own matter there', () => expect(testServerUrl).toBeDefined());
else
  describe('a power failure', () => {
    let place: Place;
    let env: Readonly<Record<string, string>>;
    const begin = (newPlace: Place) => {
      place = newPlace;
      env = { ...place.env, PARLEY_ADMIN_KEY: key, LOG_LEVEL: 'warn' };
    };
    afterEach(async () => {
      await killProcesses();
      await place.remove();
    });

    it.each<[string, () => boolean]>([
      ['nothing that was not flushed is on the disk', () => false],
      ['any part of what was not flushed is on the disk', () => Math.random() < 0.5],
    ])('loses nothing that was acknowledged: %s', async (_case, takes) => {
      begin(await copyOf(inject('template')));
      await (await startService({ env })).close();
      const database = join(place.env.DATA_DIR ?? '', 'database');
      await expectNothingLost(followSynced(database, database), takes);
    });

    // The unpacked database is flushed before it has its name; what the first start changes in it must be flushed again.
    it('loses nothing that was acknowledged after a first start', async () => {
      begin(await emptyPlace());
      const unpacked = join(place.env.DATA_DIR ?? '', 'unpacked');
      await prepareDatabaseFolder(unpacked);
      const synced = followSynced(join(place.env.DATA_DIR ?? '', 'database'), unpacked);
      await expectNothingLost(synced, () => false);
    });

    async function expectNothingLost(synced: SyncedCopy, takes: () => boolean): Promise<void> {
      const parley = startProcess({ ...env, ...synced.env });
      const url = await parley.url();
      const acknowledged = await workUntilKilled(new TestClient(() => url, key), {
        // Make the database write tables and its state, not only its log.
        checkpoint: () => makeCheckpoints(place.env.DATA_DIR ?? ''),
        kill: () => parley.kill('SIGKILL'),
      });
      synced.fail(takes);

      const service = await startService({ env });
      const admin = service.client(key);
      const found = await Promise.all(acknowledged.map(async ({ id }) => (await admin.get(`/api/v1/ais/${id}`)).body));
      expect(found.map(({ id, instructions }) => ({ id, instructions }))).toEqual(acknowledged);
      expect(acknowledged.length).toBeGreaterThan(clients);
      expect((await admin.post('/api/v1/ais', agent('afterwards'))).status).toBe(200);
      await service.close();
    }
  });

interface Acknowledged {
  readonly id: string;
  readonly instructions: string;
}

interface Events {
  checkpoint(): Promise<unknown>;
  kill(): Promise<unknown>;
}

/** Creates agents with several clients, makes checkpoints meanwhile, and kills the service while requests are active. */
async function workUntilKilled(admin: TestClient, { checkpoint, kill }: Events): Promise<readonly Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  const checkpointAt = randomInt(clients, 4 * clients);
  const killedAt = clients * agentsEach - randomInt(clients, 8 * clients);
  let checked: Promise<unknown> | undefined;
  let killed: Promise<unknown> | undefined;
  const work = async () => {
    for (let made = 0; made < agentsEach && killed === undefined; made += 1) {
      const instructions = randomBytes(instructionsBytes).toString('base64url').slice(0, instructionsBytes);
      const reply = await admin.post('/api/v1/ais', { ...agent('before'), instructions }).catch(() => undefined);
      if (reply?.status === 200) acknowledged.push({ id: reply.body.id, instructions });
      if (acknowledged.length >= checkpointAt) checked ??= checkpoint();
      if (acknowledged.length >= killedAt) killed ??= kill();
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  await checked;
  await killed;
  return acknowledged;
}

async function makeCheckpoints(dataDir: string): Promise<void> {
  const client = new Client({ host: readFileSync(join(dataDir, 'parley.socket'), 'utf8'), user: 'postgres' });
  await client.connect();
  // Into new files of the log each time, so that old ones are used again: what only they held must be in the tables.
  for (let count = 0; count < 5; count += 1) {
    await client.query('SELECT pg_switch_wal()');
    await client.query('CHECKPOINT');
  }
  await client.end();
}

function agent(name: string) {
  return { name, description: '', instructions: 'Answer.', src: '' };
}
