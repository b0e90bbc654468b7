import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestClient } from '../client.ts';
import { type ApiServer, startApiServer } from '../egress/api-server.ts';
import { startTcpProxy, type TcpProxy } from '../egress/tcp-proxy.ts';
import { newFolder } from '../storage/databases.ts';
import { type OwnPostgres, startOwnPostgres } from '../storage/postgres.ts';
import { startRedis, type TestRedis } from '../storage/redis.ts';
import { startStore, type TestStore } from '../storage/s3.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { type ParleyProcess, startProcess } from './process.ts';

/** Leases of runs here: a stopped instance loses its runs after this time. */
export const installationLeaseMs = 3_000;
const adminKey = 'pk-test-administrator-key-of-40-characters';
const balancerPath = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((path) => existsSync(path));

/**
 * Instances of Parley behind a balancer (HAProxy), with a PostgreSQL server, a Redis and a file store of their own, a scripted model server and an API for
 * tools. Each of these parts can be ended, stopped and cut off.
 */
export interface Installation {
  readonly upstream: Upstream;
  readonly api: ApiServer;
  readonly postgres: OwnPostgres;
  /** Between the instances and PostgreSQL. */
  readonly database: TcpProxy;
  readonly redis: TestRedis;
  readonly store: TestStore;
  readonly instances: readonly Instance[];
  /** What programs are given as the address of the service. */
  readonly url: string;
  /** The administrator, who reaches any instance. */
  readonly ann: TestClient;
  /** Ends the balancer with all its connections, and starts it again. */
  restartBalancer(): Promise<void>;
  /** Resolves once every instance serves. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** One of the instances. It has a port of its own, which stays when it is started again. */
export interface Instance {
  readonly process: ParleyProcess;
  readonly client: TestClient;
  /** Begins a new process after the old one has ended. */
  launch(): Promise<void>;
}

export interface InstallationOptions {
  /** The programs of PostgreSQL; see startOwnPostgres. */
  readonly postgresBin?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly instances?: number;
}

export async function startInstallation({
  postgresBin,
  env = {},
  instances = 3,
}: InstallationOptions = {}): Promise<Installation> {
  const [upstream, api, store, redis, postgres] = await Promise.all([
    startUpstream(),
    startApiServer(),
    startStore(),
    startRedis(),
    postgresBin === undefined ? startOwnPostgres() : startOwnPostgres(postgresBin),
  ]);
  const address = new URL(postgres.url);
  const database = await startTcpProxy(Number(address.port), address.hostname);
  address.port = String(database.port);
  const shared = {
    ...store.env,
    REDIS_URL: redis.url,
    ...{
      DATABASE_URL: address.href,
      DATABASE_POOL_MAX: '6',
      PARLEY_MASTER_KEY: 'a master key for tests only',
      PARLEY_ADMIN_KEY: adminKey,
    },
    ...{ OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model', MODEL_RETRIES_MAX: '0', EGRESS_ALLOW: '127.0.0.1' },
    ...{ RUN_LEASE_MS: String(installationLeaseMs), TRUSTED_PROXY_HOPS: '1', LOG_LEVEL: 'warn' },
    ...env,
  };
  const folders: string[] = [];
  const made: OwnInstance[] = [];
  for (let n = 0; n < instances; n += 1) {
    const folder = newFolder();
    folders.push(folder);
    const instance = new OwnInstance({ ...shared, DATA_DIR: folder, PORT: String(await freePort()) });
    await instance.launch();
    made.push(instance);
  }
  const balancer = await startBalancer(made.map((instance) => instance.port));
  return {
    ...{ upstream, api, postgres, database, redis, store, instances: made, url: balancer.url },
    ann: new TestClient(() => balancer.url, adminKey),
    restartBalancer: () => balancer.restart(),
    async ready() {
      await Promise.all(
        made.map(({ client }) =>
          eventually(async () => {
            const { status } = await client.get('/readyz');
            if (status !== 200) throw new Error(`not ready: ${status}`);
          }),
        ),
      );
      await balancer.ready();
    },
    async close() {
      await balancer.close();
      await Promise.all(made.map(({ process }) => process.kill('SIGKILL')));
      upstream.abandon();
      await Promise.all([upstream.close(), api.close(), database.close(), redis.close(), store.close()]);
      await postgres.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

class OwnInstance implements Instance {
  readonly #env: Readonly<Record<string, string>>;
  readonly client: TestClient;
  #process: ParleyProcess | undefined;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
    this.client = new TestClient(() => `http://127.0.0.1:${this.port}`, adminKey);
  }

  get port(): string {
    return this.#env.PORT ?? '';
  }

  get process(): ParleyProcess {
    if (this.#process === undefined) throw new Error('launch it first');
    return this.#process;
  }

  async launch(): Promise<void> {
    this.#process = startProcess(this.#env);
    await this.#process.url();
  }
}

interface Balancer {
  readonly url: string;
  ready(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** HAProxy over all instances, in turns; one that is not ready gets nothing. */
async function startBalancer(ports: readonly string[]): Promise<Balancer> {
  if (balancerPath === undefined) throw new Error('there is no haproxy: install the package');
  const folder = mkdtempSync(join(tmpdir(), 'parley-balancer-'));
  const file = join(folder, 'haproxy.cfg');
  const port = await freePort();
  const servers = ports.map((one, index) => `  server parley-${index} 127.0.0.1:${one} check inter 300ms fall 2 rise 1`);
  writeFileSync(
    file,
    [
      'defaults\n  mode http\n  timeout connect 2s\n  timeout client 60s\n  timeout server 60s\n  timeout tunnel 1h\n  timeout queue 5s',
      '  option redispatch\n  retries 2',
      `frontend programs\n  bind 127.0.0.1:${port}\n  option forwardfor\n  default_backend parley`,
      `backend parley\n  balance roundrobin\n  option httpchk GET /readyz\n${servers.join('\n')}\n`,
    ].join('\n'),
  );
  const url = `http://127.0.0.1:${port}`;
  const start = () => spawn(balancerPath, ['-db', '-q', '-f', file], { stdio: 'ignore' });
  let child = start();
  const end = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const ready = () =>
    eventually(async () => {
      const { status } = await fetch(`${url}/readyz`);
      if (status !== 200) throw new Error(`the balancer reaches no instance: ${status}`);
    });
  await ready();
  return {
    url,
    ready,
    async restart() {
      await end();
      child = start();
      await ready();
    },
    async close() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
