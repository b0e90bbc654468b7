import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import { lockRows } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';

/** A call that waits for a person's approval. */
export interface CallApproval {
  /** Of the item that asks. */
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly runId: string;
  /** As the model calls it. */
  readonly functionName: string;
  /** The schema that changed arguments must fit. */
  readonly parameters: WireObject;
}
export interface StoredApproval extends CallApproval {
  readonly isAnswered: boolean;
}

const lifetimeMs = 30 * 86_400_000;
const sweptAtOnce = 5_000;

export class ApprovalStore extends Store {
  async ask({ parameters, ...approval }: CallApproval): Promise<void> {
    const expiresAt = new Date(Date.now() + lifetimeMs);
    await this.db.prisma.callApproval.create({
      data: { ...approval, expiresAt, parameters: parameters as Prisma.InputJsonObject },
    });
  }

  /** Those of the ids that the user was asked for, and that have not expired. */
  async find(
    ids: readonly string[],
    { orgId, userId }: Pick<CallApproval, 'orgId' | 'userId'>,
  ): Promise<readonly StoredApproval[]> {
    if (ids.length === 0) return [];
    const where = { id: { in: [...ids] }, orgId, userId, expiresAt: { gt: new Date() } };
    const omit = { createdAt: true, expiresAt: true };
    const rows = await this.db.prisma.callApproval.findMany({ where, omit });
    return rows.map(({ answeredAt, parameters, ...approval }) => ({
      ...approval,
      parameters: parameters as WireObject,
      isAnswered: answeredAt !== null,
    }));
  }

  /** For a run that is not stored. @throws like `answerApprovals`. */
  answer(ids: readonly string[]): Promise<void> {
    return this.db.transaction((tx) => answerApprovals(tx, ids));
  }

  /** Deletes those that have expired, at most 5,000 at a time. @returns how many. */
  async sweep(): Promise<number> {
    const where = { expiresAt: { lt: new Date() } };
    return (await this.db.prisma.callApproval.deleteMany({ where, limit: sweptAtOnce })).count;
  }
}

/**
 * Locks the approvals that a transaction answers at its end. Answers to one call then wait for each other here, before they hold rows of chats and
 * agents that another answer needs.
 */
export async function lockApprovals(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await lockRows(tx, 'call_approvals', ids);
}

/**
 * Takes the answers to calls that wait for approval, in the transaction of what they begin: each call is answered once.
 *
 * @throws DomainError TOOL_OUTPUT_CONFLICT when one of them was answered before, or has expired.
 */
export async function answerApprovals(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const answeredAt = new Date();
  const where = { id: { in: [...ids] }, answeredAt: null, expiresAt: { gt: answeredAt } };
  const { count } = await tx.prisma.callApproval.updateMany({ where, data: { answeredAt } });
  if (count !== ids.length) throw answeredBefore();
}

export function answeredBefore(param?: string): DomainError {
  const message = 'The call was answered before: an approval or a refusal is accepted once';
  return new DomainError('TOOL_OUTPUT_CONFLICT', message, param === undefined ? {} : { param });
}
