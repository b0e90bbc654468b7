import type { ErrorCode } from '../../entities/errors.ts';
import type { Run } from '../../entities/runs/run.ts';

/** The long columns of a run, which no reply shows. */
export const unseen = { request: true, pendingMessages: true, steers: true } as const;

export interface RunRow extends Omit<Run, 'error'> {
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
}

export function runOf(row: RunRow): Run {
  const { id, createdAt, startedAt, endedAt, orgId, userId, agentId, chatId, modelId, status, incompleteReason } = row;
  const error = row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' };
  const { usage, selection, lastSequence, isWaiting, previousId } = row;
  return {
    ...{ id, createdAt, startedAt, endedAt, orgId, userId, agentId, chatId, modelId, status, incompleteReason },
    ...{ error, usage, selection, lastSequence, isWaiting, previousId },
  };
}
