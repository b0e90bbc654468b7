/** How a run makes sure that it may still act outside: that no other process has taken it over. */
export interface RunHold {
  /** Resolves once every event that the run handed on is stored under its fence. @throws RunStop `lost` when it cannot be any more. */
  written(signal: AbortSignal): Promise<void>;
  /** Whether the lease is certainly running, by this process's own clocks. */
  isFresh(): boolean;
  /** Resolves at once while it is; else extends the lease. @throws RunStop `lost` when another process has the run. */
  renew(): Promise<void>;
}

/** Of a run that nobody can take over. */
export const soleHold: RunHold = {
  written: () => Promise.resolve(),
  isFresh: () => true,
  renew: () => Promise.resolve(),
};
