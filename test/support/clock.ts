const tickMs = 20;

/**
 * Milliseconds in which this process could run. Where the machine has no time for it, the clock stands still: a limit that is held against it
 * says something about Parley, not about who else is at work.
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

/** How long `work` takes by that clock. */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly elapsedMs: number }> {
  const clock = startClock();
  try {
    return { result: await work(), elapsedMs: clock.elapsedMs() };
  } finally {
    clock.stop();
  }
}

/** Milliseconds of the processor that `work` takes in this thread, whoever else is at work. */
export function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
