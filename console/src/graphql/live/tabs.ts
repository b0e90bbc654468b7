import { type RefusedOperation, StreamConnection } from './connection.ts';

/** Whether events arrive: `connecting` before the first time, `broken` while a lost stream is tried again. */
export type ConnectionState = 'idle' | 'connecting' | 'open' | 'broken';

export interface Operation {
  readonly query: string;
  /** Asked for again whenever the operation is sent again. */
  readonly variables: () => Readonly<Record<string, unknown>>;
}

export interface Handlers {
  readonly begin: () => void;
  readonly next: (data: unknown) => void;
  readonly error: (error: RefusedOperation) => void;
  /** Undefined: the operation is sent again when the service ends it. */
  readonly complete: (() => void) | undefined;
}

/** What tabs say to each other. `tab` is the tab that follows the operation `id`. */
type Message =
  | {
      readonly type: 'begin';
      readonly tab: string;
      readonly id: string;
      readonly query: string;
      readonly variables: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'end'; readonly tab: string; readonly id: string }
  | { readonly type: 'next'; readonly tab: string; readonly id: string; readonly data: unknown }
  | { readonly type: 'refused'; readonly tab: string; readonly id: string; readonly error: RefusedOperation }
  | { readonly type: 'complete' | 'broken'; readonly tab: string; readonly id: string }
  /** A tab began to lead: the others send their operations to it. */
  | { readonly type: 'leads' }
  | { readonly type: 'state'; readonly state: ConnectionState };

const channelName = 'parley-live';
const leaderLock = 'parley-live-leader';
const retryMinMs = 250;
const retryMaxMs = 10_000;
const heartbeatMsDefault = 12_000;

/**
 * The subscriptions of all tabs of a browser on one event stream: a browser opens six connections to a service over HTTP/1.1, and an event stream
 * holds one for good. One tab leads: it holds the Web Lock, keeps the stream, and sends what arrives to the tab that asked. When it closes, another
 * tab gets the lock, and every tab sends its operations again.
 */
export class Tabs {
  readonly #tab = randomId();
  readonly #followed = new Map<string, { readonly operation: Operation; readonly handlers: Handlers; isSent: boolean }>();
  readonly #listeners = new Set<() => void>();
  #channel: BroadcastChannel | undefined;
  #leader: Leader | undefined;
  #state: ConnectionState = 'idle';
  /** This tab holds its lock. A leader that hears of a tab before would take the tab for gone. */
  #isPresent: Promise<void> = Promise.resolve();
  #retryMs = retryMinMs;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  get state(): ConnectionState {
    return this.#state;
  }

  onState(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  follow(operation: Operation, handlers: Handlers): () => void {
    const id = randomId();
    this.#followed.set(id, { operation, handlers, isSent: false });
    this.#join();
    this.#send(id);
    return () => {
      if (this.#followed.delete(id)) this.#say({ type: 'end', tab: this.#tab, id });
    };
  }

  stop(): void {
    this.#isStopped = true;
    this.#followed.clear();
    this.#leader?.close();
    this.#leader = undefined;
    this.#channel?.close();
    this.#channel = undefined;
  }

  /** Takes part: waits for the lead, and hears the other tabs. */
  #join(): void {
    if (this.#channel !== undefined || this.#isStopped) return;
    this.#channel = new BroadcastChannel(channelName);
    this.#setState('connecting');
    addEventListener('online', () => this.#sendUnsent());
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.#sendUnsent());
    // Pages of an origin that is not secure have no locks: there each tab has a stream of its own.
    if (navigator.locks === undefined) {
      void this.#lead();
      return;
    }
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Message>) => this.#hear(data));
    // Held as long as this tab lives, so that the leader learns when it is gone.
    this.#isPresent = new Promise((resolve) => {
      void navigator.locks.request(tabLock(this.#tab), () => {
        resolve();
        return new Promise<void>(() => undefined);
      });
    });
    void navigator.locks.request(leaderLock, () => this.#lead());
  }

  #lead(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#leader = new Leader((message) => {
      if ('tab' in message && message.tab === this.#tab) this.#hear(message);
      else this.#channel?.postMessage(message);
      if (message.type === 'state') this.#setState(message.state);
    });
    this.#channel?.postMessage({ type: 'leads' } satisfies Message);
    this.#sendAll();
    return new Promise<void>(() => undefined);
  }

  #say(message: Message): void {
    if (this.#leader === undefined) this.#channel?.postMessage(message);
    else this.#leader.hear(message);
  }

  #send(id: string): void {
    const entry = this.#followed.get(id);
    if (entry === undefined || this.#isStopped) return;
    entry.isSent = true;
    entry.handlers.begin();
    void this.#isPresent.then(() => {
      if (this.#followed.get(id) !== entry || !entry.isSent) return;
      const { query, variables } = entry.operation;
      this.#say({ type: 'begin', tab: this.#tab, id, query, variables: variables() });
    });
  }

  #sendAll(): void {
    for (const id of this.#followed.keys()) this.#send(id);
  }

  #sendUnsent(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    for (const [id, { isSent }] of this.#followed) if (!isSent) this.#send(id);
  }

  #hear(message: Message): void {
    if (message.type === 'begin' || message.type === 'end') this.#leader?.hear(message);
    else if (message.type === 'leads') this.#sendAll();
    else if (message.type === 'state') this.#setState(message.state);
    else if (message.tab === this.#tab) this.#take(message);
  }

  /** What happened to an operation of this tab. */
  #take(message: Extract<Message, { readonly type: 'next' | 'refused' | 'complete' | 'broken' }>): void {
    const entry = this.#followed.get(message.id);
    if (entry === undefined) return;
    if (message.type === 'next') {
      this.#retryMs = retryMinMs;
      entry.handlers.next(message.data);
    } else if (message.type === 'broken' || (message.type === 'complete' && entry.handlers.complete === undefined)) {
      entry.isSent = false;
      this.#sendSoon();
    } else if (message.type === 'refused') {
      this.#followed.delete(message.id);
      entry.handlers.error(message.error);
    } else if (message.type === 'complete') {
      this.#followed.delete(message.id);
      entry.handlers.complete?.();
    }
  }

  /** All that is unsent, after a pause that doubles. */
  #sendSoon(): void {
    if (this.#retry !== undefined) return;
    this.#retry = setTimeout(() => this.#sendUnsent(), this.#retryMs * (0.75 + Math.random() / 2));
    this.#retryMs = Math.min(this.#retryMs * 2, retryMaxMs);
  }

  #setState(state: ConnectionState): void {
    if (state === 'open') this.#retryMs = retryMinMs;
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** Keeps the stream for all tabs. */
class Leader {
  readonly #tell: (message: Message) => void;
  readonly #running = new Map<string, { readonly tab: string; readonly end: () => void }>();
  readonly #tabs = new Set<string>();
  readonly #connection: StreamConnection;
  #state: ConnectionState = 'connecting';

  constructor(tell: (message: Message) => void) {
    this.#tell = tell;
    this.#connection = new StreamConnection(heartbeatMs(), () => this.#setState('open'));
  }

  hear(message: Message): void {
    if (message.type === 'end') this.#end(message.id);
    if (message.type !== 'begin') return;
    const { tab, id, query, variables } = message;
    this.#end(id);
    this.#watchTab(tab);
    const end = this.#connection.begin(
      { query, variables },
      {
        next: (data) => this.#tell({ type: 'next', tab, id, data }),
        refused: (error) => this.#over(id, { type: 'refused', tab, id, error }),
        complete: () => this.#over(id, { type: 'complete', tab, id }),
        broken: () => {
          this.#setState('broken');
          this.#over(id, { type: 'broken', tab, id });
        },
      },
    );
    this.#running.set(id, { tab, end });
    // A new tab does not know it.
    this.#tell({ type: 'state', state: this.#state });
  }

  close(): void {
    for (const id of [...this.#running.keys()]) this.#end(id);
    this.#connection.close();
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    this.#tell({ type: 'state', state });
  }

  /** Tells how an operation ended, unless it was ended here. */
  #over(id: string, message: Message): void {
    if (this.#running.delete(id)) this.#tell(message);
  }

  #end(id: string): void {
    const entry = this.#running.get(id);
    this.#running.delete(id);
    entry?.end();
  }

  /** A tab that is gone frees its lock. */
  #watchTab(tab: string): void {
    if (this.#tabs.has(tab) || navigator.locks === undefined) return;
    this.#tabs.add(tab);
    void navigator.locks.request(tabLock(tab), () => {
      this.#tabs.delete(tab);
      for (const [id, running] of [...this.#running]) if (running.tab === tab) this.#end(id);
    });
  }
}

/** `crypto.randomUUID` is missing on pages of an origin that is not secure. */
function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

const tabLock = (tab: string) => `parley-live-tab-${tab}`;

/** What the service says in the page; a page of `vite` says nothing. */
function heartbeatMs(): number {
  const value = Number(document.querySelector('meta[name="parley-heartbeat-ms"]')?.getAttribute('content'));
  return value > 0 ? value : heartbeatMsDefault;
}
