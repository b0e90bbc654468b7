import type { FilePurpose, StoredFile } from '../../../entities/conversations/files/file.ts';
import { timeOfId } from '../../../entities/ground/ids.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import type { Database } from '../../ground/database.ts';
import { heldRows } from '../../ground/holds.ts';
import { type BoundedRows, byTime as inOrderOfTime, readPage } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';
import { type FileOwner, type FilePlace, type FileSpan, listFileTables } from './file-tables.ts';

export interface FileQuery {
  readonly purpose: string | undefined;
  /** The id of the file before the page, which may be gone. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

export type NewFile = Omit<StoredFile, 'chatId' | 'dataSourceId'>;

export class FileStore extends Store {
  /** @returns false when the user has `filesMax` files already. */
  create(file: NewFile, filesMax: number): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      const { userId, orgId } = file;
      // Uploads of one user take turns, so that they cannot pass the limit together.
      await lockRow(tx, 'users', userId);
      if ((await tx.prisma.file.count({ where: { userId, orgId } })) >= filesMax) return false;
      await tx.prisma.file.create({ data: file });
      return true;
    });
  }

  /** Those of the ids that are the owner's and have their content, in no order. Expired ones are gone. */
  async findMany(ids: readonly string[], owner: FileOwner): Promise<readonly StoredFile[]> {
    const rows = await Promise.all(listFileTables(this.db, owner).map((table) => table.rows(ids)));
    return rows.flat();
  }

  /** Those of them that are in no chat and no data source, by the time they were made. */
  async listKept(
    { userId, orgId }: FileOwner,
    { purpose, order }: Pick<FileQuery, 'purpose' | 'order'>,
    page: PageRequest,
  ): Promise<Page<StoredFile>> {
    const isAlive = { OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] };
    const where = { AND: [{ userId, orgId }, isAlive, purpose === undefined ? {} : { purpose }] };
    const places = await this.db.prisma.file.findMany({
      ...inOrderOfTime('createdAt', order, where, page),
      select: { id: true, rowBytes: true },
    });
    const { rows, foundCount } = await readPage(this.db, places, (ids) =>
      this.db.prisma.file.findMany({ where: { id: { in: ids } } }),
    );
    const files = rows.map(
      (row): StoredFile => ({ ...row, purpose: row.purpose as FilePurpose, chatId: null, dataSourceId: null }),
    );
    return toPage(files, page, timeKey, (take) => this.db.prisma.file.count({ where, take }), foundCount);
  }

  list(owner: FileOwner, query: FileQuery): Promise<{ readonly rows: readonly StoredFile[]; readonly foundCount: number }> {
    return listFiles(this.db, owner, query);
  }

  /** Deletes a file that is in no chat. @returns the key of its bytes; undefined when it was gone. */
  async delete(id: string): Promise<string | undefined> {
    return (await unlessMissing(this.db.prisma.file.delete({ where: { id }, select: { blobKey: true } })))?.blobKey;
  }

  /** Files that expired, and that no legal hold keeps. */
  async expired(limit: number): Promise<readonly { readonly id: string; readonly orgId: string; readonly tenantId: string }[]> {
    const where = { expiresAt: { lte: new Date() }, NOT: await heldRows(this.db, 'userId') };
    const files = await this.db.prisma.file.findMany({ where, take: limit, select: { id: true, orgId: true } });
    const ids = [...new Set(files.map(({ orgId }) => orgId))];
    const select = { id: true, tenantId: true };
    const organizations = await this.db.prisma.organization.findMany({ where: { id: { in: ids } }, select });
    const tenants = new Map(organizations.map(({ id, tenantId }) => [id, tenantId]));
    return files.flatMap(({ id, orgId }) => {
      const tenantId = tenants.get(orgId);
      return tenantId === undefined ? [] : [{ id, orgId, tenantId }];
    });
  }
}

/** Cost: two statements for each table, and one more for each with `after`, independent of the depth of the page. */
async function listFiles(
  db: Database,
  owner: FileOwner,
  { purpose, after: afterId, limit, order }: FileQuery,
): Promise<BoundedRows<StoredFile>> {
  const tables = listFileTables(db, owner);
  const placesIn = async (span: FileSpan) => (await Promise.all(tables.map((table) => table.places(span)))).flat();
  const [foundPlace] = afterId === undefined ? [] : await placesIn({ ids: [afterId], limit: 1, order });
  // Of a file that is gone, the id says when it was made.
  const after = afterId === undefined ? undefined : (foundPlace ?? { id: afterId, createdAt: timeOfId(afterId), rowBytes: 0 });
  const places = await placesIn({ purpose, after, limit, order });
  places.sort((a, b) => (order === 'asc' ? byTime(a, b) : byTime(b, a)));
  return readPage(db, places.slice(0, limit), async (ids) => {
    const rows = await Promise.all(tables.map((table) => table.rows(ids)));
    return rows.flat();
  });
}

function byTime(a: FilePlace, b: FilePlace): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
