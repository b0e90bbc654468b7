import type { RedisKeys } from './keys.ts';
import { commandTimeoutMs, connectRedis, type RedisLink, type Reply } from './link.ts';

/** A read waits this long for news; then it asks again, which shows that Redis is there. */
const blockMs = 1_000;
const entriesPerRead = 500;
const beatEveryMs = 1_000;
/** Keys that nobody keeps alive are gone after this time. */
const aliveMs = 15_000;
/** Entries that a stream keeps: a process that falls behind further looks into the database. */
const sharedEntriesMax = 10_000;
const inboxEntriesMax = 1_000;
/** A process watches a run for this long without saying so again. */
const watchMs = 60_000;
const watchAgainMs = 20_000;

/** An entry of a stream: names and values that take turns. */
export type Fields = readonly string[];
export type Source = 'control' | 'lists' | 'inbox';

export interface SessionOptions {
  readonly url: string;
  readonly keys: RedisKeys;
  /** Names this process. */
  readonly origin: string;
  readonly onEntry: (source: Source, fields: Fields) => void;
  /** Called once, when Redis does not answer any more. */
  readonly onLost: (error: Error) => void;
  /** The runs that this process watches. */
  readonly watched: () => readonly string[];
  /** Called now and then with the number of processes, this one included. */
  readonly onInstances: (count: number) => void;
}

/**
 * The time between connecting to Redis and losing it. Two connections: one for commands, and one whose reads wait for news. Begins with what is added to
 * the streams from now on: what came before is looked up in the database.
 */
export class RedisSession {
  readonly #options: SessionOptions;
  readonly #commands: RedisLink;
  readonly #reads: RedisLink;
  readonly #cursors = new Map<Source, string>();
  readonly #timer: NodeJS.Timeout;
  #watchedMs = performance.now();
  #isOver = false;

  constructor(options: SessionOptions, commands: RedisLink, reads: RedisLink) {
    this.#options = options;
    this.#commands = commands;
    this.#reads = reads;
    this.#timer = setInterval(() => void this.#beat().catch((error: unknown) => this.#fail(error)), beatEveryMs).unref();
  }

  /** @throws Error when Redis cannot be used now. */
  static async open(options: SessionOptions): Promise<RedisSession> {
    let session: RedisSession | undefined;
    let early: Error | undefined;
    const onLost = (error: Error) => {
      early = error;
      if (session !== undefined) session.#fail(error);
    };
    const commands = await connectRedis(options.url, onLost);
    try {
      const reads = await connectRedis(options.url, onLost);
      session = new RedisSession(options, commands, reads);
      if (early !== undefined) throw early;
      await session.#begin();
      return session;
    } catch (error) {
      commands.close();
      session?.close();
      throw error;
    }
  }

  get readsLists(): boolean {
    return this.#cursors.has('lists');
  }

  /** From now on, or no longer, the stream of lists is read. */
  async readLists(isWanted: boolean): Promise<void> {
    if (!isWanted) this.#cursors.delete('lists');
    else if (!this.readsLists) {
      this.#cursors.set('lists', await this.#append('lists', ['hello', this.#options.origin]));
      await this.#keepAlive('lists');
      // Ends the read that is waiting, which does not have the stream.
      await this.send('inbox', ['wake', '']);
    }
  }

  /** Adds an entry to a stream that somebody reads; of the inbox, this process's own. */
  async send(source: Source, fields: Fields): Promise<void> {
    await this.#append(source, fields, ['NOMKSTREAM']);
  }

  /** Adds an entry to the inbox of a process, if it is still there. */
  async sendTo(origin: string, fields: Fields): Promise<void> {
    const key = this.#options.keys.inbox(origin);
    await this.#commands.command(key, ['XADD', key, 'NOMKSTREAM', 'MAXLEN', '~', String(inboxEntriesMax), '*', ...fields]);
  }

  async watchersOf(runId: string): Promise<readonly string[]> {
    const key = this.#options.keys.watchers(runId);
    return texts(await this.#commands.command(key, ['ZRANGEBYSCORE', key, String(Date.now()), '+inf']));
  }

  async watch(runId: string): Promise<void> {
    const key = this.#options.keys.watchers(runId);
    await Promise.all([
      this.#commands.command(key, ['ZADD', key, String(Date.now() + watchMs), this.#options.origin]),
      this.#commands.command(key, ['PEXPIRE', key, String(watchMs)]),
    ]);
  }

  async unwatch(runId: string): Promise<void> {
    const key = this.#options.keys.watchers(runId);
    await this.#commands.command(key, ['ZREM', key, this.#options.origin]);
  }

  /** Runs a script of one key. */
  eval(script: string, key: string, args: readonly string[]): Promise<Reply> {
    return this.#commands.command(key, ['EVAL', script, '1', key, ...args]);
  }

  /** Says goodbye, if Redis answers. */
  async end(): Promise<void> {
    const key = this.#keyOf('inbox');
    const { keys, origin } = this.#options;
    const ends = [
      this.#commands.command(key, ['DEL', key]),
      this.#commands.command(keys.instances, ['ZREM', keys.instances, origin]),
    ];
    await Promise.allSettled(ends);
    this.close();
  }

  close(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#commands.close();
    this.#reads.close();
  }

  async #begin(): Promise<void> {
    const { origin, watched: listWatchedRuns } = this.#options;
    const inbox = this.#keyOf('inbox');
    await this.#commands.command(inbox, ['DEL', inbox]);
    for (const source of ['inbox', 'control'] as const) {
      this.#cursors.set(source, await this.#append(source, ['hello', origin]));
      await this.#keepAlive(source);
    }
    await Promise.all([this.#count(), ...listWatchedRuns().map((runId) => this.watch(runId))]);
    void this.#readOn().catch((error: unknown) => this.#fail(error));
  }

  async #readOn(): Promise<void> {
    while (!this.#isOver) {
      const cursors = [...this.#cursors];
      const keys = cursors.map(([source]) => this.#keyOf(source));
      const reply = await this.#reads.command(
        this.#keyOf('inbox'),
        ['XREAD', 'COUNT', String(entriesPerRead), 'BLOCK', String(blockMs), 'STREAMS', ...keys, ...cursors.map(([, id]) => id)],
        blockMs + commandTimeoutMs,
      );
      for (const [key, entries] of readStreams(reply)) {
        const source = cursors.find(([one]) => this.#keyOf(one) === key)?.[0];
        if (source === undefined) continue;
        for (const [id, fields] of entries) {
          if (this.#cursors.has(source)) this.#cursors.set(source, id);
          this.#options.onEntry(source, fields);
        }
      }
    }
  }

  /** Keeps the keys of this process alive. @throws Error when one is gone, because Redis was emptied or lost its last writes. */
  async #beat(): Promise<void> {
    await Promise.all([this.#count(), ...[...this.#cursors.keys()].map((source) => this.#keepAlive(source))]);
    if (performance.now() - this.#watchedMs < watchAgainMs) return;
    this.#watchedMs = performance.now();
    await Promise.all(this.#options.watched().map((runId) => this.watch(runId)));
  }

  /** Notes this process among all, and counts them. */
  async #count(): Promise<void> {
    const key = this.#options.keys.instances;
    const [nowMs, command] = [Date.now(), (...args: readonly string[]) => this.#commands.command(key, args)];
    await command('ZADD', key, String(nowMs + aliveMs), this.#options.origin);
    await command('ZREMRANGEBYSCORE', key, '-inf', String(nowMs));
    await command('PEXPIRE', key, String(aliveMs));
    this.#options.onInstances(Number(await command('ZCARD', key)));
  }

  async #keepAlive(source: Source): Promise<void> {
    const key = this.#keyOf(source);
    const isThere = await this.#commands.command(key, ['PEXPIRE', key, String(aliveMs)]);
    if (isThere !== 1 && this.#cursors.has(source)) throw new Error('Redis has lost its streams');
  }

  async #append(source: Source, fields: Fields, options: readonly string[] = []): Promise<string> {
    const key = this.#keyOf(source);
    const most = source === 'inbox' ? inboxEntriesMax : sharedEntriesMax;
    return String(await this.#commands.command(key, ['XADD', key, ...options, 'MAXLEN', '~', String(most), '*', ...fields]));
  }

  #keyOf(source: Source): string {
    const { keys, origin } = this.#options;
    return source === 'inbox' ? keys.inbox(origin) : keys[source];
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.close();
    this.#options.onLost(error instanceof Error ? error : new Error(String(error)));
  }
}

function texts(reply: Reply): readonly string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

/** The reply of XREAD: null when nothing came in time. */
function* readStreams(
  reply: Reply,
): Generator<readonly [key: string, entries: readonly (readonly [id: string, fields: Fields])[]]> {
  for (const stream of readList(reply)) {
    const [key = null, entries = null] = readList(stream);
    yield [
      String(key),
      readList(entries).map((entry) => {
        const [id = null, fields = null] = readList(entry);
        return [String(id), texts(fields)] as const;
      }),
    ];
  }
}

function readList(reply: Reply): readonly Reply[] {
  return Array.isArray(reply) ? reply : [];
}
