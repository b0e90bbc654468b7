import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Backlog } from './backlog.ts';
import { type DatabaseProcess, startDatabaseProcess } from './database.ts';
import { type IncomingMessage, type OutgoingMessage, supervisorNumber, toArguments } from './siblings.ts';

export interface SupervisorOptions {
  readonly count: number;
  /** The port that all share. */
  readonly port: number;
  /** Whether one more process has the embedded database, for all that serve. */
  readonly hasDatabase: boolean;
  readonly logger: Logger;
  /** The time that a process takes at most to end by itself. */
  readonly graceMs: number;
}

/** One of the processes of the service, and those that take its place. */
interface Member {
  readonly number: number;
  worker: Worker | undefined;
  messages: Backlog<IncomingMessage> | undefined;
  /** Whether the process that runs now answers requests. */
  isStarted: boolean;
  startedAtMs: number;
  hasServed: boolean;
  /** How often it ended in a row without having served for a while. */
  shortLives: number;
}

const restartMs = { min: 200, max: 30_000 };
/** Who served this long has no fault that a pause would help. */
const servedMs = 60_000;
/** Beyond the time of grace: to close the database and to end. */
const endingMs = 10_000;

/**
 * Runs the service in several processes, which share its port. It serves nothing itself: it starts a process again that ended, hands on messages
 * between processes, and ends them all with its own signals.
 *
 * An embedded database has a process of its own. When that ends, those that serve have nothing to work with: all are started anew. When the supervisor is
 * killed, its processes end at once.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #members: readonly Member[];
  readonly #stopping = new AbortController();
  #database: DatabaseProcess | undefined;
  /** Resolves when the database can be used. */
  #databaseReady: Promise<void> = Promise.resolve();
  #isFull = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#members = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      worker: undefined,
      messages: undefined,
      isStarted: false,
      startedAtMs: 0,
      hasServed: false,
      shortLives: 0,
    }));
  }

  /**
   * Starts the first process by itself, because it may have a database to prepare, and then the others.
   *
   * @returns the welcome of the first process, when all of them serve; undefined when one of them could not start: it has said why, and the others are
   * ended.
   */
  async start(): Promise<string | undefined> {
    const [first, ...others] = this.#members;
    if (first === undefined) throw new Error('no process');
    if (this.#options.hasDatabase && !(await this.#startDatabase())) return undefined;
    const welcome = await this.#startFirst(first);
    if (welcome === undefined) return undefined;
    const started = await Promise.all(others.map((member) => this.#startFirst(member)));
    if (!started.includes(undefined)) return welcome;
    await this.stop('SIGTERM');
    return undefined;
  }

  /** Ends all processes; resolves when the last one has ended. A further call passes its signal on. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#stopping.abort();
    const ending = this.#members.map(({ worker }) => {
      if (worker === undefined) return undefined;
      worker.process.kill(signal);
      return ended(worker);
    });
    const lateMs = this.#options.graceMs + endingMs;
    const timer = setTimeout(() => this.#kill(), lateMs).unref();
    await Promise.all(ending);
    clearTimeout(timer);
    await this.#database?.close();
  }

  /** @returns false when it ended before it was ready. */
  async #startDatabase(): Promise<boolean> {
    const database = await startDatabaseProcess((isFull) => {
      this.#isFull = isFull;
      for (const member of this.#members) this.#tellDisk(member);
    });
    if (database === undefined) return false;
    this.#database = database;
    this.#isFull = false;
    void database.end.then(() => this.#startDatabaseAgain(database));
    return true;
  }

  /** What the processes acknowledged is in the files; what they have in hand is as after a kill. */
  async #startDatabaseAgain({ pid }: DatabaseProcess): Promise<void> {
    this.#database = undefined;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    this.#options.logger.fatal({ pid }, 'the process of the embedded database ended; all are started anew');
    const ready = Promise.withResolvers<void>();
    this.#databaseReady = ready.promise;
    this.#kill();
    for (let pauseMs = restartMs.min; !signal.aborted; pauseMs = Math.min(2 * pauseMs, restartMs.max)) {
      if (await this.#startDatabase()) break;
      this.#options.logger.error('the embedded database did not start');
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    ready.resolve();
  }

  #kill(): void {
    for (const { worker } of this.#members) worker?.process.kill('SIGKILL');
  }

  /** @returns its welcome; undefined when it ended before. From then on it is started again whenever it ends. */
  async #startFirst(member: Member): Promise<string | undefined> {
    const worker = this.#fork(member);
    const end = ended(worker).then(() => undefined);
    const welcome = await Promise.race([end, new Promise<string>((resolve) => this.#hear(member, worker, resolve))]);
    if (welcome !== undefined) void end.then(() => this.#startAgain(member));
    return welcome;
  }

  async #startAgain(member: Member): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const hasServed = performance.now() - member.startedAtMs > servedMs;
      member.shortLives = hasServed ? 0 : member.shortLives + 1;
      const pauseMs = Math.min(restartMs.min * 4 ** Math.max(0, member.shortLives - 1), restartMs.max);
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
      await this.#databaseReady;
      if (signal.aborted) return;
      const worker = this.#fork(member);
      this.#hear(member, worker, () =>
        this.#options.logger.info({ process: member.number, pid: worker.process.pid }, 'the process serves again'),
      );
      await ended(worker);
    }
  }

  #fork(member: Member): Worker {
    const own = toArguments(member.number, this.#options.port, this.#database?.socketFolder);
    cluster.setupPrimary({ args: [...process.argv.slice(2), ...own] });
    const worker = cluster.fork();
    const messages = new Backlog<IncomingMessage>(
      (message, onWritten) => {
        if (worker.isConnected()) worker.send(message, undefined, onWritten);
      },
      { from: supervisorNumber, kind: 'loss', body: null },
    );
    Object.assign(member, { worker, messages, isStarted: false, startedAtMs: performance.now() });
    if (this.#isFull) this.#tellDisk(member);
    worker.on('error', (error) => this.#options.logger.warn({ err: error, process: member.number }, 'a message was not sent'));
    worker.once('exit', (code, signal) => this.#noteEnd(member, worker, code, signal));
    return worker;
  }

  #noteEnd(member: Member, worker: Worker, code: number | null, signal: string | null): void {
    const wasStarted = member.isStarted;
    Object.assign(member, { worker: undefined, messages: undefined, isStarted: false });
    this.#announceMembers();
    if (this.#stopping.signal.aborted) return;
    const details = { process: member.number, pid: worker.process.pid, code, signal };
    if (wasStarted) this.#options.logger.error(details, 'a process ended; another one takes its place');
    // It has said why, unless a signal ended it.
    else if (member.hasServed || signal !== null) this.#options.logger.error(details, 'a process did not start');
  }

  #hear(member: Member, worker: Worker, onStarted: (welcome: string) => void): void {
    worker.on('message', ({ to, kind, body }: OutgoingMessage) => {
      if (kind === 'started') {
        Object.assign(member, { isStarted: true, hasServed: true });
        this.#announceMembers();
        onStarted(body as string);
        return;
      }
      const receivers = this.#members.filter(({ number }) => (to === 'others' ? number !== member.number : number === to));
      for (const { messages, isStarted } of receivers) if (isStarted) messages?.add({ from: member.number, kind, body });
    });
  }

  #announceMembers(): void {
    const started = this.#members.filter(({ isStarted }) => isStarted);
    const body = started.map(({ number }) => number);
    for (const { messages } of started) messages?.add({ from: supervisorNumber, kind: 'members', body });
  }

  #tellDisk({ messages }: Member): void {
    messages?.add({ from: supervisorNumber, kind: 'disk', body: this.#isFull });
  }
}

function ended(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (worker.isDead()) resolve();
    else worker.once('exit', () => resolve());
  });
}
