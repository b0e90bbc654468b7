import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { loadSettings } from '../../../src/settings.ts';
import type { Database } from '../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../src/storage/ground/opening/open.ts';
import { copyOf, type Place } from '../../support/storage/databases.ts';

/** Triggers announce to other processes what their caches depend on. That they do: test/cluster/announced-changes. */
let place: Place;
let db: Database;

beforeAll(async () => {
  place = await copyOf(inject('template'));
  db = await openDatabase(loadSettings(place.env), { onError: () => undefined });
});
afterAll(async () => {
  await db.close();
  await place.remove();
});

/** Columns that each request or run updates; no cache depends on them, and the size that the database computes. */
const quietColumns: Readonly<Record<string, readonly string[]>> = {
  // The maker of a key never changes, nor the membership that it is of.
  api_keys: [
    ...['id', 'createdAt', 'updatedAt', 'name', 'prefix', 'lastUsedAt'],
    ...['createdByUserId', 'createdByKeyId', 'lentKeyId', 'membershipId', 'clientId', 'resource'],
  ],
  // The last end of a session that is used is read anew within five minutes.
  // How it began never changes.
  sessions: [
    ...['id', 'createdAt', 'method', 'lastUsedAt', 'expiresAt', 'userAgent', 'network'],
    ...['identityId', 'providerSessionHash', 'throughKeyId', 'level', 'passkeyId'],
  ],
  agents: ['id', 'createdAt', 'updatedAt', 'messageCount', 'ratingCount', 'ratingSum', 'approvedHash', 'rowBytes'],
};
/** Tables in the same files that are not cached, because they are read anew each time, and versions of agents, which never change. */
const neverRemembered = ['usage_counters', 'usage_reservations', 'agent_versions'];
/** The columns of a table that a cache depends on, where it depends on few: of data sources, runs read only which there are. Indexing writes the others. */
const toldColumns: Readonly<Record<string, readonly string[]>> = {
  data_sources: ['orgId', 'deletingAt', 'access'],
  users: ['isOperator'],
  // What is remembered of a schedule is whose it is, for the runs that carry its id.
  schedules: ['userId'],
};

it('a change is noted by a trigger for each table that a cache reads', async () => {
  const { rows } = await db.pool.query<{ table: string }>(
    `select c.relname as table from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgname = 'parley_announce'`,
  );
  const announced = new Set(rows.map(({ table }) => table));
  const tables = await db.pool.query<{ name: string }>("select relname as name from pg_class where relkind = 'r'");
  const read = rememberedTables(tables.rows.map(({ name }) => name));
  expect(read).toEqual(expect.arrayContaining(['api_keys', 'sessions', 'memberships', 'organizations', 'agents', 'agent_tools']));
  expect(read.filter((table) => !announced.has(table))).toEqual([]);
});

it('a change is announced for each column, except those that requests and runs write', async () => {
  const { rows } = await db.pool.query<{ table: string; column: string; told: boolean }>(
    `select c.relname as table, a.attname as column, (t.tgattr::text = '' or a.attnum = any (t.tgattr)) as told
     from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_attribute a on a.attrelid = c.oid
     where t.tgname = 'parley_announce' and a.attnum > 0 and not a.attisdropped`,
  );
  const wrong = rows.filter(({ table, column, told }) => told !== isTold(table, column));
  expect(wrong).toEqual([]);
});

function isTold(table: string, column: string): boolean {
  const told = toldColumns[table];
  return told === undefined ? quietColumns[table]?.includes(column) !== true : told.includes(column);
}

/** Tables that the files with an InvalidatedCache read. */
function rememberedTables(existing: readonly string[]): string[] {
  const folder = fileURLToPath(new URL('../../../src/storage', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const texts = files
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .filter((text) => /new InvalidatedCache</.test(text));
  const names = texts.flatMap((text) => [...text.matchAll(/\b(?:from|join) ([a-z_]+)\b/g)].map(([, name = '']) => name));
  names.push(...modelTables().flatMap(({ model, table }) => (texts.some((text) => readsModel(text, model)) ? [table] : [])));
  return [...new Set(names)].filter((name) => existing.includes(name) && !neverRemembered.includes(name)).sort();
}

/** By Prisma: `apiKey.findUnique(…)`, or the relation `organization: { select: … }`. */
function readsModel(text: string, model: string): boolean {
  const name = `${model.charAt(0).toLowerCase()}${model.slice(1)}`;
  return new RegExp(`\\b${name}(?:\\.find|: \\{ select)`).test(text);
}

function modelTables(): { readonly model: string; readonly table: string }[] {
  const schema = readFileSync(fileURLToPath(new URL('../../../prisma/schema.prisma', import.meta.url)), 'utf8');
  const models = schema.matchAll(/^model (\w+) \{$[^}]*@@map\("(\w+)"\)/gm);
  return [...models].map(([, model = '', table = '']) => ({ model, table }));
}
