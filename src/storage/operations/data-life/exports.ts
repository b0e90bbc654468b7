import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { DataExport, ExportStatus } from '../../../entities/operations/data-life/jobs.ts';
import type { Prisma } from '../../generated/client.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';

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

export class DataExportStore extends Store {
  async create(row: Pick<DataExport, 'id' | 'createdAt' | 'orgId' | 'userId' | 'requestedByUserId'>): Promise<void> {
    await this.db.prisma.dataExport.create({ data: row });
  }

  /** @param sight  undefined: of all organizations. */
  async findMany(ids: readonly string[], sight: ExportSight | undefined): Promise<readonly DataExport[]> {
    const where = { AND: [{ id: { in: [...ids] } }, sight === undefined ? {} : seen(sight)] };
    return (await this.db.prisma.dataExport.findMany({ where })).map(toExport);
  }

  async find(id: string): Promise<DataExport | undefined> {
    const row = await this.db.prisma.dataExport.findUnique({ where: { id } });
    return row === null ? undefined : toExport(row);
  }

  /** Newest first. */
  async list(sight: ExportSight, page: PageRequest): Promise<Page<DataExport>> {
    const where = seen(sight);
    const rows = await this.db.prisma.dataExport.findMany(newestFirst(where, page));
    return toPage(rows.map(toExport), page, timeKey, (take) => this.db.prisma.dataExport.count({ where, take }));
  }

  /** @returns false when it was deleted meanwhile. */
  async update(id: string, { counts, ...changes }: ExportChanges): Promise<boolean> {
    const data = { ...changes, ...(counts === undefined ? {} : { counts: counts as Prisma.InputJsonObject }) };
    return (await this.db.prisma.dataExport.updateMany({ where: { id }, data })).count === 1;
  }

  /** @returns the key of its bytes; undefined when it was gone. */
  async delete(id: string): Promise<string | null | undefined> {
    const row = await this.db.prisma.dataExport.findUnique({ where: { id }, select: { blobKey: true } });
    if (row === null || (await this.db.prisma.dataExport.deleteMany({ where: { id } })).count === 0) return undefined;
    return row.blobKey;
  }

  /** Exports that have what a person has: those about the person, and those of the whole organization. */
  async with({ orgId, userId }: { readonly orgId: string; readonly userId: string }): Promise<readonly DataExport[]> {
    return (await this.db.prisma.dataExport.findMany({ where: { orgId, OR: [{ userId }, { userId: null }] } })).map(toExport);
  }

  async expired(before: Date, limit: number): Promise<readonly DataExport[]> {
    const where = { expiresAt: { lt: before } };
    return (await this.db.prisma.dataExport.findMany({ where, take: limit })).map(toExport);
  }

  /** Ends as FAILED what was asked for before a moment and is still not written: its job gave up. @returns how many. */
  async failAbandoned(before: Date, ended: { readonly endedAt: Date; readonly expiresAt: Date }): Promise<number> {
    const where = { createdAt: { lt: before }, status: { in: ['PENDING', 'RUNNING'] } };
    return (await this.db.prisma.dataExport.updateMany({ where, data: { status: 'FAILED', ...ended } })).count;
  }
}

function seen({ orgId, onlyOwnOfUserId: userId }: ExportSight): Prisma.DataExportWhereInput {
  return userId === undefined ? { orgId } : { orgId, userId, requestedByUserId: userId };
}

type ExportRow = Omit<DataExport, 'status' | 'counts' | 'sizeBytes'> & {
  readonly status: string;
  readonly counts: unknown;
  readonly sizeBytes: bigint | null;
};
function toExport(row: ExportRow): DataExport {
  const sizeBytes = row.sizeBytes === null ? null : Number(row.sizeBytes);
  return { ...row, status: row.status as ExportStatus, counts: row.counts as DataExport['counts'], sizeBytes };
}
