import { cpSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { startService } from '../../../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../../../support/storage/databases.ts';

describe('a backup', () => {
  let place: Place;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
  });
  afterEach(() => place.remove());

  /** Starts Parley on a folder, runs `work`, and stops it. */
  async function session<T>(folder: string, work: (admin: TestClient) => Promise<T>): Promise<T> {
    const service = await startService({ env: { DATA_DIR: folder } });
    try {
      return await work(service.client());
    } finally {
      await service.close();
    }
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
