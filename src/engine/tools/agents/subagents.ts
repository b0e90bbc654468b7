import type { EndedSubagent, RunError } from '../../../entities/conversations/runs/event.ts';
import type { Citation } from '../../../entities/knowledge/citation.ts';
import type { ModelMessage, ResponseFormat } from '../../models/port.ts';
import type { Charge, RunPlan } from '../../plan/plan.ts';
import type { TokenAllowance } from '../../usage/token-allowance.ts';
import type { CallPass, Tell } from '../server-tool.ts';

/** The subagents of one run, for tools that start some. */
export interface Subagents {
  readonly limits: SubagentLimits;
  /** False at the deepest level: tools that start subagents are not offered there. */
  readonly mayStart: boolean;
  /** Model calls that the run may still make; its subagents share them. */
  readonly roundsLeft: number;
  /** What all subagents of the run may still use, those of other levels included. */
  readonly tokens: TokenAllowance;
  /** Those of them that `deep_research` uses. */
  readonly researchTokens: TokenAllowance;
  /** What a researcher found in a process that died during the call; undefined when none came to its end. */
  earlierFinding(question: string, pass: CallPass): SubagentFinding | undefined;
  /** Runs one subagent to its end. @returns also when it failed, or when the signal fired. */
  run(task: SubagentTask, tell: Tell, signal: AbortSignal): Promise<SubagentFinding>;
  /** One model call without tools, from the budget of the subagents. @returns undefined when there is no whole answer. */
  ask(question: ModelQuestion, tokens: TokenAllowance, signal: AbortSignal): Promise<string | undefined>;
  /** Why no further subagent may start within a call; undefined when one may. */
  stopsShort(): string | undefined;
}

/** Makes the plan of an agent that answers one question. @returns undefined when the user who is charged may not use the agent. */
export type SubagentPlan = (charge: Charge, agentId: string, question: string) => Promise<RunPlan | undefined>;

/** Limits of subagents. */
export interface SubagentLimits {
  /** Most subagents of one call. */
  readonly countMax: number;
  /** Run time of each. */
  readonly timeoutMs: number;
  /** Most tokens of each model call. */
  readonly outputTokensMax: number;
  /** Most tokens of all subagents of one run. */
  readonly tokensMax: number;
  /** Most model calls of each; fewer when its run has fewer left. */
  readonly roundsMax: number;
  /** Levels of subagents below a run. */
  readonly depthMax: number;
  /** Most UTF-16 code units of the result that one call returns to the model. */
  readonly resultCharsMax: number;
}

export interface SubagentTask {
  readonly question: string;
  /** The task that the question is a part of; the question itself when there is no other. */
  readonly task: string;
  /** The agent that answers; absent: a researcher with the model and the knowledge of the run. */
  readonly agent?: { readonly id: string; readonly name: string };
  /** The caller's. An agent gets none: they were given to the agent that asks. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Most model calls. */
  readonly roundsMax: number;
  readonly tokens: TokenAllowance;
  /** Of the call: what is kept of the subagent goes with it. */
  readonly pass: CallPass;
}

export interface ModelQuestion {
  readonly messages: readonly ModelMessage[];
  readonly responseFormat: ResponseFormat;
}

/** The result of a subagent. */
export interface SubagentFinding {
  readonly subagent: EndedSubagent;
  /** Its answer with its `[n]` markers, whose places stand in `citations`. */
  readonly text: string;
  readonly citations: readonly Citation[];
  /** Why there is no answer; null when there is one. */
  readonly error: RunError | null;
  /** Stopped for a pause of its run: its question stays open. */
  readonly isPaused: boolean;
  /** Stopped because the tokens of the subagents are used up: its question stays open. */
  readonly isOverBudget: boolean;
}
