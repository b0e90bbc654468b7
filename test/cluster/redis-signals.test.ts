import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../src/settings.ts';
import { checkAll } from '../../src/start/checks/checks.ts';
import type { Database } from '../../src/storage/ground/database.ts';
import { openDatabase } from '../../src/storage/ground/opening/open.ts';
import { redisProblem } from '../../src/storage/ground/redis/check.ts';
import { RedisTransport } from '../../src/storage/ground/redis/transport.ts';
import { SignalHub } from '../../src/storage/ground/signals/hub.ts';
import { Signals } from '../../src/storage/ground/signals/signals.ts';
import { createRateBucketStore } from '../../src/storage/operations/usage/rate-buckets.ts';
import { createRedisRateBuckets } from '../../src/storage/operations/usage/redis-rate-buckets.ts';
import { startTcpProxy, type TcpProxy } from '../support/egress/tcp-proxy.ts';
import { eventually } from '../support/processes/eventually.ts';
import { startService } from '../support/service.ts';
import { copyOf, type Place } from '../support/storage/databases.ts';
import { canTestRedis, startRedis, type TestRedis, whyNoRedis } from '../support/storage/redis.ts';
import { signalCases } from '../support/storage/signal-cases.ts';

if (!canTestRedis) {
  console.info(whyNoRedis);
  it('Redis is not there', () => expect(canTestRedis).toBe(false));
} else {
  let place: Place;
  let db: Database;
  const opened: Signals[] = [];
  const servers: TestRedis[] = [];
  beforeAll(async () => {
    place = await copyOf(inject('template'));
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
  });
  afterAll(async () => {
    for (const signals of opened) await signals.close();
    for (const server of servers) await server.close();
    await db.close();
    await place.remove();
  });

  const newRedis = async (...options: readonly string[]): Promise<TestRedis> => {
    const server = await startRedis(options);
    servers.push(server);
    return server;
  };
  const openBoth = async (url: string, onError: (error: Error) => void = () => {}) => {
    const hub = new SignalHub();
    const transport = new RedisTransport(hub, { url, installation: 'test', onError, onBack: () => {} });
    const signals = new Signals(hub, { transport, pool: db.pool });
    await signals.start();
    opened.push(signals);
    return { signals, transport };
  };
  const open = async (url: string, onError?: (error: Error) => void) => (await openBoth(url, onError)).signals;

  describe('signals over Redis', () => {
    let redis: TestRedis;
    let proxy: TcpProxy;
    const errors: Error[] = [];
    afterAll(() => proxy.close());

    signalCases(
      async () => {
        redis = await newRedis();
        proxy = await startTcpProxy(redis.port, '127.0.0.1', 'anything');
        const first = await open(redis.url, (error) => void errors.push(error));
        return { first, second: await open(`redis://127.0.0.1:${proxy.port}`), errors };
      },
      {
        carriesEvents: true,
        losses: {
          'Redis was killed': { lose: () => redis.kill(), find: () => redis.restart(), states: ['polling', 'polling'] },
          'Redis is frozen': { lose: () => redis.freeze(), find: () => redis.thaw(), states: ['polling', 'polling'] },
          'Redis is cut off from one': { lose: () => proxy.cut(), find: () => proxy.restore(), states: ['live', 'polling'] },
          'Redis was emptied': { lose: () => redis.ask('FLUSHALL') },
        },
      },
    );
  });

  describe('signals over a cluster of Redis', () => {
    signalCases(
      async () => {
        const nodes = [await newRedis('--cluster-enabled', 'yes'), await newRedis('--cluster-enabled', 'yes')] as const;
        const [one, two] = nodes;
        one.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
        two.ask('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
        one.ask('CLUSTER', 'MEET', '127.0.0.1', String(two.port));
        await eventually(() => {
          for (const node of nodes) expect(node.ask('CLUSTER', 'INFO')).toContain('cluster_state:ok');
          expect(one.ask('CLUSTER', 'INFO')).toContain('cluster_known_nodes:2');
        });
        return { first: await open(one.url), second: await open(two.url) };
      },
      { carriesEvents: true },
    );
  });

  describe('a Redis that comes late', () => {
    it('may be away at the start', async () => {
      const late = await newRedis();
      await late.kill();
      const signals = await open(late.url);
      expect(signals.state()).toBe('polling');
      await late.restart();
      await eventually(() => expect(signals.state()).toBe('live'));
    });
  });

  describe('rate buckets', () => {
    it('are shared, refill, and go to the database while Redis is lost', async () => {
      const redis = await newRedis();
      const instances = [await openBoth(redis.url), await openBoth(redis.url)];
      const stored = createRateBucketStore(db);
      const [here, there] = instances.map(({ transport }) => createRedisRateBuckets(transport, stored));
      const report = [{ id: 'key key_1', perMinute: 600, used: 100 }];
      expect((await here?.report(report))?.get('key key_1')).toBe(500);
      const left = (await there?.report(report))?.get('key key_1') ?? 0;
      expect(left).toBeGreaterThanOrEqual(400);
      // Ten a second come back.
      await eventually(async () =>
        expect((await here?.report([{ id: 'key key_1', perMinute: 600, used: 0 }]))?.get('key key_1')).toBeGreaterThan(left + 2),
      );
      expect((await here?.report([{ id: 'key key_1', perMinute: 600, used: 5_000 }]))?.get('key key_1')).toBe(-600);
      await redis.kill();
      await eventually(() => expect(instances[0]?.signals.state()).toBe('polling'));
      expect((await here?.report(report))?.get('key key_1')).toBe(500);
    });
  });

  describe('a bad REDIS_URL is named', () => {
    let http: Server;
    beforeAll(async () => {
      http = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => void http.close());
    const httpPort = () => (http.address() as { port: number }).port;

    it('what never works, and what may come back', async () => {
      const redis = await newRedis('--requirepass', 'secret');
      const replica = await newRedis('--replicaof', '127.0.0.1', String(redis.port), '--masterauth', 'secret');
      const frozen = await newRedis();
      frozen.freeze();
      const withPassword = (password: string) => redis.url.replace('//', `//:${password}@`);
      await eventually(() => expect(replica.ask('INFO', 'replication')).toContain('master_link_status:up'));
      expect(await redisProblem(withPassword('secret'))).toBeUndefined();
      expect(await redisProblem(`${withPassword('secret')}/3`)).toBeUndefined();
      const bad: readonly (readonly [string, boolean, RegExp])[] = [
        [withPassword('wrong'), true, /password is wrong/],
        [redis.url, true, /wants a password/],
        [`${withPassword('secret')}/99`, true, /no such database/],
        [replica.url, true, /read-only replica/],
        [`redis://127.0.0.1:${httpPort()}`, true, /is no Redis/],
        ['redis://127.0.0.1:1', false, /cannot be used now/],
        [frozen.url, false, /no answer came/],
      ];
      for (const [url, isLasting, message] of bad) {
        const problem = await redisProblem(url);
        expect(problem, url).toMatchObject({ isLasting, message: expect.stringMatching(message) });
        expect(problem?.message).not.toMatch(/secret|wrong@/);
      }
    });

    it('by doctor, and where it never works, by a start', async () => {
      const redis = await newRedis();
      const findings = async (url: string) => {
        const found = await checkAll({ ...place.env, PORT: '0', REDIS_URL: url });
        return found.filter(({ check }) => check === 'redis').map(({ level, message }) => `${level}: ${message}`);
      };
      expect(await findings(redis.url)).toEqual(['good: Redis answers and can be written to.']);
      expect(await findings('redis://127.0.0.1:1')).toEqual([expect.stringMatching(/^warning: .* cannot be used now/)]);
      const bad = `redis://127.0.0.1:${httpPort()}`;
      expect(await findings(bad)).toEqual([expect.stringMatching(/^wrong: .* is no Redis/)]);
      await expect(startService({ env: { ...place.env, REDIS_URL: bad } })).rejects.toThrow(/is no Redis/);
    });

    it('and the rights that the manual names are enough', async () => {
      const redis = await newRedis();
      const [, rights = ''] = /ACL SETUSER parley (.*)/.exec(readFileSync('docs/redis.md', 'utf8')) ?? [];
      redis.ask('ACL', 'SETUSER', 'parley', ...rights.split(' '));
      const url = redis.url.replace('//', '//parley:password@');
      expect(await redisProblem(url)).toBeUndefined();
      const [{ signals: first, transport }, second] = [await openBoth(url), await open(url)];
      const heard: string[] = [];
      second.subscribe('chat-changed', (id) => void heard.push(id));
      second.watch('run_right', (batch) => void heard.push(batch));
      await eventually(() => {
        first.publish('chat-changed', 'chat_right');
        first.tell('run_right', () => '[3]');
        expect(heard).toEqual(expect.arrayContaining(['chat_right', '[3]']));
      });
      const buckets = createRedisRateBuckets(transport, createRateBucketStore(db));
      expect((await buckets.report([{ id: 'key key_2', perMinute: 60, used: 1 }])).get('key key_2')).toBe(59);
      // Counted at each heartbeat.
      await eventually(() => expect([first.counts.instances, second.state()]).toEqual([2, 'live']));
    });
  });
}
