// Raw SQL: leases, counters, thread order. Prisma has no locks.
import type { Transaction } from '../database.ts';

type LockedTable =
  | 'agents'
  | 'call_approvals'
  | 'chat_imports'
  | 'chats'
  | 'data_sources'
  | 'datasets'
  | 'experiments'
  | 'knowledge_items'
  | 'organizations'
  | 'runs'
  | 'schedules'
  | 'tenants'
  | 'users';

/**
 * Locks rows until the transaction ends, in the order of their ids: another lock of one of them, and the insert of a row that refers to it, wait.
 *
 * @param members  SQL: columns and expressions to read of each.
 */
export function lockRows<Row>(
  tx: Transaction,
  table: LockedTable,
  ids: readonly string[],
  members = 'id',
): Promise<readonly Row[]> {
  return tx.query<Row>(`select ${members} from ${table} where id = any($1::text[]) order by id for update`, [ids]);
}

/** @returns false when there is no such row. */
export async function lockRow(tx: Transaction, table: LockedTable, id: string): Promise<boolean> {
  return (await lockRows(tx, table, [id])).length === 1;
}

/** @returns false when the agent is deleted. */
export async function lockAgent(tx: Transaction, id: string): Promise<boolean> {
  const [agent] = await lockRows<{ isDeleted: boolean }>(tx, 'agents', [id], '"isDeleted"');
  return agent?.isDeleted === false;
}

export interface LockedChat {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly agentId: string | null;
  readonly modelId: string | null;
  readonly activeRunId: string | null;
  readonly lastRunId: string | null;
  readonly deletedAt: Date | null;
}

/** Locks a chat, also a deleted one. */
export async function lockChat(tx: Transaction, id: string): Promise<LockedChat | undefined> {
  const members = 'id, "orgId", "userId", "agentId", "modelId", "activeRunId", "lastRunId", "deletedAt"';
  return (await lockRows<LockedChat>(tx, 'chats', [id], members))[0];
}

/** Changes of the lexeme counts of a source take turns, so that two workers never deadlock on its rows. */
export async function lockLexemes(tx: Transaction, dataSourceId: string): Promise<void> {
  await lockName(tx, `lexemes ${dataSourceId}`);
}

/** Writers of the permissions of an organization go on beside each other, and never while what nothing names is deleted. */
export async function sharePermissions(tx: Transaction, orgId: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [`permissions ${orgId}`]);
}

/** @returns false while something writes the permissions of the organization. */
export async function tryLockPermissions(tx: Transaction, orgId: string): Promise<boolean> {
  const [row] = await tx.query<{ readonly isLocked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as "isLocked"',
    [`permissions ${orgId}`],
  );
  return row?.isLocked === true;
}

async function lockName(tx: Transaction, name: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}
