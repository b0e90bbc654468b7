// Raw SQL: a user's files are rows of three tables, in one order.
import type { StoredFile } from '../../entities/files/file.ts';
import { unlessMissing } from '../database/conflicts.ts';
import type { Database } from '../database/database.ts';
import { readPage } from '../database/sql/bounded-rows.ts';
import { Parameters, selectRows } from '../database/sql/where.ts';

/** Whose files: those of one user in one organization. */
export interface FileOwner {
  readonly userId: string;
  readonly orgId: string;
  /** Whether the files of data sources are among them. */
  readonly hasSources: boolean;
}

export interface FileQuery {
  readonly purpose: string | undefined;
  /** The id of the file before the page; it must be one of the owner's. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

export type NewFile = Omit<StoredFile, 'chatId' | 'dataSourceId'>;

export interface FileStore {
  /** @returns false when the user has `filesMax` files already. */
  create(file: NewFile, filesMax: number): Promise<boolean>;
  /** Those of the ids that are the owner's and have their content, in no order. Expired ones are gone. */
  findMany(ids: readonly string[], owner: FileOwner): Promise<readonly StoredFile[]>;
  list(owner: FileOwner, query: FileQuery): Promise<{ readonly rows: readonly StoredFile[]; readonly foundCount: number }>;
  /** Deletes a file that is in no chat. @returns the key of its bytes; undefined when it was gone. */
  delete(id: string): Promise<string | undefined>;
  /** Files that expired. */
  expired(limit: number): Promise<readonly { readonly id: string; readonly orgId: string; readonly tenantId: string }[]>;
}

export function createFileStore(db: Database): FileStore {
  return {
    create: (file, filesMax) =>
      db.transaction(async (tx) => {
        const { userId, orgId } = file;
        // Uploads of one user take turns, so that they cannot pass the limit together.
        await tx.execute('select 1 from users where id = $1 for update', [userId]);
        if ((await tx.prisma.file.count({ where: { userId, orgId } })) >= filesMax) return false;
        await tx.prisma.file.create({ data: file });
        return true;
      }),
    findMany: (ids, owner) =>
      selectRows<StoredFile>(
        db,
        (given) => `select f.* from (${filesSql(owner, given)}) f where f.id = any(${given.add(ids)}::text[])`,
      ),
    list(owner, { purpose, after, limit, order }) {
      const given = new Parameters();
      const [comparison, direction] = order === 'asc' ? ['>', 'asc'] : ['<', 'desc'];
      const files = filesSql(owner, given);
      const text = `with own as (${files}) select f.* from own f where true
        ${purpose === undefined ? '' : `and f.purpose = ${given.add(purpose)}`}
        ${after === undefined ? '' : `and (f."createdAt", f.id) ${comparison} (select a."createdAt", a.id from own a where a.id = ${given.add(after)})`}
        order by f."createdAt" ${direction}, f.id ${direction} limit ${given.add(limit)}`;
      return readPage<StoredFile>(db, { text, values: given.values }, ['filename', 'mimeType']);
    },
    async delete(id) {
      return (await unlessMissing(db.prisma.file.delete({ where: { id }, select: { blobKey: true } })))?.blobKey;
    },
    async expired(limit) {
      return db.query(
        `select f.id, f."orgId", o."tenantId" from files f join organizations o on o.id = f."orgId" where f."expiresAt" <= now() limit $1`,
        [limit],
      );
    },
  };
}

/** The files of a user. A file of a data source is listed where the source is that file and nothing else. */
function filesSql({ userId, orgId, hasSources }: FileOwner, given: Parameters): string {
  const [user, organization] = [given.add(userId), given.add(orgId)];
  const own = `select id, "createdAt", "orgId", "userId", filename, "sizeBytes", "mimeType", purpose, "blobKey", "expiresAt",
      null::text as "chatId", null::text as "dataSourceId"
    from files where "userId" = ${user} and "orgId" = ${organization} and ("expiresAt" is null or "expiresAt" > now())`;
  const ofChats = `select x.id, x."createdAt", c."orgId", c."userId", x.filename, x."sizeBytes", x."mimeType", 'user_data', x."blobKey",
      null::timestamptz, c.id, null::text
    from chats c join chat_files x on x."chatId" = c.id
    where c."userId" = ${user} and c."orgId" = ${organization} and c."deletedAt" is null and x."deletedAt" is null and x."blobKey" is not null`;
  const ofSources = `select i.id, i."createdAt", s."orgId", s."ownerUserId", coalesce(i.filename, i.name), coalesce(i."sizeBytes", 0)::int,
      coalesce(i."mimeType", ''), 'assistants', i."contentBlobKey", null::timestamptz, null::text, s.id
    from data_sources s join knowledge_items i on i."dataSourceId" = s.id
    where s."ownerUserId" = ${user} and s."orgId" = ${organization} and s.type = 'FILE_UPLOAD' and s."deletingAt" is null
      and i."contentBlobKey" is not null and i."indexStatus" <> 'DELETING'
      and not exists (select 1 from vector_stores v where v."dataSourceId" = s.id)`;
  return [own, ofChats, ...(hasSources ? [ofSources] : [])].join(' union all ');
}
