import type { FlowStepRecord } from '../../agents/flow.ts';
import type { ErrorCode } from '../../ground/errors.ts';
import type { Retrieval } from '../../knowledge/retrieval.ts';
import type { Usage } from './usage.ts';

/** When a step began, in milliseconds since the epoch, and how long it took. Null: not known, or under way. */
interface StepTimes {
  readonly startedAtMs: number | null;
  readonly durationMs: number | null;
}

/** The subagent that took a step; absent: the run itself. */
interface StepPlace {
  readonly subagentId?: string;
}

/** A passage as a search found it: what it is called and where it is, never its text. */
export interface FoundPassage {
  /** The title of its document. */
  readonly title: string;
  /** Higher is closer. */
  readonly score: number;
  /** Null in old logs. */
  readonly chunkId: string | null;
  readonly knowledgeItemId: string | null;
  readonly dataSourceId: string | null;
}

/** One search for passages. */
export interface RetrievalStep extends StepTimes, StepPlace {
  readonly type: 'retrieval';
  /** What was searched for: in the log of a stored run only, never in a row. */
  readonly question?: string;
  /** `hybrid`: by words and by meaning; `lexical`: by words alone. Null: the search failed. */
  readonly mode: Retrieval['mode'] | null;
  /** Why meaning took no part although vectors are switched on; null otherwise. */
  readonly reason: string | null;
  /** How many passages the model got. */
  readonly passageCount: number;
  /** The first of those that were found, best first; more than the model got where not all of them fitted. */
  readonly passages: readonly FoundPassage[];
}

/** One call of a model, with its retries and fallbacks. */
export interface ModelCallStep extends StepTimes, StepPlace {
  readonly type: 'model_call';
  /** The id of its row in the ledger: in the log of a stored run only. */
  readonly entryId?: string;
  /** The model that answered, else the one that was asked. */
  readonly modelId: string;
  /** From the request to the first token; null when none came. */
  readonly firstTokenMs: number | null;
  /** Null when the model refused before its first token, which costs nothing. */
  readonly usage: Usage | null;
  /** A decimal number in the currency of the models file; null when the model has no price. */
  readonly cost: string | null;
  /** Null for a call that gave an answer. */
  readonly errorCode: ErrorCode | null;
}

/** One call of a tool. `awaited`: the caller is asked to make it. */
export interface ToolCallStep extends StepTimes, StepPlace {
  readonly type: 'tool_call';
  /** The item of the output that shows the call. */
  readonly itemId: string;
  readonly callId: string;
  readonly name: string;
  readonly outcome: 'completed' | 'failed' | 'in_progress' | 'awaited';
  /** Null for a good call. */
  readonly errorCode: string | null;
}

/** A subagent from its start to its end. Its own steps name it. */
export interface SubagentStep extends StepTimes, StepPlace {
  readonly type: 'subagent';
  readonly id: string;
  readonly name: string;
  readonly agentId: string | null;
  /** 1 below the run itself. */
  readonly depth: number;
  readonly status: 'in_progress' | 'completed' | 'failed' | 'cancelled';
  readonly usage: Usage | null;
  readonly cost: string | null;
}

/** One step of the flow that answers. */
export interface FlowRunStep extends StepTimes, StepPlace {
  readonly type: 'flow';
  readonly stepId: string;
  /** The type of the step. */
  readonly does: FlowStepRecord['type'];
  readonly status: 'completed' | 'failed' | 'skipped';
}

/** What a run did between question and answer: without contents, and bounded. */
export type RunStep = RetrievalStep | ModelCallStep | ToolCallStep | SubagentStep | FlowRunStep;

/** How the knowledge of a run was searched, all its own searches together. */
export interface RetrievalSummary {
  readonly mode: Retrieval['mode'] | null;
  readonly reason: string | null;
  readonly passageCount: number;
  /** Null: there was none. */
  readonly bestScore: number | null;
  /** Of a run that got none: the passages that were near. */
  readonly near?: readonly FoundPassage[];
}
