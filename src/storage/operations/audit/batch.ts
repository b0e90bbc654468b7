import type { Database } from '../../ground/database.ts';
import type { AuditEntryStore, NewAuditEntry } from './entries.ts';

/** Makes entries when the batch is written: a caller does not wait for the statements that this takes. */
export type ProduceEntries = () => Promise<readonly NewAuditEntry[]>;

const writeEveryMs = 250;
/** Bounds the memory while the database does not answer: about 10 MB. */
const waitingMax = 10_000;
const entriesPerWrite = 500;

/** Entries about reads and refusals, which no change waits for. Written after the replies, a few times a second. */
export class AuditBatch {
  readonly #db: Pick<Database, 'runForAll'>;
  readonly #store: Pick<AuditEntryStore, 'write'>;
  readonly #onError: (error: unknown) => void;
  #waiting: ProduceEntries[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #write = async (): Promise<void> => {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      const entries: NewAuditEntry[] = [];
      for (const produce of batch) entries.push(...(await produce()));
      for (let start = 0; start < entries.length; start += entriesPerWrite) {
        await this.#store.write(entries.slice(start, start + entriesPerWrite));
      }
    } catch (error) {
      this.#waiting = [...batch, ...this.#waiting].slice(0, waitingMax);
      this.#onError(error);
    }
  };

  constructor(db: Pick<Database, 'runForAll'>, store: Pick<AuditEntryStore, 'write'>, onError: (error: unknown) => void) {
    this.#db = db;
    this.#store = store;
    this.#onError = onError;
  }

  /** @returns false when too many are waiting already: these entries are not written. */
  add(produce: ProduceEntries): boolean {
    if (this.#waiting.length >= waitingMax) return false;
    this.#waiting.push(produce);
    this.#schedule();
    return true;
  }

  /** Writes the waiting entries. Called at stop, so nothing is lost. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing
      .then(() => this.#db.runForAll(this.#write))
      .then(() => {
        if (this.#waiting.length > 0) this.#schedule();
      });
    return this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), writeEveryMs).unref();
  }
}
