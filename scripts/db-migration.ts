import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { loadSettings } from '../src/settings.ts';
import { startEmbedded } from '../src/storage/ground/embedded/embedded.ts';
import { migrate, readMigrations } from '../src/storage/ground/migrations/migrate.ts';
import { migrationsFolder } from '../src/storage/ground/migrations/migrations-folder.ts';
import { schemaChanges } from './support/schema-engine.ts';

/** Writes the difference between the migrations and prisma/schema.prisma as a new migration: `npm run db:migration -- <what it does>`. */
const name = process.argv[2];
if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name))
  throw new Error('name the migration in snake_case: npm run db:migration -- add_things');

const scratchFolder = mkdtempSync(join(tmpdir(), 'parley-migration-'));
const server = await startEmbedded(scratchFolder, loadSettings({}), (error) => {
  throw error;
});
const pool = new Pool(server.connection);
try {
  mkdirSync(migrationsFolder, { recursive: true });
  await migrate(pool);
  const sql = await schemaChanges(server.connection);
  if (sql === '') {
    console.log('The migrations already make what prisma/schema.prisma says.');
  } else {
    const number = readMigrations().reduce((highest, migration) => Math.max(highest, Number.parseInt(migration.name, 10)), 0) + 1;
    const folder = join(migrationsFolder, `${number}_${name}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'migration.sql'), sql);
    console.log(`Wrote ${join(folder, 'migration.sql')}. Read it before you commit it.`);
  }
} finally {
  await pool.end();
  await server.close();
  rmSync(scratchFolder, { recursive: true, force: true });
}
