import type { FileUpload, FileUploadPart } from '../../../entities/conversations/files/upload.ts';
import { type Page, type PageRequest, timeKey } from '../../../entities/ground/page.ts';
import type { Transaction } from '../../ground/database.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { byTime } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';
import type { NewFile } from './files.ts';

export interface UploadLimits {
  readonly partsMax: number;
  readonly bytesMax: number;
}

export type UploadOwner = Pick<FileUpload, 'userId' | 'orgId'>;

export class FileUploadStore extends Store {
  /** @returns false when the user has `pendingMax` pending uploads already. */
  create(upload: FileUpload, pendingMax: number): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      const { userId, orgId } = upload;
      await lockRow(tx, 'users', userId);
      const where = { userId, orgId, status: 'pending', expiresAt: { gt: upload.createdAt } };
      if ((await tx.prisma.fileUpload.count({ where })) >= pendingMax) return false;
      await tx.prisma.fileUpload.create({ data: upload });
      return true;
    });
  }

  async find(id: string, { userId, orgId }: UploadOwner): Promise<FileUpload | undefined> {
    const row = await this.db.prisma.fileUpload.findUnique({ where: { id, userId, orgId } });
    return row === null ? undefined : (row as FileUpload);
  }

  /** The owner's uploads among the ids, in no order. */
  async findMany(ids: readonly string[], { userId, orgId }: UploadOwner): Promise<readonly FileUpload[]> {
    return (await this.db.prisma.fileUpload.findMany({ where: { id: { in: [...ids] }, userId, orgId } })) as FileUpload[];
  }

  /** The parts of the owner's uploads among the ids, in no order. */
  findParts(ids: readonly string[], { userId, orgId }: UploadOwner): Promise<readonly FileUploadPart[]> {
    return this.db.prisma.fileUploadPart.findMany({ where: { id: { in: [...ids] }, upload: { userId, orgId } } });
  }

  /** A page of the parts of each upload, oldest first. */
  partPagesOf(uploadIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<FileUploadPart>>> {
    const db = this.db;

    const ofUploads = { in: [...uploadIds] };
    return readChildPages<FileUploadPart>(this.db, page, {
      async findPlaces() {
        const parts = { ...byTime('createdAt', 'asc', {}, page), select: { id: true } };
        const uploads = await db.prisma.fileUpload.findMany({ where: { id: ofUploads }, select: { id: true, parts } });
        return uploads.map(({ id, parts: places }) => ({ id, places }));
      },
      read: (ids) => this.db.prisma.fileUploadPart.findMany({ where: { id: { in: ids } } }),
      keyOf: timeKey,
      async countAll() {
        const where = { uploadId: ofUploads };
        const groups = await db.prisma.fileUploadPart.groupBy({ by: ['uploadId'], where, _count: true });
        return new Map(groups.map(({ uploadId, _count }) => [uploadId, _count]));
      },
    });
  }

  /** `closed`: the upload is not pending any more. `full`: its parts reach a limit. */
  addPart(part: FileUploadPart, { partsMax, bytesMax }: UploadLimits): Promise<'added' | 'closed' | 'full'> {
    return this.db.transaction(async (tx) => {
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
    });
  }

  parts(uploadId: string): Promise<readonly FileUploadPart[]> {
    return this.db.prisma.fileUploadPart.findMany({ where: { uploadId } });
  }

  /** Adds the file and closes the upload, in one transaction. `full`: the user has `filesMax` files already. */
  complete(id: string, file: NewFile, filesMax: number): Promise<'completed' | 'closed' | 'full'> {
    return this.db.transaction(async (tx) => {
      const { userId, orgId } = file;
      await lockRow(tx, 'users', userId);
      if (!(await lockPending(tx, id))) return 'closed';
      if ((await tx.prisma.file.count({ where: { userId, orgId } })) >= filesMax) return 'full';
      await tx.prisma.file.create({ data: file });
      await tx.prisma.fileUpload.update({ where: { id }, data: { status: 'completed', fileId: file.id } });
      return 'completed';
    });
  }

  /** @returns false when it was not pending. */
  async cancel(id: string): Promise<boolean> {
    const { count } = await this.db.prisma.fileUpload.updateMany({
      where: { id, status: 'pending' },
      data: { status: 'cancelled' },
    });
    return count > 0;
  }

  /** Deletes the rows of all its parts. @returns the keys of their bytes. */
  async removeParts(uploadId: string): Promise<readonly string[]> {
    const { fileUploadPart } = this.db.prisma;
    const parts = await fileUploadPart.findMany({ where: { uploadId }, select: { id: true, blobKey: true } });
    await fileUploadPart.deleteMany({ where: { id: { in: parts.map(({ id }) => id) } } });
    return parts.map(({ blobKey }) => blobKey);
  }

  /** Uploads that have parts and take no more. */
  async withUselessParts(limit: number): Promise<readonly string[]> {
    const takesNoMore = { OR: [{ status: { not: 'pending' } }, { expiresAt: { lte: new Date() } }] };
    const where = { ...takesNoMore, parts: { some: {} } };
    return (await this.db.prisma.fileUpload.findMany({ where, take: limit, select: { id: true } })).map(({ id }) => id);
  }

  /** Deletes uploads that expired longer than `ageMs` ago. */
  async sweep(ageMs: number): Promise<void> {
    const before = new Date(Date.now() - ageMs);
    await this.db.prisma.fileUpload.deleteMany({ where: { expiresAt: { lt: before }, parts: { none: {} } } });
  }
}

/** Keeps an upload open until the end of the transaction. @returns false for one that takes no parts any more. */
async function lockPending(tx: Transaction, id: string): Promise<boolean> {
  const where = { id, status: 'pending', expiresAt: { gt: new Date() } };
  // An update locks the row, also one that changes nothing.
  return (await tx.prisma.fileUpload.updateMany({ where, data: { status: 'pending' } })).count === 1;
}
