// Raw SQL: leases. An item under deletion gives the id of its document away: a value of the row itself, which Prisma cannot assign.
import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';

/** States of an item that a process indexes. */
export const busyStates = ['FETCHING', 'PARSING', 'INDEXING'] as const satisfies readonly IndexStatus[];
export function isBusy(indexStatus: string): boolean {
  return (busyStates as readonly string[]).includes(indexStatus);
}

/** States of an item that has a job. */
export const openStates = ['INITIALIZED', 'QUEUED', ...busyStates] as const satisfies readonly IndexStatus[];

/**
 * Stops the indexing of items: what answers already goes on answering, and a process that indexes an item loses its lease.
 *
 * @returns how many were to be indexed.
 */
export async function cancelItems({ prisma }: Pick<Database, 'prisma'>, where: Prisma.KnowledgeItemWhereInput): Promise<number> {
  const isOpen = { indexStatus: { in: [...openStates] } };
  const data = {
    updatedAt: new Date(),
    leaseOwner: null,
    leaseUntil: null,
    lastGeneration: { increment: 1 },
    isRunWanted: false,
    isForced: false,
    attempt: 0,
    indexPercentage: 100,
    needsCleaning: true,
  };
  const cancellation = await prisma.knowledgeItem.updateMany({
    where: { AND: [where, isOpen, { liveGeneration: null }] },
    data: { ...data, indexStatus: 'CANCELLED' },
  });
  const answering = await prisma.knowledgeItem.updateMany({
    where: { AND: [where, isOpen] },
    data: { ...data, indexStatus: 'INDEXED' },
  });
  return cancellation.count + answering.count;
}

/**
 * Hides items from everybody until a job deletes them. The ids of their documents are free for others at once.
 *
 * @returns those that were not hidden before.
 */
export function hideItems(
  tx: Transaction,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly dataSourceId: string }[]> {
  return tx.query(
    `update knowledge_items set "updatedAt" = now(), "indexStatus" = 'DELETING', "liveGeneration" = null, "uniqueId" = id, "leaseOwner" = null,
       "leaseUntil" = null, "lastGeneration" = "lastGeneration" + 1
     where id = any($1::text[]) and "indexStatus" <> 'DELETING' returning id, "dataSourceId"`,
    [ids],
  );
}
