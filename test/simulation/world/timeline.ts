import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { seededRandom } from '../../support/property/random.ts';

/** One simulated process. What belongs to it stops for good when it dies, and for a while when its machine stops it. */
export class Host {
  readonly name: string;
  /** Wall clocks of machines need not agree. */
  readonly skewMs: number;
  readonly pid: number;
  isDead = false;
  /** Nothing of it happens before this moment. */
  stoppedUntilMs = 0;

  constructor(name: string, skewMs: number) {
    this.name = name;
    this.skewMs = skewMs;
    pids += 1;
    this.pid = pids;
  }
}

/** Larger than the numbers of real processes. */
let pids = 100_000_000;

interface Happening {
  readonly atMs: number;
  readonly order: number;
  /** Undefined: the world itself, such as the database server. */
  readonly host: Host | undefined;
  readonly act: () => unknown;
  isOff: boolean;
}

const real = {
  Date,
  now: Date.now.bind(Date),
  performanceNow: performance.now.bind(performance),
  setImmediate: globalThis.setImmediate,
};

/** The first of January 2027, 10:00 UTC. */
const beginsAtMs = 1_798_797_600_000;
/** Turns of the event loop without anything under way after which nothing more follows by itself. */
const quietTurns = 3;

/**
 * The only clock of a world. What happens, happens at one moment after the other: the time stands still while the code that it woke runs, and jumps to
 * the next happening once nothing more follows by itself. All timers of Node, the clocks and the sources of randomness are in its hands.
 */
export class Timeline {
  readonly #hosts = new AsyncLocalStorage<Host>();
  #happenings: Happening[] = [];
  readonly #living = new Map<number, Host>();
  #order = 0;
  /** Since the world began. */
  nowMs = 0;
  /** Real input and output under way: the time stands still until it is over. */
  busy = 0;

  /** Takes the globals. They are never given back: a process that simulates does nothing else. */
  constructor() {
    const at = () => Math.floor(beginsAtMs + this.nowMs + (this.#hosts.getStore()?.skewMs ?? 0));
    globalThis.Date = new Proxy(real.Date, {
      construct: (target, values, self) => (values.length === 0 ? new target(at()) : Reflect.construct(target, values, self)),
      get: (target, key, self) => (key === 'now' ? at : Reflect.get(target, key, self)),
    });
    performance.now = () => this.nowMs;
    const start =
      (repeats: boolean) =>
      (act: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) =>
        new SimulatedTimer(this, this.#hosts.getStore(), () => act(...values), Math.max(1, ms), repeats);
    const stop = (timer: unknown) => {
      if (timer instanceof SimulatedTimer) timer.stop();
    };
    Object.assign(globalThis, { setTimeout: start(false), setInterval: start(true), clearTimeout: stop, clearInterval: stop });
    Object.assign(timersPromises, { setTimeout: waiter });
    this.#takeProcess();
    this.#seedRandomness(0);
    syncBuiltinESMExports();
  }

  /** Each simulated process has a number, by which others find out whether it lives. */
  #takeProcess(): void {
    const { pid } = process;
    Object.defineProperty(process, 'pid', { get: () => this.#hosts.getStore()?.pid ?? pid });
    process.kill = (number: number) => {
      const host = this.#living.get(number);
      if (host?.isDead !== false) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
      return true;
    };
  }

  /** A process begins. */
  add(host: Host): void {
    this.#living.set(host.pid, host);
  }

  #seedRandomness(seed: number): void {
    const next = seededRandom(seed);
    const fill = <T extends ArrayBufferView>(view: T): T => {
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      for (let index = 0; index < bytes.length; index += 1) bytes[index] = next() * 256;
      return view;
    };
    Math.random = next;
    const uuid = () => {
      const text = Buffer.from(fill(new Uint8Array(16))).toString('hex');
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20)}`;
    };
    Object.assign(crypto, {
      randomBytes: (size: number) => fill(Buffer.alloc(size)),
      randomFillSync: fill,
      randomUUID: uuid,
    });
    globalThis.crypto.getRandomValues = fill as Crypto['getRandomValues'];
    globalThis.crypto.randomUUID = uuid as Crypto['randomUUID'];
    syncBuiltinESMExports();
  }

  /** The time of the database, in milliseconds since 1970. */
  get databaseMs(): number {
    return beginsAtMs + this.nowMs;
  }

  /** A new world begins: everything in it follows from the seed. */
  begin(seed: number): void {
    this.clear();
    this.nowMs = 0;
    this.#seedRandomness(seed);
  }

  /** Forgets what was to come. */
  clear(): void {
    this.#happenings = [];
  }

  in<T>(host: Host, work: () => T): T {
    return this.#hosts.run(host, work);
  }

  get host(): Host | undefined {
    return this.#hosts.getStore();
  }

  /** Lets something happen after `ms`. @param host  whose it is; absent: the world's. @returns takes it back. */
  after(ms: number, act: () => unknown, host?: Host): () => void {
    this.#order += 1;
    const happening = { atMs: this.nowMs + ms, order: this.#order, host, act, isOff: false };
    this.#insert(happening);
    return () => {
      happening.isOff = true;
    };
  }

  /** Lets time pass until `isOver` or, at the latest, `ms` have passed. @returns whether it was over. */
  async pass(ms: number, isOver: () => boolean): Promise<boolean> {
    const endMs = this.nowMs + ms;
    await this.#settle();
    while (!isOver()) {
      const next = this.#happenings.shift();
      if (next === undefined || next.atMs > endMs) {
        if (next !== undefined) this.#insert(next);
        this.nowMs = endMs;
        return isOver();
      }
      if (next.isOff || next.host?.isDead === true) continue;
      this.nowMs = Math.max(this.nowMs, next.atMs);
      const wakesMs = next.host?.stoppedUntilMs ?? 0;
      if (wakesMs > this.nowMs) {
        this.#insert({ ...next, atMs: wakesMs });
        continue;
      }
      const { host, act } = next;
      await (host === undefined ? act() : this.in(host, act));
      await this.#settle();
    }
    return true;
  }

  /** Waits until nothing more follows by itself. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet = this.busy === 0 ? quiet + 1 : 0) {
      await new Promise((resolve) => real.setImmediate(resolve));
    }
  }

  #insert(happening: Happening): void {
    const list = this.#happenings;
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = list[middle] as Happening;
      if (other.atMs < happening.atMs || (other.atMs === happening.atMs && other.order < happening.order)) low = middle + 1;
      else high = middle;
    }
    list.splice(low, 0, happening);
  }
}

/** What `setTimeout` and `setInterval` give. */
class SimulatedTimer {
  readonly #timeline: Timeline;
  readonly #host: Host | undefined;
  readonly #act: () => void;
  readonly #ms: number;
  readonly #repeats: boolean;
  #drop: () => void;

  constructor(timeline: Timeline, host: Host | undefined, act: () => void, ms: number, repeats: boolean) {
    this.#timeline = timeline;
    this.#host = host;
    this.#act = act;
    this.#ms = ms;
    this.#repeats = repeats;
    this.#drop = this.#begin();
  }

  stop(): void {
    this.#drop();
  }

  refresh(): this {
    this.#drop();
    this.#drop = this.#begin();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return false;
  }

  [Symbol.toPrimitive](): number {
    return 0;
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  #begin(): () => void {
    const act = () => {
      if (this.#repeats) this.#drop = this.#begin();
      this.#act();
    };
    return this.#timeline.after(this.#ms, act, this.#host);
  }
}

/** `setTimeout` of node:timers/promises. */
function waiter<T>(ms?: number, value?: T, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }));
    if (signal?.aborted === true) return refuse();
    const onAbort = () => {
      clearTimeout(timer);
      refuse();
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
