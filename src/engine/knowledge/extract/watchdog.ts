import { workerData } from 'node:worker_threads';
import { memorySignal } from './protocol.ts';

/** Checks every 25 ms while a document is being read, and sleeps otherwise. */
const { state, rssMaxBytes, parentId } = workerData as { state: Int32Array; rssMaxBytes: number; parentId: number };
const lookEveryMs = 25;

for (;;) {
  Atomics.wait(state, 0, 0);
  if (process.memoryUsage.rss() > rssMaxBytes) process.kill(process.pid, memorySignal);
  if (process.ppid !== parentId) process.kill(process.pid, 'SIGKILL');
  Atomics.wait(state, 0, 1, lookEveryMs);
}
