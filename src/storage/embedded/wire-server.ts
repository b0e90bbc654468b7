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

/**
 * Lets many connections share the one session of an embedded database, over the PostgreSQL protocol.
 *
 * The messages of a query (parse, bind, execute, sync) run in one piece, and a connection inside a transaction has the database to itself
 * until it ends; so connections never see each other's half-done work. A transaction that asks nothing for `transactionIdleMsMax` is rolled
 * back, because it would hold up every other query.
 */
export class WireServer {
  readonly #db: PGlite;
  readonly #transactionIdleMsMax: number;
  readonly #server: Server;
  readonly #sessions = new Set<Session>();
  #jobs: Job[] = [];
  #isRunning = false;
  #sessionsMade = 0;
  /** The connection whose transaction is open. */
  #holder: Session | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(db: PGlite, transactionIdleMsMax: number) {
    this.#db = db;
    this.#transactionIdleMsMax = transactionIdleMsMax;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, resolve);
    });
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
    socket.on('data', (chunk) => {
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
    for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) {
      const replies: Uint8Array[] = [];
      const { bytes } = job;
      await this.#db.runExclusive(() =>
        this.#db.execProtocolRawStream(bytes, { onRawData: (data) => void replies.push(Uint8Array.from(data)) }),
      );
      this.#holder = this.#db.isInTransaction() ? job.session : undefined;
      if (job.session?.socket.writable === true) job.session.socket.write(Buffer.concat(replies));
      if (this.#holder?.socket.destroyed === true) await this.#rollBack();
    }
    this.#isRunning = false;
    if (this.#holder !== undefined) this.#watch(this.#holder);
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
    }, this.#transactionIdleMsMax);
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
