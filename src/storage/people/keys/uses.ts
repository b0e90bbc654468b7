import type { Database } from '../../ground/database.ts';
import { Store } from '../../ground/store.ts';

const flushEveryMs = 2_000;

/** When keys were last used. The times are written in batches, after the replies. */
export class KeyUses extends Store {
  #noted = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #write = async (): Promise<void> => {
    if (this.#noted.size === 0) return;
    const batch = this.#noted;
    this.#noted = new Map();
    try {
      await writeUses(this.db, batch);
    } catch {
      // The database does not answer: keep the newest time of each key for the next batch.
      for (const [keyId, atMs] of batch) if (!this.#noted.has(keyId)) this.#noted.set(keyId, atMs);
    }
  };

  note(keyId: string, atMs: number): void {
    this.#noted.set(keyId, atMs);
    this.#timer ??= setInterval(() => void this.flush(), flushEveryMs).unref();
  }

  /** Writes the noted times. Called at stop, so nothing is lost. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.db.runForAll(this.#write));
    return this.#writing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

/** The time is shown to people: the keys of one second get its latest time, in one statement. A time never moves backwards. */
async function writeUses({ prisma }: Database, uses: ReadonlyMap<string, number>): Promise<void> {
  for (const ofSecond of Map.groupBy(uses, ([, atMs]) => Math.floor(atMs / 1_000)).values()) {
    const at = new Date(Math.max(...ofSecond.map(([, atMs]) => atMs)));
    const isOlder = { OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: at } }] };
    await prisma.apiKey.updateMany({ where: { id: { in: ofSecond.map(([id]) => id) }, ...isOlder }, data: { lastUsedAt: at } });
  }
}
