import type { Logger } from 'pino';
import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { RunStore } from '../../../storage/conversations/runs/runs.ts';
import type { Finished, RunEnding } from '../../../storage/conversations/runs/writes.ts';
import { RunStop } from '../control/stop.ts';
import type { EventLog } from './event-log.ts';
import { Gathering } from './gathering.ts';

const retryAfterMs = 250;
/** When the database is away for longer, this process gives the run up; its lease is over by then. */
const retriesMax = 240;
/** The model is read only while fewer events than this wait to be written. */
const backlogMax = 5_000;
/** Events that only make an output item longer. Only these wait for others. */
const growing: ReadonlySet<RunEvent['type']> = new Set([
  'response.output_text.delta',
  'response.reasoning_text.delta',
  'response.function_call_arguments.delta',
]);

/**
 * Stores a run's events before a reader sees them. Pieces of an answer gather for a moment, and while one batch is being written; every other
 * event is written at once, with all before it.
 */
export class LogWriter {
  readonly #store: Pick<RunStore, 'append' | 'finish'>;
  readonly #log: EventLog;
  readonly #lease: { readonly id: string; readonly fence: number };
  readonly #logger: Logger;
  readonly #onLost: (reason: RunStop) => void;
  readonly #onWritten: (events: readonly RunEvent[]) => void;
  readonly #gathering = new Gathering();
  #pending: RunEvent[] = [];
  #writing: Promise<void> | undefined;
  #lost: RunStop | undefined;
  /** Waiting events are written together with the end of the run. */
  #isFinishing = false;

  constructor(options: {
    readonly store: Pick<RunStore, 'append' | 'finish'>;
    readonly log: EventLog;
    readonly lease: { readonly id: string; readonly fence: number };
    readonly logger: Logger;
    /** Called when another process has the run, or the database is gone. */
    readonly onLost: (reason: RunStop) => void;
    /** Called with events that are stored; not with those of the end. */
    readonly onWritten: (events: readonly RunEvent[]) => void;
  }) {
    this.#store = options.store;
    this.#log = options.log;
    this.#lease = options.lease;
    this.#logger = options.logger;
    this.#onLost = options.onLost;
    this.#onWritten = options.onWritten;
  }

  /** Resolves at once while the database keeps up. */
  async add(events: readonly RunEvent[]): Promise<void> {
    if (this.#lost !== undefined || events.length === 0) return;
    let isUrgent = false;
    for (const event of events) {
      this.#pending.push(event);
      isUrgent ||= !growing.has(event.type);
    }
    if (isUrgent || this.#pending.length > backlogMax) this.#gathering.hurry();
    this.#writing ??= this.#drain();
    while (this.#pending.length > backlogMax && this.#writing !== undefined) await this.#writing;
  }

  /** Resolves once no write is under way. */
  async idle(): Promise<void> {
    this.#gathering.hurry();
    await this.#writing;
  }

  /**
   * Resolves once every added event is stored under this lease's fence.
   *
   * @throws RunStop `lost` when another process has the run, or the database does not come back; the signal's reason when it fires before.
   */
  async written(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#gathering.hurry();
    await Promise.race([this.#writing, aborted(signal)]);
    signal.throwIfAborted();
    if (this.#lost !== undefined) throw this.#lost;
  }

  /**
   * Writes the remaining events and the end of the run in one transaction, which makes one row of the whole log. @returns undefined when the run was lost.
   */
  async finish(ending: RunEnding): Promise<Finished | undefined> {
    this.#isFinishing = true;
    this.#gathering.hurry();
    await this.#writing;
    if (this.#lost !== undefined) return undefined;
    const events = [...this.#pending, ...ending.events];
    const { id, fence } = this.#lease;
    const log = [...this.#log.events, ...events];
    const write = (end: RunEnding) => this.#persist(() => this.#store.finish(id, fence, { ...end, events: log }));
    const finishResult = await write(ending).catch((error: unknown) => {
      // A run that cannot end would block its thread for ever.
      this.#logger.error({ err: error, runId: id }, 'the chat refused the messages of a run; the run ends without them');
      return write({ ...ending, messages: [] });
    });
    if (finishResult !== undefined) this.#log.add(events);
    return finishResult;
  }

  async #drain(): Promise<void> {
    while (this.#pending.length > 0 && this.#lost === undefined) {
      const pause = this.#gathering.pause();
      if (pause !== undefined) await pause;
      if (this.#isFinishing) break;
      const events = this.#pending;
      this.#pending = [];
      this.#gathering.begin();
      const { id, fence } = this.#lease;
      const write = async () => (await this.#store.append(id, fence, events)) || undefined;
      const writeResult = await this.#persist(write).catch((error: unknown) => {
        this.#logger.error(
          { err: error, runId: id },
          'the database refused the events of a run; the process that takes the run over ends it',
        );
        this.#lose(new RunStop('lost', 'The run could not be written'));
      });
      if (writeResult !== undefined) {
        this.#log.add(events);
        this.#onWritten(events);
      }
    }
    this.#writing = undefined;
  }

  /**
   * Retries while the database is away: writes are repeatable and fenced.
   *
   * @throws the database's error for data that it will never take.
   */
  async #persist<T>(write: () => Promise<T | undefined>): Promise<T | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const writeResult = await write();
        if (writeResult === undefined) this.#lose(new RunStop('lost', 'Another process took the run over'));
        return writeResult;
      } catch (error) {
        if (isRefusal(error)) throw error;
        if (attempt === 1)
          this.#logger.warn({ err: error, runId: this.#lease.id }, 'the events of a run could not be written; retrying');
        if (attempt > retriesMax) {
          this.#lose(new RunStop('lost', 'The run could not be written'));
          return undefined;
        }
        await new Promise((resolve) => setTimeout(resolve, retryAfterMs).unref());
      }
    }
  }

  #lose(reason: RunStop): void {
    this.#lost = reason;
    this.#pending = [];
    this.#onLost(reason);
  }
}

/** Resolves when the signal fires; the listener lives as long as the signal. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Whether PostgreSQL refuses the data itself: errors in data, broken constraints. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));
}
