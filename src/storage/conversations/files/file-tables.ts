import type { FilePurpose, StoredFile } from '../../../entities/conversations/files/file.ts';
import { timeKey } from '../../../entities/ground/page.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { byTime } from '../../ground/lists/paging.ts';

/** Whose files: those of one user in one organization. */
export interface FileOwner {
  readonly userId: string;
  readonly orgId: string;
  /** Whether the files of data sources are among them. */
  readonly hasSources: boolean;
}

/** Where a file stands in the list of its owner's files. */
export interface FilePlace {
  readonly id: string;
  readonly createdAt: Date;
  readonly rowBytes: number;
}

/** A part of the list. */
export interface FileSpan {
  readonly ids?: readonly string[];
  readonly purpose?: string | undefined;
  /** The place before the first one. */
  readonly after?: FilePlace | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/** A user's files are rows of three tables. */
interface FileTable {
  places(span: FileSpan): Promise<readonly FilePlace[]>;
  /** Rows of these ids, in no order. */
  rows(ids: readonly string[]): Promise<readonly StoredFile[]>;
}

export function listFileTables({ prisma }: Database, owner: FileOwner): readonly FileTable[] {
  const tables = [ownFiles(prisma, owner), chatFiles(prisma, owner)];
  return owner.hasSources ? [...tables, sourceFiles(prisma, owner)] : tables;
}

type Client = Prisma.TransactionClient;

function ownFiles({ file }: Client, { userId, orgId }: FileOwner): FileTable {
  const where = () => ({ userId, orgId, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] });
  return {
    places: ({ purpose, ...span }) =>
      file.findMany(placesIn({ ...where(), ...(purpose === undefined ? {} : { purpose }) }, span)),
    async rows(ids) {
      const rows = await file.findMany({ where: { ...where(), id: { in: [...ids] } } });
      return rows.map((row) => ({ ...row, purpose: row.purpose as FilePurpose, chatId: null, dataSourceId: null }));
    },
  };
}

function chatFiles({ chatFile }: Client, { userId, orgId }: FileOwner): FileTable {
  const where = { deletedAt: null, blobKey: { not: null }, chat: { userId, orgId, deletedAt: null } };
  const own = { id: true, createdAt: true, filename: true, sizeBytes: true, mimeType: true, blobKey: true } as const;
  const purpose = 'user_data';
  return {
    places: async (span) => (hasPurpose(span, purpose) ? chatFile.findMany(placesIn(where, span)) : []),
    async rows(ids) {
      const rows = await chatFile.findMany({ where: { ...where, id: { in: [...ids] } }, select: { ...own, chatId: true } });
      return rows.map(({ blobKey, ...row }) => {
        return { ...row, userId, orgId, purpose, blobKey: blobKey ?? '', expiresAt: null, dataSourceId: null };
      });
    },
  };
}

/** The file of a data source is listed where the source is that file and nothing else. */
function sourceFiles({ knowledgeItem }: Client, { userId, orgId }: FileOwner): FileTable {
  const where = {
    contentBlobKey: { not: null },
    indexStatus: { not: 'DELETING' },
    dataSource: { ownerUserId: userId, orgId, type: 'FILE_UPLOAD', deletingAt: null, vectorStore: null },
  };
  const own = { id: true, createdAt: true, name: true, filename: true, sizeBytes: true, mimeType: true } as const;
  const purpose = 'assistants';
  return {
    places: async (span) => (hasPurpose(span, purpose) ? knowledgeItem.findMany(placesIn(where, span)) : []),
    async rows(ids) {
      const select = { ...own, contentBlobKey: true, dataSourceId: true };
      const rows = await knowledgeItem.findMany({ where: { ...where, id: { in: [...ids] } }, select });
      return rows.map(({ name, filename, sizeBytes, mimeType, contentBlobKey, ...row }) => ({
        ...{ ...row, userId, orgId, purpose, filename: filename ?? name, sizeBytes: Number(sizeBytes ?? 0) },
        ...{ mimeType: mimeType ?? '', blobKey: contentBlobKey ?? '', expiresAt: null, chatId: null },
      }));
    },
  };
}

function hasPurpose({ purpose }: FileSpan, own: FilePurpose): boolean {
  return purpose === undefined || purpose === own;
}

/** Prisma's arguments for places. */
function placesIn<Where extends object>(where: Where, { ids, after, limit, order }: FileSpan) {
  const placesWhere = { AND: [where, ids === undefined ? {} : { id: { in: [...ids] } }] };
  const page = { after: after === undefined ? undefined : timeKey(after), limit: limit - 1 };
  return { ...byTime('createdAt', order, placesWhere, page), select: { id: true, createdAt: true, rowBytes: true } as const };
}
