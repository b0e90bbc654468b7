// Raw SQL: one statement asks two tables about many keys.
import type { Database } from '../database/database.ts';

/** Finds bytes that no row names: a process died between writing them and the row. */
export interface OrphanBlobStore {
  /** Those of the keys that nothing refers to. Of kinds that are not known here, none. */
  among(keys: readonly string[]): Promise<readonly string[]>;
}

export function createOrphanBlobStore({ pool }: Database): OrphanBlobStore {
  return {
    async among(keys) {
      const { rows } = await pool.query<{ key: string }>(
        `select key from unnest($1::text[]) as key
         where (split_part(key, '/', 2) = 'knowledge'
             and not exists (select 1 from knowledge_items i where i.id = split_part(key, '/', 3)))
           or (split_part(key, '/', 2) = 'chat-files' and not exists (select 1 from chat_files f where f."blobKey" = key))`,
        [keys],
      );
      return rows.map(({ key }) => key);
    },
  };
}
