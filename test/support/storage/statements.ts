import type { TestService } from '../service.ts';

/** Timers write when keys were last used, send signals of what happened before, and keep the queues in order: none is caused by the test's requests. */
const writtenBehind = /set "lastUsedAt"|^SELECT pg_notify|q\.warning_queued|pgboss\./i;

/** The statements that `work` causes in the running service: the text of each, also of Prisma's. */
export async function countStatements<T>(
  service: TestService,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly statements: readonly string[] }> {
  const statements: string[] = [];
  const { pool } = service.deps.storage.db;
  // Every statement of a pool goes through one of its clients, and acquiring a client shows the client.
  const watched = new Set<{ query: unknown }>();
  const watch = (client: { query: unknown }) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query as (...args: unknown[]) => unknown;
    client.query = function (this: unknown, ...args: unknown[]) {
      const [statement] = args;
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
