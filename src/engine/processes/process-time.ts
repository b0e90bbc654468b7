import { readFileSync } from 'node:fs';

/**
 * Why a process has no time left. `USED`: it used the processor time that it may. `SLEPT`: it came to no end, and did nothing for most of the time.
 * `STARVED`: it came to no end because the machine gave it too little processor time.
 */
export type TimeoutCause = 'USED' | 'SLEPT' | 'STARVED';

/** A process ends after so many times its processor time by the wall clock, whatever it does. */
export const wallTimesMax = 4;
/** Linux counts processor time in hundredths of a second for all programs. */
const tickMs = 10;
const lookEveryMaxMs = 250;

/**
 * Calls `onTimeout` once, when the process has used `timeoutMs` of processor time from now, all its threads together, or when `wallTimesMax` times that
 * went by on the clock. Where the system does not tell the processor time of a process (elsewhere than on Linux), `timeoutMs` of the clock count as used.
 *
 * @returns what ends the watch. Cost: one read of `/proc` every 250 ms, or 20 times in a shorter time.
 */
export function watchProcessTime(
  pid: number | undefined,
  timeoutMs: number,
  onTimeout: (cause: TimeoutCause) => void,
): () => void {
  const firstLook = pid === undefined ? undefined : lookAt(pid);
  if (pid === undefined || firstLook === undefined) {
    const timer = setTimeout(onTimeout, timeoutMs, 'USED');
    return () => clearTimeout(timer);
  }
  const endsAtMs = performance.now() + wallTimesMax * timeoutMs;
  let last = firstLook;
  let looks = 0;
  let looksAsleep = 0;
  const look = () => {
    // Undefined when the process has just ended, which is noticed by others, or when this process may open no more files.
    const nextLook = lookAt(pid);
    looks += 1;
    if (nextLook !== undefined) {
      if (nextLook.isAsleep && nextLook.usedMs === last.usedMs) looksAsleep += 1;
      last = nextLook;
    }
    if (last.usedMs - firstLook.usedMs >= timeoutMs) end('USED');
    else if (performance.now() >= endsAtMs) end(looksAsleep * 2 > looks ? 'SLEPT' : 'STARVED');
  };
  const end = (cause: TimeoutCause) => {
    clearInterval(timer);
    onTimeout(cause);
  };
  const timer = setInterval(look, Math.min(lookEveryMaxMs, timeoutMs / 20));
  return () => clearInterval(timer);
}

interface Look {
  /** Processor time of all threads, those that ended included. */
  readonly usedMs: number;
  /** It waits for an event, not for a processor or a disk. */
  readonly isAsleep: boolean;
}

/** @returns undefined when the system does not tell. The name of the program stands in brackets and may hold anything: the fields are counted behind it. */
function lookAt(pid: number): Look | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state, user, system] = [fields[0], Number(fields[11]), Number(fields[12])];
  return Number.isFinite(user + system) ? { usedMs: (user + system) * tickMs, isAsleep: state === 'S' } : undefined;
}
