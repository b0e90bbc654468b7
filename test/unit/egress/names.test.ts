import { lookup } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress, type Egress, type EgressOptions } from '../../../src/engine/egress/egress.ts';
import { type DnsServer, startDnsServer } from '../../support/egress/dns-server.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { egressPlaces } from '../../support/sharing/pools.ts';

let server: Server;
let port: number;
let folder: string;
let dns: DnsServer;
const opened: Egress[] = [];
const names: Record<string, readonly string[] | 'silent'> = {};
const never = new AbortController().signal;

beforeAll(async () => {
  server = createServer((request, response) => response.end(`hello ${request.headers.host}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  folder = await mkdtemp(join(tmpdir(), 'parley-names-'));
  await writeFile(
    join(folder, 'hosts'),
    '127.0.0.1 localhost\n# no\n127.0.0.1\tfrom-file.test Other-File.test # yes\n10.0.0.1 private.test\n',
  );
  await writeFile(join(folder, 'resolv.conf'), 'nameserver 10.255.255.53\nsearch cluster.test\n');
});
beforeEach(async () => {
  for (const name of Object.keys(names)) delete names[name];
  dns = await startDnsServer(({ name }) => (name.startsWith('silent') ? 'silent' : names[name]));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((egress) => egress.close()));
  await dns.close();
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

function open(options: Partial<EgressOptions> = {}): Egress {
  const limits = { connectTimeoutMs: 2_000, lookupTimeoutMs: 20_000, ...egressPlaces(16, 64) };
  const systemFiles = { hostsPath: join(folder, 'hosts'), resolverPath: join(folder, 'resolv.conf') };
  const egress = createEgress({ allow: `127.0.0.1:${port}`, dnsServers: [dns.address], systemFiles, ...limits, ...options });
  opened.push(egress);
  return egress;
}
const ask = async (egress: Egress, host: string, orgId = 'org_1', signal = never) => {
  const owner = { tenantId: `ten_${orgId}`, orgId };
  const request = { owner, url: `http://${host}:${port}/`, bytesMax: 1_000, timeoutMs: 30_000 };
  return (await egress.send(request, signal)).body.toString();
};

describe('a name', () => {
  it('is asked for once, and the connection goes to the address that was checked', async () => {
    const egress = open();
    names['rebinds.test'] = ['127.0.0.1'];
    expect(await ask(egress, 'rebinds.test')).toBe(`hello rebinds.test:${port}`);
    expect(dns.questions.map(({ family }) => family).sort()).toEqual([4, 6]);
    // A changed answer is checked again.
    names['rebinds.test'] = ['127.0.0.2'];
    await expect(ask(egress, 'rebinds.test')).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
    names['rebinds.test'] = ['127.0.0.1', '::1'];
    await expect(ask(egress, 'rebinds.test')).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
  });

  it('is remembered for its time to live', async () => {
    const patient = await startDnsServer(() => ['127.0.0.1'], 60);
    const egress = open({ dnsServers: [patient.address] });
    for (const host of ['kept.test', 'KEPT.test', 'kept.test.']) await ask(egress, host);
    expect(patient.questions).toHaveLength(2);
    await patient.close();
  });

  it.each(['from-file.test', 'other-file.test', 'OTHER-FILE.test.'])('of the hosts file is what that says: %s', async (host) => {
    expect(await ask(open(), host)).toContain('hello');
    expect(dns.questions).toEqual([]);
  });

  it.each(['private.test', 'localhost', 'localhost.', 'any.localhost'])(
    'is judged by its address, wherever it stands: %s',
    async (host) => {
      await expect(ask(open({ allow: undefined }), host)).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
      expect(dns.questions).toEqual([]);
    },
  );

  it('is completed by search domains only where the operator named it', async () => {
    names['wiki.cluster.test'] = ['127.0.0.1'];
    expect(await ask(open({ allow: 'wiki' }), 'wiki')).toContain('hello');
    await expect(ask(open(), 'wiki')).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });

  it('that does not exist, has no address, or is never answered ends as such', async () => {
    names['empty.test'] = [];
    const egress = open({ lookupTimeoutMs: 300 });
    await expect(ask(egress, 'missing.test')).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await expect(ask(egress, 'empty.test')).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await expect(ask(egress, 'silent.test')).rejects.toMatchObject({ code: 'TIMEOUT' });
  });

  it('answers although one family is silent', async () => {
    dns.answer(({ family }) => (family === 6 ? 'silent' : ['127.0.0.1']));
    expect(await ask(open(), 'half.test')).toContain('hello');
  });

  it.each([
    ...['2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.1', '127.0.0.1.', '0', '[::]', '[::1]'],
    ...[
      '[::ffff:7f00:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:0:127.0.0.1]',
      '[0:0:0:0:0:0:0:1]',
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
      'LOCALHOST',
    ],
  ])('is no way around the check: %s', async (host) => {
    await expect(ask(open({ allow: undefined }), host)).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
  });

  it('of an allowed port opens no other', async () => {
    names['wiki.test'] = ['127.0.0.1'];
    const [narrow, wide] = [open({ allow: 'wiki.test:1' }), open({ allow: 'wiki.test' })];
    await expect(ask(narrow, 'wiki.test')).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
    expect(await ask(wide, 'wiki.test')).toContain('hello');
  });
});

describe('a greedy organization', () => {
  it('takes its part of the look-ups: others go on, and so does the rest of the process', async () => {
    const egress = open();
    names['fine.test'] = ['127.0.0.1'];
    const giving = new AbortController();
    const stuck = Array.from({ length: 50 }, (_, index) => ask(egress, `silent-${index}.test`, 'org_greedy', giving.signal));
    const ended = Promise.allSettled(stuck);
    await eventually(() => expect(dns.questions.length).toBeGreaterThanOrEqual(4));
    for (const organization of ['org_2', 'org_3']) expect(await ask(egress, 'fine.test', organization)).toContain('hello');
    expect((await lookup('localhost')).address).toMatch(/^127\.0\.0\.1$|^::1$/);
    // An eighth of sixteen, with two questions each.
    expect(new Set(dns.questions.filter(({ name }) => name.startsWith('silent')).map(({ name }) => name)).size).toBe(2);
    giving.abort(new Error('enough'));
    expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await ask(egress, 'fine.test', 'org_greedy')).toContain('hello');
  });
});
