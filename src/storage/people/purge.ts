import { Prisma } from '../generated/client.ts';
import type { Database } from '../ground/database.ts';

const rowsPerStatement = 2_000;

/**
 * Tables that keep rows of deleted users: the ledger belongs to the organization and says what was paid for; ratings are part of an agent's mean; the
 * audit log keeps the past, as legal holds and reports of erasures do. Versions are part of their agent.
 */
const keptOfUsers: readonly string[] = [
  ...['UsageEntry', 'AgentRating', 'Agent', 'AgentVersion', 'AgentDraftChange', 'Chat', 'LegalHold', 'Erasure'],
];
const keptOfOrganizations: readonly string[] = ['AuditEntry'];

/**
 * Deletes every row of a deleted organization or user, in every table that has the column, so a new table needs no change here. The statements are
 * small, so that no request waits for them.
 */
export async function purgeRows(db: Database, column: 'orgId' | 'userId', id: string, signal: AbortSignal): Promise<void> {
  await purgeEvents(db, column, id, signal);
  const keptModels = column === 'orgId' ? keptOfOrganizations : keptOfUsers;
  const columns = column === 'orgId' ? ['orgId'] : ['userId', 'ownerUserId'];
  for (const model of Object.values(Prisma.ModelName).filter((name) => !keptModels.includes(name)))
    for (const name of columns.filter((candidate) => candidate in Prisma[`${model}ScalarFieldEnum`])) {
      const table = findTable(db, model);
      await inPortions(signal, () => table.deleteMany({ where: { [name]: id }, limit: rowsPerStatement }));
    }
}

/** Events have the id of their run only. */
async function purgeEvents({ prisma }: Database, column: 'orgId' | 'userId', id: string, signal: AbortSignal): Promise<void> {
  const { run, runEventBatch } = prisma;
  let after = '';
  for (;;) {
    const where = { [column]: id, id: { gt: after } };
    const runs = await run.findMany({ where, orderBy: { id: 'asc' }, take: rowsPerStatement, select: { id: true } });
    const last = runs.at(-1);
    if (last === undefined) return;
    after = last.id;
    const ofRuns = { runId: { in: runs.map((runRow) => runRow.id) } };
    await inPortions(signal, () => runEventBatch.deleteMany({ where: ofRuns, limit: rowsPerStatement }));
  }
}

interface Table {
  deleteMany(args: { readonly where: object; readonly limit: number }): PromiseLike<{ readonly count: number }>;
}

function findTable({ prisma }: Database, model: Prisma.ModelName): Table {
  const name = `${model.charAt(0).toLowerCase()}${model.slice(1)}` as Uncapitalize<Prisma.ModelName>;
  return prisma[name] as unknown as Table;
}

async function inPortions(signal: AbortSignal, remove: () => PromiseLike<{ readonly count: number }>): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if ((await remove()).count < rowsPerStatement) return;
  }
}
