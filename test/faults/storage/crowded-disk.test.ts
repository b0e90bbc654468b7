import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { addFile } from '../../support/knowledge/knowledge.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { startService, type TestService } from '../../support/service.ts';
import { emptyPlace, newFolder, testServerUrl } from '../../support/storage/databases.ts';

const MiB = 1024 * 1024;
const agent = (name: string) => ({ name, description: '', instructions: 'x'.repeat(20_000), src: '' });
const full = { status: 507, body: { error: { code: 'storage_full' } } };

/** More than any disk has, so the disk counts as full. */
const always = String(Number.MAX_SAFE_INTEGER);

if (testServerUrl !== undefined) describe('a disk with less room than DISK_FREE_MIN_BYTES, beside a server', besideServer);
else
  it('refuses a first start on a full disk with a clear message', async () => {
    const place = await emptyPlace();
    const parley = startProcess({ ...place.env, DISK_FREE_MIN_BYTES: always, LOG_LEVEL: 'fatal' });
    expect(await parley.ended()).toBe(1);
    expect(parley.output()).toMatch(/^Parley cannot start: a disk is full\. Make room/);
    await place.remove();
  });

function besideServer(): void {
  let service: TestService;
  let ann: Person;
  let agentId: string;
  beforeAll(async () => {
    service = await startService({ onLog: () => undefined, env: { DISK_FREE_MIN_BYTES: always } });
    const make = makeFor(service);
    ann = await make.person();
    agentId = (await make.agent({ owner: ann })).id;
  });
  afterAll(() => service.close());

  it('is reported by /readyz, with the reason', async () => {
    const ready = await service.nobody.get('/readyz');
    expect(ready).toMatchObject({ status: 503, body: { status: 'unavailable', reason: 'storage_full' } });
    expect((await service.nobody.get('/healthz')).status).toBe(200);
  });

  it('refuses files with 507 and keeps nothing of them', async () => {
    expect(await addFile(ann, agentId, 'large.txt', 'words '.repeat(400_000))).toMatchObject(full);
    expect(readdirSync(join(service.deps.settings.DATA_DIR, 'blobs', '.incoming'))).toEqual([]);
  });

  it('is over as soon as there is room', async () => {
    await service.restart({ DISK_FREE_MIN_BYTES: '1' });
    expect((await service.nobody.get('/readyz')).body).toEqual({ status: 'ready' });
    expect((await addFile(ann, agentId, 'large.txt', 'words')).status).toBe(200);
  });

  it('is checked on the server after its first report, until it has room', async () => {
    const { pool, room } = service.deps.storage.db;
    const fail = "DO $$ BEGIN RAISE EXCEPTION USING errcode = '53100', message = 'could not extend file'; END $$";
    await expect(pool.query(fail)).rejects.toThrow('could not extend');
    // The next check finds room.
    expect(await room.shortage()).toBeUndefined();
  });
}

/** A small file system in memory; undefined if this user may not mount one. */
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
      // The database's reserve file.
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
      const input = { name: 'refused', description: '', instructions: 'x' };
      const reply = await admin.graphql('mutation ($input: CreateAgentInput!) { createAgent(input: $input) { id } }', { input });
      expect(reply.errors).toMatchObject([{ extensions: { code: 'STORAGE_FULL' } }]);
      expect(await addFile(admin, acknowledged[0] ?? '', 'large.txt', 'words '.repeat(400_000))).toMatchObject(full);
      expect(readdirSync(join(env.DATA_DIR, 'blobs', '.incoming'))).toEqual([]);
      // Requests that need no room still work.
      expect((await admin.get('/api/v1/ais')).body.data).toHaveLength(acknowledged.length);
      expect(await admin.get('/readyz')).toMatchObject({ status: 503, body: { reason: 'storage_full' } });
      expect((await admin.get('/healthz')).status).toBe(200);

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
