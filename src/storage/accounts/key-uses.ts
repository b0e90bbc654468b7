// Raw SQL: one statement writes the times of many keys.
import type { Database } from '../database/database.ts';

/** When keys were last used. The times are written in batches, after the replies. */
export interface KeyUses {
  note(keyId: string, atMs: number): void;
  /** Writes the noted times. Called at stop, so nothing is lost. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const flushEveryMs = 2_000;

/** The time is shown to people, so a second more or less does not matter: the newest of a batch wins, and never moves backwards. */
const writeUses = `update api_keys k set "lastUsedAt" = greatest(k."lastUsedAt", u.at)
  from (
    select id, to_timestamp(ms / 1000.0)::timestamptz(3) as at
    from unnest($1::text[], $2::float8[]) as noted(id, ms)
  ) u
  where k.id = u.id`;

export function createKeyUses(db: Database): KeyUses {
  let noted = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    if (noted.size === 0) return;
    const batch = noted;
    noted = new Map();
    try {
      await db.execute(writeUses, [[...batch.keys()], [...batch.values()]]);
    } catch {
      // The database does not answer: keep the newest time of each key for the next batch.
      for (const [keyId, atMs] of batch) if (!noted.has(keyId)) noted.set(keyId, atMs);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(write);
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
