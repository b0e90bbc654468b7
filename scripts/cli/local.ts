import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Deps } from '../../src/domain/deps.ts';
import { operationScopes } from '../../src/domain/ground/access/operation-scopes.ts';
import { type Caller, localKeyId, scopes } from '../../src/entities/people/caller.ts';
import { createHttpApp } from '../../src/http/app.ts';
import { createAdmissions } from '../../src/http/limits.ts';
import { createAccessLog } from '../../src/http/log/access-log.ts';
import { createLogger } from '../../src/http/log/logging.ts';
import { Metrics } from '../../src/http/log/metrics.ts';
import { SseStreams } from '../../src/http/reply/sse.ts';
import { readSecret } from '../../src/lib/files/secret-files.ts';
import { startCommand } from '../../src/lib/product.ts';
import { compileRoutes } from '../../src/rest/compile.ts';
import { createRestHandlers } from '../../src/rest/router.ts';
import { allRoutes } from '../../src/rest/routes/index.ts';
import { loadSettings, type Settings } from '../../src/settings.ts';
import { closeDeps, createDeps } from '../../src/start/compose.ts';
import { FolderInUseError } from '../../src/storage/ground/embedded/lock.ts';
import { exitCodes, Failure } from './failure.ts';

/** The server that a command calls, and how to close it. */
export interface Target {
  readonly url: string;
  readonly key: string;
  close(): Promise<void>;
}

const graceMs = 5_000;

/**
 * Serves the REST API directly on the data, for one command: on the loopback address, behind a secret that only this process has. It runs no jobs;
 * the service runs the jobs that a command queues.
 *
 * @throws Failure when another process uses the folder, or the folder is empty.
 */
export async function openLocal(schema: GraphQLSchema, env: NodeJS.ProcessEnv): Promise<Target> {
  const deps = await openDeps(env);
  try {
    const admin = await deps.storage.people.tenancy.findFirstAdmin();
    if (admin === undefined) {
      throw nothingHere();
    }
    const caller: Caller = { ...admin, keyId: localKeyId, level: 'INSTANCE', role: 'ADMIN', scopes: new Set(scopes) };
    const key = randomBytes(32).toString('base64url');
    const { settings } = deps;
    const rest = createRestHandlers({
      routes: compileRoutes(schema, allRoutes, operationScopes, null),
      deps,
      metrics: new Metrics(),
      streams: new SseStreams({
        heartbeatMs: settings.SSE_HEARTBEAT_MS,
        bufferMaxBytes: settings.SSE_BUFFER_MAX_BYTES,
      }),
      admissions: createAdmissions(deps.pools, settings),
      keys: { authenticate: (secret) => (secret === key ? caller : undefined), watch: () => () => undefined },
    });
    const server = createServer(createHttpApp({ deps, log: createAccessLog(undefined), handlers: rest }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      key,
      async close() {
        server.close();
        server.closeAllConnections();
        await closeDeps(deps, graceMs);
      },
    };
  } catch (error) {
    await closeDeps(deps, 0);
    throw error;
  }
}

export function nothingHere(): Failure {
  return new Failure(`There is nothing here yet. Start Parley once: ${startCommand}`, exitCodes.failed);
}

function openDeps(env: NodeJS.ProcessEnv): Promise<Deps> {
  const inUse = 'Leave --local away and give a key with PARLEY_KEY, or stop the service first.';
  return openData(env, inUse, (settings, logger) =>
    createDeps({
      settings,
      logger,
      publicUrl: () => settings.PUBLIC_URL?.replace(/\/+$/, '') ?? `http://localhost:${settings.PORT}`,
      environment: (name) => readSecret(env, name),
      onFatal: fail,
    }),
  );
}

/**
 * Opens a part of the data that the environment names.
 *
 * @param inUse  what to do when the service runs on the data folder.
 * @throws Failure when the data cannot be opened.
 */
export async function openData<T>(
  env: NodeJS.ProcessEnv,
  inUse: string,
  open: (settings: Settings, logger: Logger) => Promise<T>,
): Promise<T> {
  try {
    const settings = { ...loadSettings({ LOG_LEVEL: 'error', ...env }), ROLE: 'web' } as const;
    // Opening an empty folder would make a new database in it.
    if (settings.DATABASE_URL === undefined && !existsSync(settings.DATA_DIR)) throw nothingHere();
    return await open(
      settings,
      createLogger(settings, (line) => void process.stderr.write(line)),
    );
  } catch (error) {
    if (error instanceof FolderInUseError) {
      throw new Failure(`The service is running on this data folder. ${inUse}`, exitCodes.failed);
    }
    if (error instanceof Failure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`The data could not be opened: ${reason}`, exitCodes.failed);
  }
}

/** Called when the embedded database ended by itself. */
export function fail(error: Error): never {
  throw error;
}
