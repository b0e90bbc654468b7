import { retainedKinds, type SweptKind } from '../../../entities/operations/data-life/retention.ts';
import { Counter } from '../../../lib/flow/counter.ts';
import type { StoredRunKind } from '../../../storage/operations/data-life/event-partitions.ts';

/** What one process counts of the deletion of old data, for its metrics. */
export class DataLife {
  /** Rows that were deleted since the start of the process. */
  readonly deleted = new Counter<SweptKind>([...retainedKinds, 'versions']);
  /** How far its sweeps of events have come. */
  readonly eventsSwept = new EventSweepProgress();
  /** When the last sweep ended; undefined before the first. */
  sweptAt: Date | undefined;
}

const dayMs = 86_400_000;

/**
 * How far sweeps of events of this process have come: the next one goes on there. Logs that were passed, because a hold, a longer choice or a run that is
 * not over keeps them, are looked at again once a day, and when choices or holds have changed.
 */
class EventSweepProgress {
  #sinceMs = 0;
  #rules = '';
  readonly ids = new Map<StoredRunKind, string>();
  /** For each organization with a shorter choice: runs that were asked for before this moment were looked at. */
  readonly organizations = new Map<string, Date>();

  /** @param rules  a text that differs when choices or holds differ. */
  begin(now: Date, rules: string): void {
    const isRecent = Math.abs(now.getTime() - this.#sinceMs) < dayMs;
    if (isRecent && rules === this.#rules) return;
    this.forget();
    this.#sinceMs = now.getTime();
    this.#rules = rules;
  }

  /** The next sweep looks at everything. */
  forget(): void {
    this.#sinceMs = 0;
    this.ids.clear();
    this.organizations.clear();
  }
}
