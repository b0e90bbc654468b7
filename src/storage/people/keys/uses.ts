import type { Database } from '../../ground/database.ts';

/** When keys were last used. The times are written in batches, after the replies. */
export interface KeyUses {
  note(keyId: string, atMs: number): void;
  /** Writes the noted times. Called at stop, so nothing is lost. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const flushEveryMs = 2_000;

export function createKeyUses(db: Database): KeyUses {
  let noted = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    if (noted.size === 0) return;
    const batch = noted;
    noted = new Map();
    try {
      await writeUses(db, batch);
    } catch {
      // The database does not answer: keep the newest time of each key for the next batch.
      for (const [keyId, atMs] of batch) if (!noted.has(keyId)) noted.set(keyId, atMs);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(() => db.runForAll(write));
    return writing;
  }

  return {
    note(keyId, atMs) {
      noted.set(keyId, atMs);
      timer ??= setInterval(() => void flush(), flushEveryMs).unref();
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** The time is shown to people: the keys of one second get its latest time, in one statement. A time never moves backwards. */
async function writeUses({ prisma }: Database, uses: ReadonlyMap<string, number>): Promise<void> {
  for (const ofSecond of Map.groupBy(uses, ([, atMs]) => Math.floor(atMs / 1_000)).values()) {
    const at = new Date(Math.max(...ofSecond.map(([, atMs]) => atMs)));
    const isOlder = { OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: at } }] };
    await prisma.apiKey.updateMany({ where: { id: { in: ofSecond.map(([id]) => id) }, ...isOlder }, data: { lastUsedAt: at } });
  }
}
