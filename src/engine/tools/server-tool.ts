import type { ModelTool } from '../models/port.ts';

/** A tool that runs here, not at the client: its output goes back to the model within the same run. */
export interface ServerTool {
  readonly definition: ModelTool;
  /** What a user interface shows while it runs, like `Searching the web`. */
  readonly hint: string;
  /**
   * @param args     JSON text as the model wrote it; not checked.
   * @param secrets  the caller's, for this request only; never stored.
   * @throws anything: the message of a DomainError goes to the model, other failures as "the tool failed".
   */
  run(args: string, secrets: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string>;
}
export type ServerTools = ReadonlyMap<string, ServerTool>;
