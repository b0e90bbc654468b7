import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool, PoolClient } from 'pg';
import { isChange } from './change-statements.ts';

/** A row that must commit together with the change that it describes. */
export interface ChangeRecord {
  /** Whether the next transaction that changes something must write the row. */
  readonly isPending: boolean;
  /**
   * Writes the row on the client of that transaction, if the transaction changed something. May be called again: a transaction may roll back, or find
   * no row to change.
   *
   * @returns whether the row was written.
   */
  write(client: PoolClient): Promise<boolean>;
  /** The transaction that wrote the row has committed. */
  committed(): void;
  /** Called when the work makes an id for something new. */
  made(id: string): void;
}

export interface RecordedChanges {
  /**
   * Runs `work`; the first transaction within it that changes something also writes `record`. When the record cannot be written, the
   * transaction fails and the change is not made.
   */
  recorded<T>(record: ChangeRecord, work: () => T): T;
  /** The record of the current work; undefined outside `recorded`. */
  current(): ChangeRecord | undefined;
}

type Query = (...args: readonly unknown[]) => Promise<unknown>;
type Connect = (callback?: unknown) => Promise<PoolClient>;

/**
 * Makes a pool write the record of a change in the transaction of that change. Every statement of Parley passes through the pool, also those of
 * Prisma and of the job queue, so no store can forget the record. Outside `recorded` the pool behaves as `pg` made it.
 *
 * @param begin  the statement that begins a transaction, with its time limits.
 */
export function recordChanges(pool: Pool, begin: () => string): RecordedChanges {
  const records = new AsyncLocalStorage<ChangeRecord>();
  const query = pool.query.bind(pool) as unknown as Query;
  const connect = pool.connect.bind(pool) as unknown as Connect;
  const pending = () => {
    const record = records.getStore();
    return record?.isPending === true ? record : undefined;
  };
  Object.assign(pool, {
    query: (...args: readonly unknown[]) => {
      const record = pending();
      if (record === undefined || typeof args.at(-1) === 'function' || !isChange(textOf(args[0]))) return query(...args);
      return alone(connect, begin, record, args);
    },
    connect: (callback?: unknown) => {
      const record = pending();
      if (record === undefined || callback !== undefined) return connect(callback);
      return connect().then((client) => recordedClient(client, begin, record));
    },
  });
  return { recorded: (record, work) => records.run(record, work), current: () => records.getStore() };
}

/** Runs one statement that changes something on a client of its own. */
async function alone(connect: Connect, begin: () => string, record: ChangeRecord, args: readonly unknown[]): Promise<unknown> {
  const client = await connect();
  try {
    return await changing(client, begin, record, args);
  } finally {
    client.release();
  }
}

/** Runs one statement that changes something in a transaction with its record. */
async function changing(
  client: PoolClient,
  begin: () => string,
  record: ChangeRecord,
  args: readonly unknown[],
): Promise<unknown> {
  await client.query(begin());
  try {
    const result = await (client.query as unknown as Query).apply(client, args as unknown[]);
    const isWritten = await record.write(client);
    await client.query('COMMIT');
    if (isWritten) record.committed();
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Wraps a client: a COMMIT after a change writes the record first, and a change outside a transaction gets a transaction. */
function recordedClient(client: PoolClient, begin: () => string, record: ChangeRecord): PoolClient {
  let isInTransaction = false;
  let hasChanged = false;
  const original = client.query.bind(client) as unknown as Query;
  const query: Query = (...args) => {
    const text = textOf(args[0]);
    const command = /^\s*(begin|start\s+transaction|commit|end|rollback(?!\s+to))\b/i.exec(text)?.[1]?.toLowerCase();
    if (command === 'commit' || command === 'end') {
      isInTransaction = false;
      return hasChanged && record.isPending ? committing(client, record, () => original(...args)) : original(...args);
    }
    if (command !== undefined) {
      isInTransaction = command !== 'rollback';
      hasChanged = false;
    } else if (record.isPending && isChange(text)) {
      if (!isInTransaction) return changing(client, begin, record, args);
      hasChanged = true;
    }
    return original(...args);
  };
  return new Proxy(client, {
    get(target, name) {
      if (name === 'query') return query;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function committing(client: PoolClient, record: ChangeRecord, commit: () => Promise<unknown>): Promise<unknown> {
  try {
    const isWritten = await record.write(client);
    const result = await commit();
    if (isWritten) record.committed();
    return result;
  } catch (error) {
    // After a failed COMMIT, Prisma counts the transaction as ended and gives the connection back without a rollback.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const text: unknown = typeof statement === 'object' && statement !== null && 'text' in statement ? statement.text : '';
  return typeof text === 'string' ? text : '';
}
