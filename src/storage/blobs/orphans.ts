// Raw SQL: one statement looks for many keys in five tables.
import type { Database } from '../database/database.ts';

/** Finds blobs that no row names: a process died after it wrote the blob and before it wrote the row. */
export interface OrphanBlobStore {
  /** The keys among these that no row names; of files of stateless runs, all. Keys of an unknown kind are never returned. */
  among(keys: readonly string[]): Promise<readonly string[]>;
}

export function createOrphanBlobStore(db: Database): OrphanBlobStore {
  return {
    async among(keys) {
      const rows = await db.query<{ key: string }>(
        `select key from unnest($1::text[]) as key
         where (split_part(key, '/', 2) = 'knowledge'
             and not exists (select 1 from knowledge_items i where i.id = split_part(key, '/', 3)))
           or (split_part(key, '/', 2) = 'files' and not exists (select 1 from files f where f."blobKey" = key))
           or (split_part(key, '/', 2) = 'uploads' and not exists (select 1 from file_upload_parts p where p."blobKey" = key))
           or (split_part(key, '/', 2) = 'chat-files' and not exists (select 1 from chat_files f where f."blobKey" = key))
           or split_part(key, '/', 2) = 'run-files'
           or (split_part(key, '/', 2) = 'code-states' and not exists (select 1 from code_states s where s."blobKey" = key))`,
        [keys],
      );
      return rows.map(({ key }) => key);
    },
  };
}
