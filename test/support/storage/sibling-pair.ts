import { Backlog } from '../../../src/start/processes/backlog.ts';
import type { SiblingLink, SiblingListener, SignalMessage } from '../../../src/storage/ground/signals/siblings.ts';

/** What the supervisor does between two processes. */
export interface SiblingPair {
  readonly links: readonly [SiblingLink, SiblingLink];
  /** Both are there. Call it when both listen. */
  join(): void;
  /** The second one ends, and another takes its place. */
  replaceSecond(): void;
  /** Both stop reading until so much waits for them that messages are dropped, and go on then. */
  overflow(): void;
}

type Relayed = { readonly from: number; readonly message: SignalMessage } | 'loss';

export function siblingPair(): SiblingPair {
  const numbers = [1, 2] as const;
  const listeners = new Map<number, SiblingListener>();
  const unread: (() => void)[] = [];
  let areReading = true;
  let others: Readonly<Record<number, readonly number[]>> = { 1: [], 2: [] };
  const readAll = () => {
    for (const read of areReading ? unread.splice(0) : []) read();
  };
  const backlogs = new Map(
    numbers.map((number) => {
      const send = (relayed: Relayed, onWritten: () => void) => {
        unread.push(() => {
          const listener = listeners.get(number);
          if (relayed === 'loss') listener?.onLoss();
          // As through a pipe.
          else listener?.onMessage(JSON.parse(JSON.stringify(relayed.message)), relayed.from);
          onWritten();
        });
        setImmediate(readAll);
      };
      return [number, new Backlog<Relayed>(send, 'loss')];
    }),
  );
  const link = (number: number): SiblingLink => ({
    get others() {
      return others[number] ?? [];
    },
    send(to, message) {
      for (const [receiver, backlog] of backlogs)
        if (to === 'others' ? receiver !== number : receiver === to) backlog.add({ from: number, message });
    },
    listen: (listener) => void listeners.set(number, listener),
  });
  const join = () => {
    others = { 1: [2], 2: [1] };
    listeners.get(1)?.onJoin(2);
    listeners.get(2)?.onJoin(1);
  };
  const links = [link(1), link(2)] as const;
  return {
    links,
    join,
    replaceSecond() {
      others = { 1: [], 2: [] };
      listeners.get(1)?.onLeave(2);
      listeners.get(2)?.onLeave(1);
      join();
    },
    overflow() {
      areReading = false;
      for (const one of links)
        for (let count = 0; count <= 10_000; count += 1) one.send('others', ['signal', 'agent-rated', 'ai_1']);
      areReading = true;
      setImmediate(readAll);
    },
  };
}
