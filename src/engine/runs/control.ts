import type { NewMessage } from '../../entities/chats/chat.ts';

/** How others reach a run while it works. Asked between its steps, never within one. */
export interface RunControl {
  /** Fires with a RunStop `paused` when the run should stop at the next boundary, to go on later. */
  readonly pause: AbortSignal;
  /** Whether something may have been put into the run since `take`. */
  readonly hasNews: boolean;
  /** What was put into it, each message once; one array for each time. */
  take(): Promise<readonly (readonly NewMessage[])[]>;
  /** Asked when the run has nothing more to do: from a yes on, nothing can be put into it. */
  mayEnd(): Promise<boolean>;
}
