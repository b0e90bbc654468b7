import { inject } from 'vitest';
import type { Deps } from '../../src/domain/deps.ts';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { type Service, startService as start } from '../../src/start/service.ts';
import { TestClient } from './client.ts';
import { copyOf } from './storage/databases.ts';

export interface ServiceOptions {
  /** Settings that differ from their defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** Takes the lines of the log; default: warnings and worse go to standard output. */
  readonly onLog?: (line: string) => void;
}

/** A whole Parley that listens on a free port, with a database and a blob folder of its own. */
export interface TestService {
  readonly url: string;
  /** The INSTANCE key of the first start: everything is allowed. */
  readonly adminKey: string;
  /** Of the running instance: read it anew after `restart`. */
  readonly deps: Deps;
  /** Somebody with that key; without an argument, the administrator. */
  client(key?: string): TestClient;
  /** Somebody without a key. */
  readonly nobody: TestClient;
  /** Stops and starts again on the same data, perhaps with other settings; the address changes. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

const adminKey = 'pk-test-administrator-key-of-40-characters';
const graceMs = 2_000;

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const place = await copyOf(inject('template'));
  let env: Readonly<Record<string, string>> = {
    PORT: '0',
    LOG_LEVEL: 'warn',
    PARLEY_ADMIN_KEY: adminKey,
    DATABASE_POOL_MAX: '6',
    ...place.env,
    ...options.env,
  };
  let service = await launch(env, options.onLog);
  return {
    adminKey,
    get url() {
      return service.url;
    },
    get deps() {
      return service.deps;
    },
    client: (key = adminKey) => new TestClient(() => service.url, key),
    get nobody() {
      return new TestClient(() => service.url, undefined);
    },
    async restart(changes = {}) {
      await service.close(graceMs);
      env = { ...env, ...changes };
      service = await launch(env, options.onLog);
    },
    async close() {
      await service.close(graceMs);
      await place.remove();
    },
  };
}

function launch(env: Readonly<Record<string, string>>, onLog: ((line: string) => void) | undefined): Promise<Service> {
  const settings = loadSettings(env);
  return start(settings, createLogger(settings, onLog), (error) => {
    throw error;
  });
}
