import type { JsonObject } from '../../agents/part.ts';

/** How an answer is scored. */
export const scorerKinds = [
  'EQUALS',
  'CONTAINS',
  'MATCHES',
  'JSON_SCHEMA',
  'NUMBERS',
  'CITES',
  'CITES_NO_OTHER',
  'REFUSES',
  'TOOL_CALLS',
  'LATENCY',
  'TOKENS',
  'COST',
  'JUDGE',
  'JUDGE_PAIR',
] as const;
export type ScorerKind = (typeof scorerKinds)[number];

/** A scorer with its settings. Absent ones are null. */
export interface Scorer {
  readonly kind: ScorerKind;
  /** Of MATCHES: a regular expression of RE2. */
  readonly pattern: string | null;
  /** Of JSON_SCHEMA. */
  readonly schema: JsonObject | null;
  /** Of NUMBERS: the share by which a number may differ. */
  readonly tolerance: number | null;
  /** Of LATENCY in milliseconds, of TOKENS, and of COST in the currency of the models file. */
  readonly max: number | null;
  /** Of judges. */
  readonly modelId: string | null;
  /** Of judges: what is weighed in every case, besides the rubric of the case. */
  readonly rubric: string | null;
}

/** What a scorer says of one answer. */
export interface Score {
  readonly kind: ScorerKind;
  /** Null: it could not say, because of `error`. That is never a pass. */
  readonly passed: boolean | null;
  /** From 0 to 1; null with an error. */
  readonly value: number | null;
  /** Why, in a sentence; '' for nothing to add. */
  readonly note: string;
  readonly error: string | null;
  /** The budget ended before the judge was asked: it is asked when somebody resumes the experiment. */
  readonly isRefused?: true;
}

/** A document that an answer cites. */
export interface AnswerCitation {
  /** Both are empty for a page of the web. */
  readonly itemId: string;
  /** Absent in old answers about documents that were gone when their sources were looked up. */
  readonly dataSourceId?: string;
  readonly name: string;
}

/** An answer as scorers read it. */
export interface ScoredAnswer {
  readonly text: string;
  readonly isRefusal: boolean;
  readonly citations: readonly AnswerCitation[];
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly durationMs: number;
  readonly tokens: number;
  /** Null: the model has no price. */
  readonly cost: number | null;
}

/** Who answers: a version of the agent, with another model than its own when one is named. */
export interface Variant {
  /** `draft`, or the number of a version. */
  readonly version: string;
  /** Of the draft, when the experiment began; null for a version. */
  readonly draftRevision: number | null;
  readonly modelId: string | null;
}

/** STOPPED: its budget was used up. */
export const experimentStatuses = ['WAITING', 'RUNNING', 'DONE', 'STOPPED', 'FAILED', 'CANCELLED'] as const;
export type ExperimentStatus = (typeof experimentStatuses)[number];

/** INTERRUPTED: the process died while it was asked, or a budget ended between two calls of the model. It is not asked again by itself. */
export const resultStates = ['PENDING', 'ASKED', 'DONE', 'FAILED', 'INTERRUPTED'] as const;
export type ResultState = (typeof resultStates)[number];

export interface Experiment {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly orgId: string;
  /** Who began it: runs are charged to this person. */
  readonly userId: string;
  readonly agentId: string;
  readonly datasetId: string;
  readonly revision: number;
  readonly status: ExperimentStatus;
  /** The first is what the others are compared with. */
  readonly variants: readonly Variant[];
  readonly scorers: readonly Scorer[];
  readonly repeats: number;
  readonly tokensMax: number;
  /** In the currency of the models file; null: no bound. */
  readonly costMax: number | null;
  readonly seed: number;
  readonly plannedCount: number;
  readonly doneCount: number;
  readonly failedCount: number;
  readonly interruptedCount: number;
  readonly tokens: number;
  /** Of the answers whose cost is known. */
  readonly cost: number;
  /** Why it stopped or failed. */
  readonly error: string | null;
  readonly summary: ExperimentSummary | null;
}

export const verdicts = ['BETTER', 'SAME', 'WORSE', 'NOT_ENOUGH_CASES'] as const;
/** SAME: no case differs. NOT_ENOUGH_CASES: the interval has 0 in it. */
export type Verdict = (typeof verdicts)[number];

export interface ExperimentSummary {
  readonly variants: readonly VariantSummary[];
  /** One for each variant but the first. */
  readonly comparisons: readonly Comparison[];
}

export interface VariantSummary {
  readonly variant: number;
  /** Cases with an answer that was scored. */
  readonly caseCount: number;
  /** The weighted share of passed answers, 0 to 1; null without any. */
  readonly rate: number | null;
  readonly interval: Interval | null;
  readonly failedCount: number;
  /** Answers of which a scorer could not say whether they pass. */
  readonly unscoredCount: number;
  readonly tokens: number;
  readonly cost: number;
  readonly durationMs: { readonly p50: number; readonly p95: number } | null;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Comparison {
  /** Compared with the first. */
  readonly variant: number;
  readonly better: number;
  readonly same: number;
  readonly worse: number;
  /** Of the rates, this one's less the first one's; null without pairs. */
  readonly difference: number | null;
  /** 95 of 100, by a paired bootstrap with the seed of the experiment. */
  readonly interval: Interval | null;
  readonly verdict: Verdict;
  /** Of the costs, this one's divided by the first one's; null where that is not known. */
  readonly costRatio: number | null;
}

export const pairChoices = ['FIRST', 'SECOND', 'TIE', 'UNSTEADY'] as const;
/** Which of two answers a judge likes better. UNSTEADY: it likes whichever comes first, or last. */
export type PairChoice = (typeof pairChoices)[number];
export interface PairVerdict {
  /** FIRST: that of the first variant. Null with an error. */
  readonly choice: PairChoice | null;
  readonly reason: string;
  readonly error: string | null;
}

/** What became of one case with one variant, once. */
export interface ExperimentResult {
  readonly caseId: string;
  readonly variant: number;
  /** From 0. */
  readonly repeat: number;
  readonly state: ResultState;
  readonly answer: string | null;
  readonly citations: readonly AnswerCitation[];
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly scores: readonly Score[];
  /** Null: it was not scored. */
  readonly passed: boolean | null;
  readonly value: number | null;
  readonly tokens: number;
  readonly cost: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly pair: PairVerdict | null;
}

/** All answers of one variant to one case. */
export interface CaseFigures {
  readonly caseId: string;
  readonly variant: number;
  readonly weight: number;
  /** Answers that were scored. */
  readonly scoredCount: number;
  readonly passedCount: number;
  /** Sum of the values of the scored answers. */
  readonly valueSum: number;
  readonly failedCount: number;
  readonly unscoredCount: number;
  readonly tokens: number;
  readonly cost: number;
  readonly durationMs: number | null;
}
