import type { TestService } from '../service.ts';

/** The whole content of the database as text: what is not in it is not stored. @param without  tables that are left out. */
export async function databaseText(service: TestService, without: RegExp = /^$/): Promise<string> {
  const { pool } = service.deps.storage.db;
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const parts: string[] = [];
  for (const { name } of tables) {
    if (without.test(name)) continue;
    const { rows } = await pool.query<{ text: string }>(`select row_to_json(t)::text as text from ${name} t`);
    parts.push(...rows.map(({ text }) => text));
  }
  return parts.join('\n');
}
