import type { LostCallRule, SubagentRecord, SubagentUpdate } from '../../entities/conversations/runs/event.ts';
import type { CallForm, OutputFile } from '../../entities/conversations/runs/tool.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { ModelTool } from '../models/port.ts';
import type { NewRunFile } from './run-files.ts';

/** A tool that runs in the service, not at the client: its output goes back to the model within the same run. */
export interface ServerTool {
  readonly definition: ModelTool;
  /** What a user interface shows while it runs, like `Searching the web`. */
  readonly hint: string;
  /** It only reads, although other functions of its kind may not: it stays in chat mode `plan`. */
  readonly isReadOnly?: boolean;
  /** Each call waits for a person's approval. Default: false. */
  readonly requiresApproval?: boolean;
  /** Its calls wait for each other, in the order of the model: it changes what its other calls read. Default: calls of one answer run at once. */
  readonly isSequential?: boolean;
  /** The form of its calls on the responses API before they are made; absent: `server_tool_call`. */
  readonly form?: (args: string) => CallForm;
  /** What happens to a call whose process dies before its outcome is stored. A tool with effects outside must choose `repeat` or `unknown`. */
  readonly ifLost: LostCallRule;
  /**
   * @param args     JSON text as the model wrote it, unchecked.
   * @param secrets  the caller's, for this request only; never stored.
   * @param tell     shows the progress of subagents to readers of the run; secrets are masked.
   * @param pass     to check before every request that leaves this process.
   * @throws anything: the message of a DomainError goes to the model, other errors become "the tool failed"; a RunStop ends the run.
   */
  run(
    args: string,
    secrets: Readonly<Record<string, string>>,
    signal: AbortSignal,
    tell: Tell,
    pass: CallPass,
  ): Promise<string | ToolResult>;
  /** For tools whose calls share a pool: the same tool, counted for this organization. */
  readonly countedFor?: (owner: ShareOwner) => ServerTool;
}

/** The result of a call that is more than its text. */
export interface ToolResult {
  /** What the model reads. */
  readonly text: string;
  /** Shown to people, and images among them to models that take images; images are image parts on every API. */
  readonly files?: readonly OutputFile[];
  /** Further files, which the tool has not stored: they are stored as files of the run, and the text says so. */
  readonly newFiles?: readonly NewRunFile[];
  /** Replaces the form that the call began with. */
  readonly form?: CallForm;
  /** The text is instructions of the agent: it is shown to nobody but the model and, in traces, the agent's editors. */
  readonly isConfidential?: true;
  /** The text has passages of a MIRRORED source: only the model of this run gets it. */
  readonly isMirrored?: true;
}

/** Proves that a call may have effects outside now. Its record is stored before the tool starts; the pass covers the time after that. */
export interface CallPass {
  /** For `Idempotency-Key`: `<run>:<call>`, the same when this call is made again, and unique among calls. */
  readonly key: string;
  /** Whether this process certainly still holds the run, by its own clock. Check it immediately before a request leaves. */
  isFresh(): boolean;
  /** Resolves once what the call told is with the reader of the run's events: behind it, `RunHold.written` covers it. */
  whenRecorded?(): Promise<void>;
  /** What is kept of the subagents that the call started in a process that died. */
  readonly before?: readonly SubagentRecord[];
  /** Makes sure of it, with a statement where the clock is not enough. @throws RunStop when another process has the run. */
  renew(): Promise<void>;
}
export type Tell = (update: SubagentUpdate) => void;
export type ServerTools = ReadonlyMap<string, ServerTool>;
