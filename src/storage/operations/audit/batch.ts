import type { Database } from '../../ground/database.ts';
import type { AuditEntryStore, NewAuditEntry } from './entries.ts';

/** Makes entries when the batch is written: a caller does not wait for the statements that this takes. */
export type ProduceEntries = () => Promise<readonly NewAuditEntry[]>;

/** Entries about reads and refusals, which no change waits for. Written after the replies, a few times a second. */
export interface AuditBatch {
  /** @returns false when too many are waiting already: these entries are not written. */
  add(produce: ProduceEntries): boolean;
  /** Writes the waiting entries. Called at stop, so nothing is lost. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const writeEveryMs = 250;
/** Bounds the memory while the database does not answer: about 10 MB. */
const waitingMax = 10_000;
const entriesPerWrite = 500;

export function createAuditBatch(
  db: Pick<Database, 'runForAll'>,
  store: Pick<AuditEntryStore, 'write'>,
  onError: (error: unknown) => void,
): AuditBatch {
  let waiting: ProduceEntries[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const batch = waiting;
    waiting = [];
    try {
      const entries: NewAuditEntry[] = [];
      for (const produce of batch) entries.push(...(await produce()));
      for (let start = 0; start < entries.length; start += entriesPerWrite) {
        await store.write(entries.slice(start, start + entriesPerWrite));
      }
    } catch (error) {
      waiting = [...batch, ...waiting].slice(0, waitingMax);
      onError(error);
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing
      .then(() => db.runForAll(write))
      .then(() => {
        if (waiting.length > 0) schedule();
      });
    return writing;
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), writeEveryMs).unref();
  }

  return {
    add(produce) {
      if (waiting.length >= waitingMax) return false;
      waiting.push(produce);
      schedule();
      return true;
    },
    flush,
    async close() {
      await flush();
      clearTimeout(timer);
    },
  };
}
