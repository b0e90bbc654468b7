// Raw SQL: rows are locked while limits are checked; expiry is measured by the time of the database.
import type { FileUpload, FileUploadPart } from '../../entities/files/upload.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { NewFile } from './files.ts';

export interface UploadLimits {
  readonly partsMax: number;
  readonly bytesMax: number;
}

export interface FileUploadStore {
  /** @returns false when the user has `pendingMax` pending uploads already. */
  create(upload: FileUpload, pendingMax: number): Promise<boolean>;
  find(id: string, owner: Pick<FileUpload, 'userId' | 'orgId'>): Promise<FileUpload | undefined>;
  /** `closed`: the upload is not pending any more. `full`: its parts reach a limit. */
  addPart(part: FileUploadPart, limits: UploadLimits): Promise<'added' | 'closed' | 'full'>;
  parts(uploadId: string): Promise<readonly FileUploadPart[]>;
  /** Adds the file and closes the upload, in one transaction. `full`: the user has `filesMax` files already. */
  complete(id: string, file: NewFile, filesMax: number): Promise<'completed' | 'closed' | 'full'>;
  /** @returns false when it was not pending. */
  cancel(id: string): Promise<boolean>;
  /** Deletes the rows of all its parts. @returns the keys of their bytes. */
  removeParts(uploadId: string): Promise<readonly string[]>;
  /** Uploads that have parts and take no more. */
  withUselessParts(limit: number): Promise<readonly string[]>;
  /** Deletes uploads that expired longer than `ageMs` ago. */
  sweep(ageMs: number): Promise<void>;
}

export function createFileUploadStore(db: Database): FileUploadStore {
  return {
    create: (upload, pendingMax) =>
      db.transaction(async (tx) => {
        const { userId, orgId } = upload;
        await lockUser(tx, userId);
        const where = { userId, orgId, status: 'pending', expiresAt: { gt: upload.createdAt } };
        if ((await tx.prisma.fileUpload.count({ where })) >= pendingMax) return false;
        await tx.prisma.fileUpload.create({ data: upload });
        return true;
      }),
    async find(id, { userId, orgId }) {
      const row = await db.prisma.fileUpload.findUnique({ where: { id, userId, orgId } });
      return row === null ? undefined : (row as FileUpload);
    },
    addPart: (part, { partsMax, bytesMax }) =>
      db.transaction(async (tx) => {
        const { uploadId } = part;
        if (!(await lockPending(tx, uploadId))) return 'closed';
        const { _count, _sum } = await tx.prisma.fileUploadPart.aggregate({
          where: { uploadId },
          _count: true,
          _sum: { sizeBytes: true },
        });
        if (_count >= partsMax || (_sum.sizeBytes ?? 0) + part.sizeBytes > bytesMax) return 'full';
        await tx.prisma.fileUploadPart.create({ data: part });
        return 'added';
      }),
    parts: (uploadId) => db.prisma.fileUploadPart.findMany({ where: { uploadId } }),
    complete: (id, file, filesMax) =>
      db.transaction(async (tx) => {
        const { userId, orgId } = file;
        await lockUser(tx, userId);
        if (!(await lockPending(tx, id))) return 'closed';
        if ((await tx.prisma.file.count({ where: { userId, orgId } })) >= filesMax) return 'full';
        await tx.prisma.file.create({ data: file });
        await tx.prisma.fileUpload.update({ where: { id }, data: { status: 'completed', fileId: file.id } });
        return 'completed';
      }),
    async cancel(id) {
      const { count } = await db.prisma.fileUpload.updateMany({
        where: { id, status: 'pending' },
        data: { status: 'cancelled' },
      });
      return count > 0;
    },
    async removeParts(uploadId) {
      const rows = await db.query<{ blobKey: string }>(
        'delete from file_upload_parts where "uploadId" = $1 returning "blobKey"',
        [uploadId],
      );
      return rows.map(({ blobKey }) => blobKey);
    },
    async withUselessParts(limit) {
      const rows = await db.query<{ id: string }>(
        `select u.id from file_uploads u where (u.status <> 'pending' or u."expiresAt" <= now())
           and exists (select 1 from file_upload_parts p where p."uploadId" = u.id) limit $1`,
        [limit],
      );
      return rows.map(({ id }) => id);
    },
    async sweep(ageMs) {
      await db.execute(
        `delete from file_uploads u where u."expiresAt" < now() - $1::int * interval '1 millisecond'
           and not exists (select 1 from file_upload_parts p where p."uploadId" = u.id)`,
        [ageMs],
      );
    },
  };
}

/** Changes of one user take turns, so that they cannot pass a limit together. */
async function lockUser(tx: Transaction, userId: string): Promise<void> {
  await tx.execute('select 1 from users where id = $1 for update', [userId]);
}

/** Keeps an upload open until the end of the transaction. @returns false for one that takes no parts any more. */
async function lockPending(tx: Transaction, id: string): Promise<boolean> {
  const text = `select 1 from file_uploads where id = $1 and status = 'pending' and "expiresAt" > now() for update`;
  return (await tx.execute(text, [id])) === 1;
}
