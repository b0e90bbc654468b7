import type { NewMessage } from '../../entities/chats/chat.ts';

/** How others reach a run while it works. The run asks between its steps only. */
export interface RunControl {
  /** Fires with a RunStop `paused` when the run should stop at the next boundary, to go on later. */
  readonly pause: AbortSignal;
  /** Whether messages may have been added to the run since `take`. */
  readonly hasInput: boolean;
  /** The messages added since the last call; one array for each time something was added. */
  take(): Promise<readonly (readonly NewMessage[])[]>;
  /** Asked when the run has nothing more to do. Once it answers true, nothing can be added to the run. */
  mayEnd(): Promise<boolean>;
}
