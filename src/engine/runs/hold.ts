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
