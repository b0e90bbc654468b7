import type { SiblingLink, SiblingListener, SignalMessage } from '../../../src/storage/ground/signals/siblings.ts';
import type { Choices } from './random.ts';
import type { Host, Timeline } from './timeline.ts';

interface Member {
  readonly host: Host;
  listener: SiblingListener | undefined;
  /** It is to be told of a loss. */
  hasLost: boolean;
}

/** Carries signals between the processes: in the order of each sender, late, and sometimes not at all, which both ends are told. */
export class SimulatedNetwork {
  readonly #timeline: Timeline;
  readonly #choices: Choices;
  /** Share of messages that are lost, with all others that are under way between the two. */
  readonly #lossShare: number;
  readonly #members = new Map<number, Member>();
  /** When the last message of a way arrives. */
  readonly #arrivesMs = new Map<string, number>();
  #joined = 0;

  constructor(timeline: Timeline, choices: Choices, lossShare: number) {
    this.#timeline = timeline;
    this.#choices = choices;
    this.#lossShare = lossShare;
  }

  /** The link of a process that begins. The others hear of it once it listens. */
  join(host: Host): SiblingLink {
    this.#joined += 1;
    const own = this.#joined;
    const member: Member = { host, listener: undefined, hasLost: false };
    const others = () => [...this.#members.keys()].filter((number) => number !== own);
    return {
      get others() {
        return others();
      },
      send: (to, message) => {
        for (const number of to === 'others' ? others() : [to]) this.#post(own, number, message);
      },
      listen: (listener) => {
        const isFirst = member.listener === undefined;
        member.listener = listener;
        if (!isFirst) return;
        this.#members.set(own, member);
        for (const number of others()) {
          this.#deliver(number, (other) => other.onJoin(own));
          this.#deliver(own, (me) => me.onJoin(number));
        }
      },
    };
  }

  leave(host: Host): void {
    for (const [number, member] of this.#members) {
      if (member.host !== host) continue;
      this.#members.delete(number);
      for (const other of this.#members.keys()) this.#deliver(other, (listener) => listener.onLeave(number));
    }
  }

  #post(from: number, to: number, message: SignalMessage): void {
    if (this.#choices.chance(this.#lossShare)) {
      for (const number of [from, to]) this.#tellLoss(number);
      return;
    }
    // As through a pipe.
    const copy = JSON.parse(JSON.stringify(message)) as SignalMessage;
    const way = `${from} ${to}`;
    const arrivesMs = Math.max(this.#arrivesMs.get(way) ?? 0, this.#timeline.nowMs + this.#choices.fraction * 20);
    this.#arrivesMs.set(way, arrivesMs);
    this.#deliver(to, (listener) => listener.onMessage(copy, from), arrivesMs - this.#timeline.nowMs);
  }

  /** Several losses in a row are told at once, and not before some time has passed. */
  #tellLoss(number: number): void {
    const member = this.#members.get(number);
    if (member === undefined || member.hasLost) return;
    member.hasLost = true;
    const tell = (listener: SiblingListener) => {
      member.hasLost = false;
      listener.onLoss();
    };
    this.#deliver(number, tell, 100 + this.#choices.fraction * 500);
  }

  #deliver(to: number, tell: (listener: SiblingListener) => void, afterMs = 0): void {
    const member = this.#members.get(to);
    if (member === undefined) return;
    const act = () => {
      if (member.listener !== undefined) tell(member.listener);
    };
    this.#timeline.after(afterMs, act, member.host);
  }
}
