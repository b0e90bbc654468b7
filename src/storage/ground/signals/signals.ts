/**
 * Messages between parts of Parley and between instances: in-process on the embedded database, on a server by LISTEN/NOTIFY or by Redis Streams. A
 * signal says "look again"; the database stays the truth, so a lost signal costs only time.
 *
 * The database itself announces changes of `announcedTopics`: a trigger does it in the transaction of the change, so an announcement does not depend
 * on a living process. `publish` never waits, and is called outside transactions.
 */
export interface Signals {
  /** Reaches every process that listens to the topic. `payload` is at most 7,000 bytes of text without line breaks. */
  publish(topic: SignalTopic, payload: string): void;
  /**
   * @param interest  `announced`: the listener needs only what the database announces itself, and hears more if it comes. So others need not send what
   * nobody here wants.
   */
  subscribe(topic: SignalTopic, listener: SignalListener, interest?: SignalInterest): () => void;
  /**
   * Says that the log of a run has grown. Reaches only processes that watch the run, so a run that nobody follows elsewhere costs next to nothing.
   *
   * @param batch  makes the text of the new events, which are stored already. Called only when it is sent.
   */
  tell(runId: string, batch?: () => string): void;
  /** Hears `tell`, and `publish` of `run-changed`, of one run. @param listener  gets the batch, or '' for "look again". */
  watch(runId: string, listener: WatchListener): () => void;
  /** Called when signals may have been lost: after a lost connection, and every second while notifications do not arrive. */
  onGap(listener: () => void): () => void;
  /** Called when changes of `announcedTopics` may have been missed: drop everything cached that depends on them. */
  onReset(listener: () => void): () => void;
  /**
   * False while changes of `announcedTopics` may be late or lost, because the database has not answered for two seconds. Always true in-process.
   * Caches ask this before they trust an entry for longer than a second.
   */
  isHealthy(): boolean;
  /** `polling`: signals of other processes arrive only every half second. `lost`: they do not arrive at all. Always `live` in-process. */
  state(): SignalState;
  /** What is wrong while the state is not `live`, for operators. */
  problem(): string | undefined;
  /** For metrics. */
  readonly counts: SignalCounts;
  close(): Promise<void>;
}

export type SignalState = 'live' | 'polling' | 'lost';

export interface SignalCounts {
  /** Messages of this process to others, and of others to this process, since the start. */
  readonly sent: number;
  readonly heard: number;
  /** Processes on this database, this one included, as far as it knows. */
  readonly instances: number;
  /** Runs that this process watches. */
  readonly watched: number;
  /** The filled part of the queue of notifications of the database, 0 to 1; undefined where it is not used. */
  readonly queueUsage?: number;
  /** Listeners of other processes that were ended because they kept that queue from shrinking. */
  readonly endedListeners?: number;
}

export type SignalInterest = 'all' | 'announced';

export type WatchListener = (batch: string) => void;

/** @param isRepeat  the same change was delivered before, by a notification. Caches drop their entry again; who tells people of changes need not. */
export type SignalListener = (payload: string, isRepeat: boolean) => void;

/** Topics that the triggers of the migrations announce. A cache may depend on these only. */
export const announcedTopics = ['key-changed', 'user-changed', 'agent-changed', 'group-changed', 'organization-changed'] as const;

/** Topics that ask another process to do something. They are rare and always sent; all others only refresh what people see. */
export const controlTopics: ReadonlySet<SignalTopic> = new Set(['run-cancel', 'run-control', 'run-ready', 'mcp-cancel'] as const);

/** `key-changed` carries the id of a key or a session, `agent-changed` an agent id, `run-changed` a run id, `chat-changed` a chat id, `usage-changed` an organization id … */
export type SignalTopic =
  | (typeof announcedTopics)[number]
  /** The state of a run has changed: it was made, started, paused or ended. Its events alone are told by `tell`. */
  | 'run-changed'
  /** Runs that are not stored have their rows; the payload is their ids, joined by commas. */
  | 'runs-recorded'
  | 'run-cancel'
  /** A client of MCP has cancelled a call; the payload is a hash that names the call. */
  | 'mcp-cancel'
  /** A run was asked to pause, or messages were added to it. */
  | 'run-control'
  /** A waiting run may begin. */
  | 'run-ready'
  | 'chat-changed'
  /** Somebody rated an agent: nothing that a cache keeps of it has changed. */
  | 'agent-rated'
  | 'memory-changed'
  | 'connection-changed'
  /** The payload is ids of memberships, joined by commas: a role, or the name or e-mail of the person. */
  | 'membership-changed'
  | 'invitation-changed'
  /** Announced by the trigger when a source is about to be deleted; also published while a source is indexed. */
  | 'data-source-changed'
  | 'usage-changed';
