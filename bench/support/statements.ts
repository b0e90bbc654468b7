import type { Service } from '../../src/start/service.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The statements that `work` causes, without those that timers write behind. */
export async function watchStatements({ deps }: Service, work: () => Promise<void>): Promise<readonly Statement[]> {
  const { pool } = deps.storage.db;
  const statements: Statement[] = [];
  const watched = new Set<{ query: unknown }>();
  // Every statement goes through a client of the pool, which `acquire` shows.
  const watch = (client: { query: unknown }) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query as (...args: unknown[]) => unknown;
    client.query = function (this: unknown, ...args: unknown[]) {
      const [first, second] = args as [string | Partial<Statement>, unknown];
      const given = typeof first === 'string' ? { text: first } : first;
      const values = given.values ?? (Array.isArray(second) ? second : []);
      statements.push({ text: given.text ?? '', values });
      return query.apply(this, args);
    };
  };
  pool.on('acquire', watch as never);
  try {
    await work();
  } finally {
    pool.off('acquire', watch as never);
    for (const client of watched) Reflect.deleteProperty(client, 'query');
  }
  return statements.filter(({ text }) => !writtenBehind.test(text));
}

const writtenBehind =
  /set "lastUsedAt"|^select pg_notify|pgboss\.|jsonb_populate_recordset\(null::usage_entries|^\s*(begin|commit)/i;
