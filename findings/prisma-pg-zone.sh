#!/usr/bin/env bash
# @prisma/adapter-pg 7.10.0, the adapter that Prisma 7 needs for PostgreSQL, takes every session to be in UTC, and sets no zone. Where it is another one
# (initdb writes the zone of the machine into the configuration), a Date for a column `timestamptz` is written without its offset and so stored at
# another instant, and what comes back has its offset replaced by +00:00. Written and read by Prisma the two cancel out, so tests pass; `now()` of the
# database, as a default or in a condition, is hours away from it, for example "is due" comes five hours late, and every other program reads wrong
# times. pg 8.23.1 alone writes and reads the same instant in any zone. So set `TIME ZONE 'UTC'` on each connection, or for the role.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @prisma/adapter-pg@7.10.0 pg@8.23.1 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17 >/dev/null
cat >probe.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';

const columns = 'extract(epoch from due)::float8 * 1000 AS stored, extract(epoch from added)::float8 * 1000 AS made';
const hours = (from, to) => Math.round((to - from) / 360_000) / 10 + 0;
const seen = [];
// What Prisma Client does for create() and findFirst() of a field with @db.Timestamptz.
async function withPrisma(connectionString, due) {
  const adapter = await new PrismaPg({ connectionString }).connect();
  const argTypes = [{ scalarType: 'datetime', dbType: 'TIMESTAMPTZ', arity: 'scalar' }];
  await adapter.executeRaw({ sql: 'INSERT INTO tasks (due) VALUES ($1)', args: [due.toISOString()], argTypes });
  const { rows } = await adapter.queryRaw({ sql: 'SELECT due, added FROM tasks', args: [], argTypes: [] });
  await adapter.dispose();
  return rows[0].map((time) => new Date(time));
}
async function withPg(connectionString, due) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('INSERT INTO tasks (due) VALUES ($1)', [due]);
  const { rows } = await client.query('SELECT due, added FROM tasks');
  await client.end();
  return [rows[0].due, rows[0].added];
}
for (const zone of ['UTC', 'America/New_York']) {
  for (const [name, write] of [['@prisma/adapter-pg', withPrisma], ['pg', withPg]]) {
    const db = await PGlite.create();
    await db.exec(`SET TIME ZONE '${zone}'; CREATE TABLE tasks (due timestamptz, added timestamptz DEFAULT now())`);
    const server = new PGLiteSocketServer({ db, port: 0, host: '127.0.0.1' });
    await server.start();
    const due = new Date();
    const port = server.getServerConn().split(':').at(-1);
    const [dueRead, addedRead] = await write(`postgres://postgres:none@127.0.0.1:${port}/postgres?sslmode=disable`, due);
    const [{ stored, made }] = (await db.query(`SELECT ${columns} FROM tasks`)).rows;
    const found = [hours(due, stored), hours(due, dueRead), hours(made, addedRead)];
    console.log(`${name}, session in ${zone}: stored ${found[0]} h off, read back ${found[1]} h off, a default of now() read ${found[2]} h off`);
    seen.push(found);
    await server.stop();
    await db.close();
  }
}
// New York is five hours behind UTC in winter, four in summer.
const [[offset]] = seen.slice(2);
if (![4, 5].includes(offset) || JSON.stringify(seen) !== JSON.stringify([[0, 0, 0], [0, 0, 0], [offset, 0, -offset], [0, 0, 0]])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @prisma/adapter-pg pg; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   @prisma/adapter-pg, session in UTC: stored 0 h off, read back 0 h off, a default of now() read 0 h off
#   pg, session in UTC: stored 0 h off, read back 0 h off, a default of now() read 0 h off
#   @prisma/adapter-pg, session in America/New_York: stored 5 h off, read back 0 h off, a default of now() read -5 h off
#   pg, session in America/New_York: stored 0 h off, read back 0 h off, a default of now() read 0 h off
