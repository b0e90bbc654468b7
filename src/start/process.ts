import cluster from 'node:cluster';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchForStalls } from '../engine/processes/stall-watch.ts';
import { createLogger, type ServiceLogger } from '../http/log/logging.ts';
import { noteRequests } from '../http/log/requests-under-way.ts';
import { readSecret } from '../lib/files/secret-files.ts';
import { countProcesses } from '../lib/settings/process-count.ts';
import type { Limits } from '../limits.ts';
import { loadSettings, type Settings } from '../settings.ts';
import { unreadSettings } from './checks/mistyped.ts';
import { connectEmbedded, databaseArgument, ownDatabase } from './processes/database.ts';
import { Siblings, supervisorNumber } from './processes/siblings.ts';
import type { Service } from './service.ts';
import { demoWelcome, welcome } from './welcome.ts';

/**
 * The process ends itself, to be started again, when its event loop has been blocked this long. From 2 seconds on a line
 * names what was under way.
 */
const blockedMaxMs = 60_000;

/** Ctrl-C comes twice under `npm start`: from the terminal, and from npm, which hands on what it gets, on a busy machine a second later. */
const sameSignalMs = 2_000;

/**
 * Runs Parley as this process: reads the settings, starts the service, and ends with its signals. Of several processes (PROCESSES), the first one
 * supervises the others, which serve.
 *
 * @param limits  replace their defaults; only tests give some.
 */
export async function runProcess(limits: Partial<Limits> = {}): Promise<void> {
  const settings = await readSettings(limits);
  if (process.argv.includes(databaseArgument)) await keepDatabase(settings);
  else if (countProcesses(settings) > 1 && cluster.isPrimary) await supervise(settings);
  else await serve(settings);
}

async function serve(settings: Settings): Promise<void> {
  const siblings = Siblings.join();
  const logger = createLogger(settings, undefined, siblings?.number);

  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'stopping after an unexpected failure');
    process.exitCode = 1;
    process.exit();
  });

  const service = await start(settings, logger, siblings).catch((error: unknown) => refuse(error));
  const requests = noteRequests();
  const endWatch = watchForStalls({
    logger,
    maxMs: blockedMaxMs,
    folder: useOwnTemporaryFolder(),
    underWay: () => [...service.deps.jobs.underWay(), ...requests()],
  });
  process.on('exit', endWatch);

  const isStopping = onStopSignal(async (signal) => {
    logger.info({ signal }, 'stopping: replies in flight may end');
    await service.close(settings.SHUTDOWN_GRACE_MS).catch((error: unknown) => logger.error({ err: error }, 'stopping failed'));
    logger.info('stopped');
    process.exit(0);
  });

  const text = welcome(service.url, service.deps.publicUrl(), service.firstKey, settings);
  if (siblings === undefined) greet(text, logger);
  else siblings.send(supervisorNumber, 'started', text);
  announceDemo(service, isStopping);
  if (service.firstKey !== undefined && settings.DATABASE_URL === undefined) {
    const { prepareInBackground } = await import('./prepare-database.ts');
    prepareInBackground(process.env);
  }
}

/**
 * From here on this process and what it starts keep temporary files in a folder that goes when the process ends. The socket of an embedded database, which
 * the next start removes after a kill, is made before.
 */
function useOwnTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-process-'));
  process.env.TMPDIR = folder;
  return folder;
}

async function keepDatabase(settings: Settings): Promise<void> {
  const logger = createLogger(settings);
  await ownDatabase(settings, logger, (error) => {
    logger.fatal({ err: error }, 'the embedded database ended');
    process.exit(1);
  }).catch((error: unknown) => refuse(error));
}

async function supervise(settings: Settings): Promise<void> {
  const [{ Supervisor }, { findFreePort }] = await Promise.all([
    import('./processes/supervisor.ts'),
    import('./processes/port.ts'),
  ]);
  const logger = createLogger(settings);
  const port = await findFreePort(settings).catch((error: unknown) => refuse(error));
  const supervisor = new Supervisor({
    ...{ count: countProcesses(settings), port, graceMs: settings.SHUTDOWN_GRACE_MS, logger },
    hasDatabase: settings.DATABASE_URL === undefined,
  });
  const isStopping = onStopSignal(
    async (signal) => {
      await supervisor.stop(signal);
      process.exit(0);
    },
    (signal) => void supervisor.stop(signal),
  );
  const text = await supervisor.start();
  if (isStopping()) return;
  if (text === undefined) process.exit(1);
  greet(text, logger);
}

/** The last step of a start: a test or a script that reads this line may send a signal at once. */
function greet(text: string, logger: ServiceLogger): void {
  for (const sentence of unreadSettings(process.env)) logger.warn(sentence);
  console.log(text);
}

/**
 * @param stop  called with the first signal.
 * @param stopNow  called with a second one. Default: the process ends at once.
 * @returns whether there was a signal.
 */
function onStopSignal(
  stop: (signal: NodeJS.Signals) => Promise<void>,
  stopNow: (signal: NodeJS.Signals) => void = () => process.exit(1),
): () => boolean {
  let stoppingSinceMs: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stoppingSinceMs === undefined) {
        stoppingSinceMs = performance.now();
        void stop(signal);
      } else if (performance.now() - stoppingSinceMs > sameSignalMs) stopNow(signal);
    });
  }
  return () => stoppingSinceMs !== undefined;
}

/** The demo agent is made while the service already answers: a first start takes no longer with it. */
function announceDemo({ url, firstKey, demo }: Service, isStopping: () => boolean): void {
  void demo?.then((agentId) => {
    if (agentId !== undefined && firstKey !== undefined && !isStopping()) console.log(demoWelcome(url, firstKey));
  });
}

async function start(settings: Settings, logger: ServiceLogger, siblings: Siblings | undefined): Promise<Service> {
  const onFatal = (error: Error) => {
    logger.fatal({ err: error }, 'the embedded database ended; start Parley again');
    process.exit(1);
  };
  // The database starts in its own thread while this one loads everything else.
  const embeddedServer = connectEmbedded(settings, siblings, onFatal);
  const { startService } = await import('./service.ts');
  return startService(settings, logger, onFatal, {
    environment: (name) => readSecret(process.env, name),
    embedded: embeddedServer,
    siblings,
  });
}

async function readSettings(limits: Partial<Limits>): Promise<Settings> {
  try {
    if (existsSync('.env')) process.loadEnvFile('.env');
    return loadSettings(process.env, limits);
  } catch (error) {
    return refuse(error);
  }
}

/** What the operator can mend is said in plain words, without a stack. The words are loaded here only: most starts need none. */
async function refuse(error: unknown): Promise<never> {
  const { findRefusal } = await import('./refusal.ts');
  console.error((await findRefusal(error, process.env)) ?? error);
  process.exit(1);
}
