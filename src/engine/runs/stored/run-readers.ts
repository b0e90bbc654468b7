import { setTimeout as wait } from 'node:timers/promises';
import { isLast, isPause, type RunEvent } from '../../../entities/conversations/runs/event.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { RunStore } from '../../../storage/conversations/runs/runs.ts';
import type { EventLog } from './event-log.ts';
import type { RunChanges, RunWatch } from './run-changes.ts';

const eventsPerRead = 2_000;
/** Readers of runs in other processes look again after this time, even if all signals fail. */
const lookAgainMs = 1_000;
/** Readers wait while the database is away for a moment. */
const retryAfterMs = 250;
const retriesMax = 120;

/** Reads stored runs: from memory if this process works on them, else from the database. */
export class RunReaders {
  readonly #runs: Pick<RunStore, 'find' | 'readEvents' | 'readFolded'>;
  readonly #changes: RunChanges;
  readonly #logOf: (runId: string) => EventLog | undefined;
  #isEnding = false;

  constructor(
    runs: Pick<RunStore, 'find' | 'readEvents' | 'readFolded'>,
    changes: RunChanges,
    logOf: (runId: string) => EventLog | undefined,
  ) {
    this.#runs = runs;
    this.#changes = changes;
    this.#logOf = logOf;
  }

  /** Every event after a sequence number, then new events as they come, until the end of the run or the signal. */
  async *follow(runId: string, afterSequence: number, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    let cursor = afterSequence;
    /** A pause before this reader came is history; a pause that it sees happen ends its stream. */
    let pausesFrom: number | undefined;
    let watch: RunWatch | undefined;
    try {
      while (!signal.aborted) {
        const log = this.#logOf(runId);
        pausesFrom = pausesFrom === undefined ? (log?.length ?? Number.POSITIVE_INFINITY) : Math.min(pausesFrom, cursor + 1);
        let isOver = false;
        let batches: AsyncIterable<readonly RunEvent[]> | Iterable<readonly RunEvent[]>;
        if (log !== undefined) batches = log.read(cursor, signal);
        else {
          watch ??= this.#changes.watch(runId);
          const runEvents = watch.take(cursor);
          // The status is read before the events: no event is missed in between.
          isOver = runEvents === undefined && (await this.#isOver(runId, signal));
          batches = runEvents === undefined ? this.#stored(runId, cursor, signal) : [runEvents];
        }
        for await (const batch of batches) {
          const last = batch.at(-1);
          if (last === undefined) continue;
          cursor = last.sequence;
          yield batch;
          if (isLast(last) || (isPause(last) && last.sequence >= pausesFrom)) return;
        }
        if (isOver) return;
        if (this.#isEnding && log === undefined) throw stopping();
        if (log === undefined) await watch?.next(lookAgainMs, signal);
      }
    } finally {
      watch?.close();
    }
  }

  /** From now on, runs of other processes and runs that this process gave up cannot be followed. */
  end(): void {
    this.#isEnding = true;
  }

  /** The events in the log now; of a response whose events were deleted, those that tell its state. */
  async *replay(runId: string): AsyncGenerator<readonly RunEvent[]> {
    let isEmpty = true;
    for await (const batch of this.#stored(runId, -1)) {
      isEmpty = false;
      yield batch;
    }
    const foldedEvents = isEmpty ? await this.#runs.readFolded(runId) : undefined;
    if (foldedEvents !== undefined) yield foldedEvents;
  }

  /** Resolves once the run is over or paused. */
  async over(runId: string): Promise<void> {
    const { signal } = new AbortController();
    const watch = this.#changes.watch(runId);
    try {
      for (;;) {
        // The events do not matter here.
        const runEvents = watch.take(Number.POSITIVE_INFINITY);
        if (runEvents === undefined && (await this.#isOver(runId, signal))) return;
        if (this.#isEnding && this.#logOf(runId) === undefined) throw stopping();
        await watch.next(lookAgainMs, signal);
      }
    } finally {
      watch.close();
    }
  }

  /** @param signal  of a reader that waits while the database is away; absent: the database's error is thrown at once. */
  async *#stored(runId: string, afterSequence: number, signal?: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    let cursor = afterSequence;
    for (;;) {
      const after = cursor;
      const look = () => this.#runs.readEvents(runId, after, eventsPerRead);
      const read = await (signal === undefined ? look() : withRetry(look, signal));
      if (read === undefined) throw new DomainError('NOT_FOUND', 'There is no such run');
      const last = read.events.at(-1);
      if (last === undefined) return;
      cursor = last.sequence;
      yield read.events;
      if (!read.hasMore) return;
    }
  }

  async #isOver(runId: string, signal: AbortSignal): Promise<boolean> {
    const run = await withRetry(() => this.#runs.find(runId), signal);
    return run === undefined || run.status !== 'in_progress';
  }
}

/** The run goes on in another process. */
function stopping(): DomainError {
  return new DomainError('OVERLOADED', 'The service is stopping; come back to this run', { retryAfterSeconds: 1 });
}

async function withRetry<T>(look: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await look();
    } catch (error) {
      if (attempt >= retriesMax || signal.aborted) throw error;
      await wait(retryAfterMs, undefined, { ref: false });
    }
  }
}
