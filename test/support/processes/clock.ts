const tickMs = 20;

/**
 * A clock of the milliseconds in which this process could run. It stands still while the machine gives the process no time, so a limit measured with
 * it depends on Parley and not on other processes.
 */
export interface RunningClock {
  elapsedMs(): number;
  stop(): void;
}

export function startClock(): RunningClock {
  let countedMs = 0;
  let lastMs = performance.now();
  const count = () => {
    const nowMs = performance.now();
    countedMs += Math.min(nowMs - lastMs, 2 * tickMs);
    lastMs = nowMs;
  };
  const timer = setInterval(count, tickMs).unref();
  return {
    elapsedMs() {
      count();
      return countedMs;
    },
    stop: () => clearInterval(timer),
  };
}

/** Runs `work` and measures its time with that clock. */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly elapsedMs: number }> {
  const clock = startClock();
  try {
    return { result: await work(), elapsedMs: clock.elapsedMs() };
  } finally {
    clock.stop();
  }
}

/** The processor time of `work` in this thread, in ms, independent of other processes. */
export function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
