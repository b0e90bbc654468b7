import type { SubagentNews } from '../../entities/run-event.ts';
import type { ShareOwner } from '../../lib/fair-share.ts';
import type { ModelTool } from '../models/port.ts';

/** A tool that runs here, not at the client: its output goes back to the model within the same run. */
export interface ServerTool {
  readonly definition: ModelTool;
  /** What a user interface shows while it runs, like `Searching the web`. */
  readonly hint: string;
  /**
   * @param args     JSON text as the model wrote it; not checked.
   * @param secrets  the caller's, for this request only; never stored.
   * @param tell     shows readers of the run what subagents of this call do; secrets are taken out on the way.
   * @throws anything: the message of a DomainError goes to the model, other failures as "the tool failed".
   */
  run(args: string, secrets: Readonly<Record<string, string>>, signal: AbortSignal, tell: Tell): Promise<string>;
  /** Of a tool whose calls share a pool: the same tool, with calls that are counted for this organization. */
  readonly countedFor?: (owner: ShareOwner) => ServerTool;
}
export type Tell = (news: SubagentNews) => void;
export type ServerTools = ReadonlyMap<string, ServerTool>;
