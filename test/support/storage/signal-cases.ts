import { afterEach, beforeAll, expect, it } from 'vitest';
import type { SignalState, Signals } from '../../../src/storage/ground/signals/signals.ts';
import { eventually } from '../processes/eventually.ts';

/** Signals of two processes on one database; in one process both are the same. */
export interface SignalPair {
  readonly first: Signals;
  readonly second: Signals;
  /** What the first one reported. */
  readonly errors?: Error[];
}

/** How a transport is lost, and comes back. */
export interface Loss {
  readonly lose: () => unknown;
  readonly find?: () => unknown;
  /** The states of both meanwhile. Undefined: it is back before anybody can look. */
  readonly states?: readonly SignalState[];
}

export interface TransportTraits {
  /** Whether watchers get the events themselves, not only word to look again. */
  readonly carriesEvents?: boolean;
  /** The ways in which it can be lost. */
  readonly losses?: Readonly<Record<string, Loss>>;
}

/** What every transport of signals promises. */
export function signalCases(open: () => Promise<SignalPair>, { carriesEvents = false, losses = {} }: TransportTraits = {}): void {
  let first: Signals;
  let second: Signals;
  let errors: Error[] = [];
  const stops: (() => void)[] = [];
  let runs = 0;
  const newRun = () => {
    runs += 1;
    return `run_case_${runs}`;
  };
  beforeAll(async () => {
    ({ first, second, errors = [] } = await open());
  });
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  function listen(signals: Signals, topic: Parameters<Signals['subscribe']>[0]): readonly string[] {
    const heard: string[] = [];
    stops.push(signals.subscribe(topic, (payload) => void heard.push(payload)));
    return heard;
  }
  function watch(signals: Signals, runId: string): readonly string[] {
    const heard: string[] = [];
    stops.push(signals.watch(runId, (batch) => void heard.push(batch)));
    return heard;
  }

  const states = () => [first.state(), second.state()];
  const areLive = () => eventually(() => expect(states()).toEqual(['live', 'live']));

  it('are live and healthy', async () => {
    await areLive();
    expect([first.isHealthy(), second.isHealthy(), first.problem()]).toEqual([true, true, undefined]);
  });

  it('call the listeners of the own process at once, until they stop', () => {
    const heard = listen(first, 'chat-changed');
    first.publish('chat-changed', 'chat_1');
    first.publish('agent-rated', 'ai_1');
    stops.splice(0)[0]?.();
    first.publish('chat-changed', 'chat_2');
    expect(heard).toEqual(['chat_1']);
  });

  it('reach the other process in their order, and each process once', async () => {
    const [here, there] = [listen(first, 'data-source-changed'), listen(second, 'data-source-changed')];
    // Before others know that somebody listens, changes may be missed: there is a gap then.
    for (const [from, to] of [
      [first, there],
      [second, here],
    ] as const) {
      await eventually(() => {
        from.publish('data-source-changed', 'ds_0');
        expect(to).toContain('ds_0');
      });
    }
    const others = (heard: readonly string[]) => heard.filter((id) => id !== 'ds_0');
    first.publish('data-source-changed', 'ds_1 with words');
    second.publish('data-source-changed', 'ds_2');
    await eventually(() => {
      expect(others(here).sort()).toEqual(['ds_1 with words', 'ds_2']);
      expect(others(there).sort()).toEqual(['ds_1 with words', 'ds_2']);
    });
    const ids = Array.from({ length: 300 }, (_, index) => `ds_many_${index}`);
    for (const id of ids) first.publish('data-source-changed', id);
    await eventually(() => expect(others(there).slice(2)).toEqual(ids));
  });

  it('carry what is asked of a run, also of several at once', async () => {
    const [cancelled, controlled] = [listen(second, 'run-cancel'), listen(second, 'run-control')];
    const ids = [newRun(), newRun()];
    for (const id of ids) first.publish('run-cancel', id);
    first.publish('run-control', `${ids[0]} pause`);
    await eventually(() => expect([cancelled, controlled]).toEqual([ids, [`${ids[0]} pause`]]));
  });

  it('tell of a run those who watch it', async () => {
    const [watched, other] = [newRun(), newRun()];
    const heard = watch(second, watched);
    const others = watch(second, other);
    await eventually(() => {
      first.tell(watched, () => '[1]');
      expect(heard).toContain(carriesEvents ? '[1]' : '');
    });
    expect(heard.every((batch) => batch === '' || (carriesEvents && batch === '[1]'))).toBe(true);
    // Who begins to watch may be asked to look once.
    expect(others.length).toBeLessThanOrEqual(1);
  });

  it('tell the last change of a run although many came quickly', async () => {
    const id = newRun();
    let asked = 0;
    let seen = -1;
    stops.push(
      second.watch(id, () => {
        seen = asked;
      }),
    );
    for (let count = 1; count <= 200; count += 1) {
      asked = count;
      first.tell(id);
    }
    await eventually(() => expect(seen).toBe(asked));
  });

  it('tell who watches a run that its state has changed', async () => {
    const id = newRun();
    const heard = watch(second, id);
    await eventually(() => {
      first.publish('run-changed', id);
      expect(heard).toContain('');
    });
  });

  it('tell nobody who has stopped watching', async () => {
    const [stopped, id] = [newRun(), newRun()];
    const heard: string[] = [];
    second.watch(stopped, (batch) => void heard.push(batch))();
    const after = watch(second, id);
    await eventually(() => {
      first.tell(stopped);
      first.tell(id);
      expect(after.length).toBeGreaterThan(0);
    });
    expect(heard).toEqual([]);
  });

  it('send nothing of runs that nobody watches elsewhere', async () => {
    const before = first.counts.sent;
    for (let index = 0; index < 500; index += 1) first.tell(newRun(), () => '[1]');
    const heard = listen(second, 'run-cancel');
    first.publish('run-cancel', 'run_end');
    await eventually(() => expect(heard).toContain('run_end'));
    // The end itself, and what processes say of themselves.
    expect(first.counts.sent - before).toBeLessThan(10);
  });

  it.each(Object.entries(losses))('say so, have gaps, report one loss, and work again: %s', async (_how, loss) => {
    await areLive();
    errors.length = 0;
    let gaps = 0;
    stops.push(
      second.onGap(() => {
        gaps += 1;
      }),
    );
    const cancelled = listen(second, 'run-cancel');
    const controlled = listen(second, 'run-control');
    await loss.lose();
    if (loss.states !== undefined) {
      await eventually(() => expect(states()).toEqual(loss.states));
      expect(second.problem()).toMatch(/ looked up /);
      // Changes that caches depend on are read from the database, and all else is looked up again and again.
      expect(second.isHealthy()).toBe(true);
      await eventually(() => expect(gaps).toBeGreaterThan(2));
      // What is asked of a run comes at most once; if it is lost, there is a gap.
      first.publish('run-cancel', 'run_lost');
    }
    await eventually(() => expect(gaps).toBeGreaterThan(0));
    await loss.find?.();
    await areLive();
    // Both ways work again, in order.
    const id = newRun();
    const heard = watch(second, id);
    await eventually(() => {
      first.tell(id, () => '[2]');
      expect(heard).toContain(carriesEvents ? '[2]' : '');
    });
    const requests = Array.from({ length: 20 }, (_, index) => `${id} ${index}`);
    for (const request of requests) first.publish('run-control', request);
    await eventually(() => expect(controlled).toEqual(requests));
    expect(cancelled.filter((cancelledId) => cancelledId === 'run_lost').length).toBeLessThanOrEqual(1);
    expect(errors.map(({ name }) => name)).toEqual(loss.states?.[0] === 'live' ? [] : ['SignalsLost']);
  });
}
