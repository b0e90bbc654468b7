// Raw SQL: Prisma has no LISTEN and no NOTIFY.
import { randomUUID } from 'node:crypto';
import type { ClientConfig, Pool } from 'pg';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { openClient } from '../opening/pool.ts';
import { Connection, type Session } from './connection.ts';
import type { SignalHub } from './hub.ts';
import { Outbox } from './outbox.ts';
import { Peers, presenceEveryMs } from './peers.ts';
import { listenerName, StuckListeners } from './stuck-listeners.ts';
import { announcedTopics, controlTopics, type SignalTopic } from './topics.ts';
import type { SignalTransport, TransportCounts } from './transport.ts';

/** Of the triggers in the migrations, and of signals that ask for something; each has a notification of its own. */
const channel = 'parley_signals';
/** Of all processes: several lines a notification. Also carries the heartbeats. */
const newsChannel = 'parley_news';
const answerTimeoutMs = 2_000;
/** Some process sends a heartbeat when it has heard none for this long: a little less than the time between two looks. */
const beatAfterMs = 400;
/** Heartbeats of some process come twice a second. */
const silenceMsMax = 1_500;
/** Behind a pooler that drops every notification, replacing the connection faster does not help. */
const againMaxMs = 30_000;
const gatherMs = 10;
/** PostgreSQL refuses payloads of 8,000 bytes. */
const payloadBytesMax = 7_900;
const linesMax = 20_000;
/** Of the notifications that the triggers send. */
const triggerOrigin = '-';
/** Who begins to watch a run is told again what was told so long ago at most. */
const toldAgainMs = 2_000;
const toldMax = 10_000;
/** A line of watched runs has at most this many. */
const idsPerLine = 100;

/**
 * LISTEN on a connection of its own, and NOTIFY outside any transaction: the commit of a transaction with a notification waits for all others. Each
 * process says what it follows, and has a channel of its own for the runs that it watches. Signals that nobody elsewhere follows are not sent, and
 * announced ones not either: the triggers send them. Notifications are too short for events.
 *
 * Only a notification that arrives proves that the connection works: behind a pooler that gives each statement another connection, every query is
 * answered and no notification arrives.
 */
export class PostgresTransport implements SignalTransport {
  readonly problem = 'No notifications arrive from the database; changes are looked up twice a second';
  readonly #hub: SignalHub;
  /** Names this process in its messages. */
  readonly #origin = randomUUID();
  readonly #outbox: Outbox;
  readonly #connection: Connection<Session>;
  readonly #peers = new Peers();
  /** Runs that this process told of lately: who begins to watch one is told again. */
  readonly #told = new BoundedMap<string, number>(toldMax);
  #stuck: StuckListeners | undefined;
  #presence: NodeJS.Timeout | undefined;
  #openedMs = 0;
  #heardMs = Number.NEGATIVE_INFINITY;
  #heardCount = 0;

  constructor(hub: SignalHub, pool: Pool, onError: (error: Error) => void) {
    this.#hub = hub;
    this.#outbox = new Outbox({
      ...{ gatherMs, bytesMax: payloadBytesMax, linesMax },
      isOpen: () => true,
      async send(messages) {
        await pool.query('SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)', [
          messages.map((message) => message.channel),
          messages.map(({ text }) => text),
        ]);
      },
      onError: (error) => onError(error instanceof Error ? error : new Error(String(error))),
    });
    const config = { ...pool.options, application_name: listenerName, connectionTimeoutMillis: answerTimeoutMs };
    this.#connection = new Connection({
      open: (onLost) =>
        listen(config, [channel, newsChannel, toChannel(this.#origin)], (payload) => this.#hearPayload(payload), onLost),
      onSession: () => {
        this.#openedMs = performance.now();
        this.#peers.beUnsure();
        this.#announce();
        hub.miss();
      },
      onGone: () => hub.miss(),
      ...{ onError, problem: this.problem, againMaxMs },
    });
  }

  get isLive(): boolean {
    return this.#connection.session !== undefined && this.#silenceMs < silenceMsMax;
  }

  get counts(): TransportCounts {
    const { usage: queueUsage = 0, ended: endedListeners = 0 } = this.#stuck ?? {};
    return {
      ...{ sent: this.#outbox.sent, heard: this.#heardCount, instances: this.#peers.count + 1 },
      ...{ queueUsage, endedListeners },
    };
  }

  async start(pool: Pool): Promise<void> {
    this.#stuck = new StuckListeners(pool);
    this.#presence = setInterval(() => void this.#tick(), presenceEveryMs).unref();
    await this.#connection.start();
  }

  send(topic: SignalTopic, payload: string): void {
    if (announcedTopics.has(topic)) return;
    const line = `${this.#origin} ${topic} ${payload}`;
    if (controlTopics.has(topic)) this.#outbox.add(channel, line, true);
    else if (this.#peers.mayCare(topic)) this.#outbox.add(newsChannel, line);
  }

  tellWatchers(runId: string): void {
    this.#told.set(runId, performance.now());
    for (const origin of this.#peers.watchersOf(runId)) this.#tellOne(origin, runId);
  }

  watch(runId: string): void {
    this.#outbox.add(newsChannel, `${this.#origin} watch ${runId}`);
  }

  follow(): void {
    this.#outbox.add(newsChannel, this.#presenceLine());
  }

  look(): void {
    const isSilent = this.#silenceMs >= silenceMsMax && performance.now() - this.#openedMs > silenceMsMax;
    if (isSilent) this.#connection.lose(new Error('no notifications arrive'));
  }

  beat(): readonly [string, string] | undefined {
    return this.#silenceMs < beatAfterMs ? undefined : [newsChannel, this.#presenceLine()];
  }

  async close(): Promise<void> {
    clearInterval(this.#presence);
    await this.#outbox.close();
    await this.#connection.close();
  }

  get #silenceMs(): number {
    return performance.now() - this.#heardMs;
  }

  async #tick(): Promise<void> {
    // Who is silent only because nothing is heard still has its share of limits.
    if (this.isLive) this.#peers.sweep();
    this.#announce();
    // The database does not answer: the next look finds the queue.
    await this.#stuck?.look().catch(() => undefined);
  }

  /** Tells the others what this process follows. */
  #announce(): void {
    this.follow();
    const runs = this.#hub.watchedRuns();
    for (let at = 0; at < runs.length; at += idsPerLine) this.watch(runs.slice(at, at + idsPerLine).join(','));
  }

  #presenceLine(): string {
    return `${this.#origin} here ${this.#hub.wantedTopics().join(',')}`;
  }

  #tellOne(origin: string, runId: string): void {
    this.#outbox.add(toChannel(origin), `${this.#origin} told ${runId}`);
  }

  #hearPayload(payload: string): void {
    this.#heardMs = performance.now();
    this.#heardCount += 1;
    this.#connection.confirm();
    for (const line of payload.split('\n')) this.#hearLine(line);
  }

  #hearLine(line: string): void {
    const [origin, topic, ...rest] = line.split(' ');
    const payload = rest.join(' ');
    if (origin === undefined || topic === undefined || origin === this.#origin) return;
    if (topic === 'told') this.#hub.tell(payload, '');
    else if (topic === 'watch') this.#noteWatched(origin, payload.split(','));
    else if (topic === 'here') this.#peers.noteProcess(origin, new Set(payload.split(',')));
    else this.#hub.hear(topic as SignalTopic, payload, origin === triggerOrigin);
  }

  /** A process that began to watch may have read the run before its last events were written, and these may have been told before it was known here. */
  #noteWatched(origin: string, runIds: readonly string[]): void {
    for (const runId of runIds) {
      const isNew = this.#peers.noteWatch(origin, runId);
      const toldMs = this.#told.get(runId) ?? Number.NEGATIVE_INFINITY;
      if (isNew && performance.now() - toldMs < toldAgainMs) this.#tellOne(origin, runId);
    }
  }
}

async function listen(
  config: ClientConfig,
  channels: readonly string[],
  onPayload: (payload: string) => void,
  onLost: (error: Error) => void,
): Promise<Session> {
  const client = openClient(config, () => onLost(new Error('the connection of the listener was lost')));
  client.on('notification', ({ payload }) => onPayload(payload ?? ''));
  try {
    await client.connect();
    for (const name of channels) await client.query(`LISTEN ${name}`);
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

/** The channel of one process. */
function toChannel(origin: string): string {
  return `parley_to_${origin.replaceAll('-', '')}`;
}
