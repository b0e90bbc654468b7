import type { Pool } from 'pg';
import { ChangeFeed } from './change-feed.ts';
import type { SignalHub, SignalInterest, SignalListener, WatchListener } from './hub.ts';
import { announcedTopics, type SignalTopic } from './topics.ts';
import type { SignalTransport, TransportCounts } from './transport.ts';

export type SignalState = 'live' | 'polling' | 'lost';
export interface SignalCounts extends TransportCounts {
  /** Runs that this process watches. */
  readonly watched: number;
}

/** How signals reach other processes. */
export interface Remote {
  readonly transport: SignalTransport;
  /** Of the database, whose changes are read twice a second, whether or not the transport works. */
  readonly pool: Pool;
}

/** While signals do not arrive, listeners look again so often. */
const gapEveryMs = 1_000;
/** The least time between two signals that the log of one run has grown. */
const tellEveryMs = 250;

/**
 * Messages between parts of Parley and between instances: in-process, between processes of one service through their supervisor, on a server by LISTEN/NOTIFY or by Redis Streams. A
 * signal says "look again"; the database stays the truth, so a lost signal costs only time.
 *
 * The database itself announces changes of `announcedTopics`: a trigger does it in the transaction of the change, so an announcement does not depend
 * on a living process. `publish` and `tell` never wait, and take effect once the current transaction has committed.
 */
export class Signals {
  readonly #hub: SignalHub;
  readonly #transport: SignalTransport | undefined;
  readonly #feed: ChangeFeed | undefined;
  readonly #afterCommit: (act: () => void) => void;
  readonly #quiet = new Quiet(tellEveryMs, (runId) => this.#transport?.tellWatchers(runId, false));
  #gapMs = 0;

  /** @param remote  undefined: this process is the only one on its database. */
  constructor(hub: SignalHub, remote?: Remote, afterCommit: (act: () => void) => void = (act) => act()) {
    this.#hub = hub;
    this.#transport = remote?.transport;
    this.#feed = remote === undefined ? undefined : new ChangeFeed(remote.pool, hub);
    this.#afterCommit = afterCommit;
  }

  /** @throws Error when the database does not answer. The transport may come later. */
  async start(): Promise<void> {
    const [feed, transport] = [this.#feed, this.#transport];
    if (feed === undefined || transport === undefined) return;
    await feed.start({ beat: () => transport.beat?.(), onLook: () => this.#look(transport) });
    await transport.start(feed.pool);
  }

  /** Reaches every process that listens to the topic. `payload` is at most 7,000 bytes of text without line breaks. */
  publish(topic: SignalTopic, payload: string): void {
    this.#afterCommit(() => {
      this.#hub.hear(topic, payload, announcedTopics.has(topic));
      this.#transport?.send(topic, payload);
      if (topic !== 'run-changed') return;
      this.#quiet.forget(payload);
      this.#hub.tell(payload, '');
      this.#transport?.tellWatchers(payload, true);
    });
  }

  /**
   * @param interest  `announced`: the listener needs only what the database announces itself, and hears more if it comes. So others need not send what
   * nobody here wants.
   */
  subscribe(topic: SignalTopic, listener: SignalListener, interest: SignalInterest = 'all'): () => void {
    const wasWanted = this.#hub.wants(topic);
    const stop = this.#hub.subscribe(topic, listener, interest);
    if (!wasWanted && this.#hub.wants(topic)) this.#transport?.follow();
    return stop;
  }

  /**
   * Says that the log of a run has grown. Reaches only processes that watch the run, so a run that nobody follows elsewhere costs next to nothing.
   *
   * @param batch  makes the text of the new events, which are stored already. Called only when it is sent.
   */
  tell(runId: string, batch: () => string = () => ''): void {
    this.#afterCommit(() => {
      this.#hub.tell(runId, '');
      if (this.#transport === undefined) return;
      this.#transport.sendEvents?.(runId, batch);
      this.#quiet.ask(runId);
    });
  }

  /** Hears `tell`, and `publish` of `run-changed`, of one run. @param listener  gets the batch, or '' for "look again". */
  watch(runId: string, listener: WatchListener): () => void {
    const isFirst = !this.#hub.isWatched(runId);
    const stop = this.#hub.watch(runId, listener);
    if (isFirst) this.#transport?.watch(runId);
    return () => {
      stop();
      if (!this.#hub.isWatched(runId)) this.#transport?.unwatch?.(runId);
    };
  }

  /** Called when signals may have been lost: after a lost connection, and every second while they do not arrive. */
  onGap(listener: () => void): () => void {
    return this.#hub.onLoss('gap', listener);
  }

  /** Called when changes of `announcedTopics` may have been missed: drop everything cached that depends on them. */
  onReset(listener: () => void): () => void {
    return this.#hub.onLoss('reset', listener);
  }

  /**
   * False while changes of `announcedTopics` may be late or lost, because the database has not answered for two seconds. Always true in-process.
   * Caches ask this before they trust an entry for longer than a second.
   */
  isHealthy(): boolean {
    return this.#feed?.isFresh ?? true;
  }

  /** `polling`: signals of other processes arrive only every half second. `lost`: they do not arrive at all. Always `live` in-process. */
  state(): SignalState {
    if (!this.isHealthy()) return 'lost';
    return this.#transport?.isLive === false ? 'polling' : 'live';
  }

  /** What is wrong while the state is not `live`, for operators. */
  problem(): string | undefined {
    return this.state() === 'live' || this.#transport === undefined ? undefined : `${this.#transport.problem}.`;
  }

  /** For metrics. */
  get counts(): SignalCounts {
    const counts = this.#transport?.counts ?? { sent: 0, heard: 0, instances: 1 };
    return { ...counts, watched: this.#hub.watchedRuns().length };
  }

  async close(): Promise<void> {
    this.#quiet.close();
    this.#hub.clear();
    await this.#feed?.close();
    await this.#transport?.close();
  }

  /** The database answered a look. */
  #look(transport: SignalTransport): void {
    transport.look();
    const now = performance.now();
    if (transport.isLive || now - this.#gapMs < gapEveryMs) return;
    this.#gapMs = now;
    this.#hub.miss();
  }
}

/** Runs `act` for a subject at once, then at most once in a time: what is asked for meanwhile is done once, at the end of that time. */
class Quiet {
  readonly #timeMs: number;
  readonly #act: (subject: string) => void;
  readonly #subjects = new Map<string, { readonly timer: NodeJS.Timeout; isWanted: boolean }>();

  constructor(timeMs: number, act: (subject: string) => void) {
    this.#timeMs = timeMs;
    this.#act = act;
  }

  ask(subject: string): void {
    const quiet = this.#subjects.get(subject);
    if (quiet === undefined) this.#begin(subject);
    else quiet.isWanted = true;
  }

  /** What was asked for is not done any more. */
  forget(subject: string): void {
    clearTimeout(this.#subjects.get(subject)?.timer);
    this.#subjects.delete(subject);
  }

  close(): void {
    for (const subject of [...this.#subjects.keys()]) this.forget(subject);
  }

  #begin(subject: string): void {
    const timer = setTimeout(() => {
      this.#subjects.delete(subject);
      if (quiet.isWanted) this.#begin(subject);
    }, this.#timeMs);
    const quiet = { timer: timer.unref(), isWanted: false };
    this.#subjects.set(subject, quiet);
    this.#act(subject);
  }
}
