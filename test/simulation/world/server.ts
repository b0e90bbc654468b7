import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { Client, type ClientConfig, Pool, type PoolConfig, type QueryResult } from 'pg';
import { WireServer } from '../../../src/storage/ground/embedded/wire-server.ts';
import { migrate } from '../../../src/storage/ground/migrations/migrate.ts';
import { permissionNotes } from './permissions.ts';
import { SharedPrisma } from './prisma.ts';
import type { Choices } from './random.ts';
import type { Host, Timeline } from './timeline.ts';

/** How the database and the way to it behave in one world. */
export interface Weather {
  readonly choices: Choices;
  /** Share of statements whose connection breaks: before the statement is done, or after it, so that only the answer is lost. */
  readonly cutShare: number;
  /** Share of statements that take as long as a lease. */
  readonly stallShare: number;
  readonly stallMs: number;
  /** Called after each statement: a process may die here. */
  afterStatement(host: Host): void;
}

const calm = { cutShare: 0, stallShare: 0, stallMs: 0, afterStatement: () => undefined };

/**
 * `now()` of the world, and what the world notes of writes: under which lease and by whom events were written, and what was granted of limits. `now()`
 * stands before PostgreSQL's own in the search path, so every statement and every trigger of Parley reads it. The time of a transaction is that of its
 * first statement, as in PostgreSQL.
 */
const worldClock = `
  create schema world;
  create function world.now() returns timestamptz language sql stable
    as $$ select to_timestamp(current_setting('world.ms')::float8 / 1000) $$;
  set world.ms = '0';
  set world.host = '';
  set search_path = world, pg_catalog, public;
  create table world.writes (place bigserial, "runId" text, fence int, host text);
  create function world.note_write() returns trigger language plpgsql as $$ begin
    insert into world.writes ("runId", fence, host)
      select new."runId", r.fence, current_setting('world.host') from runs r where r.id = new."runId";
    return null;
  end $$;
  create trigger world_note_write after insert on run_event_batches for each row execute function world.note_write();
  create table world.grants (place bigserial, "orgId" text, kind text, used bigint, held bigint, most bigint);
  create function world.note_grant() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' or new.tokens > old.tokens then
      insert into world.grants ("orgId", kind, used, held, most) select new."orgId", new.kind,
        coalesce((select c.used from usage_counters c where c."orgId" = new."orgId" and c.kind = new.kind), 0),
        (select sum(r.tokens) from usage_reservations r where r."orgId" = new."orgId" and r.kind = new.kind and r."leaseUntil" > world.now()),
        case new.kind when 'api' then (select o."apiUsageTokenLimit" from organizations o where o.id = new."orgId")
          else (select b.amount from budgets b where b.id = split_part(new.kind, ' ', 1)) end;
    end if;
    return null;
  end $$;
  create trigger world_note_grant after insert or update on usage_reservations for each row execute function world.note_grant();`;

/**
 * PostgreSQL behind a scheduler: one statement at a time, in the order of the timeline. Between its sending, its execution and its answer time passes, in
 * which other processes go on, connections break and processes die. A transaction has the database to itself, as in Parley's embedded database: what two
 * open transactions do to each other is not simulated (test/cluster races them on a server).
 */
export class SimulatedServer {
  readonly #timeline: Timeline;
  readonly #db: PGlite;
  readonly #folder: string;
  /** For the world itself: it sees every state, takes no time and never fails. */
  readonly #direct: Pool;
  #weather: Weather | undefined;
  readonly #clients = new Set<SimulatedClient>();
  /** The connection whose transaction is open, and the statements of others that wait for its end. */
  #holder: SimulatedClient | undefined;
  #waiting: (() => void)[] = [];
  #clock = '';
  readonly prisma: SharedPrisma;
  /** Executed for simulated processes. */
  statements = 0;

  private constructor(timeline: Timeline, db: PGlite, folder: string) {
    this.#timeline = timeline;
    this.#db = db;
    this.#folder = folder;
    this.#direct = new Pool({ ...this.#address, max: 1 });
    this.prisma = new SharedPrisma(timeline, this.#address);
  }

  /** @param timeline  its globals are taken already: what this waits for is real. */
  static async start(timeline: Timeline): Promise<SimulatedServer> {
    const own = PGlite.defaultStartParams;
    const startParams = [...own, '-c', 'timezone=UTC', '-c', 'parley.single_process=off'];
    const db = await PGlite.create({ loadDataDir: await dataDir(), extensions: { vector }, startParams });
    const log = { isUnsynced: false, sync: () => undefined };
    const upkeep = { isReadOnly: false, run: async () => undefined };
    const wire = new WireServer(db, { transactionIdleMsMax: 3_600_000, log, upkeep });
    const folder = mkdtempSync(join(tmpdir(), 'parley-world-'));
    // The server ends with its process: all it has on the disk is its socket.
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    await wire.listen(join(folder, '.s.PGSQL.5432'));
    const server = new SimulatedServer(timeline, db, folder);
    // Not by the first process, which may die meanwhile.
    await server.prisma.client.$connect();
    await migrate(server.#direct);
    await db.exec(worldClock);
    await db.exec(permissionNotes);
    return server;
  }

  get #address(): PoolConfig {
    return { host: this.#folder, port: 5432, user: 'postgres', database: 'postgres' };
  }

  /** The connections of a process. */
  configFor(host: Host): PoolConfig {
    const server = this;
    return {
      ...this.#address,
      max: 6,
      Client: class extends SimulatedClient {
        constructor(config?: ClientConfig) {
          super(server, host, config);
        }
      } as unknown as NonNullable<PoolConfig['Client']>,
    };
  }

  set weather(weather: Weather | undefined) {
    this.#weather = weather;
  }

  /** Whether a transaction is open. It ends only while time passes. */
  get isHeld(): boolean {
    return this.#holder !== undefined;
  }

  /** Reads or writes as the world, between the transactions of processes: no happening may wait for it. */
  async look<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    while (this.#holder !== undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#busily(async () => (await this.#direct.query(text, [...values])).rows as Row[]);
  }

  /** The connections of a process that has died break: what was not committed is undone. */
  async kill(host: Host): Promise<void> {
    for (const client of [...this.#clients]) if (client.owner === host) await this.cut(client);
  }

  joined(client: SimulatedClient): void {
    this.#clients.add(client);
  }

  /** Breaks a connection. */
  async cut(client: SimulatedClient): Promise<void> {
    this.#clients.delete(client);
    await this.#busily(async () => {
      await client.breakOff();
      // The server has rolled back once it answers another one. While yet another one has a transaction, there is nothing to roll back.
      if (this.#holder === undefined || this.#holder === client) await this.#direct.query('select 1');
    });
    if (this.#holder === client) this.#free();
  }

  /** Sends a statement: it is executed some time later, and answered some time after that. */
  send(client: SimulatedClient, execute: () => Promise<QueryResult>): Promise<QueryResult> {
    const { choices, cutShare, stallShare, stallMs } = this.#weather ?? { ...calm, choices: undefined };
    const isStalled = choices?.chance(stallShare) === true && this.#holder !== client;
    const wayMs = choices === undefined ? 0 : isStalled ? stallMs * choices.fraction : choices.fraction * 4;
    const backMs = choices === undefined ? 0 : choices.fraction * 4;
    const cutAt = choices?.chance(cutShare) === true ? choices.one(['before', 'after'] as const) : undefined;
    return new Promise((resolve, reject) => {
      const perform = async () => {
        if (client.isBroken) return answer(() => reject(lostConnection()));
        if (this.#holder !== undefined && this.#holder !== client) {
          this.#waiting.push(() => this.#timeline.after(0, perform));
          return;
        }
        if (cutAt === 'before') {
          await this.cut(client);
          return answer(() => reject(lostConnection()));
        }
        let outcome: () => void;
        try {
          const result = await this.#execute(client, execute);
          outcome = () => resolve(result);
        } catch (error) {
          outcome = () => reject(error);
        }
        if (cutAt === 'after') {
          await this.cut(client);
          outcome = () => reject(lostConnection());
        }
        answer(outcome);
        this.#weather?.afterStatement(client.owner);
      };
      const answer = (outcome: () => void) => void this.#timeline.after(backMs, outcome, client.owner);
      this.#timeline.after(wayMs, perform);
    });
  }

  async #execute(client: SimulatedClient, execute: () => Promise<QueryResult>): Promise<QueryResult> {
    this.statements += 1;
    if (this.#holder === undefined) await this.#setClock(client.owner);
    const result = this.#busily(execute);
    await result.catch(() => undefined);
    const isOpen = this.#db.isInTransaction();
    if (isOpen) this.#holder = client;
    else if (this.#holder === client) this.#free();
    return result;
  }

  async #setClock(host: Host): Promise<void> {
    const clock = `set world.ms = '${this.#timeline.databaseMs}'; set world.host = '${host.name}'`;
    if (clock === this.#clock) return;
    this.#clock = clock;
    await this.#db.exec(clock);
  }

  #free(): void {
    this.#holder = undefined;
    this.#clock = '';
    for (const go of this.#waiting.splice(0)) go();
  }

  async #busily<T>(work: () => Promise<T>): Promise<T> {
    this.#timeline.busy += 1;
    try {
      return await work();
    } finally {
      this.#timeline.busy -= 1;
    }
  }
}

function lostConnection(): Error {
  return Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
}

type Callback = (error: Error | undefined, result?: QueryResult) => void;

/** A connection of a simulated process. */
class SimulatedClient extends Client {
  readonly owner: Host;
  readonly #server: SimulatedServer;
  /** Statements of one connection follow each other. */
  #last: Promise<unknown> = Promise.resolve();
  isBroken = false;

  constructor(server: SimulatedServer, host: Host, config: ClientConfig | undefined) {
    super(config);
    this.owner = host;
    this.#server = server;
    this.on('error', () => undefined);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of `pg` cannot be written otherwise.
  override connect(callback?: any): any {
    const connecting = this.#connect();
    if (callback === undefined) return connecting;
    connecting.then(
      () => callback(),
      (error: Error) => callback(error),
    );
    return undefined;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of `pg` cannot be written otherwise.
  override query(config: any, values?: any, callback?: any): any {
    const [given, done] =
      typeof values === 'function' ? [undefined, values as Callback] : [values, callback as Callback | undefined];
    const execute = () => super.query(config, given) as unknown as Promise<QueryResult>;
    const answering = this.#last.then(() => this.#server.send(this, execute));
    this.#last = answering.catch(() => undefined);
    if (done === undefined) return answering;
    answering.then(
      (result) => done(undefined, result),
      (error: Error) => done(error),
    );
    return undefined;
  }

  async breakOff(): Promise<void> {
    if (this.isBroken) return;
    this.isBroken = true;
    const { stream } = (this as unknown as { readonly connection: { readonly stream: import('node:net').Socket } }).connection;
    if (stream.closed) return;
    const closed = once(stream, 'close');
    stream.destroy();
    await closed;
  }

  /** A connection is opened between the transactions of others: it takes its turn as a statement does. */
  async #connect(): Promise<void> {
    if (this.owner.isDead) return new Promise(() => undefined);
    await this.#server.send(this, async () => {
      await super.connect();
      this.#server.joined(this);
      return undefined as unknown as QueryResult;
    });
  }
}
