/**
 * News between parts of Parley, and between instances: in-process on the embedded database, LISTEN/NOTIFY on a server.
 * A signal says "look again"; the database stays the truth, so a lost one costs time and nothing else.
 */
export interface Signals {
  /** `payload` is at most 7,000 bytes of text. */
  publish(topic: SignalTopic, payload: string): void;
  subscribe(topic: SignalTopic, listener: (payload: string) => void): () => void;
  /** Called after a connection was lost and found again: anything may have been missed. */
  onGap(listener: () => void): () => void;
  /**
   * False while news may be late or lost: the connection is down, or has not been heard of for a second. Always true in-process. Caches
   * ask this before they trust an entry for longer than a second.
   */
  isHealthy(): boolean;
  close(): Promise<void>;
}
/** `key-changed` carries a key id, `agent-changed` an agent id, `run-changed` a run id, `chat-changed` a chat id, `usage-changed` an organization id … */
export type SignalTopic =
  | 'key-changed'
  | 'user-changed'
  | 'agent-changed'
  | 'group-changed'
  | 'run-changed'
  | 'run-cancel'
  /** A run was asked to pause, or something was put into it. */
  | 'run-control'
  /** A waiting run may begin. */
  | 'run-ready'
  | 'chat-changed'
  | 'data-source-changed'
  | 'organization-changed'
  | 'usage-changed';
