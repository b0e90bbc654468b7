import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { snapshot } from '../../../src/engine/runs/control/ending.ts';
import { toRunFacts } from '../../../src/engine/runs/record/run-facts.ts';
import { EventLog } from '../../../src/engine/runs/stored/event-log.ts';
import { LogWriter } from '../../../src/engine/runs/stored/log-writer.ts';
import type { RunEvent } from '../../../src/entities/conversations/runs/event.ts';
import type { RunEnding } from '../../../src/storage/conversations/runs/writes.ts';
import { collect, silent } from '../../support/runs/runs.ts';

const delta = (sequence: number): RunEvent => ({
  sequence,
  type: 'response.output_text.delta',
  outputIndex: 0,
  itemId: 'msg_1',
  json: '"a"',
});
const begun = (sequence: number): RunEvent => ({
  sequence,
  type: 'response.output_item.added',
  outputIndex: 0,
  item: { type: 'message', id: 'msg_1', status: 'in_progress', text: '', citations: [] },
});
/** Lets the table answer. */
const turns = async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
const terminal = (sequence: number): RunEvent => ({
  sequence,
  type: 'response.completed',
  run: snapshot('run_1', 'completed', []),
});
const ending = (sequence: number): RunEnding => ({
  events: [terminal(sequence)],
  run: snapshot('run_1', 'completed', []),
  messages: [],
  chatName: null,
  facts: { ...toRunFacts([], 0), durationMs: null },
});
const sequences = (events: readonly RunEvent[]) => events.map(({ sequence }) => sequence);

/** A table of batches whose answers the test triggers; `hasLease` false simulates a lost lease. */
function table() {
  const batches: number[][] = [];
  const state = { hasLease: true, failures: 0, refusesMessages: false };
  async function write(events: readonly RunEvent[]): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    if (state.failures > 0) {
      state.failures -= 1;
      throw new Error('the database is away');
    }
    if (state.hasLease) batches.push(sequences(events));
    return state.hasLease;
  }
  return {
    batches,
    state,
    append: (_id: string, _fence: number, events: readonly RunEvent[]) => write(events),
    finish: async (_id: string, _fence: number, { events }: RunEnding) => ((await write(events)) ? { next: null } : undefined),
  };
}

function writerOn(store: ReturnType<typeof table>) {
  const log = new EventLog();
  const lost: string[] = [];
  const writer = new LogWriter({
    store,
    log,
    lease: { id: 'run_1', fence: 1 },
    logger: silent,
    onLost: ({ kind }) => lost.push(kind),
    onWritten: () => undefined,
  });
  return { log, lost, writer };
}

describe('the writer of an event log', () => {
  it('gathers what comes while it writes, shows nothing before it is written, and ends with one write of the whole log', async () => {
    const store = table();
    const { log, writer } = writerOn(store);
    for (let sequence = 0; sequence < 5; sequence += 1) await writer.add([delta(sequence)]);
    expect(log.length).toBe(0);
    expect(await writer.finish(ending(5))).toEqual({ next: null });
    expect(store.batches).toEqual([[0], [0, 1, 2, 3, 4, 5]]);
    expect(log.isOver).toBe(true);
  });

  it('lets the words of an answer gather, and writes anything else at once, with the words before it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const store = table();
      const { log, writer } = writerOn(store);
      await writer.add([begun(0), delta(1)]);
      await turns();
      await writer.add([delta(2)]);
      await writer.add([delta(3)]);
      await turns();
      expect(store.batches).toEqual([[0, 1]]);
      await writer.add([begun(4)]);
      await turns();
      expect(store.batches).toEqual([
        [0, 1],
        [2, 3, 4],
      ]);
      await writer.add([delta(5)]);
      vi.advanceTimersByTime(200);
      await turns();
      expect(store.batches.at(-1)).toEqual([5]);
      expect(log.length).toBe(6);
    } finally {
      vi.useRealTimers();
    }
  });

  it('writes the words that wait when a tool is to start', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const store = table();
      const { writer } = writerOn(store);
      await writer.add([delta(0)]);
      await turns();
      await writer.add([delta(1)]);
      await writer.written(new AbortController().signal);
      expect(store.batches).toEqual([[0], [1]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ignores an empty batch, also as the first', async () => {
    const store = table();
    const { writer } = writerOn(store);
    await writer.add([]);
    await writer.add([delta(0)]);
    await writer.add([]);
    await writer.finish(ending(1));
    expect(store.batches.at(-1)).toEqual([0, 1]);
  });

  it('goes on when the database comes back', async () => {
    const store = table();
    const { log, writer } = writerOn(store);
    store.state.failures = 3;
    await writer.add([delta(0)]);
    expect(await writer.finish(ending(1))).toBeDefined();
    expect(store.batches.at(-1)).toEqual([0, 1]);
    expect(log.length).toBe(2);
  });

  it('ends a run without its messages when the chat refuses them, so that the thread is free', async () => {
    const store = table();
    const { log, writer } = writerOn(store);
    store.state.refusesMessages = true;
    await writer.add([delta(0)]);
    const messages = [{ id: 'msg_1' }] as unknown as RunEnding['messages'];
    expect(await writer.finish({ ...ending(1), messages })).toEqual({ next: null });
    expect(log.isOver).toBe(true);
  });

  it('stops at once when its lease was lost, and shows nothing more', async () => {
    const store = table();
    const { log, lost, writer } = writerOn(store);
    await writer.add([delta(0)]);
    await writer.idle();
    store.state.hasLease = false;
    await writer.add([delta(1)]);
    expect(await writer.finish(ending(2))).toBeUndefined();
    expect(lost).toEqual(['lost']);
    expect(store.batches.flat()).toEqual([0]);
    expect(log.length).toBe(1);
  });
});

describe('the readers of an event log', () => {
  it('get every event exactly once, whenever they come and whatever they have', async () => {
    const batches = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(10), fc.integer({ min: -1, max: 60 }), async (sizes, joinsAfter, known) => {
        const log = new EventLog();
        const never = new AbortController().signal;
        let read: Promise<RunEvent[]> | undefined;
        let next = 0;
        for (const [index, size] of sizes.entries()) {
          if (index === joinsAfter) read = collect(log.read(known, never));
          log.add(Array.from({ length: size }, () => delta(next++)));
          await new Promise((resolve) => setImmediate(resolve));
        }
        read ??= collect(log.read(known, never));
        log.add([terminal(next)]);
        const expected = Array.from({ length: Math.max(0, next - known) }, (_, index) => known + 1 + index);
        expect(sequences(await read)).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  it('leave when their signal fires, and are sent on when another process has the run', async () => {
    const log = new EventLog();
    const leaving = new AbortController();
    const left = collect(log.read(-1, leaving.signal));
    const staying = collect(log.read(-1, new AbortController().signal));
    log.add([delta(0)]);
    await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    expect(sequences(await left)).toEqual([0]);
    log.add([delta(1)]);
    log.close();
    expect(sequences(await staying)).toEqual([0, 1]);
  });
});
