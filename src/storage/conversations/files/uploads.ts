import type { FileUpload, FileUploadPart } from '../../../entities/conversations/files/upload.ts';
import { type Page, type PageRequest, timeKey } from '../../../entities/ground/page.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { byTime } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import type { NewFile } from './files.ts';

export interface UploadLimits {
  readonly partsMax: number;
  readonly bytesMax: number;
}

export type UploadOwner = Pick<FileUpload, 'userId' | 'orgId'>;

export interface FileUploadStore {
  /** @returns false when the user has `pendingMax` pending uploads already. */
  create(upload: FileUpload, pendingMax: number): Promise<boolean>;
  find(id: string, owner: UploadOwner): Promise<FileUpload | undefined>;
  /** The owner's uploads among the ids, in no order. */
  findMany(ids: readonly string[], owner: UploadOwner): Promise<readonly FileUpload[]>;
  /** The parts of the owner's uploads among the ids, in no order. */
  findParts(ids: readonly string[], owner: UploadOwner): Promise<readonly FileUploadPart[]>;
  /** A page of the parts of each upload, oldest first. */
  partPagesOf(uploadIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<FileUploadPart>>>;
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
        await lockRow(tx, 'users', userId);
        const where = { userId, orgId, status: 'pending', expiresAt: { gt: upload.createdAt } };
        if ((await tx.prisma.fileUpload.count({ where })) >= pendingMax) return false;
        await tx.prisma.fileUpload.create({ data: upload });
        return true;
      }),
    async find(id, { userId, orgId }) {
      const row = await db.prisma.fileUpload.findUnique({ where: { id, userId, orgId } });
      return row === null ? undefined : (row as FileUpload);
    },
    async findMany(ids, { userId, orgId }) {
      return (await db.prisma.fileUpload.findMany({ where: { id: { in: [...ids] }, userId, orgId } })) as FileUpload[];
    },
    findParts: (ids, { userId, orgId }) =>
      db.prisma.fileUploadPart.findMany({ where: { id: { in: [...ids] }, upload: { userId, orgId } } }),
    partPagesOf(uploadIds, page) {
      const ofUploads = { in: [...uploadIds] };
      return readChildPages<FileUploadPart>(db, page, {
        async findPlaces() {
          const parts = { ...byTime('createdAt', 'asc', {}, page), select: { id: true } };
          const uploads = await db.prisma.fileUpload.findMany({ where: { id: ofUploads }, select: { id: true, parts } });
          return uploads.map(({ id, parts: places }) => ({ id, places }));
        },
        read: (ids) => db.prisma.fileUploadPart.findMany({ where: { id: { in: ids } } }),
        keyOf: timeKey,
        async countAll() {
          const where = { uploadId: ofUploads };
          const groups = await db.prisma.fileUploadPart.groupBy({ by: ['uploadId'], where, _count: true });
          return new Map(groups.map(({ uploadId, _count }) => [uploadId, _count]));
        },
      });
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
        await lockRow(tx, 'users', userId);
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
      const { fileUploadPart } = db.prisma;
      const parts = await fileUploadPart.findMany({ where: { uploadId }, select: { id: true, blobKey: true } });
      await fileUploadPart.deleteMany({ where: { id: { in: parts.map(({ id }) => id) } } });
      return parts.map(({ blobKey }) => blobKey);
    },
    async withUselessParts(limit) {
      const takesNoMore = { OR: [{ status: { not: 'pending' } }, { expiresAt: { lte: new Date() } }] };
      const where = { ...takesNoMore, parts: { some: {} } };
      return (await db.prisma.fileUpload.findMany({ where, take: limit, select: { id: true } })).map(({ id }) => id);
    },
    async sweep(ageMs) {
      const before = new Date(Date.now() - ageMs);
      await db.prisma.fileUpload.deleteMany({ where: { expiresAt: { lt: before }, parts: { none: {} } } });
    },
  };
}

/** Keeps an upload open until the end of the transaction. @returns false for one that takes no parts any more. */
async function lockPending(tx: Transaction, id: string): Promise<boolean> {
  const where = { id, status: 'pending', expiresAt: { gt: new Date() } };
  // An update locks the row, also one that changes nothing.
  return (await tx.prisma.fileUpload.updateMany({ where, data: { status: 'pending' } })).count === 1;
}
