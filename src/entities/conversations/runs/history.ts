import type { RunStatus } from './event.ts';
import type { Run, RunKind } from './run.ts';
import type { FoundPassage } from './step.ts';

/** What a list of runs, or their statistics, are narrowed to. Absent members narrow nothing. */
export interface RunNarrowing {
  readonly agentId?: string;
  readonly userId?: string;
  readonly keyId?: string;
  /** The model that was asked for. */
  readonly modelId?: string;
  readonly status?: RunStatus;
  readonly kind?: RunKind;
  /** Asked for at this time or later. */
  readonly since?: Date;
  /** Asked for before this time. */
  readonly until?: Date;
  readonly feedback?: RunFeedback;
  /** Runs with this label. */
  readonly tag?: string;
  /** Runs of any of these; the caller's words were looked up before. */
  readonly search?: RunSearch;
}

/** `UP`, `DOWN`: at least one rating of an answer says so. `ANY`: there is one. */
export const runFeedbacks = ['UP', 'DOWN', 'ANY'] as const;
export type RunFeedback = (typeof runFeedbacks)[number];

export interface RunSearch {
  readonly runIds: readonly string[];
  readonly agentIds: readonly string[];
  readonly modelIds: readonly string[];
  readonly userIds: readonly string[];
  readonly keyIds: readonly string[];
  readonly chatIds: readonly string[];
}

export const runGroupings = ['AGENT', 'USER', 'KEY', 'MODEL', 'DAY', 'HOUR'] as const;
export type RunGrouping = (typeof runGroupings)[number];

/** What runs took and cost together. */
export interface RunFigures {
  readonly runCount: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly incompleteCount: number;
  readonly cancelledCount: number;
  readonly activeCount: number;
  /** Nearest-rank percentiles of the runs that have the time; null when none has. */
  readonly firstTokenMs: RunPercentiles | null;
  readonly durationMs: RunPercentiles | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Of the runs whose cost is known. */
  readonly cost: number;
  /** Runs that used tokens and whose cost is not known. */
  readonly unpricedCount: number;
  readonly ratedUp: number;
  readonly ratedDown: number;
  /** Runs whose knowledge was searched, and that got no passage. */
  readonly nothingFoundCount: number;
}

export interface RunPercentiles {
  readonly p50: number;
  readonly p95: number;
}

export interface RunGroup extends RunFigures {
  /** An id or a model, or the time at which the day or hour begins in ISO 8601; null: runs without an agent, a key or a model. */
  readonly key: string | null;
}

export interface RunStatistics {
  readonly since: Date;
  readonly until: Date;
  readonly by: RunGrouping;
  readonly total: RunFigures;
  /** By time, or those with the most runs first. */
  readonly groups: readonly RunGroup[];
  /** False: only the newest runs were counted, because there are too many. */
  readonly isComplete: boolean;
}

export const unansweredReasons = ['nothing_found', 'rated_down'] as const;
export type UnansweredReason = (typeof unansweredReasons)[number];

/** A run that did not answer its question. */
export interface UnansweredRun {
  readonly run: Run;
  readonly reasons: readonly UnansweredReason[];
  /** Null: the caller may not read it, or it is not kept. */
  readonly question: string | null;
  /** Empty for callers who may not see the steps of the run. */
  readonly nearPassages: readonly FoundPassage[];
}
