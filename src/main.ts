import { existsSync } from 'node:fs';
import { createLogger } from './http/logging.ts';
import { startService } from './service.ts';
import { loadSettings, type Settings } from './settings.ts';
import { FolderInUseError } from './storage/embedded/lock.ts';
import { welcome } from './welcome.ts';

const settings = readSettings();
const logger = createLogger(settings);

process.on('unhandledRejection', (error) => logger.error({ err: error }, 'a promise failed unheard'));
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'stopping after an unexpected failure');
  process.exitCode = 1;
  process.exit();
});

const service = await startService(settings, logger, (error) => {
  logger.fatal({ err: error }, 'the embedded database ended; start Parley again');
  process.exit(1);
}).catch((error: unknown) => refuse(error));

console.log(welcome(service.url, service.firstKey, settings));

let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    // The second one is somebody who does not want to wait.
    if (isStopping) process.exit(1);
    isStopping = true;
    logger.info({ signal }, 'stopping: replies in flight may end');
    await service.close(settings.SHUTDOWN_GRACE_MS).catch((error: unknown) => logger.error({ err: error }, 'stopping failed'));
    logger.info('stopped');
    process.exit(0);
  });
}

function readSettings(): Settings {
  try {
    if (existsSync('.env')) process.loadEnvFile('.env');
    return loadSettings(process.env);
  } catch (error) {
    return refuse(error);
  }
}

/** What the operator can mend is said in plain words, without a stack. */
function refuse(error: unknown): never {
  const isPlain = error instanceof FolderInUseError || (error instanceof Error && error.message.startsWith('bad configuration'));
  console.error(isPlain ? `Parley cannot start: ${error.message}` : error);
  process.exit(1);
}
