import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { productVersion } from '../../../lib/product.ts';
import type { Deps } from '../../deps.ts';

/** What runs here. The parts that cost a statement are read one by one, by the functions of this folder. */
export interface Installation {
  readonly version: string;
  readonly nodeVersion: string;
  /** Of the process that answers. */
  readonly startedAt: Date;
  readonly costCurrency: string;
}

/** @throws DomainError FORBIDDEN for all callers but those of level INSTANCE. */
export function getInstallation({ startedAt, settings }: Deps, caller: Caller): Installation {
  requireInstallation(caller);
  return { version: productVersion, nodeVersion: process.versions.node, startedAt, costCurrency: settings.COST_CURRENCY };
}

/** @throws DomainError FORBIDDEN for all callers but those of level INSTANCE. */
export function requireInstallation({ level }: Caller): void {
  if (level !== 'INSTANCE') throw new DomainError('FORBIDDEN', 'The installation needs a key of level INSTANCE');
}
