import type { NewMessage } from '../../../entities/conversations/chats/chat.ts';

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

/** How a run checks, before effects outside, that no other process has taken it over. */
export interface RunHold {
  /**
   * Resolves once every emitted event of the run is stored under its fence.
   *
   * @param isSearch  the call only searches: a subagent need not wait until its own record is stored.
   * @throws RunStop `lost` when that is no longer possible.
   */
  written(signal: AbortSignal, isSearch?: boolean): Promise<void>;
  /** Whether the lease has certainly not expired, by this process's clocks. */
  isFresh(): boolean;
  /** Extends the lease unless it is fresh. @throws RunStop `lost` when another process has the run. */
  renew(): Promise<void>;
}

/** The hold of a run that no process can take over. */
export const soleHold: RunHold = {
  written: () => Promise.resolve(),
  isFresh: () => true,
  renew: () => Promise.resolve(),
};
