import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import type { JobName } from '../../../src/engine/jobs/job.ts';
import { Jobs } from '../../../src/engine/jobs/jobs.ts';
import { loadSettings } from '../../../src/settings.ts';
import type { Database } from '../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../src/storage/ground/opening/open.ts';
import { type DnsServer, startDnsServer } from '../../support/egress/dns-server.ts';
import { makeFor } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { startService, type TestService } from '../../support/service.ts';
import { greedyTenant } from '../../support/sharing/greedy.ts';
import { indexingScenario, poolEnv, poolScenarios } from '../../support/sharing/pool-scenarios.ts';
import { copyOf } from '../../support/storage/databases.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

/**
 * Every pool of a running service against one tenant that makes many keys and organizations: another tenant still gets its first place. The pools are
 * read from the service, so a new pool fails here until it has a scenario.
 */
let upstream: Upstream;
let site: Server & { url: string };
let dns: DnsServer;
let service: TestService;
let names: readonly string[];

beforeAll(async () => {
  upstream = await startUpstream();
  dns = await startDnsServer(({ name }) => (name.startsWith('silent') ? 'silent' : ['127.0.0.1']));
  const server = createServer((request, response) => {
    if (request.url === '/page') response.end('The fair opens on 9 May.');
    if (request.url === '/robots.txt' || request.url === '/sitemap.xml') response.writeHead(404).end();
    if (request.url === '/fair') {
      response.setHeader('content-type', 'text/html');
      response.end('<p>The fair opens on 9 May.</p>');
    }
    if (request.url === '/links') {
      response.setHeader('content-type', 'text/html');
      response.end(Array.from({ length: 4_000 }, (_, index) => `<a href="/${'a'.repeat(1_500)}${index}">a</a>`).join('\n'));
    }
    if (request.url?.startsWith('/search?') && !request.url.includes('silent')) {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ results: [{ title: 'The fair', url: 'https://fair.example/', content: 'It opens on 9 May.' }] }),
      );
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  site = Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
beforeEach(async () => {
  upstream.reset();
  service = await startService({
    env: {
      ...poolEnv,
      OPENAI_BASE_URL: upstream.url,
      EGRESS_ALLOW: '127.0.0.1',
      EGRESS_DNS_SERVERS: dns.address,
      SEARCH_URL: site.url,
    },
  });
  names = service.deps.pools.names;
});
afterEach(() => service.close());
afterAll(async () => {
  await Promise.all([upstream.close(), dns.close()]);
  site.closeAllConnections();
  site.close();
});

it('every pool that the service has opened has a scenario', () => {
  const missing = names.filter((name) => poolScenarios[name] === undefined);
  expect(missing).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(Object.keys(poolScenarios)));
});

it('nothing but the pools shares places', () => {
  const makers = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => /new (FairShare|FairQueue)\(/.test(readFileSync(`src/${file}`, 'utf8')));
  expect(makers.sort()).toEqual(['engine/sharing/pools.ts', 'lib/flow/fair-queue.ts']);
});

const scenarios: typeof poolScenarios = { ...poolScenarios, 'of indexing': indexingScenario };
it.each(Object.keys(scenarios))('the pool %s has a place for another tenant', async (name) => {
  const make = makeFor(service);
  const leave: (() => unknown)[] = [];
  const scene = { service, upstream, site, make, greedy: await greedyTenant(make), newcomer: await make.person(), leave };
  await scenarios[name]?.(scene).finally(() => {
    for (const end of leave) end();
  });
});

it('every job queue begins the first job of another tenant beside those of a greedy one', async () => {
  const queues = [...((await service.deps.jobs.counts.waiting()) ?? [])].map(([name]) => name);
  expect(queues.length).toBeGreaterThan(3);
  const place = await copyOf(inject('template'));
  const db = await openDatabase(loadSettings(place.env), { onError: () => {} });
  try {
    for (const queue of queues) await jobsOfAnother(db, queue);
  } finally {
    await db.close();
    await place.remove();
  }
});

/** Any queue: its jobs of one tenant, which never end, beside the first of another. */
async function jobsOfAnother(db: Database, name: JobName): Promise<void> {
  const jobs = new Jobs({ db, isWorker: true, firstAfterMs: 250, logger: pino({ level: 'silent' }) });
  const begun: string[] = [];
  const gate = Promise.withResolvers<void>();
  jobs.work(
    name,
    { concurrency: 2, retriesMax: 1, timeoutMs: 600_000 },
    async (_payload, _signal, { owner: { tenantId, orgId } }) => {
      begun.push(`${tenantId} ${orgId}`);
      await gate.promise;
    },
  );
  try {
    await jobs.start();
    const queue = (tenantId: string, orgId: string) => jobs.enqueue(name, {} as never, { owner: { tenantId, orgId } });
    for (let job = 0; job < 30; job += 1) await queue('greedy', `org_${Math.floor(job / 10)}`);
    await eventually(() => expect(begun.length).toBe(2));
    await queue('next', 'org_next');
    await eventually(() => expect(begun).toContain('next org_next'));
    expect(begun.length).toBe(3);
    // After that, organizations take turns. Three workers end at once and look for jobs at the same time: which of the three begins first is open.
    gate.resolve();
    await eventually(() => expect(begun.length).toBe(31));
    expect(new Set(begun.filter((who) => who.startsWith('greedy')).slice(0, 5)).size).toBe(3);
  } finally {
    gate.resolve();
    await jobs.stop(1_000);
  }
}
