import { type RetainedKind, retainedKinds } from '../../../entities/operations/data-life/retention.ts';
import { Counter } from '../../../lib/flow/counter.ts';
import { EventSweepProgress } from './event-sweep-progress.ts';

/** What one process counts of the deletion of old data, for its metrics. */
export class DataLife {
  /** Rows that were deleted since the start of the process. */
  readonly deleted = new Counter<RetainedKind>(retainedKinds);
  /** How far its sweeps of events have come. */
  readonly eventsSwept = new EventSweepProgress();
  /** When the last sweep ended; undefined before the first. */
  sweptAt: Date | undefined;
}
