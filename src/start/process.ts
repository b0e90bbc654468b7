import { existsSync } from 'node:fs';
import { watchForStalls } from '../engine/processes/stall-watch.ts';
import { createLogger } from '../http/log/logging.ts';
import { noteRequests } from '../http/log/requests-under-way.ts';
import { loadSettings, type Settings } from '../settings.ts';
import { startEmbeddedOf } from '../storage/database/embedded/embedded.ts';
import { mistypedSentence, mistypedSettings } from './checks/mistyped.ts';
import type { Service } from './service.ts';
import { demoWelcome, welcome } from './welcome.ts';

const settings = await readSettings();
const logger = createLogger(settings);

process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled rejection'));
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'stopping after an unexpected failure');
  process.exitCode = 1;
  process.exit();
});

const service = await start().catch((error: unknown) => refuse(error));
const requests = noteRequests();
const endWatch = watchForStalls({
  logger,
  maxMs: settings.EVENT_LOOP_BLOCKED_MAX_MS,
  underWay: () => [...service.deps.jobs.underWay(), ...requests()],
});
process.on('exit', endWatch);

/** Ctrl-C comes twice under `npm start`: from the terminal, and from npm, which hands on what it gets. */
const sameSignalMs = 500;

let stoppingSinceMs: number | undefined;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    // A second signal ends the process at once.
    if (stoppingSinceMs !== undefined && performance.now() - stoppingSinceMs > sameSignalMs) process.exit(1);
    if (stoppingSinceMs !== undefined) return;
    stoppingSinceMs = performance.now();
    logger.info({ signal }, 'stopping: replies in flight may end');
    await service.close(settings.SHUTDOWN_GRACE_MS).catch((error: unknown) => logger.error({ err: error }, 'stopping failed'));
    logger.info('stopped');
    process.exit(0);
  });
}

for (const mistyped of mistypedSettings(process.env)) logger.warn(mistypedSentence(mistyped));
// The last step of a start: a test or a script that reads this line may send a signal at once.
console.log(welcome(service.url, service.firstKey, settings));
announceDemo(service);

/** The demo agent is made while the service already answers: a first start takes no longer with it. */
function announceDemo({ url, firstKey, demo }: Service): void {
  void demo?.then((agentId) => {
    if (agentId !== undefined && firstKey !== undefined && stoppingSinceMs === undefined) console.log(demoWelcome(url, firstKey));
  });
}

async function start(): Promise<Service> {
  const onFatal = (error: Error) => {
    logger.fatal({ err: error }, 'the embedded database ended; start Parley again');
    process.exit(1);
  };
  // The database starts in its own thread while this one loads everything else.
  const embedded = startEmbeddedOf(settings, onFatal);
  const { startService } = await import('./service.ts');
  return startService(settings, logger, onFatal, { environment: readEnvironment, embedded });
}

/** A variable that the operator's models file names for a key: no setting of its own. */
function readEnvironment(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value === '' ? undefined : value;
}

async function readSettings(): Promise<Settings> {
  try {
    if (existsSync('.env')) process.loadEnvFile('.env');
    return loadSettings(process.env);
  } catch (error) {
    return refuse(error);
  }
}

/** What the operator can mend is said in plain words, without a stack. The words are loaded here only: most starts need none. */
async function refuse(error: unknown): Promise<never> {
  const { refusalOf } = await import('./refusal.ts');
  console.error((await refusalOf(error, process.env)) ?? error);
  process.exit(1);
}
