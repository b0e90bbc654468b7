import { type RetainedKind, retainedKinds } from '../../entities/data-life/retention.ts';
import { Tally } from '../../lib/tally.ts';

/** What one process counts of the deletion of old data, for its metrics. */
export class DataLife {
  /** Rows that were deleted since the start of the process. */
  readonly deleted = new Tally<RetainedKind>(retainedKinds);
  /** When the last sweep ended; undefined before the first. */
  sweptAt: Date | undefined;
}
