import { setTimeout as sleep } from 'node:timers/promises';

const hostsMax = 1_000;

export interface PaceOptions {
  /** Requests to one host at one time. */
  readonly concurrency: number;
  /** Least time between the starts of two requests to one host. */
  readonly delayMs: number;
}

interface Pace {
  active: number;
  readonly waiting: (() => void)[];
  /** When the next request may start; of `performance.now()`. */
  nextAt: number;
  /** The host asked for silence until then. */
  silentUntil: number;
}

/** Keeps all crawls of this process from asking too much of one host. */
export class Throttle {
  readonly #options: PaceOptions;
  readonly #hosts = new Map<string, Pace>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /**
   * Waits for a turn at a host, in order of arrival.
   *
   * @param delayMs  what the host itself asks for between two requests.
   * @returns ends the turn. @throws the signal's reason.
   */
  async take(host: string, delayMs: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const pace = this.#paceOf(host);
    if (pace.active < this.#options.concurrency) pace.active += 1;
    else await enter(pace, signal);
    try {
      const wait = Math.max(delayMs, this.#options.delayMs);
      const startAt = Math.max(performance.now(), pace.nextAt);
      pace.nextAt = startAt + wait;
      for (;;) {
        const waitMs = Math.max(startAt, pace.silentUntil) - performance.now();
        if (waitMs <= 0) break;
        await sleep(waitMs, undefined, { signal });
      }
    } catch (error) {
      this.#leave(pace);
      throw error;
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#leave(pace);
    };
  }

  /** Sends nothing to a host for a while. */
  silence(host: string, waitMs: number): void {
    const pace = this.#paceOf(host);
    pace.silentUntil = Math.max(pace.silentUntil, performance.now() + waitMs);
  }

  #leave(pace: Pace): void {
    const next = pace.waiting.shift();
    if (next === undefined) pace.active -= 1;
    else next();
  }

  #paceOf(host: string): Pace {
    const knownPace = this.#hosts.get(host);
    if (knownPace !== undefined) return knownPace;
    if (this.#hosts.size >= hostsMax) this.#forgetIdle();
    const pace = { active: 0, waiting: [], nextAt: 0, silentUntil: 0 };
    this.#hosts.set(host, pace);
    return pace;
  }

  #forgetIdle(): void {
    const now = performance.now();
    for (const [host, { active, nextAt, silentUntil }] of this.#hosts) {
      if (active === 0 && Math.max(nextAt, silentUntil) <= now) this.#hosts.delete(host);
    }
  }
}

/** Waits until somebody leaves and hands over the turn. */
async function enter({ waiting }: Pace, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => {
    const place = waiting.indexOf(resolve);
    if (place < 0) return;
    waiting.splice(place, 1);
    reject(signal.reason);
  };
  waiting.push(resolve);
  signal.addEventListener('abort', leave, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
