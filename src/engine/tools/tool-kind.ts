import type { BegunResearch } from '../../entities/conversations/runs/event.ts';
import type { WireObject } from '../../entities/conversations/runs/response.ts';
import type { EnabledTool, ListedTool, ToolType } from '../../entities/conversations/runs/tool.ts';
import type { FaultNotes } from '../../entities/ground/fault-notes.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import type { Passage } from '../../entities/knowledge/citation.ts';
import type { TokenUsage } from '../models/port.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { TokenNeed } from '../usage/meters.ts';
import type { Subagents } from './agents/subagents.ts';
import type { RunFiles } from './run-files.ts';
import type { ServerTool } from './server-tool.ts';

/**
 * One tool of the service: what it is called, whether this instance can run it, and its functions. A tool is a folder below engine/tools with its
 * schema, its runner and its hints; engine/tools/registry.ts lists them all.
 */
export interface ToolKind {
  readonly type: ToolType;
  /** It only reads: it stays in chat mode `plan`. */
  readonly isReadOnly: boolean;
  /** Some of its functions may only read, which is known once it is opened: those stay in chat mode `plan`. */
  readonly mayHaveReaders?: true;
  /** What it does, in one sentence for people. */
  readonly description: string;
  /** Why this instance cannot run it; undefined when it can. */
  readonly unavailable?: Unavailable | undefined;
  /** Looks for what it needs of the machine, such as a box for programs. @returns why it cannot run now. */
  probe?(): Promise<Unavailable | undefined>;
  /** Notes what is wrong with its options beyond their types, and options that this instance cannot serve. @param at  the place of the tool. */
  check?(options: WireObject, at: string, faults: FaultNotes): void;
  /** The names of its functions that are known before it is opened: a caller's function cannot have one. The first is what a choice of the type forces. */
  functionNames(options: WireObject): readonly string[];
  /**
   * Makes its functions for one run, before the first model call.
   *
   * @throws DomainError when a part that the request names is missing or not the caller's.
   */
  open(tool: EnabledTool, run: ToolRun): OpenedTool | Promise<OpenedTool>;
}

export interface Unavailable {
  /** The setting that would switch it on, such as `SEARCH_URL`; null when it is not a matter of settings. */
  readonly setting: string | null;
  /** Ends a sentence: "python cannot be served: …". */
  readonly reason: string;
}

export interface OpenedTool {
  readonly functions: readonly ServerTool[];
  /** Added to the end of the agent's instructions. */
  readonly instructions?: string;
  /** For `mcp`: the tools found, which become an `mcp_list_tools` item. */
  readonly listings?: readonly McpListing[];
  /** What of it has no effect in this run, for the caller. */
  readonly warnings?: readonly Warning[];
}

export interface McpListing {
  readonly serverLabel: string;
  readonly tools: readonly ListedTool[];
  readonly error: string | null;
}

/** The run that a tool works for. Its rights are those of `plan.charge`: the organization and user that are charged. */
export interface ToolRun {
  readonly runId: string;
  /** The chat that the run answers; null for a stateless run. */
  readonly chatId: string | null;
  readonly plan: RunPlan;
  /** The caller's, for this request only; never stored. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly subagents: Subagents;
  /** The calls of `deep_research` that the run began in earlier processes, and before pauses. */
  readonly researches: readonly BegunResearch[];
  readonly files: RunFiles;
  /**
   * Makes one upstream call that costs tokens: reserves them of the organization's limit before, and charges the ledger and the run after.
   *
   * @throws DomainError INSUFFICIENT_QUOTA before the call; what `call` throws, without a charge.
   */
  charged<T>(
    modelId: string,
    need: TokenNeed,
    call: () => Promise<{ readonly result: T; readonly usage: TokenUsage }>,
  ): Promise<T>;
  /**
   * Makes a passage citable by the answer, as `[n]`.
   *
   * @returns its number: the same however often it is found in the run.
   */
  cite(passage: Passage): number;
}

/** What the tools of MCP servers need of a run. A call of one tool outside a run has it too. */
export interface McpRun extends Pick<ToolRun, 'secrets' | 'signal' | 'files'> {
  readonly plan: Pick<RunPlan, 'charge' | 'askedBy'> & Partial<Pick<RunPlan, 'messages'>>;
}
