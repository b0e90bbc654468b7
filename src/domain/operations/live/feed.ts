import { type LiveKind, type LivePlace, liveKinds } from '../../../entities/operations/live.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { Signals } from '../../../storage/ground/signals/signals.ts';
import type { SignalTopic } from '../../../storage/ground/signals/topics.ts';
import type { PlaceStore } from '../../../storage/operations/live/places.ts';

/** Changes of one thing within this time are one. */
const gatherMs = 250;
/** After a failed statement, and the least time between two looks for what may have been missed. */
const gapEveryMs = 2_000;
/** More things than this changed at once: it is cheaper to look for what changed. */
const gatheredMax = 2_000;
/** States of runs that are remembered, to leave out signals that change nothing of a list. */
const statesMax = 20_000;

/** The signals that say that things of a kind have changed; each carries an id, or several that are joined by commas. */
export const topicsOfKind: Readonly<Record<LiveKind, readonly SignalTopic[]>> = {
  agent: ['agent-changed', 'agent-rated'],
  dataSource: ['data-source-changed'],
  chat: ['chat-changed'],
  run: ['run-changed', 'runs-recorded'],
  memory: ['memory-changed'],
  chatImport: ['chat-import-changed'],
  connection: ['connection-changed'],
  membership: ['membership-changed'],
  invitation: ['invitation-changed'],
  group: ['group-changed'],
  // Its payload may also be a session: no row of a key is found then.
  apiKey: ['key-changed'],
};

/** By the id of each thing: where it stands; undefined when no row is left of it. */
export type Places = ReadonlyMap<string, LivePlace | undefined>;

export interface LiveListener {
  /** Things have changed. */
  onChanges(places: Places): void;
  /** The rights to these things may have changed, and nothing that they show. Undefined: to any thing. */
  onRights(places: Places | undefined): void;
  /** Rights to these agents may have changed, and with them those to their runs. Told to streams of runs, before the changes that came with it. */
  onAgents(agents: Places): void;
  /** Changes may have been missed: look for them. */
  onGap(): void;
}

/**
 * The changes of things, for the streams of this process: gathers the signals of a quarter of a second, reads once for all streams where the things
 * stand, and tells the streams of their kind. Hears no signal of a kind that no stream follows.
 *
 * Signals are published where rows are written, by the stores, after the commit: so every way to change a thing is told, also that of a job or a tool.
 */
export class LiveFeed {
  readonly #signals: Signals;
  readonly #store: PlaceStore;
  readonly #channels = new Map<LiveKind, Channel>();

  constructor(signals: Signals, store: PlaceStore) {
    this.#signals = signals;
    this.#store = store;
  }

  /** @returns a function that ends it. */
  listen(kind: LiveKind, listener: LiveListener): () => void {
    const channel = this.#channels.get(kind) ?? new Channel(kind, this.#signals, this.#store);
    this.#channels.set(kind, channel);
    channel.listeners.add(listener);
    return () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size > 0) return;
      channel.close();
      if (this.#channels.get(kind) === channel) this.#channels.delete(kind);
    };
  }

  /** Kinds that some stream follows. */
  get followed(): readonly LiveKind[] {
    return liveKinds.filter((kind) => this.#channels.has(kind));
  }
}

/** The changes of one kind. */
class Channel {
  readonly listeners = new Set<LiveListener>();
  readonly #kind: LiveKind;
  readonly #store: PlaceStore;
  readonly #stops: readonly (() => void)[];
  #changed = new Set<string>();
  /** Agents whose attached sources, or whose runs, may have become visible or hidden. */
  #agents = new Set<string>();
  #hasGap = false;
  #gapMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #states = new BoundedMap<string, string>(statesMax);

  constructor(kind: LiveKind, signals: Signals, store: PlaceStore) {
    this.#kind = kind;
    this.#store = store;
    this.#stops = [
      ...topicsOfKind[kind].map((topic) => signals.subscribe(topic, (ids, isRepeat) => this.#note(this.#changed, ids, isRepeat))),
      ...(kind === 'dataSource' || kind === 'run'
        ? [signals.subscribe('agent-changed', (id, isRepeat) => this.#note(this.#agents, id, isRepeat))]
        : []),
      ...(kind === 'agent'
        ? [signals.subscribe('group-changed', () => this.#tell((listener) => listener.onRights(undefined)))]
        : []),
      signals.onGap(() => this.#noteGap()),
    ];
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const stop of this.#stops) stop();
  }

  /** What was noted before is not told twice. */
  #note(set: Set<string>, ids: string, isRepeat: boolean): void {
    if (isRepeat) return;
    for (const id of ids.split(',')) set.add(id);
    this.#begin(gatherMs);
  }

  #noteGap(): void {
    this.#hasGap = true;
    this.#begin(Math.max(gatherMs, this.#gapMs + gapEveryMs - performance.now()));
  }

  #begin(afterMs: number): void {
    this.#timer ??= setTimeout(() => void this.#flush(), afterMs).unref();
  }

  async #flush(): Promise<void> {
    const { changed: changedIds, agents, hasGap } = { changed: this.#changed, agents: this.#agents, hasGap: this.#hasGap };
    this.#changed = new Set();
    this.#agents = new Set();
    this.#hasGap = false;
    try {
      if (this.#kind === 'run' && agents.size > 0) {
        const places = collectPlaces(agents, await this.#store.places('agent', [...agents]));
        this.#tell((listener) => listener.onAgents(places));
      }
      if (hasGap || changedIds.size > gatheredMax) {
        this.#gapMs = performance.now();
        this.#tell((listener) => listener.onGap());
      } else if (changedIds.size > 0) {
        const places = this.#withoutEchoes(collectPlaces(changedIds, await this.#store.places(this.#kind, [...changedIds])));
        if (places.size > 0) this.#tell((listener) => listener.onChanges(places));
      }
      if (this.#kind === 'dataSource' && agents.size > 0) {
        const places = await this.#store.sourcesOf([...agents]);
        if (places.size > 0) this.#tell((listener) => listener.onRights(places));
      }
    } catch {
      // The database does not answer: the streams look for themselves when it does.
      this.#hasGap = true;
    }
    this.#timer = undefined;
    if (this.#isClosed) return;
    if (this.#hasGap) this.#noteGap();
    else if (this.#changed.size + this.#agents.size > 0) this.#begin(gatherMs);
  }

  /** Without the things of which nothing has changed that a list shows. */
  #withoutEchoes(places: Places): Places {
    if (this.#kind !== 'run') return places;
    return new Map(
      [...places].filter(([id, place]) => {
        const isEcho = place?.state !== undefined && this.#states.get(id) === place.state;
        if (place?.state !== undefined) this.#states.set(id, place.state);
        return !isEcho;
      }),
    );
  }

  #tell(what: (listener: LiveListener) => void): void {
    for (const listener of this.listeners) what(listener);
  }
}

function collectPlaces(ids: ReadonlySet<string>, placesById: ReadonlyMap<string, LivePlace>): Places {
  return new Map([...ids].map((id) => [id, placesById.get(id)]));
}
