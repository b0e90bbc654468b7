import type { CDPSession } from 'playwright-core';

/** The tasks of a page's main thread, in milliseconds of processor time: a busy machine makes none of them longer. */
export interface TaskTimes {
  readonly longestMs: number;
  readonly totalMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * Measures the tasks of the main threads of all pages of the browser from now on. A throttled processor (`Emulation.setCPUThrottlingRate`) takes no more
 * processor time, only longer.
 *
 * @returns ends the measurement.
 */
export async function measureTasks(devtools: CDPSession): Promise<() => Promise<TaskTimes>> {
  const events: TraceEvent[] = [];
  devtools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await devtools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline', '__metadata'], excludedCategories: ['*'] },
  });
  return async () => {
    const complete = new Promise<void>((resolve) => devtools.once('Tracing.tracingComplete', () => resolve()));
    await devtools.send('Tracing.end');
    await complete;
    const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
    const isMainThread = ({ name, args }: TraceEvent) => name === 'thread_name' && args?.name === 'CrRendererMain';
    const mainThreads = new Set(events.filter(isMainThread).map(threadOf));
    const tasks = events.filter((event) => event.name === 'RunTask' && mainThreads.has(threadOf(event)));
    // A browser that tells no processor time would let every page pass.
    if (!tasks.some(({ tdur = 0 }) => tdur > 0)) throw new Error('the trace has no tasks with processor time');
    const times = tasks.map(({ tdur = 0 }) => tdur / 1_000);
    return { longestMs: Math.max(...times), totalMs: times.reduce((sum, ms) => sum + ms, 0) };
  };
}
