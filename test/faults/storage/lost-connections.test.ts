import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, type ParleyProcess, startProcess } from '../../support/processes/process.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';

if (testServerUrl === undefined) {
  console.info('Lost connections are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database has connections of its own process only', () => expect(testServerUrl).toBeUndefined());
} else describe('a server that ends all connections under load', lostConnections);

function lostConnections(): void {
  const key = 'chosen-by-the-operator-40-characters-long';
  const clients = 8;
  const rounds = 6;
  const recoveryMs = 10_000;
  let place: Place;
  let database: Client;
  let parley: ParleyProcess;
  let admin: TestClient;
  beforeAll(async () => {
    place = await copyOf(inject('template'));
    parley = startProcess({ ...place.env, PARLEY_ADMIN_KEY: key, LOG_LEVEL: 'fatal' });
    const url = await parley.url();
    admin = new TestClient(() => url, key);
    database = new Client({ connectionString: place.env.DATABASE_URL });
    await database.connect();
  });
  afterAll(async () => {
    await killProcesses();
    await database.end();
    await place.remove();
  });

  it('leaves the process alive and every acknowledged write there, within seconds', async () => {
    const acknowledged: string[] = [];
    const unexpected: number[] = [];
    let isOver = false;
    const work = async () => {
      while (!isOver) {
        const reply = await admin.post('/api/v1/ais', { name: 'x', description: '', instructions: 'x', src: '' });
        if (reply.status === 200) {
          acknowledged.push(reply.body.id);
          // Transactions of several statements, both ours and Prisma's.
          await admin.post(`/api/v1/ais/${reply.body.id}/tools`, {
            ...{ name: 'look_up', type: 'CLIENT_FUNCTION' },
            data: { description: 'Looks it up', parameters: { type: 'object' } },
          });
        } else if (reply.status !== 503) unexpected.push(reply.status);
      }
    };
    const working = Promise.all(Array.from({ length: clients }, work));
    for (let round = 0; round < rounds; round += 1) {
      const before = acknowledged.length;
      await database.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + clients), recoveryMs);
    }
    isOver = true;
    await working;
    expect(await eventually(async () => (await admin.get('/readyz')).body)).toMatchObject({ status: 'ready' });
    const { rows } = await database.query<{ id: string }>('SELECT id FROM agents WHERE id = ANY ($1)', [acknowledged]);
    expect(rows.map(({ id }) => id).sort()).toEqual([...acknowledged].sort());
    // A lost connection is no internal error of the service.
    expect(unexpected).toEqual([]);
    expect(await parley.kill('SIGTERM')).toBe(0);
  });
}
