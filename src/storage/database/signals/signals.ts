/**
 * News between parts of Parley, and between instances: in-process on the embedded database, LISTEN/NOTIFY on a server.
 * A signal says "look again"; the database stays the truth, so a lost one costs time and nothing else.
 *
 * Topics of `announcedTopics` are told by the database itself: a trigger announces the change in the transaction that makes it, so that no
 * process has to live on to tell of it. `publish` tells only the listeners of this process of them.
 */
export interface Signals {
  /** `payload` is at most 7,000 bytes of text. */
  publish(topic: SignalTopic, payload: string): void;
  subscribe(topic: SignalTopic, listener: (payload: string) => void): () => void;
  /** Called when signals may have been missed: after a lost connection, and every second while notifications do not arrive. */
  onGap(listener: () => void): () => void;
  /** Called when changes of `announcedTopics` may have been missed: nothing that is remembered of them holds. */
  onReset(listener: () => void): () => void;
  /**
   * False while changes of `announcedTopics` may be late or lost, because the database was not heard of for two seconds. Always true
   * in-process. Caches ask this before they trust an entry for longer than a second.
   */
  isHealthy(): boolean;
  /** `polling`: other processes are heard every half a second only. `lost`: not at all. Always `live` in-process. */
  state(): 'live' | 'polling' | 'lost';
  close(): Promise<void>;
}

/** Topics that the triggers of the migrations announce. What is remembered must depend on these only. */
export const announcedTopics = ['key-changed', 'user-changed', 'agent-changed', 'group-changed', 'organization-changed'] as const;

/** `key-changed` carries a key id, `agent-changed` an agent id, `run-changed` a run id, `chat-changed` a chat id, `usage-changed` an organization id … */
export type SignalTopic =
  | (typeof announcedTopics)[number]
  | 'run-changed'
  | 'run-cancel'
  /** A run was asked to pause, or something was put into it. */
  | 'run-control'
  /** A waiting run may begin. */
  | 'run-ready'
  | 'chat-changed'
  /** Announced when one is about to be deleted; also published while one is indexed. */
  | 'data-source-changed'
  | 'usage-changed';
