import { cpSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';

const key = 'chosen-by-the-operator-40-characters-long';

describe('a backup', () => {
  let place: Place;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
  });
  afterEach(async () => {
    await killProcesses();
    await place.remove();
  });

  /** Starts Parley on a folder, lets somebody work with it, and stops it. */
  async function session<T>(folder: string, work: (admin: TestClient) => Promise<T>): Promise<T> {
    const parley = startProcess({ ...place.env, DATA_DIR: folder, PARLEY_ADMIN_KEY: key, LOG_LEVEL: 'error' });
    const url = await parley.url();
    const result = await work(new TestClient(() => url, key));
    expect(await parley.kill('SIGTERM')).toBe(0);
    return result;
  }

  if (testServerUrl !== undefined) {
    it('of a server is its own dump: README', () => expect(place.env.DATABASE_URL).toBeDefined());
    return;
  }

  it('is a copy of the data folder of a stopped service: agents, knowledge and secrets open in it', async () => {
    const folder = place.env.DATA_DIR ?? '';
    const backup = `${folder}-backup`;
    try {
      const agentId = await session(folder, async (admin) => {
        const agent = { name: 'Before', description: '', instructions: 'Answer.', src: '' };
        return (await admin.post('/api/v1/ais', agent)).body.id as string;
      });
      cpSync(folder, backup, { recursive: true });
      await session(folder, (admin) => admin.patch(`/api/v1/ais/${agentId}`, { name: 'After' }));
      const names = [];
      for (const place of [backup, folder]) {
        names.push(await session(place, async (admin) => (await admin.get(`/api/v1/ais/${agentId}`)).body.name));
      }
      expect(names).toEqual(['Before', 'After']);
    } finally {
      rmSync(backup, { recursive: true, force: true });
    }
  });
});
