import type { Run } from '../../../entities/conversations/runs/run.ts';
import { type Usage, writeCacheWrites } from '../../../entities/conversations/runs/usage.ts';
import type { ErrorCode } from '../../../entities/ground/errors.ts';

/** The long columns of a run, which no list reads. */
export const unseen = { request: true, pendingMessages: true, steers: true, steps: true } as const;

export interface RunRow extends Omit<Run, 'error' | 'usage' | 'cost'> {
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly isEstimated: boolean;
  /** A decimal number of Prisma, or its text. */
  readonly cost: unknown;
}

/** The columns that `toRun` reads, of the table "runs". */
export const runColumns = [
  ...[
    'id',
    'createdAt',
    'startedAt',
    'endedAt',
    'orgId',
    'userId',
    'keyId',
    'agentId',
    'agentVersion',
    'chatId',
    'kind',
    'isStored',
  ],
  ...[
    'modelId',
    'answeredModelId',
    'status',
    'incompleteReason',
    'errorCode',
    'errorMessage',
    'selection',
    'lastSequence',
    'isWaiting',
  ],
  ...[
    'previousId',
    'firstTokenMs',
    'durationMs',
    'inputTokens',
    'outputTokens',
    'cachedTokens',
    'cacheWriteTokens',
    'reasoningTokens',
  ],
  ...['isEstimated', 'cost', 'retrieval', 'hasFoundNothing', 'ratedUp', 'ratedDown', 'tags'],
]
  .map((name) => `runs."${name}"`)
  .join(', ');

export function toRun(row: RunRow): Run {
  const { id, createdAt, startedAt, endedAt, orgId, userId, keyId, agentId, agentVersion, chatId, kind, isStored } = row;
  const { modelId, answeredModelId, status, incompleteReason, selection, lastSequence, isWaiting, previousId } = row;
  const { firstTokenMs, durationMs, cost, retrieval, hasFoundNothing, ratedUp, ratedDown, tags } = row;
  return {
    ...{ id, createdAt, startedAt, endedAt, orgId, userId, keyId, agentId, agentVersion, chatId, kind, isStored },
    ...{ modelId, answeredModelId, status, incompleteReason, selection, lastSequence, isWaiting, previousId },
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    usage: toUsage(row),
    ...{ firstTokenMs, durationMs, cost: cost === null ? null : Number(cost) },
    ...{ retrieval, hasFoundNothing, ratedUp, ratedDown, tags },
  };
}

function toUsage({
  inputTokens,
  outputTokens,
  cachedTokens,
  cacheWriteTokens,
  reasoningTokens,
  isEstimated,
}: RunRow): Usage | null {
  if (inputTokens === null) return null;
  return {
    ...{ inputTokens, outputTokens: outputTokens ?? 0, cachedTokens: cachedTokens ?? 0, reasoningTokens: reasoningTokens ?? 0 },
    ...writeCacheWrites(cacheWriteTokens),
    ...(isEstimated ? { isEstimated } : {}),
  };
}
