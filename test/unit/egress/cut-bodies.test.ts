import { readFileSync } from 'node:fs';
import { glob, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createFetch } from '../../../src/engine/egress/dispatchers.ts';
import { createEgress } from '../../../src/engine/egress/egress.ts';
import { noProxies } from '../../../src/engine/egress/proxies.ts';
import { ServiceClient } from '../../../src/engine/knowledge/connectors/service-client/client.ts';
import { startCuttingServer, startResettingServer } from '../../support/egress/cutting-server.ts';
import { egressPlaces, someOwner } from '../../support/sharing/pools.ts';

const cutting = await startCuttingServer();
const resetting = await startResettingServer();
const folder = await mkdtemp(join(tmpdir(), 'parley-cut-'));
const limits = { connectTimeoutMs: 5_000, lookupTimeoutMs: 5_000, ...egressPlaces(16, 16) };
const egress = createEgress({ allow: '127.0.0.1/32', ...limits });
const vendors = new ServiceClient({ egress, timeoutMs: 10_000, connectTimeoutMs: 5_000, backoffMs: 1, waitFactor: 0.001 });
const never = new AbortController().signal;
const path = join(folder, 'file');
afterAll(async () => {
  await Promise.all([vendors.close(), egress.close(), cutting.close(), resetting.close()]);
  await rm(folder, { recursive: true });
});

const download = (url: string) =>
  vendors.download({ service: 'the drive', url, owner: someOwner, path, bytesMax: 1_000_000 }, never);
const cuts: readonly (readonly [string, string])[] = [
  ['over TLS to a server that speaks HTTP/2', cutting.url],
  ['by a reset of a body without a length', resetting.url],
];

describe.each(cuts)('a body that is cut %s', (_way, url) => {
  it('is no whole download', async () => {
    await expect(download(url)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
  it('is no whole answer', async () => {
    await expect(vendors.send({ service: 'the drive', url }, never)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
  it('is no whole reply of an address of others', async () => {
    const request = { url, owner: someOwner, bytesMax: 1_000_000, timeoutMs: 5_000 };
    await expect(egress.send(request, never)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
});

it('a body without a length that the server ends is whole', async () => {
  await download(`${resetting.url}/whole`);
  expect((await stat(path)).size).toBe(20_000);
});

it('the fetch that libraries get takes no cut body for a whole one', async () => {
  const reply = await createFetch(noProxies, new URL(cutting.url))(cutting.url);
  await expect(reply.text()).rejects.toThrow(/terminated/);
});

it('no client asks for HTTP/2', () => {
  expect(new Set(cutting.versions)).toEqual(new Set(['1.1']));
});

it('clients of undici are made where HTTP/2 is off', async () => {
  const makers: string[] = [];
  for await (const file of glob('src/**/*.ts', { exclude: ['src/storage/generated/**'] })) {
    const source = readFileSync(file, 'utf8');
    if (/from 'undici'/.test(source) && /\bnew (?:Agent|Pool|Client|ProxyAgent)\(/.test(source)) makers.push(file);
  }
  expect(makers.length).toBeGreaterThan(1);
  for (const file of makers) expect(readFileSync(file, 'utf8'), file).toContain('allowH2: false');
});
