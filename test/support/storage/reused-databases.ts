import { Client } from 'pg';
import { loadSettings } from '../../../src/settings.ts';
import { type EmbeddedServer, startEmbedded } from '../../../src/storage/ground/embedded/embedded.ts';

/**
 * An embedded database that services of this worker have one after the other. Starting one takes half a second of processor time; emptying
 * one takes a twentieth of that.
 */
export interface ReusedDatabase {
  /** For a service, which does not close it. */
  readonly server: EmbeddedServer;
  /** Empties the database for the next service, or closes it when its schema changed. The service must be closed. */
  giveBack(): Promise<void>;
}

/** What a database contained at first. */
interface Contents {
  readonly schema: string;
  readonly tables: readonly { readonly name: string; readonly rows: string }[];
  readonly sequences: string;
}

interface OpenDatabase {
  readonly server: EmbeddedServer;
  readonly contents: Contents;
}

const free: OpenDatabase[] = [];

/** @param makeFolder  makes a data folder with a migrated database, where none is free. */
export async function takeDatabase(makeFolder: () => string): Promise<ReusedDatabase> {
  const database = free.pop() ?? (await open(makeFolder()));
  const { server, contents } = database;
  let isTaken = true;
  return {
    server: { ...server, close: () => Promise.resolve() },
    async giveBack() {
      // Some tests close their service themselves.
      if (!isTaken) return;
      isTaken = false;
      if (await withClient(server, (client) => restore(client, contents))) free.push(database);
      else await server.close();
    },
  };
}

async function open(folder: string): Promise<OpenDatabase> {
  const server = await startEmbedded(folder, loadSettings({ DATA_DIR: folder }), (error) => {
    throw error;
  });
  return { server, contents: await withClient(server, readContents) };
}

async function withClient<T>({ connection }: EmbeddedServer, work: (client: Client) => Promise<T>): Promise<T> {
  const { host, port, user, database } = connection;
  const client = new Client({ host, port, user, database });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function readContents(client: Client): Promise<Contents> {
  const tables: { name: string; rows: string }[] = [];
  for (const name of await writtenTables(client)) {
    const { rows } = await client.query<{ rows: string }>(`SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${name} t`);
    tables.push({ name, rows: rows[0]?.rows ?? '[]' });
  }
  const { rows } = await client.query<{ sequences: string }>(
    `SELECT coalesce(json_agg(json_build_object('name', format('%I.%I', schemaname, sequencename), 'value', coalesce(last_value, start_value),
       'used', last_value IS NOT NULL)), '[]')::text AS sequences FROM pg_sequences`,
  );
  return { schema: await readSchema(client), tables, sequences: rows[0]?.sequences ?? '[]' };
}

/** @returns false where a test changed the schema. */
async function restore(client: Client, { schema, tables, sequences }: Contents): Promise<boolean> {
  if ((await readSchema(client)) !== schema) return false;
  const written = await writtenTables(client);
  // Neither triggers nor foreign keys act.
  await client.query(`SET session_replication_role = replica; ${written.map((name) => `DELETE FROM ${name};`).join('')}`);
  for (const { name, rows } of tables) {
    await client.query(`INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(null::${name}, $1)`, [
      rows,
    ]);
  }
  await client.query(
    `SELECT setval(name::regclass, value, used) FROM json_to_recordset($1) AS s(name text, value bigint, used boolean)`,
    [sequences],
  );
  // Plans must not go by the statistics of another file.
  await client.query(`RESET session_replication_role; DELETE FROM pg_statistic WHERE starelid >= ${firstOwnOid}`);
  await client.query(`VACUUM ${written.join(', ')}`);
  return true;
}

/** Tables that have or had rows. */
async function writtenTables(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND oid >= ${firstOwnOid} AND pg_relation_size(oid) > 0`,
  );
  return rows.map(({ name }) => name);
}

async function readSchema(client: Client): Promise<string> {
  const { rows } = await client.query<{ schema: string }>(
    `SELECT md5(string_agg(part, ',' ORDER BY part)) AS schema FROM (
       SELECT format('%s %s %s', oid, relname, relnatts) AS part FROM pg_class WHERE oid >= ${firstOwnOid}
       UNION ALL SELECT format('%s %s', oid, md5(prosrc)) FROM pg_proc WHERE oid >= ${firstOwnOid}
       UNION ALL SELECT format('%s %s', oid, tgenabled) FROM pg_trigger WHERE oid >= ${firstOwnOid}
       UNION ALL SELECT oid::text FROM pg_namespace WHERE oid >= ${firstOwnOid}
       UNION ALL SELECT oid::text FROM pg_constraint WHERE oid >= ${firstOwnOid}) parts`,
  );
  return rows[0]?.schema ?? '';
}

/** Below are the objects of PostgreSQL. */
const firstOwnOid = 16_384;
