import type { Logger } from 'pino';
import type { UpgradeCopy } from '../storage/ground/embedded/upgrade-copy.ts';

/** Says what a start kept of the embedded database before its migrations. */
export function logUpgradeCopy(logger: Logger, copy: UpgradeCopy): void {
  if (copy.kind === 'kept') logger.info(copy, 'the files of the database were copied before this version changes its schema');
  else logger.warn(copy, 'no room for a copy of the database before this version changes its schema');
}
