/**
 * Messages between parts of Parley and between instances: in-process on the embedded database, LISTEN/NOTIFY on a server. A signal says "look again";
 * the database stays the truth, so a lost signal costs only time.
 *
 * The database itself announces changes of `announcedTopics`: a trigger does it in the transaction of the change, so an announcement does not depend
 * on a living process. For these topics, `publish` calls only the listeners of this process.
 */
export interface Signals {
  /** `payload` is at most 7,000 bytes of text. */
  publish(topic: SignalTopic, payload: string): void;
  subscribe(topic: SignalTopic, listener: SignalListener): () => void;
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
  state(): 'live' | 'polling' | 'lost';
  close(): Promise<void>;
}

/** @param isRepeat  the same change was delivered before, by a notification. Caches drop their entry again; who tells people of changes need not. */
export type SignalListener = (payload: string, isRepeat: boolean) => void;

/** Topics that the triggers of the migrations announce. A cache may depend on these only. */
export const announcedTopics = ['key-changed', 'user-changed', 'agent-changed', 'group-changed', 'organization-changed'] as const;

/** `key-changed` carries the id of a key or a session, `agent-changed` an agent id, `run-changed` a run id, `chat-changed` a chat id, `usage-changed` an organization id … */
export type SignalTopic =
  | (typeof announcedTopics)[number]
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
