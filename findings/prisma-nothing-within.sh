#!/usr/bin/env bash
# In Prisma Client 7.10.0 an empty OR matches nothing (its documentation says so in a table of operators), also beside other members of the same
# `where`. One level further in it is left out: `{ AND: [{ OR: [] }] }` matches everything, `{ AND: [owned, { OR: [] }] }` all that is owned, and so
# it is within `some`. So a rule that is put together from parts, and allows nothing because a list of groups or roles is empty, is kept where it
# stands alone and opens everything where it is one part of several. `{ id: { in: [] } }` matches nothing at every depth: say that for "nothing".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module
npm install --silent --no-audit --no-fund --ignore-scripts @prisma/client-generator-ts@7.10.0 @prisma/internals@7.10.0 @prisma/client@7.10.0 @prisma/adapter-pg@7.10.0 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17 >/dev/null
cat >schema.prisma <<'P'
datasource db {
  provider = "postgresql"
}
generator client {
  provider = "prisma-client"
  output   = "./generated"
}
model Note {
  id    Int    @id
  owner String
  shelf Shelf? @relation(fields: [shelfId], references: [id])
  shelfId Int?
}
model Shelf {
  id    Int    @id
  notes Note[]
}
P
# What `prisma generate` does, without the engine that the command downloads.
cat >generate.cjs <<'JS'
const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
const { getGenerators } = require('@prisma/internals');
const registry = { 'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() } };
getGenerators({ schemaPath: 'schema.prisma', registry, version: 'none' }).then(async ([generator]) => {
  await generator.generate();
  generator.stop();
});
JS
node generate.cjs 2>/dev/null
cat >probe.ts <<'TS'
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';

const db = await PGlite.create();
await db.exec(`CREATE TABLE "Shelf" (id int PRIMARY KEY); CREATE TABLE "Note" (id int PRIMARY KEY, owner text NOT NULL, "shelfId" int);
  INSERT INTO "Shelf" VALUES (1); INSERT INTO "Note" VALUES (1, 'ann', 1), (2, 'ann', 1), (3, 'bob', null)`);
const server = new PGLiteSocketServer({ db, port: 0, host: '127.0.0.1' });
await server.start();
const port = server.getServerConn().split(':').at(-1);
const adapter = new PrismaPg({ connectionString: `postgres://postgres:none@127.0.0.1:${port}/postgres?sslmode=disable`, max: 1 });
const prisma = new PrismaClient({ adapter });

const nothing = { OR: [] };
const notes = (where: object) => prisma.note.count({ where });
const seen = {
  'OR: []': await notes(nothing),
  'owner, OR: []': await notes({ owner: 'ann', OR: [] }),
  'AND: [{ OR: [] }]': await notes({ AND: [nothing] }),
  'AND: [owner, { OR: [] }]': await notes({ AND: [{ owner: 'ann' }, nothing] }),
  'AND: [owner, { OR: [{ OR: [] }] }]': await notes({ AND: [{ owner: 'ann' }, { OR: [nothing] }] }),
  'AND: [owner, { id: { in: [] } }]': await notes({ AND: [{ owner: 'ann' }, { id: { in: [] } }] }),
  'shelves, some: { OR: [] }': await prisma.shelf.count({ where: { notes: { some: nothing } } }),
  'shelves, some: { AND: [{ OR: [] }] }': await prisma.shelf.count({ where: { notes: { some: { AND: [nothing] } } } }),
};
for (const [where, count] of Object.entries(seen)) console.log(`${where}: ${count}`);
await prisma.$disconnect();
await server.stop();
await db.close();
if (JSON.stringify(Object.values(seen)) !== '[0,0,3,2,2,0,0,1]') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
TS
node probe.ts
