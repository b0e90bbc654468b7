import { inject } from 'vitest';
import { TestClient } from '../client.ts';
import { startTcpProxy, type TcpProxy } from '../egress/tcp-proxy.ts';
import { copyOf, type Place } from '../storage/databases.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { type ParleyProcess, startProcess } from './process.ts';

/** Parley processes on one database, with one scripted model server. The database is behind a proxy that tests can cut. */
export interface Cluster {
  readonly upstream: Upstream;
  readonly database: TcpProxy;
  /** The administrator's key, valid at every instance. */
  readonly adminKey: string;
  /** Bypasses the proxy, to look into the tables. */
  readonly databaseUrl: string;
  start(env?: Readonly<Record<string, string>>): Promise<Instance>;
  /** Ends the processes and removes the database. */
  close(): Promise<void>;
}

export interface Instance {
  readonly process: ParleyProcess;
  readonly url: string;
  /** A client with that key; without an argument, the administrator. */
  client(key?: string): TestClient;
}

/** The length of leases in clusters of tests; not shorter, so that a slow process keeps its leases. */
export const clusterLeaseMs = 5_000;
const adminKey = 'pk-test-administrator-key-of-40-characters';

export async function startCluster(): Promise<Cluster> {
  const place: Place = await copyOf(inject('template'));
  const databaseUrl = place.env.DATABASE_URL;
  if (databaseUrl === undefined) throw new Error('several instances need a server: set TEST_DATABASE_URL');
  const upstream = await startUpstream();
  const address = new URL(databaseUrl);
  const database = await startTcpProxy(Number(address.port), address.hostname);
  address.host = `127.0.0.1:${database.port}`;
  const env = {
    ...place.env,
    DATABASE_URL: address.href,
    DATABASE_POOL_MAX: '6',
    PARLEY_ADMIN_KEY: adminKey,
    OPENAI_BASE_URL: upstream.url,
    DEFAULT_MODEL: 'openai/test-model',
    MODEL_RETRIES_MAX: '0',
    RUN_LEASE_MS: String(clusterLeaseMs),
    LOG_LEVEL: 'warn',
  };
  const processes: ParleyProcess[] = [];
  return {
    upstream,
    database,
    adminKey,
    databaseUrl,
    async start(more = {}) {
      const process = startProcess({ ...env, ...more });
      processes.push(process);
      const url = await process.url();
      return { process, url, client: (key = adminKey) => new TestClient(() => url, key) };
    },
    async close() {
      await Promise.all(processes.map((process) => process.kill('SIGKILL')));
      await upstream.close();
      await database.close();
      await place.remove();
    },
  };
}
