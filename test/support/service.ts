import { afterAll, beforeEach, inject } from 'vitest';
import type { Deps } from '../../src/domain/deps.ts';
import { createLogger } from '../../src/http/log/logging.ts';
import { type Service, startService as startParley } from '../../src/start/service.ts';
import type { EmbeddedServer } from '../../src/storage/ground/embedded/embedded.ts';
import { TestClient } from './client.ts';
import { makeFor } from './make.ts';
import { testSettings } from './settings.ts';
import { copyOf, reusedCopyOf, testServerUrl } from './storage/databases.ts';
import { startUpstream, type Upstream } from './upstream.ts';

export interface ServiceOptions {
  /** Settings, and limits of `src/limits.ts`, that differ from their defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** Receives the lines of the log; default: warnings and errors go to standard output. */
  readonly onLog?: (line: string) => void;
}

/** A complete Parley on a free port, with its own database and blob folder. */
export interface TestService {
  readonly url: string;
  /** The INSTANCE key of the first start: everything is allowed. */
  readonly adminKey: string;
  /** The dependencies of the running instance: read them anew after `restart`. */
  readonly deps: Deps;
  /** A client with that key; without an argument, the administrator. */
  client(key?: string): TestClient;
  /** A client without a key. */
  readonly nobody: TestClient;
  /** Stops and starts again on the same data, perhaps with other settings; the address changes. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

/** Settings of services that files share. A file that needs others gets its own service. */
const profiles = {
  /** The offline model, and no provider. */
  plain: {},
  /** The scripted upstream is the default model; tools and fetches may call this machine. */
  model: { DEFAULT_MODEL: 'openai/test-model', EGRESS_ALLOW: '127.0.0.1' },
  /** The offline model, and no background jobs: only the test itself reads or changes the database. */
  web: { DEFAULT_MODEL: 'parley/offline', ROLE: 'web', AGENT_DATA_SOURCES_MAX: '10000', UPLOADS_PENDING_MAX: '10000' },
} as const;
export type Profile = keyof typeof profiles;

export interface TestBench {
  readonly service: TestService;
  readonly make: ReturnType<typeof makeFor>;
  /** The scripted model provider; every test begins with an empty script. */
  readonly upstream: Upstream;
}

/** The shared services of this worker, which runs its test files one after the other. */
const shared = new Map<Profile, Promise<TestService>>();
let upstreamOfWorker: Promise<Upstream> | undefined;

/**
 * A running service for the tests of one file: `const { service, make } = await withService()` at the top of the file.
 * It runs then, so people and agents of the whole file are constants below it: `const ann = await make.person()`.
 *
 * Other files use the same service, so a file makes organizations of its own and changes nothing that belongs to all.
 *
 * @param own  settings that differ from the profile's, or a reader of the log: the service is the file's own and closes with it.
 */
export async function withService(profile: Profile = 'plain', own?: ServiceOptions): Promise<TestBench> {
  const upstream = await scriptedUpstream();
  upstream.reset();
  beforeEach(() => upstream.reset());
  // An open request would hold a run, and with it a place in a shared service.
  afterAll(() => upstream.abandon());
  const service = await (own === undefined ? sharedService(profile) : ownService(profile, own));
  return { service, make: makeFor(service), upstream };
}

/** The model provider of all services that this worker starts with `withService`. */
export function scriptedUpstream(): Promise<Upstream> {
  upstreamOfWorker ??= startUpstream();
  return upstreamOfWorker;
}

async function sharedService(profile: Profile): Promise<TestService> {
  const starting = shared.get(profile) ?? startProfile(profile, {});
  shared.set(profile, starting);
  const refuse = () => Promise.reject(new Error('other files use this service: withService(profile, {}) starts one of your own'));
  return Object.create(await starting, { restart: { value: refuse }, close: { value: refuse } }) as TestService;
}

async function ownService(profile: Profile, options: ServiceOptions): Promise<TestService> {
  const service = await startProfile(profile, options);
  afterAll(() => service.close());
  return service;
}

async function startProfile(profile: Profile, { env, ...options }: ServiceOptions): Promise<TestService> {
  const { url } = await scriptedUpstream();
  const provider = profile === 'plain' ? {} : { OPENAI_BASE_URL: url, MODEL_RETRIES_MAX: '0' };
  const log = options.onLog === undefined ? { LOG_LEVEL: logLevel } : {};
  return startService({ ...options, env: { ...log, ...provider, ...profiles[profile], ...env } }, reusedCopyOf);
}

/** Many tests cause warnings and errors on purpose. TEST_LOG_LEVEL shows them. */
const logLevel = process.env.TEST_LOG_LEVEL ?? 'fatal';
const adminKey = 'pk-test-administrator-key-of-40-characters';
const graceMs = 2_000;

export async function startService(options: ServiceOptions = {}, copy = copyOf): Promise<TestService> {
  const { DATA_DIR, DATABASE_URL } = options.env ?? {};
  // Who names a whole place has one.
  const hasPlace = DATA_DIR !== undefined && (testServerUrl === undefined || DATABASE_URL !== undefined);
  const place = hasPlace ? undefined : await copy(inject('template'));
  // Some twenty tasks would find nothing to do in a new embedded database. After `restart` they run at once.
  const isNew = place !== undefined && testServerUrl === undefined;
  const withoutFirstRuns = isNew ? { TASKS_FIRST_AFTER_MS: '3600000' } : {};
  let env: Readonly<Record<string, string>> = {
    PORT: '0',
    LOG_LEVEL: 'warn',
    DEMO: 'off',
    PARLEY_ADMIN_KEY: adminKey,
    DATABASE_POOL_MAX: '6',
    // Nothing listens there: adding a wiki asks which sites there are, and tests reach nothing outside.
    ATLASSIAN_API_URL: 'http://127.0.0.1:9',
    ...place?.env,
    ...options.env,
  };
  const start = (env: Readonly<Record<string, string>>) => launch(env, options.onLog, place?.embedded);
  let service = await start({ ...withoutFirstRuns, ...env }).catch(async (error: unknown) => {
    await place?.remove();
    throw error;
  });
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
      await makeTasksDue(service);
      await service.close(graceMs);
      env = { ...env, ...changes };
      service = await start(env);
    },
    async close() {
      await service.close(graceMs);
      await place?.remove();
    },
  };
}

/** On a server, tasks of the hour are due an hour after the last, whoever started meanwhile: tests of such a task restart the service to have it done. */
async function makeTasksDue({ deps }: Service): Promise<void> {
  // The database of a test of faults may not answer.
  await deps.storage.db.pool.query('update repeated_tasks set "nextAt" = now()').catch(() => undefined);
}

function launch(
  env: Readonly<Record<string, string>>,
  onLog: ((line: string) => void) | undefined,
  embedded: EmbeddedServer | undefined,
): Promise<Service> {
  const settings = testSettings(env);
  const onFatal = (error: Error) => {
    throw error;
  };
  return startParley(settings, createLogger(settings, onLog), onFatal, {
    environment: (name) => env[name],
    embedded: embedded === undefined ? undefined : Promise.resolve(embedded),
  });
}
