import { type RetainedKind, retainedKinds } from '../../../entities/operations/data-life/retention.ts';
import { Tally } from '../../../lib/flow/tally.ts';
import { EventSweepProgress } from './event-sweep-progress.ts';

/** What one process counts of the deletion of old data, for its metrics. */
export class DataLife {
  /** Rows that were deleted since the start of the process. */
  readonly deleted = new Tally<RetainedKind>(retainedKinds);
  /** How far its sweeps of events have come. */
  readonly eventsSwept = new EventSweepProgress();
  /** When the last sweep ended; undefined before the first. */
  sweptAt: Date | undefined;
}
