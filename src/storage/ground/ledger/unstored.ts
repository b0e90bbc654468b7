// Raw SQL: the ledger. Runs that are not stored become rows in the statement that writes the batch of the ledger.

import type { IncompleteReason, RunStatus } from '../../../entities/conversations/runs/event.ts';
import type { RunKind } from '../../../entities/conversations/runs/run.ts';
import type { RetrievalSummary, RunStep } from '../../../entities/conversations/runs/step.ts';
import type { Usage } from '../../../entities/conversations/runs/usage.ts';
import type { ErrorCode } from '../../../entities/ground/errors.ts';

/** A run that is not stored, at its end: what its row keeps. It holds no content. */
export interface UnstoredRun {
  readonly id: string;
  readonly kind: RunKind;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly agentId: string | null;
  /** Absent in journals of older versions. */
  readonly agentVersion?: number | null;
  readonly modelId: string;
  readonly answeredModelId: string | null;
  readonly status: RunStatus;
  readonly incompleteReason?: IncompleteReason;
  readonly errorCode?: ErrorCode;
  readonly errorMessage?: string;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
  readonly usage: Usage | null;
  /** A decimal number. */
  readonly cost: string | null;
  readonly retrieval: RetrievalSummary | null;
  readonly hasFoundNothing: boolean;
  readonly steps: readonly RunStep[] | null;
}

/**
 * SQL that adds the runs of the JSON parameter `json` whose organizations `payers` names; a run that has its row keeps it.
 *
 * Written as `json_to_recordset`: `jsonb_populate_recordset` costs a fifth more.
 */
export function insertUnstored(json: string, payers: string): string {
  return `insert into runs (id, kind, "isStored", "createdAt", "startedAt", "endedAt", "updatedAt", "orgId", "userId", "keyId", "agentId", "agentVersion", "modelId",
      "answeredModelId", status, "incompleteReason", "errorCode", "errorMessage", "firstTokenMs", "durationMs", "inputTokens", "outputTokens",
      "cachedTokens", "cacheWriteTokens", "reasoningTokens", "isEstimated", cost, retrieval, "hasFoundNothing", steps, request)
    select id, kind, false, "startedAt", "startedAt", "endedAt", "endedAt", "orgId", "userId", "keyId", "agentId", "agentVersion", "modelId",
      "answeredModelId", status, "incompleteReason", "errorCode", "errorMessage", "firstTokenMs", "durationMs", "inputTokens", "outputTokens",
      "cachedTokens", "cacheWriteTokens", "reasoningTokens", coalesce("isEstimated", false), cost, retrieval, "hasFoundNothing", steps, '{}'
    from json_to_recordset(${json}::json) as r (id text, kind text, "startedAt" timestamptz(3), "endedAt" timestamptz(3), "orgId" text, "userId" text,
      "keyId" text, "agentId" text, "agentVersion" int, "modelId" text, "answeredModelId" text, status text, "incompleteReason" text, "errorCode" text,
      "errorMessage" text, "firstTokenMs" int, "durationMs" int, "inputTokens" int, "outputTokens" int, "cachedTokens" int, "cacheWriteTokens" int, "reasoningTokens" int,
      "isEstimated" boolean, cost numeric, retrieval jsonb, "hasFoundNothing" boolean, steps jsonb)
    where "orgId" in (select id from ${payers})
    on conflict (id) do nothing`;
}

/** What is left of a run once it has ended: the JSON that the journal and `insertUnstored` take. */
export function unstoredJson(run: UnstoredRun): string {
  return JSON.stringify({ ...run, ...run.usage, usage: undefined });
}
