import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { startService } from '../../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';

const MB = 1_000_000;
const key = 'chosen-by-the-operator-40-characters-long';
const noise = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 251));
let site: Server;
let siteUrl: string;
let place: Place;
/** Requested paths. */
const asked: string[] = [];

beforeAll(async () => {
  // `/12` sends 12 MB; `/never` sends a little and stops.
  site = createServer((request, response) => {
    asked.push(request.url ?? '');
    const size = Number(request.url?.slice(1)) * MB;
    if (Number.isNaN(size)) return void response.write(noise);
    pipeline(Readable.from(Array.from({ length: size / noise.length }, () => noise)), response, () => {});
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  asked.length = 0;
  place = await copyOf(inject('template'));
});
afterEach(async () => {
  await killProcesses();
  await place.remove();
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const own = { EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'error', EGRESS_FETCH_TIMEOUT_MS: '60000' };
async function launch(env: Readonly<Record<string, string>> = {}) {
  const parley = startProcess({ ...place.env, ...own, PARLEY_ADMIN_KEY: key, ...env });
  const url = await parley.url();
  return { parley, ann: new TestClient(() => url, key) };
}
const inThisProcess = (env: Readonly<Record<string, string>> = {}) => startService({ env: { ...place.env, ...own, ...env } });
const bundleOf = (...paths: readonly string[]) => ({
  version: '1.0',
  agent: { name: 'A', description: 'A', instructions: 'A', src: '', modelId: 'parley/offline' },
  dataSources: [
    {
      ...{ name: 'Files', type: 'FILE_UPLOAD', refreshPeriod: 'NEVER', data: {} },
      knowledgeItems: paths.map((path, index) => ({
        ...{ name: `f${index}`, type: 'FILE_UPLOAD', uniqueId: `u${index}`, filename: 'f.bin', mimeType: 'application/x-noise' },
        blobUrl: path.startsWith('data:') ? path : siteUrl + path,
      })),
    },
  ],
});
const importing = (ann: TestClient, ...paths: readonly string[]) =>
  ann.post('/api/v1/ais/import', { bundle: bundleOf(...paths) });
/** Files below the blob folder, complete and incomplete, without the note of the database that they belong to. */
const blobFiles = async () =>
  (await readdir(join(place.env.DATA_DIR ?? '', 'blobs'), { recursive: true, withFileTypes: true }).catch(() => [])).filter(
    (entry) => entry.isFile() && entry.name !== '.parley-installation',
  );
const residentMb = async (pid: number) => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_000;
};

describe('the addresses in a bundle', () => {
  it('are fetched to the disk, one after the other: memory does not grow with them', async () => {
    const { parley, ann } = await launch({ BUNDLE_FETCH_MAX_BYTES: String(500 * MB) });
    await importing(ann, '/1');
    const before = await residentMb(parley.pid);
    let peak = 0;
    const watching = new AbortController();
    const watch = (async () => {
      while (!watching.signal.aborted) {
        peak = Math.max(peak, await residentMb(parley.pid));
        await wait(20);
      }
    })();
    const { status, body } = await importing(ann, ...Array.from({ length: 10 }, () => '/45'));
    watching.abort();
    await watch;
    expect([status, body.warnings]).toEqual([200, []]);
    expect(peak - before).toBeLessThan(225);
    // Every fetched document is stored.
    const sizes = await Promise.all(
      (await blobFiles()).map(async ({ parentPath, name }) => (await readFile(join(parentPath, name))).length),
    );
    expect(sizes.filter((size) => size === 45 * MB)).toHaveLength(10);
  });

  it('share one limit: documents beyond it are left out with a warning, and data URLs are still imported', async () => {
    const service = await inThisProcess({ BUNDLE_FETCH_MAX_BYTES: String(5 * MB) });
    const { status, body } = await importing(service.client(), '/2', '/2', '/2', `data:text/plain;base64,${btoa('own')}`, '/1');
    expect(status).toBe(200);
    expect(body.warnings).toEqual([
      'data source content not included: Files',
      'files left out: the addresses of a bundle may give 5000000 bytes together',
    ]);
    expect((await blobFiles()).length).toBe(4);
    await service.close();
  });

  it('leave nothing behind when the client goes away', async () => {
    const service = await inThisProcess();
    const leaving = new AbortController();
    const gone = fetch(`${service.url}/api/v1/ais/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ bundle: bundleOf('/1', `data:text/plain;base64,${btoa('own')}`, '/1', '/never') }),
      signal: leaving.signal,
    }).catch((error: unknown) => error);
    await eventually(() => expect(asked).toContain('/never'));
    await eventually(async () => expect((await blobFiles()).length).toBeGreaterThanOrEqual(3));
    leaving.abort();
    await gone;
    await eventually(async () => expect(await blobFiles()).toEqual([]));
    expect((await service.client().get('/api/v1/ais')).body.data).toEqual([]);
    await service.close();
  });

  it.skipIf(testServerUrl !== undefined)('leave nothing behind when the process is killed: the next start sweeps', async () => {
    const { parley, ann } = await launch();
    const cut = importing(ann, '/1', '/1', '/never').catch(() => undefined);
    await eventually(() => expect(asked).toContain('/never'));
    await eventually(async () => expect((await blobFiles()).length).toBeGreaterThanOrEqual(3));
    await parley.kill('SIGKILL');
    await cut;
    expect((await blobFiles()).length).toBeGreaterThanOrEqual(3);
    await launch();
    await eventually(async () => expect(await blobFiles()).toEqual([]));
  });
});
