import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { Connection, type SignalsLost } from '../signals/connection.ts';
import type { SignalHub } from '../signals/hub.ts';
import { type Message, Outbox } from '../signals/outbox.ts';
import { announcedTopics, controlTopics, type SignalTopic } from '../signals/topics.ts';
import type { SignalTransport, TransportCounts } from '../signals/transport.ts';
import { RedisKeys } from './keys.ts';
import { type Fields, RedisSession, type Source } from './session.ts';

const gatherMs = 5;
/** Most bytes of one entry, about. A batch of events that is longer is read from the database. */
const entryBytesMax = 64 * 1024;
const linesMax = 20_000;
const againMaxMs = 5_000;
const runsMax = 20_000;
const processesMax = 10_000;

export interface RedisTransportOptions {
  readonly url: string;
  /** The id of the installation. */
  readonly installation: string;
  /** Called once for a loss. */
  readonly onError: (error: SignalsLost) => void;
  /** Called when Redis answers again. */
  readonly onBack: () => void;
}

/**
 * Redis Streams. Each process has a stream of its own, its inbox, and notes in a sorted set of each run that it watches it; who works on the run puts the
 * run's new events into the inboxes of those who watch. So what a process reads follows what is watched there, in one read, however many runs there are.
 * What is asked of runs and changes that caches depend on go to all; changes of lists to those who follow lists.
 */
export class RedisTransport implements SignalTransport {
  readonly problem = 'Redis does not answer; changes of other instances are looked up in the database';
  readonly keys: RedisKeys;
  readonly #hub: SignalHub;
  readonly #origin = randomUUID();
  readonly #connection: Connection<RedisSession>;
  readonly #outbox: Outbox;
  /** Processes that watch runs of this process, as Redis said last. */
  readonly #watchers = new BoundedMap<string, readonly string[]>(runsMax);
  /** The number of the last entry of each process: a number that is missing is an entry that is lost. */
  readonly #numbers = new BoundedMap<string, number>(processesMax);
  /** The numbers of this process's last entries. */
  readonly #sentNumbers = { control: 0, lists: 0 };
  #heardCount = 0;
  #instances = 1;
  #isFollowing = false;

  constructor(hub: SignalHub, options: RedisTransportOptions) {
    this.#hub = hub;
    this.keys = new RedisKeys(options.installation);
    this.#outbox = new Outbox({
      ...{ gatherMs, bytesMax: entryBytesMax, linesMax },
      isOpen: () => this.session !== undefined,
      send: async (messages) => {
        // A failed command ends the session, or the entry is of no use.
        await Promise.allSettled(messages.map((message) => this.#sendMessage(message)));
      },
    });
    this.#connection = new Connection({
      open: (onLost) =>
        RedisSession.open({
          ...{ url: options.url, keys: this.keys, origin: this.#origin, onLost },
          onEntry: (source, fields) => this.#hearEntry(source, fields),
          watched: () => hub.watchedRuns(),
          onInstances: (count) => {
            this.#instances = count;
          },
        }),
      onSession: (session) => this.#begin(session),
      onGone: () => {
        this.#isFollowing = false;
        hub.miss();
      },
      ...{ onError: options.onError, onBack: options.onBack, problem: this.problem, againMaxMs },
    });
  }

  /** Undefined while Redis does not answer. */
  get session(): RedisSession | undefined {
    return this.#connection.session;
  }

  get isLive(): boolean {
    return this.session !== undefined;
  }

  get counts(): TransportCounts {
    return { sent: this.#outbox.sent, heard: this.#heardCount, instances: this.#instances };
  }

  start(): Promise<void> {
    return this.#connection.start();
  }

  /** What is asked of a run waits for Redis. */
  send(topic: SignalTopic, payload: string): void {
    const isForAll = announcedTopics.has(topic) || controlTopics.has(topic);
    if (isForAll || this.isLive) this.#outbox.add(isForAll ? 'control' : 'lists', `${topic} ${payload}`);
  }

  sendEvents(runId: string, makeBatch: () => string): void {
    const watchers = this.#watchers.get(runId);
    if (watchers === undefined || !this.isLive) return;
    const batch = makeBatch();
    this.#tell(watchers, runId, batch.length > entryBytesMax ? '' : batch);
  }

  tellWatchers(runId: string, isForAll: boolean): void {
    void this.#ask(runId, isForAll);
  }

  /** What was told before Redis knew of the interest is looked up. */
  watch(runId: string): void {
    this.session
      ?.watch(runId)
      .then(() => this.#hub.tell(runId, ''))
      .catch(() => undefined);
  }

  unwatch(runId: string): void {
    this.session?.unwatch(runId).catch(() => undefined);
  }

  follow(): void {
    void this.#followLists();
  }

  look(): void {
    this.follow();
  }

  async close(): Promise<void> {
    await this.#outbox.close();
    await this.#connection.close();
  }

  /** Redis answers, perhaps again: others may have missed what this process could not send, and this process what they sent. */
  async #begin(session: RedisSession): Promise<void> {
    this.#connection.confirm();
    this.#watchers.clear();
    await this.#followLists();
    session.send('control', ['gap', this.#origin, this.#nextNumber('control'), '']).catch(() => undefined);
    this.#outbox.flush();
    this.#hub.miss();
  }

  /** Reads the stream of lists while somebody here listens to one of its topics. */
  async #followLists(): Promise<void> {
    const session = this.session;
    const isWanted = this.#hub.wantedTopics().some((topic) => !announcedTopics.has(topic) && !controlTopics.has(topic));
    if (session === undefined || isWanted === this.#isFollowing) return;
    this.#isFollowing = isWanted;
    try {
      await session.readLists(isWanted);
      // What changed before the stream was read.
      if (isWanted) this.#hub.miss();
    } catch {
      // The session is lost, which its heartbeat finds out.
    }
  }

  /** Asks who watches a run, and tells those who are new, or all. */
  async #ask(runId: string, isForAll: boolean): Promise<void> {
    const watcherIds = (await this.session?.watchersOf(runId).catch(() => undefined)) ?? [];
    const others = watcherIds.filter((origin) => origin !== this.#origin);
    const knownWatchers = this.#watchers.get(runId) ?? [];
    if (others.length === 0) this.#watchers.delete(runId);
    else this.#watchers.set(runId, others);
    this.#tell(isForAll ? others : others.filter((origin) => !knownWatchers.includes(origin)), runId, '');
  }

  #tell(origins: readonly string[], runId: string, batch: string): void {
    for (const origin of origins) this.#outbox.add(`to ${origin}`, `${runId} ${batch}`);
  }

  /** An entry of an inbox has runs and their batches in turns. An entry of a shared stream: kind, process, number, lines. */
  async #sendMessage({ channel, text }: Message): Promise<void> {
    const { session } = this;
    if (channel === 'control' || channel === 'lists')
      await session?.send(channel, ['news', this.#origin, this.#nextNumber(channel), text]);
    else await session?.sendTo(channel.slice('to '.length), text.split('\n').flatMap(splitLine));
  }

  #nextNumber(stream: 'control' | 'lists'): string {
    this.#sentNumbers[stream] += 1;
    return String(this.#sentNumbers[stream]);
  }

  #hearEntry(source: Source, fields: Fields): void {
    this.#heardCount += 1;
    if (source === 'inbox') {
      for (let at = 0; at + 1 < fields.length; at += 2) this.#hub.tell(fields[at] ?? '', fields[at + 1] ?? '');
      return;
    }
    const [kind, from, numberText, text = ''] = fields;
    if (kind === 'hello' || from === undefined || from === this.#origin) return;
    const number = Number(numberText);
    const before = this.#numbers.get(`${source} ${from}`);
    this.#numbers.set(`${source} ${from}`, number);
    if (kind === 'gap' || (before !== undefined && number > before + 1)) this.#hub.miss();
    if (kind === 'gap') return;
    for (const line of text.split('\n')) {
      const [topic, payload] = splitLine(line);
      this.#hub.hear(topic as SignalTopic, payload, announcedTopics.has(topic as SignalTopic));
    }
  }
}

/** The first word of a line, and the rest. */
function splitLine(line: string): [first: string, rest: string] {
  const space = line.indexOf(' ');
  return [line.slice(0, space), line.slice(space + 1)];
}
