import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool, QueryResult } from 'pg';
import { nobody, type ShareOwner } from '../../lib/flow/fair-share.ts';
import { type Prisma, PrismaClient } from '../generated/client.ts';
import { YieldingPool } from './embedded/yielding-pool.ts';
import { refusedByHold } from './held-rows.ts';
import type { Room } from './opening/room.ts';
import { jobsOwner } from './opening/shared-pool.ts';
import type { SiblingLink } from './signals/siblings.ts';
import { isOfChangedTable, type StatementNames } from './statement-names.ts';
import type { VectorSupport } from './vectors/vector-extension.ts';

/** Who waits for a statement: a caller (`interactive`), or only a job (`background`). */
export type StatementClass = 'interactive' | 'background';

/**
 * Raw SQL, where Prisma has no words: row locks, counters, arithmetic on many rows. Values are texts, numbers, booleans, null and arrays of them:
 * times as ISO texts, JSON as its text with a cast.
 */
export interface Sql {
  /** Reads rows. Cast what JavaScript has no type for: a bigint or numeric column to int or float8, void and intervals to text. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /**
   * The same for a statement whose best plan depends on its values, such as a long or short period, a person with many or few chats: it is planned for them
   * each time, which takes about a millisecond. PostgreSQL plans a statement of `query` for any values once it has run five times on a connection.
   */
  queryPlanned<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs a statement. @returns how many rows it found or changed. */
  execute(text: string, values?: readonly unknown[]): Promise<number>;
}

/** One transaction: Prisma, and raw SQL on the same connection. */
export interface Transaction extends Sql {
  readonly prisma: Prisma.TransactionClient;
  /** Calls `work` once the transaction has committed, in the order of the calls; never after a rollback. For signals to other processes. */
  afterCommit(work: () => void): void;
}

/** What surrounds the current work. */
interface Scope {
  readonly class: StatementClass;
  /** Whose work it is; undefined for that of the service itself. */
  readonly ownerOf?: (() => ShareOwner) | undefined;
  /** Undefined once it has ended: work that was begun in it and goes on afterwards is outside. */
  open?: Transaction | undefined;
}

export interface DatabaseParts {
  readonly kind: 'embedded' | 'server';
  /** The processes that have an embedded database together with this one. */
  readonly siblings: SiblingLink | undefined;
  readonly pool: Pool;
  /** On the same pool: `prismaOn(pool)`. */
  readonly prisma: PrismaClient;
  readonly room: Room;
  readonly pageMaxBytes: number;
  readonly listMaxBytes: number;
  /** Time of each statement of a job, on a server. Undefined: the embedded database, which cannot end a statement. */
  readonly backgroundMs: number | undefined;
  /** Of prepared statements. Undefined behind a pooler that loses them. */
  readonly names: StatementNames | undefined;
  /** Of DATABASE_DIRECT_URL. */
  readonly direct: Pool | undefined;
  close(): Promise<void>;
}

const withoutSize = { rowBytes: true } as const;
/** Sizes of rows are read by name only, to end the pages of lists, as are the places of audit entries in the order of their sink. */
const unread = {
  agent: withoutSize,
  agentFlowVersion: withoutSize,
  agentSecret: withoutSize,
  agentSkill: withoutSize,
  agentTool: withoutSize,
  agentUserInput: withoutSize,
  auditEntry: { rowBytes: true, sinkPosition: true },
  chat: withoutSize,
  chatFile: withoutSize,
  dataSource: withoutSize,
  file: withoutSize,
  groupMember: withoutSize,
  knowledgeItem: withoutSize,
  message: withoutSize,
  responseItem: withoutSize,
  vectorStore: withoutSize,
} as const satisfies Prisma.GlobalOmitConfig;

/** Turns Prisma's own time limits off: the server ends slow statements, and the pool limits the wait for a connection. */
const transactionLimits = { maxWait: 2_147_483_647, timeout: 2_147_483_647 };

/** Prisma's client of a database. */
export function prismaOn(pool: Pool): PrismaClient {
  return new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: transactionLimits, omit: unread });
}

/**
 * The database behind every store: one pool, and one Prisma client on it. What runs within `transaction` is part of it, whichever store it asks: a
 * function of the domain makes one transaction of the writes of several stores and of their audit entry. `pool` alone stands outside.
 */
export class Database implements Sql {
  readonly kind: 'embedded' | 'server';
  readonly siblings: SiblingLink | undefined;
  readonly pool: Pool;
  /** Without a pooler in between, which drops notifications; undefined without DATABASE_DIRECT_URL. */
  readonly direct: Pool | undefined;
  readonly room: Room;
  /** Most bytes of the rows of one page (LIST_PAGE_MAX_BYTES), and of a list without pages (REPLY_MAX_BYTES). */
  readonly pageMaxBytes: number;
  readonly listMaxBytes: number;
  /** Whether this database can keep embeddings: set when the schema is prepared. */
  vectors: VectorSupport = { kind: 'unneeded' };
  readonly #parts: DatabaseParts;
  readonly #client: PrismaClient;
  readonly #scope = new AsyncLocalStorage<Scope>();

  constructor(parts: DatabaseParts) {
    this.#parts = parts;
    this.kind = parts.kind;
    this.siblings = parts.siblings;
    this.pool = parts.pool;
    this.direct = parts.direct;
    this.room = parts.room;
    this.pageMaxBytes = parts.pageMaxBytes;
    this.listMaxBytes = parts.listMaxBytes;
    this.#client = parts.prisma;
  }

  /** Whether no other process uses this database, so that nothing need be shared with one and none can have died with work. */
  get isOfOneProcess(): boolean {
    return this.kind === 'embedded' && this.siblings === undefined;
  }

  /** Prisma, in the current transaction if there is one. */
  get prisma(): Prisma.TransactionClient {
    return this.#scope.getStore()?.open?.prisma ?? this.#client;
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const sql = this.#sql;
    if (sql !== undefined) return sql((tx) => tx.query<Row>(text, values));
    return (await this.#alone(this.#statement(text, values))).rows as Row[];
  }

  async queryPlanned<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const sql = this.#sql;
    if (sql !== undefined) return sql((tx) => tx.queryPlanned<Row>(text, values));
    return (await this.#alone({ text, values: [...values] })).rows as Row[];
  }

  async execute(text: string, values: readonly unknown[] = []): Promise<number> {
    const sql = this.#sql;
    if (sql !== undefined) return sql((tx) => tx.execute(text, values));
    return (await this.#alone(this.#statement(text, values))).rowCount ?? 0;
  }

  /** A statement outside transactions. */
  async #alone(statement: Statement): Promise<QueryResult> {
    try {
      return await this.pool.query(statement);
    } catch (error) {
      if (statement.name === undefined || !isOfChangedTable(error)) throw refusedByHold(error);
      this.#parts.names?.turnOff();
      return this.#alone({ text: statement.text, values: statement.values });
    }
  }

  #statement(text: string, values: readonly unknown[]): Statement {
    const name = this.#parts.names?.nameOf(text);
    return name === undefined ? { text, values: [...values] } : { name, text, values: [...values] };
  }

  /**
   * Runs `work` in one transaction, or as a part of the current one; rolls back when it throws. Keep it short and never await a model, a network or
   * `pool` inside: the embedded database runs transactions one after the other.
   *
   * @throws what `work` threw, or the error of a lost connection; DomainError CONFLICT when a legal hold keeps what `work` deletes.
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { class: kind, ownerOf, open } = this.#scope.getStore() ?? outside;
    if (open !== undefined) return work(open);
    const limitMs = kind === 'background' ? this.#parts.backgroundMs : undefined;
    const commitCallbacks: (() => void)[] = [];
    const running = this.#client.$transaction(async (prisma) => {
      if (limitMs !== undefined) await prisma.$executeRawUnsafe(`SET LOCAL statement_timeout = ${limitMs}`);
      const tx = toTransaction(prisma, commitCallbacks);
      const scope: Scope = { class: kind, ownerOf, open: tx };
      try {
        return await this.#scope.run(scope, () => work(tx));
      } finally {
        scope.open = undefined;
      }
    });
    const result = await running.catch((error: unknown) => {
      throw refusedByHold(error);
    });
    for (const notify of commitCallbacks) notify();
    return result;
  }

  /** Calls `work` once the current transaction has committed, at once without one, and never after a rollback. For signals. */
  afterCommit(work: () => void): void {
    const open = this.#scope.getStore()?.open;
    if (open === undefined) work();
    else open.afterCommit(work);
  }

  /** Whose turn the statements of the current work take. */
  get owner(): ShareOwner {
    const { class: kind, ownerOf } = this.#scope.getStore() ?? outside;
    return kind === 'background' ? jobsOwner : (ownerOf?.() ?? nobody);
  }

  /** Whether work of a job makes callers wait at this moment, as long as its transaction lasts. A server does many things at once. */
  get makesCallersWait(): boolean {
    return this.pool instanceof YieldingPool && this.pool.hasCallers;
  }

  /** Runs `work` as this class, outside any transaction: on a server, raw SQL and transactions of a job have more time; on the embedded database, they let callers go first. The default is `interactive`. */
  runAs<T>(kind: StatementClass, work: () => T): T {
    return this.#scope.run({ class: kind }, work);
  }

  /**
   * Runs the work of a caller, outside any transaction: its statements take turns with those of other tenants and organizations.
   *
   * @param ownerOf  asked at each statement, because the owner of a run that is taken over is known only once it is read.
   */
  runFor<T>(ownerOf: () => ShareOwner, work: () => T): T {
    return this.#scope.run({ class: 'interactive', ownerOf }, work);
  }

  /** Runs what the service does for many callers at once, such as to write what it gathered: it waits in no caller's line. */
  runForAll<T>(work: () => T): T {
    return this.#scope.run(outside, work);
  }

  /** Runs raw SQL in the current transaction; on a server, a statement of a job gets one of its own, which has the time of jobs. Else undefined. */
  get #sql(): (<T>(work: (tx: Transaction) => Promise<T>) => Promise<T>) | undefined {
    const { class: kind, open } = this.#scope.getStore() ?? outside;
    if (open !== undefined) return (work) => work(open);
    const isLong = kind === 'background' && this.#parts.backgroundMs !== undefined;
    return isLong ? (work) => this.transaction(work) : undefined;
  }

  async close(): Promise<void> {
    await this.#client.$disconnect();
    await this.#parts.close();
  }
}

const outside: Scope = { class: 'interactive' };

function toTransaction(prisma: Prisma.TransactionClient, commitCallbacks: (() => void)[]): Transaction {
  return {
    prisma,
    afterCommit: (work) => {
      commitCallbacks.push(work);
    },
    query: (text, values = []) => prisma.$queryRawUnsafe(text, ...values),
    // Prisma's statements have no name, so each is planned for its values.
    queryPlanned: (text, values = []) => prisma.$queryRawUnsafe(text, ...values),
    execute: (text, values = []) => prisma.$executeRawUnsafe(text, ...values),
  };
}

/** A statement as `pg` takes it. Without a name it is planned each time. */
interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}
