import type { Pool } from 'pg';
import type { SignalTopic } from './topics.ts';

/**
 * Carries signals between the processes on one database. It is made with the `SignalHub` of its process and calls `hub.hear` and `hub.tell` with what
 * arrives, and `hub.miss` when something may have been lost: after each lost connection, also in the middle of its messages. Whatever arrives is in
 * the order in which its sender published it.
 *
 * No method waits, and none but `start` throws. What cannot be sent is lost or sent later: the database stays the truth, and the listeners look there.
 */
export interface SignalTransport {
  /** Whether signals of other processes arrive at once. */
  readonly isLive: boolean;
  /** What is wrong while it is not live, as a sentence for operators without its full stop. */
  readonly problem: string;
  readonly counts: TransportCounts;
  /** @param pool  a connection for short looks at the database, which no other work delays. */
  start(pool: Pool): Promise<void>;
  /** Reaches the other processes that listen to the topic. */
  send(topic: SignalTopic, payload: string): void;
  /** Takes the new events of a run to the processes that are known to watch it. Without this, these look into the database. */
  sendEvents?(runId: string, batch: () => string): void;
  /** Tells the other processes that watch a run to look again. @param isForAll  false: those that got the events by `sendEvents` need not. */
  tellWatchers(runId: string, isForAll: boolean): void;
  /** This process watches a run from now on. */
  watch(runId: string): void;
  unwatch?(runId: string): void;
  /** This process listens to a further topic; see `hub.wantedTopics`. */
  follow(): void;
  /** Called after each look at the changes of the database, twice a second while it answers. */
  look(): void;
  /** A notification that the next look sends, to check that notifications arrive. */
  beat?(): readonly [channel: string, payload: string] | undefined;
  close(): Promise<void>;
}

export interface TransportCounts {
  /** Messages of this process to others, and of others to this process, since the start. */
  readonly sent: number;
  readonly heard: number;
  /** Processes on this database, this one included, as far as it knows. */
  readonly instances: number;
  /** The filled part of the queue of notifications of the database, 0 to 1; undefined where it is not used. */
  readonly queueUsage?: number;
  /** Listeners of other processes that were ended because they kept that queue from shrinking. */
  readonly endedListeners?: number;
}
