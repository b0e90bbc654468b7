import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { newFolder, testServerUrl } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { addFile } from '../../support/knowledge.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { killProcesses, startProcess } from '../../support/process.ts';
import { startService, type TestService } from '../../support/service.ts';

const MiB = 1024 * 1024;
const agent = (name: string) => ({ name, description: '', instructions: 'x'.repeat(20_000), src: '' });
const full = { status: 507, body: { error: { code: 'storage_full' } } };

/** No disk has so much room: whatever it holds, it counts as full. */
const always = String(Number.MAX_SAFE_INTEGER);

describe('a disk with less room than DISK_FREE_MIN_BYTES', () => {
  let service: TestService;
  let ann: Person;
  let agentId: string;
  beforeAll(async () => {
    service = await startService({ onLog: () => undefined });
    const make = makeFor(service);
    ann = await make.person();
    agentId = (await make.agent({ owner: ann })).id;
    await service.restart({ DISK_FREE_MIN_BYTES: always });
    await eventually(async () => expect(await service.nobody.get('/readyz')).toMatchObject({ status: 503 }));
  });
  afterAll(() => service.close());

  it('is said by /readyz, with the reason', async () => {
    expect((await service.nobody.get('/readyz')).body).toMatchObject({ status: 'unavailable', reason: 'storage_full' });
    expect((await service.nobody.get('/healthz')).status).toBe(200);
  });

  it('refuses files with 507 and keeps nothing of them', async () => {
    expect(await addFile(ann, agentId, 'large.txt', 'words '.repeat(400_000))).toMatchObject(full);
    const incoming = join(service.deps.settings.DATA_DIR, 'blobs', '.incoming');
    expect(readdirSync(incoming)).toEqual([]);
  });

  if (testServerUrl === undefined) {
    it('refuses writes on each interface, and goes on reading', async () => {
      await eventually(async () => expect(await ann.post('/api/v1/ais', agent('refused'))).toMatchObject(full));
      const input = { ...agent('refused'), instructions: 'x' };
      const reply = await ann.graphql('mutation ($input: CreateAgentInput!) { createAgent(input: $input) { id } }', { input });
      expect(reply.errors).toMatchObject([{ extensions: { code: 'STORAGE_FULL' } }]);
      expect((await ann.get('/api/v1/ais')).body.data.map(({ id }: { id: string }) => id)).toEqual([agentId]);
    });
  }

  it('is over as soon as there is room', async () => {
    await service.restart({ DISK_FREE_MIN_BYTES: '1' });
    expect((await service.nobody.get('/readyz')).body).toEqual({ status: 'ready' });
    expect((await ann.post('/api/v1/ais', agent('afterwards'))).status).toBe(200);
  });
});

/** A file system of its own, in memory; undefined where this user may not have one. */
function mountSmall(sizeBytes: number): string | undefined {
  const folder = newFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    return undefined;
  }
}

const disk = testServerUrl === undefined ? mountSmall(200 * MiB) : undefined;
if (disk === undefined) it('is tried on a small file system where one may be mounted', () => expect(disk).toBeUndefined());
else
  describe('a disk that others fill to the last byte', () => {
    const key = 'chosen-by-the-operator-40-characters-long';
    const env = { DATA_DIR: join(disk, 'data'), PARLEY_ADMIN_KEY: key, LOG_LEVEL: 'fatal' };
    const filler = join(disk, 'filler');
    const reserve = join(env.DATA_DIR, 'parley.reserve');
    afterAll(async () => {
      await killProcesses();
      execFileSync('umount', [disk]);
      rmSync(disk, { recursive: true, force: true });
    });
    const fill = () => {
      const file = openSync(filler, 'a');
      try {
        for (const piece of [MiB, 4096]) writeUntilFull(file, Buffer.alloc(piece));
      } finally {
        closeSync(file);
      }
    };

    it('stops writes with 507, loses nothing, also over a kill, and recovers by itself', async () => {
      mkdirSync(env.DATA_DIR);
      const parley = startProcess(env);
      const url = await parley.url();
      const admin = new TestClient(() => url, key);
      // The room that the database keeps for itself.
      await eventually(() => expect(statSync(reserve).size).toBe(32 * MiB));
      const acknowledged: string[] = [];
      const create = async (who: TestClient) => {
        const reply = await who.post('/api/v1/ais', agent('kept'));
        if (reply.status === 200) acknowledged.push(reply.body.id);
        return reply;
      };
      expect((await create(admin)).status).toBe(200);
      fill();
      await eventually(async () => expect(await create(admin)).toMatchObject(full));
      for (let tries = 0; tries < 50; tries += 1) expect(await create(admin)).toMatchObject(full);
      expect(await admin.get('/readyz')).toMatchObject({ status: 503, body: { reason: 'storage_full' } });

      await parley.kill('SIGKILL');
      fill();
      const refused = startProcess(env);
      const isRefused = await Promise.race([refused.ended().then(() => true), refused.url().then(() => false)]);
      if (isRefused) expect(refused.output()).toMatch(/^Parley cannot start: .*(?:Make room)/);
      else await refused.kill('SIGKILL');

      rmSync(filler);
      const again = startProcess(env);
      const againUrl = await again.url();
      const after = new TestClient(() => againUrl, key);
      const found = await Promise.all(acknowledged.map(async (id) => (await after.get(`/api/v1/ais/${id}`)).status));
      expect(found).toEqual(acknowledged.map(() => 200));
      await eventually(() => expect(statSync(reserve).size).toBe(32 * MiB));
      fill();
      await eventually(async () => expect(await create(after)).toMatchObject(full));
      rmSync(filler);
      // Without a restart.
      await eventually(async () => expect(await create(after)).toMatchObject({ status: 200 }));
      await eventually(async () => expect((await after.get('/readyz')).body).toEqual({ status: 'ready' }));
      expect(await again.kill('SIGTERM')).toBe(0);
    });
  });

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    for (;;) writeSync(file, piece);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}
