import type { JobName, QueueOptions } from './job.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Each queue. One table, because a prepared database has them already: making one takes three statements. */
export const queues: Readonly<Record<JobName, QueueOptions>> = {
  'accounts.purge-organization': { timeoutMs: 10 * minuteMs },
  'accounts.purge-user': { timeoutMs: 10 * minuteMs },
  'accounts.mail-invitation': { timeoutMs: 2 * minuteMs, retryDelay: { seconds: 20, maxSeconds: 3_600 } },
  'accounts.give-back-tokens': { timeoutMs: 10 * minuteMs },
  'chats.import': { timeoutMs: hourMs, retriesMax: 20 },
  'chats.undo-import': { timeoutMs: hourMs, retriesMax: 20 },
  'evaluation.run-experiment': { timeoutMs: hourMs, retriesMax: 50 },
  'data.export': { timeoutMs: 6 * hourMs, retriesMax: 20 },
  'data.erase': { timeoutMs: hourMs },
  'knowledge.index-item': { timeoutMs: 6 * hourMs },
  'knowledge.index-items': { timeoutMs: 6 * hourMs },
  'knowledge.sync-source': { timeoutMs: 24 * hourMs },
  // Its own failures are noted at the source, which is due again after a while.
  'knowledge.sync-permissions': { timeoutMs: 24 * hourMs, retriesMax: 1 },
  'knowledge.embed-source': { timeoutMs: 6 * hourMs, retriesMax: 10 },
  'knowledge.delete-source': { timeoutMs: 6 * hourMs },
  'schedules.run': { timeoutMs: minuteMs },
  'schedules.delete-chat': { timeoutMs: minuteMs },
  'knowledge.delete-item': { timeoutMs: 6 * hourMs },
};
