/**
 * Finds the longest stretch in which this process did nothing but work: the processor time of its thread between two turns of a timer. A busy
 * machine does not lengthen it.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(look, 20);
  try {
    await work();
  } finally {
    look();
    clearInterval(timer);
  }
  return longest;
}
