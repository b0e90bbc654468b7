import type { EndedSubagent, RunError } from '../../entities/runs/event.ts';
import type { Tell } from './server-tool.ts';

/** The subagents of one run, for tools that start some. */
export interface Subagents {
  readonly limits: SubagentLimits;
  /** Model calls that the run may still make; its subagents share them. */
  readonly roundsLeft: number;
  /** Runs one subagent to its end. @returns also when it failed, or when the signal fired. */
  run(task: SubagentTask, tell: Tell, signal: AbortSignal): Promise<SubagentFinding>;
  /** Why no further subagent may start within a call; undefined when one may. */
  stopsShort(): string | undefined;
}

/** Limits of subagents. */
export interface SubagentLimits {
  /** Most subagents of one call. */
  readonly countMax: number;
  /** Run time of each. */
  readonly timeoutMs: number;
  /** Most tokens of each model call. */
  readonly outputTokensMax: number;
  /** Most model calls of each; fewer when its run has fewer left. */
  readonly roundsMax: number;
  /** Most UTF-16 code units of the result that one call returns to the model. */
  readonly resultCharsMax: number;
}

export interface SubagentTask {
  readonly question: string;
  /** The task that the question is a part of; the question itself when there is no other. */
  readonly task: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Most model calls. */
  readonly roundsMax: number;
}

/** The result of a subagent. */
export interface SubagentFinding {
  readonly subagent: EndedSubagent;
  /** Titles of the documents that the answer cites. */
  readonly sources: readonly string[];
  /** Why there is no answer; null when there is one. */
  readonly error: RunError | null;
  /** Stopped for a pause of its run: its question stays open. */
  readonly isPaused: boolean;
}
