import { type Page, type PageRequest, pageOf, timeKey } from '../../../entities/ground/page.ts';
import type { DataExport, ExportStatus } from '../../../entities/operations/data-life/jobs.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { newestFirst } from '../../ground/lists/paging.ts';

export interface DataExportStore {
  create(row: Pick<DataExport, 'id' | 'createdAt' | 'orgId' | 'userId' | 'requestedByUserId'>): Promise<void>;
  /** @param sight  undefined: of all organizations. */
  findMany(ids: readonly string[], sight: ExportSight | undefined): Promise<readonly DataExport[]>;
  find(id: string): Promise<DataExport | undefined>;
  /** Newest first. */
  list(sight: ExportSight, page: PageRequest): Promise<Page<DataExport>>;
  /** @returns false when it was deleted meanwhile. */
  update(id: string, changes: ExportChanges): Promise<boolean>;
  /** @returns the key of its bytes; undefined when it was gone. */
  delete(id: string): Promise<string | null | undefined>;
  /** Exports that have what a person has: those about the person, and those of the whole organization. */
  with(person: { readonly orgId: string; readonly userId: string }): Promise<readonly DataExport[]>;
  expired(before: Date, limit: number): Promise<readonly DataExport[]>;
  /** Ends as FAILED what was asked for before a moment and is still not written: its job gave up. @returns how many. */
  failAbandoned(before: Date, ended: { readonly endedAt: Date; readonly expiresAt: Date }): Promise<number>;
}
/** Exports of an organization: all, or those that a person made of what the person has. */
export interface ExportSight {
  readonly orgId: string;
  readonly onlyOwnOfUserId: string | undefined;
}
export interface ExportChanges {
  readonly status?: ExportStatus;
  readonly counts?: Readonly<Record<string, number>>;
  readonly sizeBytes?: number;
  readonly blobKey?: string;
  readonly endedAt?: Date;
  readonly expiresAt?: Date;
}

export function createDataExportStore(db: Database): DataExportStore {
  return {
    async create(row) {
      await db.prisma.dataExport.create({ data: row });
    },
    async findMany(ids, sight) {
      const where = { AND: [{ id: { in: [...ids] } }, sight === undefined ? {} : seen(sight)] };
      return (await db.prisma.dataExport.findMany({ where })).map(exportOf);
    },
    async find(id) {
      const row = await db.prisma.dataExport.findUnique({ where: { id } });
      return row === null ? undefined : exportOf(row);
    },
    async list(sight, page) {
      const where = seen(sight);
      const rows = await db.prisma.dataExport.findMany(newestFirst(where, page));
      return pageOf(rows.map(exportOf), page, timeKey, (take) => db.prisma.dataExport.count({ where, take }));
    },
    async update(id, { counts, ...changes }) {
      const data = { ...changes, ...(counts === undefined ? {} : { counts: counts as Prisma.InputJsonObject }) };
      return (await db.prisma.dataExport.updateMany({ where: { id }, data })).count === 1;
    },
    async delete(id) {
      const row = await db.prisma.dataExport.findUnique({ where: { id }, select: { blobKey: true } });
      if (row === null || (await db.prisma.dataExport.deleteMany({ where: { id } })).count === 0) return undefined;
      return row.blobKey;
    },
    with: async ({ orgId, userId }) =>
      (await db.prisma.dataExport.findMany({ where: { orgId, OR: [{ userId }, { userId: null }] } })).map(exportOf),
    async expired(before, limit) {
      const where = { expiresAt: { lt: before } };
      return (await db.prisma.dataExport.findMany({ where, take: limit })).map(exportOf);
    },
    async failAbandoned(before, ended) {
      const where = { createdAt: { lt: before }, status: { in: ['PENDING', 'RUNNING'] } };
      return (await db.prisma.dataExport.updateMany({ where, data: { status: 'FAILED', ...ended } })).count;
    },
  };
}

function seen({ orgId, onlyOwnOfUserId: userId }: ExportSight): Prisma.DataExportWhereInput {
  return userId === undefined ? { orgId } : { orgId, userId, requestedByUserId: userId };
}

type ExportRow = Omit<DataExport, 'status' | 'counts' | 'sizeBytes'> & {
  readonly status: string;
  readonly counts: unknown;
  readonly sizeBytes: bigint | null;
};
function exportOf(row: ExportRow): DataExport {
  const sizeBytes = row.sizeBytes === null ? null : Number(row.sizeBytes);
  return { ...row, status: row.status as ExportStatus, counts: row.counts as DataExport['counts'], sizeBytes };
}
