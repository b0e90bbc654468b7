import { jobsOwner } from '../../../src/storage/ground/opening/shared-pool.ts';
import type { TestService } from '../service.ts';

/** Timers write when keys were last used, send signals of what happened before, and keep the queues in order: none is caused by the test's requests. */
const writtenBehind = /set "lastUsedAt"|^SELECT pg_notify|q\.warning_queued|pgboss\./i;

/** The statements that `work` causes in the running service, without those of jobs and other repeated tasks: the text of each, also of Prisma's. */
export async function countStatements<T>(
  service: TestService,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly statements: readonly string[] }> {
  const statements: string[] = [];
  const { db } = service.deps.storage;
  const { pool } = db;
  // Every statement of a pool goes through one of its clients, and acquiring a client shows the client.
  const watched = new Set<{ query: unknown }>();
  const watch = (client: { query: unknown }) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query as (...args: unknown[]) => unknown;
    client.query = function (this: unknown, ...args: unknown[]) {
      const [statement] = args;
      // A busy machine is slow enough that one of them runs beside each request.
      if (db.owner !== jobsOwner)
        statements.push(typeof statement === 'string' ? statement : String((statement as { text?: unknown }).text));
      return query.apply(this, args);
    };
  };
  pool.on('acquire', watch as never);
  try {
    const result = await work();
    return { result, statements: statements.filter((text) => !writtenBehind.test(text)) };
  } finally {
    pool.off('acquire', watch as never);
    for (const client of watched) Reflect.deleteProperty(client, 'query');
  }
}

/**
 * The same of the one among three times with the fewest statements. For services with background jobs: they add statements now and then and take
 * none away, so the fewest are those of `work` itself.
 *
 * @param others  statements that do not count.
 */
export async function countFewestStatements<T>(
  service: TestService,
  work: () => Promise<T>,
  others?: RegExp,
): Promise<{ readonly result: T; readonly statements: readonly string[] }> {
  const count = async () => {
    const { result, statements } = await countStatements(service, work);
    return { result, statements: statements.filter((text) => others?.test(text) !== true) };
  };
  const counts = [await count(), await count(), await count()] as const;
  return counts.reduce((fewest, one) => (one.statements.length < fewest.statements.length ? one : fewest));
}
