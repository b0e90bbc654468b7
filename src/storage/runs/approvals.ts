// Raw SQL: one statement answers all, by the time of the database.
import { DomainError } from '../../entities/errors.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import type { Database, Transaction } from '../database/database.ts';

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

export interface ApprovalStore {
  ask(approval: CallApproval): Promise<void>;
  /** Those of the ids that the user was asked for, and that have not expired. */
  find(ids: readonly string[], owner: Pick<CallApproval, 'orgId' | 'userId'>): Promise<readonly StoredApproval[]>;
  /** For a run that is not stored. @throws like `answerApprovals`. */
  answer(ids: readonly string[]): Promise<void>;
  /** Deletes those that have expired, at most 5,000 at a time. @returns how many. */
  sweep(): Promise<number>;
}

const lifetime = `interval '30 days'`;

export function createApprovalStore(db: Database): ApprovalStore {
  return {
    async ask({ id, orgId, userId, runId, functionName, parameters }) {
      await db.execute(
        `insert into call_approvals (id, "expiresAt", "orgId", "userId", "runId", "functionName", parameters)
         values ($1, now() + ${lifetime}, $2, $3, $4, $5, $6)`,
        [id, orgId, userId, runId, functionName, JSON.stringify(parameters)],
      );
    },
    async find(ids, { orgId, userId }) {
      if (ids.length === 0) return [];
      const rows = await db.query<StoredApproval>(
        `select id, "orgId", "userId", "runId", "functionName", parameters, "answeredAt" is not null as "isAnswered"
         from call_approvals where id = any($1) and "orgId" = $2 and "userId" = $3 and "expiresAt" > now()`,
        [ids, orgId, userId],
      );
      return rows;
    },
    answer: (ids) => db.transaction((tx) => answerApprovals(tx, ids)),
    async sweep() {
      return db.execute(
        `delete from call_approvals where id in (select id from call_approvals where "expiresAt" < now() limit 5000)`,
      );
    },
  };
}

/**
 * Locks the approvals that a transaction answers at its end. Answers to one call then wait for each other here, before they hold rows of chats and
 * agents that another answer needs.
 */
export async function lockApprovals(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.execute('select 1 from call_approvals where id = any($1) order by id for update', [ids]);
}

/**
 * Takes the answers to calls that wait for approval, in the transaction of what they begin: each call is answered once.
 *
 * @throws DomainError TOOL_OUTPUT_CONFLICT when one of them was answered before, or has expired.
 */
export async function answerApprovals(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const answered = await tx.execute(
    `update call_approvals set "answeredAt" = now() where id = any($1) and "answeredAt" is null and "expiresAt" > now()`,
    [ids],
  );
  if (answered !== ids.length) throw answeredBefore();
}

export function answeredBefore(param?: string): DomainError {
  const message = 'The call was answered before: an approval or a refusal is accepted once';
  return new DomainError('TOOL_OUTPUT_CONFLICT', message, param === undefined ? {} : { param });
}
