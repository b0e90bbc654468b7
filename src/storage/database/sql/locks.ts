// Raw SQL: Prisma has no row locks.
import type { Transaction } from '../database.ts';

/** Locks a row until the transaction ends: another lock of the row, and the insert of a row that refers to it, wait. */
export async function lockRow(
  tx: Transaction,
  table: 'data_sources' | 'organizations' | 'tenants' | 'users',
  id: string,
): Promise<void> {
  await tx.execute(`select 1 from ${table} where id = $1 for update`, [id]);
}

/** @returns false when the agent is deleted. */
export async function lockAgent(tx: Transaction, id: string): Promise<boolean> {
  const rowCount = await tx.execute('select 1 from agents where id = $1 and not "isDeleted" for update', [id]);
  return rowCount === 1;
}

export interface LockedChat {
  readonly id: string;
  readonly agentId: string | null;
  readonly activeRunId: string | null;
  readonly deletedAt: Date | null;
}

/** Locks a chat, also a deleted one. */
export async function lockChat(tx: Transaction, id: string): Promise<LockedChat | undefined> {
  const text = 'select id, "agentId", "activeRunId", "deletedAt" from chats where id = $1 for update';
  return (await tx.query<LockedChat>(text, [id]))[0];
}

/** Processes that start together on an empty database take turns. Any number works, as long as every Parley uses the same one. */
export async function lockFirstStart(tx: Transaction): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(7215534)');
}
