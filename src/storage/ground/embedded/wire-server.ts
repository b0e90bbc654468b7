import { createServer, type Server, type Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import {
  cancelRequest,
  closeStatements,
  type Frame,
  FrameReader,
  fatalError,
  gssRequest,
  renameStatements,
  sslRequest,
  tellFull,
} from './wire-messages.ts';

interface Session {
  readonly socket: Socket;
  readonly frames: FrameReader;
  readonly statementPrefix: string;
  readonly statements: Set<string>;
  /** Messages since the last Sync: they run in one piece. */
  batch: Buffer[];
}
interface Job {
  readonly session: Session | undefined;
  readonly bytes: Buffer;
}

export interface WireServerOptions {
  readonly transactionIdleMsMax: number;
  /** What commits wait for. */
  readonly log: { readonly isUnsynced: boolean; sync(): void };
  /** Called when no transaction is open: between statements, and when there is nothing to do. */
  readonly upkeep: { readonly isReadOnly: boolean; run(isIdle: boolean): Promise<void> };
}

/**
 * Lets many connections share the one session of an embedded database, over the PostgreSQL protocol.
 *
 * The messages of a query (parse, bind, execute, sync) run in one piece, and a connection inside a transaction has the database to itself
 * until it ends; so connections never see each other's half-done work. A transaction that asks nothing for `transactionIdleMsMax` is rolled
 * back, because it would hold up every other query. Commits that come together wait for the disk together.
 */
export class WireServer {
  readonly #db: PGlite;
  readonly #options: WireServerOptions;
  readonly #server: Server;
  readonly #sessions = new Set<Session>();
  readonly #replies: ReplyQueue;
  #jobs: Job[] = [];
  #isRunning = false;
  #sessionsMade = 0;
  /** The connection whose transaction is open. */
  #holder: Session | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(db: PGlite, options: WireServerOptions) {
    this.#db = db;
    this.#options = options;
    this.#replies = new ReplyQueue(options.log);
    this.#server = createServer((socket) => this.#accept(socket));
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, resolve);
    });
  }

  /** Does upkeep that is due, unless there is work: that does it on its way. */
  look(): void {
    if (!this.#isRunning && this.#holder === undefined) void this.#run();
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const isClosed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.socket.destroy();
    await isClosed;
  }

  #accept(socket: Socket): void {
    this.#sessionsMade += 1;
    const session: Session = {
      socket,
      frames: new FrameReader(),
      statementPrefix: `c${this.#sessionsMade}_`,
      statements: new Set(),
      batch: [],
    };
    this.#sessions.add(session);
    socket.on('data', (chunk: Buffer) => {
      session.frames.push(chunk);
      for (let frame = session.frames.next(); frame !== undefined; frame = session.frames.next()) this.#take(session, frame);
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#leave(session));
  }

  #take(session: Session, frame: Frame): void {
    const { type, bytes } = frame;
    if (type === '') {
      const code = bytes.readInt32BE(4);
      if (code === sslRequest || code === gssRequest) session.socket.write('N');
      else if (code === cancelRequest) session.socket.end();
      else this.#enqueue({ session, bytes });
      return;
    }
    if (type === 'X') {
      session.socket.end();
      return;
    }
    session.batch.push(renameStatements(frame, session.statementPrefix, session.statements));
    const endsBatch = type === 'S' || type === 'Q' || type === 'F';
    if (!endsBatch) return;
    const job = { session, bytes: session.batch.length === 1 ? (session.batch[0] ?? bytes) : Buffer.concat(session.batch) };
    session.batch = [];
    this.#enqueue(job);
  }

  #enqueue(job: Job): void {
    this.#jobs.push(job);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    clearTimeout(this.#idleTimer);
    if (this.#holder?.socket.destroyed === true) await this.#rollBack();
    do {
      for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) await this.#execute(job);
      this.#replies.flush();
      if (this.#holder === undefined) await this.#options.upkeep.run(true);
      // Work that came while the upkeep ran.
    } while (this.#holder === undefined && this.#jobs.length > 0);
    this.#isRunning = false;
    if (this.#holder !== undefined) this.#watch(this.#holder);
  }

  async #execute({ session, bytes }: Job): Promise<void> {
    if (this.#holder === undefined) await this.#options.upkeep.run(false);
    const parts: Uint8Array[] = [];
    await this.#db.runExclusive(() =>
      this.#db.execProtocolRawStream(bytes, { onRawData: (data) => void parts.push(Uint8Array.from(data)) }),
    );
    this.#holder = this.#db.isInTransaction() ? session : undefined;
    const reply = Buffer.concat(parts);
    if (this.#options.upkeep.isReadOnly) tellFull(reply);
    if (session !== undefined) this.#replies.add(session.socket, reply);
    if (this.#holder?.socket.destroyed === true) await this.#rollBack();
  }

  #nextJob(): Job | undefined {
    const holder = this.#holder;
    if (holder === undefined) return this.#jobs.shift();
    const index = this.#jobs.findIndex((job) => job.session === holder);
    return index === -1 ? undefined : this.#jobs.splice(index, 1)[0];
  }

  #watch(holder: Session): void {
    this.#idleTimer = setTimeout(() => {
      if (holder.socket.writable) {
        holder.socket.write(fatalError('25P03', 'the transaction asked nothing for too long and was rolled back'));
      }
      holder.socket.destroy();
    }, this.#options.transactionIdleMsMax);
    this.#idleTimer.unref();
  }

  #leave(session: Session): void {
    this.#sessions.delete(session);
    this.#jobs = this.#jobs.filter((job) => job.session !== session);
    if (session.statements.size > 0) this.#jobs.push({ session: undefined, bytes: closeStatements(session.statements) });
    if (!this.#isRunning) void this.#run();
  }

  async #rollBack(): Promise<void> {
    await this.#db.exec('ROLLBACK');
    this.#holder = undefined;
  }
}

/** Replies held at most: commits of one group wait for each other. */
const heldMax = 64;

/**
 * Holds replies back while a commit is not on the disk yet, also those of reads, which may have seen it. All that are held wait for one write
 * to the disk.
 */
class ReplyQueue {
  readonly #log: { readonly isUnsynced: boolean; sync(): void };
  #held: { readonly socket: Socket; readonly reply: Buffer }[] = [];

  constructor(log: { readonly isUnsynced: boolean; sync(): void }) {
    this.#log = log;
  }

  add(socket: Socket, reply: Buffer): void {
    if (this.#log.isUnsynced) {
      this.#held.push({ socket, reply });
      if (this.#held.length >= heldMax) this.flush();
    } else {
      // The log was written meanwhile: those before are free too, and come first.
      this.flush();
      send(socket, reply);
    }
  }

  flush(): void {
    this.#log.sync();
    const replies = this.#held;
    this.#held = [];
    for (const { socket, reply } of replies) send(socket, reply);
  }
}

function send(socket: Socket, reply: Buffer): void {
  if (socket.writable) socket.write(reply);
}
