import type { LostCallRule, SubagentNews } from '../../entities/runs/event.ts';
import type { ShareOwner } from '../../lib/fair-share.ts';
import type { ModelTool } from '../models/port.ts';

/** A tool that runs here, not at the client: its output goes back to the model within the same run. */
export interface ServerTool {
  readonly definition: ModelTool;
  /** What a user interface shows while it runs, like `Searching the web`. */
  readonly hint: string;
  /** What happens to a call whose process dies before its outcome is stored. Every tool that may act outside says `repeat` or `unknown`. */
  readonly ifLost: LostCallRule;
  /**
   * @param args     JSON text as the model wrote it; not checked.
   * @param secrets  the caller's, for this request only; never stored.
   * @param tell     shows readers of the run what subagents of this call do; secrets are taken out on the way.
   * @param pass     to be shown by whatever leaves this process.
   * @throws anything: the message of a DomainError goes to the model, other failures as "the tool failed"; a RunStop ends the run.
   */
  run(args: string, secrets: Readonly<Record<string, string>>, signal: AbortSignal, tell: Tell, pass: CallPass): Promise<string>;
  /** Of a tool whose calls share a pool: the same tool, with calls that are counted for this organization. */
  readonly countedFor?: (owner: ShareOwner) => ServerTool;
}

/** Shows that a call may act outside now. Its record is stored before the tool starts; the pass is for the time after that. */
export interface CallPass {
  /** For `Idempotency-Key`: `<run>:<call>`, the same whenever this call is made again, and never that of another call. */
  readonly key: string;
  /** Whether this process certainly still holds the run, as far as its own clock tells. To be asked right before a request leaves. */
  isFresh(): boolean;
  /** Makes sure of it, in the database where the clock is not enough. @throws RunStop when another process has the run. */
  renew(): Promise<void>;
}
export type Tell = (news: SubagentNews) => void;
export type ServerTools = ReadonlyMap<string, ServerTool>;
